// See RowSum.h.
#include "RowSum.h"

#include "Plan/Ranks.h"

#include <algorithm>

namespace xlc::runtime {

RowSum::RowSum(const Plan &plan, const DataSource &source, const Data &data)
    : plan(plan), source(source), data(data), firstStages(plan.inputs.size(), UINT32_MAX), sums(rankCount(plan)) {
  for (const auto &program : plan.programs)
    for (const auto &step : program->steps)
      if (const auto *load = step->action.AsLoad(); load && program->purpose == plan::Purpose::train)
        for (uint32_t input : load->inputs)
          firstStages[input] = std::min(firstStages[input], program->stage);
}

bool RowSum::counts(uint32_t input, int rank) const {
  return isOfData(*plan.inputs[input]) && plan.inputs[input]->whole_of.empty() &&
         (uint32_t)rank % plan.mesh->tp() == 0 && (uint32_t)rank / stageRanks(plan) == firstStages[input];
}

void RowSum::load(uint32_t index, uint64_t step, uint32_t microBatch, int rank, const Take &take) const {
  const plan::InputT &input = *plan.inputs[index];
  uint64_t rowBytes = rowElements(input) * bytesOf(input.element);
  if (!counts(index, rank) || rowBytes == 0)
    return source.load(index, step, microBatch, rank, take);
  Sum &own = sums[rank];
  struct {
    const Take &take;
    Sum &own;
    const uint64_t rowBytes;
    uint64_t sample, missing;
  } row{take, own, rowBytes, data.firstSample(index, step, microBatch, rank), rowBytes};
  own.row.clear(row.sample);
  source.load(index, step, microBatch, rank, [&row](const void *bytes, uint64_t count) {
    row.take(bytes, count);
    for (const char *at = (const char *)bytes; count > 0;) {
      uint64_t some = std::min(count, row.missing);
      row.own.row.add(at, some);
      at += some, count -= some, row.missing -= some;
      if (row.missing > 0)
        continue;
      row.own.sum += row.own.row.value();
      row.own.row.clear(++row.sample), row.missing = row.rowBytes;
    }
  });
}

} // namespace xlc::runtime
