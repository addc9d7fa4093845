// See CallPlaces.h.
#include "CallPlaces.h"

#include "Products.h"

namespace xlc::runtime::cuda {

CallPlaces::CallPlaces(const Plan &plan) {
  auto note = [&](const plan::RunT &run, const plan::CallT &call) {
    std::vector<uint64_t> &bits = addresses[&call];
    bits.resize(call.ins.size() + call.outs.size());
    for (size_t i = 0; i < bits.size(); ++i) {
      const plan::Operand &operand = i < call.ins.size() ? call.ins[i] : call.outs[i - call.ins.size()];
      const plan::Place &place = run.places[operand.slot()];
      bits[i] |= place.offset() + (uint64_t)operand.offset(); // a carry reaches higher bits alone
      bits[i] |= (uint64_t)place.stride();
    }
  };
  for (const auto &program : plan.programs)
    for (const auto &step : program->steps)
      if (const plan::RunT *run = step->action.AsRun())
        for (const auto &call : plan.functions[run->function]->calls)
          note(*run, *call);
}

std::vector<uint32_t> CallPlaces::alignmentsOf(const plan::CallT &call) const {
  std::vector<uint32_t> alignments;
  alignments.reserve(call.ins.size() + call.outs.size());
  auto found = addresses.find(&call);
  for (size_t i = 0; i < call.ins.size() + call.outs.size(); ++i)
    alignments.push_back(alignmentOf(found == addresses.end() ? 0 : found->second[i]));
  return alignments;
}

} // namespace xlc::runtime::cuda
