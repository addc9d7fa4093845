// See MetricValues.h. Counts are summed as integers; each metric then uses as few divisions as its definition.
#include "MetricValues.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace xlc::runtime {
namespace {

double divide(double a, double b) { return b == 0 ? 0 : a / b; }

int64_t total(const std::vector<int64_t> &counts) { return std::accumulate(counts.begin(), counts.end(), (int64_t)0); }

/// Precision, recall or F1 of counts.
double ratioOf(MetricKind kind, int64_t truePositives, int64_t falsePositives, int64_t falseNegatives) {
  auto tp = (double)truePositives, fp = (double)falsePositives, fn = (double)falseNegatives;
  if (kind == MetricKind::Precision)
    return divide(tp, tp + fp);
  return kind == MetricKind::Recall ? divide(tp, tp + fn) : divide(2 * tp, 2 * tp + fp + fn);
}

double averageOf(MetricKind kind, MetricAverage average, const EvaluationSums &sums) {
  const std::vector<int64_t> &tp = sums.truePositives, &fp = sums.falsePositives, &fn = sums.falseNegatives;
  if (average == MetricAverage::Micro)
    return ratioOf(kind, total(tp), total(fp), total(fn));
  if (average == MetricAverage::Binary)
    return tp.size() < 2 ? 0 : ratioOf(kind, tp[1], fp[1], fn[1]);
  double sum = 0;
  int64_t weights = 0;
  for (size_t i = 0; i < tp.size(); ++i) {
    bool isThere = tp[i] + fp[i] + fn[i] > 0;
    int64_t weight = average == MetricAverage::Weighted ? tp[i] + fn[i] : isThere;
    sum += (double)weight * ratioOf(kind, tp[i], fp[i], fn[i]), weights += weight;
  }
  return divide(sum, (double)weights);
}

/// Of several classes (Gorodkin 2004): with c right answers of s, p_k predictions and t_k occurrences of class k,
/// (c s - sum p_k t_k) / sqrt((s^2 - sum p_k^2) (s^2 - sum t_k^2)).
double matthewsOf(const EvaluationSums &sums) {
  using Wide = __int128;
  Wide right = 0, all = 0, both = 0, predicted = 0, occurs = 0;
  for (size_t i = 0; i < sums.truePositives.size(); ++i) {
    Wide p = sums.truePositives[i] + sums.falsePositives[i], t = sums.truePositives[i] + sums.falseNegatives[i];
    right += sums.truePositives[i], all += t;
    both += p * t, predicted += p * p, occurs += t * t;
  }
  auto squares = (double)(all * all - predicted) * (double)(all * all - occurs);
  return divide((double)(right * all - both), std::sqrt(squares));
}

} // namespace

double valueOf(const Metric &metric, std::optional<MetricAverage> average, const EvaluationSums &sums) {
  double loss = sums.targets == 0 ? std::numeric_limits<double>::quiet_NaN() : sums.loss / sums.targets;
  switch (metric.kind) {
  case MetricKind::Loss:
    return loss;
  case MetricKind::Perplexity:
    return std::exp(loss);
  case MetricKind::Accuracy:
  case MetricKind::Top: {
    auto found = sums.top.find(metric.k);
    return found == sums.top.end() ? 0 : divide((double)found->second, sums.targets);
  }
  case MetricKind::Matthews:
    return matthewsOf(sums);
  default: {
    bool isBinary = sums.truePositives.size() == 2;
    return averageOf(metric.kind, average.value_or(isBinary ? MetricAverage::Binary : MetricAverage::Macro), sums);
  }
  }
}

double Judge::worst() const {
  return smallest ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

void Judge::continueFrom(const std::optional<EvaluationState> &state) {
  known = state;
  if (known && !std::isfinite(known->best))
    known->best = worst();
}

bool Judge::add(uint64_t step, double value) {
  bool isFirst = !known;
  if (isFirst)
    known = {worst(), step, 0, step};
  known->lastStep = step;
  bool isBest = smallest ? value < known->best : value > known->best;
  known->notBetter = isFirst || (isBest && std::abs(value - known->best) > minDelta) ? 0 : known->notBetter + 1;
  if (isBest)
    known->best = value, known->bestStep = step;
  return isBest;
}

} // namespace xlc::runtime
