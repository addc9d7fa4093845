// Converts conditions on the scores of attention to floats, which a library adds.
#include "Threads.h"

using namespace xlc::device;
using namespace xlc::runtime;

XLC_KERNEL xlc_condition(Global<const uint8_t> condition, Global<float> bias, ConditionParameters p) {
  int64_t element = findThread(), row = element / p.keys, head = row / p.queries, sample = head / p.heads;
  if (sample >= p.batch)
    return;
  int64_t query = row % p.queries, key = element % p.keys, distance = query - key;
  bool isNear = (!p.causal || distance >= 0) && (p.window == 0 || (distance < p.window && -distance < p.window));
  int64_t from = sample * p.ofBatch + head % p.heads * p.ofHead + query * p.ofQuery + key;
  bias[element] = isNear && condition[from] ? 0 : kForbiddenScore;
}
