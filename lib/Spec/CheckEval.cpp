// Checks the evaluations of a spec: that the metrics exist, and that the keys that depend on them are complete.
#include "CrossChecks.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace xlc::spec {
namespace {

using runtime::Metric;
using runtime::MetricSum;

std::string listMetrics() {
  std::string list;
  for (const runtime::MetricRow &row : runtime::kMetrics)
    list += (list.empty() ? "" : ", ") + std::string(row.name) + (row.kind == runtime::MetricKind::Top ? "K" : "");
  return list;
}

/// From names to metrics; the loss is always one of them.
void resolveMetrics(const Spec &spec, EvalSpec &eval, SpecErrors &errors) {
  eval.metrics = {*runtime::findMetric("loss")};
  for (const auto &[i, name] : enumerate(eval.names)) {
    std::optional<Metric> metric = runtime::findMetric(name);
    if (!metric) {
      errors.error(spec.where("eval.metrics"), "eval.metrics has " + quote(name) + ", which is not a metric");
      errors.note({}, "the metrics are " + listMetrics());
    } else if (is_contained(ArrayRef(eval.names).take_front(i), name)) {
      errors.error(spec.where("eval.metrics"), "eval.metrics has " + quote(name) + " twice");
    } else if (!is_contained(eval.metrics, *metric)) {
      eval.metrics.push_back(*metric);
    }
  }
}

void checkAverage(const Spec &spec, const EvalSpec &eval, SpecErrors &errors) {
  auto isAveraged = [](const Metric &metric) {
    return metric.row().sum == MetricSum::Classes && metric.kind != runtime::MetricKind::Matthews;
  };
  if (!eval.average || any_of(eval.metrics, isAveraged))
    return;
  errors.error(spec.where("eval.average"),
               "eval.average applies to precision, recall and f1; eval.metrics has none of them");
}

/// Best and stop need evaluations while the run goes on, and a metric that these have.
void checkJudged(const Spec &spec, StringRef key, SpecErrors &errors) {
  const EvalSpec &eval = *spec.eval;
  if (!eval.everySteps && !eval.everyEpoch) {
    errors.error(spec.where(key), key + " has no effect without eval.every");
    errors.note({}, "for example eval.every: 500, or eval.every: epoch");
  }
}

/// Each is written to a file of its name.
void checkOutputs(const Spec &spec, const EvalSpec &eval, SpecErrors &errors) {
  for (const auto &[i, name] : enumerate(eval.outputs))
    if (is_contained(ArrayRef(eval.outputs).take_front(i), name))
      errors.error(spec.where("eval.outputs"), "eval.outputs has " + quote(name) + " twice");
    else if (name.empty() || StringRef(name).contains('/') || name == "." || name == "..")
      errors.error(spec.where("eval.outputs"), "eval.outputs has " + quote(name) +
                                                   ", which cannot be a file name: export the model with "
                                                   "another name for this output");
}

void checkBest(const Spec &spec, SpecErrors &errors) {
  const EvalSpec &eval = *spec.eval;
  checkJudged(spec, "eval.best", errors);
  auto isJudged = [&](const Metric &metric) { return metric.name() == eval.best->metric; };
  if (none_of(eval.metrics, isJudged)) {
    errors.error(spec.where("eval.best.metric"),
                 "eval.best.metric is " + quote(eval.best->metric) + ", which is not among eval.metrics");
    noteIfGiven(spec, "eval.metrics", "eval.metrics is given here", errors);
  }
  if (!isGiven(spec, "checkpoint")) {
    errors.error(spec.where("eval.best"), "eval.best keeps the best checkpoint, but no checkpoints are written");
    errors.note({}, "for example checkpoint: {dir: checkpoints}");
  }
}

} // namespace

void checkEval(Spec &spec, SpecErrors &errors) {
  if (!isGiven(spec, "eval"))
    return;
  if (!spec.eval)
    spec.eval.emplace();
  EvalSpec &eval = *spec.eval;
  resolveMetrics(spec, eval, errors);
  checkAverage(spec, eval, errors);
  checkOutputs(spec, eval, errors);
  if (isGiven(spec, "eval.best") && !eval.best)
    eval.best.emplace();
  if (isGiven(spec, "eval.stop") && !eval.stop)
    eval.stop.emplace();
  if (eval.best)
    checkBest(spec, errors);
  if (eval.stop)
    checkJudged(spec, "eval.stop", errors);
}

} // namespace xlc::spec
