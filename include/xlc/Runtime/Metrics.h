// The metrics of an evaluation: their names, and of which sums over the rows they are made. One table for the spec, for
// Import, which writes the sums behind the model, and for programs, which make the numbers of them. Counts are integers,
// so that every layout has the same ones; the loss is a sum in float64.
//
//   loss, perplexity                 loss_sum, targets
//   accuracy, topK                   top_1, top_K: targets whose class is among the K largest logits
//   precision, recall, f1, matthews  true_positives, false_positives, false_negatives: of each class, of the largest logit
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
  std::string_view name; ///< of Top: what stands before K
  MetricSum sum;
  bool isBestSmall; ///< the smallest value is the best
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

/// How numbers of classes become one, as scikit-learn defines it: that of class 1 of two; their mean; that of the sums of
/// all classes; their mean by how often each occurs.
enum class MetricAverage : uint8_t { Binary, Macro, Micro, Weighted };
inline constexpr std::string_view kAverages[] = {"binary", "macro", "micro", "weighted"};

/// A metric that was asked for. `k`: how many of the largest logits count, 1 for accuracy; else 0.
struct Metric {
  MetricKind kind;
  uint64_t k = 0;

  const MetricRow &row() const { return kMetrics[(unsigned)kind]; }
  /// As the spec has it: "top5".
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

/// The most classes that are counted one by one.
inline constexpr int64_t kMostClasses = 1024;

/// The names of the sums, as the results of a program that evaluates have them.
inline constexpr std::string_view kLossSumResult = "loss_sum", kTargetsResult = "targets";
inline std::string nameOfTop(uint64_t k) { return "top_" + std::to_string(k); }
inline constexpr std::string_view kTruePositives = "true_positives", kFalsePositives = "false_positives",
                                  kFalseNegatives = "false_negatives";

} // namespace xlc::runtime

#endif
