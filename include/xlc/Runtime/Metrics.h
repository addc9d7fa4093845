// The metrics of an evaluation: their names, and the sums over the rows that they are made of. One table for the spec,
// for Import, which adds the sums to the model, and for programs, which compute the metrics from them. Counts are
// integers, so that they are the same in every layout; the loss is a sum in float64.
//
//   loss, perplexity                 loss_sum, targets
//   accuracy, topK                   top_1, top_K: targets whose class is among the K largest logits
//   precision, recall, f1, matthews  true_positives, false_positives, false_negatives: of each class, by largest logit
#ifndef XLC_RUNTIME_METRICS_H
#define XLC_RUNTIME_METRICS_H

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xlc::runtime {

enum class MetricKind : uint8_t { Loss, Perplexity, Accuracy, Top, Precision, Recall, F1, Matthews };
enum class MetricSum : uint8_t { Loss, Top, Classes };

struct MetricRow {
  MetricKind kind;
  std::string_view name; ///< of Top: the part before K
  MetricSum sum;
  bool isBestSmall; ///< smaller values are better
};
inline constexpr MetricRow kMetrics[] = {
    {MetricKind::Loss, "loss", MetricSum::Loss, true},
    {MetricKind::Perplexity, "perplexity", MetricSum::Loss, true},
    {MetricKind::Accuracy, "accuracy", MetricSum::Top, false},
    {MetricKind::Top, "top", MetricSum::Top, false},
    {MetricKind::Precision, "precision", MetricSum::Classes, false},
    {MetricKind::Recall, "recall", MetricSum::Classes, false},
    {MetricKind::F1, "f1", MetricSum::Classes, false},
    {MetricKind::Matthews, "matthews", MetricSum::Classes, false},
};

/// The combination of the values of all classes into one, as scikit-learn defines it: the value of class 1 of two;
/// their mean; the value of the sums over all classes; the mean weighted by the frequency of each class.
enum class MetricAverage : uint8_t { Binary, Macro, Micro, Weighted };
inline constexpr std::string_view kAverages[] = {"binary", "macro", "micro", "weighted"};

/// A requested metric. `k`: the number of largest logits that count, 1 for accuracy; otherwise 0.
struct Metric {
  MetricKind kind;
  uint64_t k = 0;

  const MetricRow &row() const { return kMetrics[(unsigned)kind]; }
  /// The name in the spec: "top5".
  std::string name() const {
    return std::string(row().name) + (kind == MetricKind::Top ? std::to_string(k) : std::string());
  }
  bool operator==(const Metric &) const = default;
};

/// Finds a metric by its name in the spec ("top5").
inline std::optional<Metric> findMetric(std::string_view name) {
  for (const MetricRow &row : kMetrics) {
    if (row.kind != MetricKind::Top && row.name == name)
      return Metric{row.kind, row.kind == MetricKind::Accuracy ? 1u : 0u};
    uint64_t k = 0;
    if (row.kind != MetricKind::Top || !name.starts_with(row.name))
      continue;
    const char *begin = name.data() + row.name.size(), *end = name.data() + name.size();
    if (auto [rest, error] = std::from_chars(begin, end, k); error == std::errc() && rest == end && k > 0)
      return Metric{row.kind, k};
  }
  return std::nullopt;
}

/// The maximum number of classes that are counted separately.
inline constexpr int64_t kMostClasses = 1024;

/// The names of the sums among the results of a program that evaluates.
inline constexpr std::string_view kLossSumResult = "loss_sum", kTargetsResult = "targets";
inline std::string nameOfTop(uint64_t k) { return "top_" + std::to_string(k); }
inline constexpr std::string_view kTruePositives = "true_positives", kFalsePositives = "false_positives",
                                  kFalseNegatives = "false_negatives";

} // namespace xlc::runtime

#endif
