// Renumbering of parameters: what uses them follows.
#include "Parameters.h"

using namespace llvm;
using namespace xlc::onnx;

void ParameterPlan::keep(ArrayRef<int> order) {
  std::vector<Parameter> kept;
  std::vector<int> place(parameters.size(), -1);
  for (int from : order) {
    place[from] = (int)kept.size();
    kept.push_back(std::move(parameters[from]));
  }
  parameters = std::move(kept);
  for (auto &[at, use] : uses)
    use.parameter = place[use.parameter];
  for (auto &[node, parameter] : vanishedBiases)
    parameter = place[parameter];
}

void ParameterPlan::readInstead(int from, int to) {
  for (auto &[at, use] : uses)
    use.parameter = use.parameter == from ? to : use.parameter;
  for (auto &[node, parameter] : vanishedBiases)
    parameter = parameter == from ? to : parameter;
}
