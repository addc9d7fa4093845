// The table of targets: a row for each folder beside this file.
#include "xlc/Target/Targets.h"
#include "Cpu/CpuTarget.h"
#include "Cuda/CudaTarget.h"
#include "llvm/ADT/STLExtras.h"

using namespace xlc;

namespace {
constexpr TargetRow targets[] = {
    {kTargetFacts[0], listCpuChips, makeCpuTarget, nullptr, examineCpu},
    {kTargetFacts[1], listCudaChips, makeCudaTarget, chipOfCudaDevice, examineCuda},
};
static_assert(std::size(targets) == std::size(kTargetFacts));
} // namespace

llvm::ArrayRef<TargetRow> xlc::getTargets() { return targets; }

std::vector<std::string> xlc::listTargets() {
  std::vector<std::string> names;
  for (const TargetRow &row : targets)
    names.push_back(row.facts.name.str());
  return names;
}

const TargetRow *xlc::findTarget(llvm::StringRef name) {
  const TargetRow *row = llvm::find_if(targets, [&](const TargetRow &row) { return row.facts.name == name; });
  return row == std::end(targets) ? nullptr : row;
}
