// The rows below `eval`, of the table in Keys.cpp.
#include "Keys.h"

using namespace llvm;

namespace xlc::spec {
namespace {

constexpr Range evalCounts = {.low = 1};

EvalSpec &evalOf(Spec &spec) { return spec.eval ? *spec.eval : spec.eval.emplace(); }
EvalSpec::Best &bestOf(Spec &spec) {
  std::optional<EvalSpec::Best> &best = evalOf(spec).best;
  return best ? *best : best.emplace();
}
EvalSpec::Stop &stopOf(Spec &spec) {
  std::optional<EvalSpec::Stop> &stop = evalOf(spec).stop;
  return stop ? *stop : stop.emplace();
}

// clang-format off
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): only for want of memory
const Key evalRows[] = {
  {"eval", Kind::Section, any, "", "",
   "Evaluation on the rows of `data.validation`, each of them once: [Evaluation.md](Evaluation.md). The model runs in "
   "inference mode: no dropout, and batch norms use their running averages.", nullptr},
  {"eval.every", Kind::IntegerOrChoice, evalCounts, "epoch", "only with `--eval`",
   "Steps between evaluations, or `epoch`: after each epoch of the training data.",
   [](Spec &s, const Value &v) {
     if (v.text == "epoch")
       evalOf(s).everyEpoch = true;
     else
       evalOf(s).everySteps = v.integer;
   }},
  {"eval.metrics", Kind::NameList, any, "", "[loss]",
   "Reported metrics: `loss`, `perplexity`, `accuracy`, `topK` (top5: the label is among the 5 largest logits), "
   "`precision`, `recall`, `f1`, `matthews`. All but the first two require a cross-entropy; they are computed from its "
   "logits and labels.",
   [](Spec &s, const Value &v) { evalOf(s).names = v.texts; }},
  {"eval.average", Kind::Choice, any, "binary|macro|micro|weighted", "`binary` for two classes, else `macro`",
   "precision, recall, f1: the average over classes, as defined by scikit-learn.",
   [](Spec &s, const Value &v) {
     for (auto [i, name] : enumerate(runtime::kAverages))
       if (v.text == name)
         evalOf(s).average = runtime::MetricAverage(i);
   }},
  {"eval.best", Kind::Section, any, "", "",
   "The checkpoint of the best evaluation is kept in addition to those of `checkpoint.keep`.", nullptr},
  {"eval.best.metric", Kind::Text, any, "", "loss", "The metric that determines the best evaluation.",
   [](Spec &s, const Value &v) { bestOf(s).metric = v.text; }},
  {"eval.best.mode", Kind::Choice, any, "min|max", "`min` for loss and perplexity, else `max`",
   "Whether the smallest or the largest value is the best.",
   [](Spec &s, const Value &v) { bestOf(s).isSmallest = v.text == "min"; }},
  {"eval.stop", Kind::Section, any, "", "",
   "Ends the run, with exit code 0, when evaluations stop improving.", nullptr},
  {"eval.stop.patience", Kind::Integer, evalCounts, "", "1",
   "The run ends after this number of consecutive evaluations without an improvement of `eval.best.metric`.",
   [](Spec &s, const Value &v) { stopOf(s).patience = v.integer; }},
  {"eval.stop.min_delta", Kind::Number, notNegative, "", "0", "Smallest improvement that counts.",
   [](Spec &s, const Value &v) { stopOf(s).minDelta = v.number; }},
  {"eval.outputs", Kind::NameList, any, "", "none",
   "Outputs of the model that have a row for each sample, for `./train --predict` and `--generate`.",
   [](Spec &s, const Value &v) { evalOf(s).outputs = v.texts; }},
};
// clang-format on

} // namespace

ArrayRef<Key> evalKeys() { return evalRows; }

} // namespace xlc::spec
