// The sections of the report that are about time (Sections.h).
#include "Sections.h"
#include "xlc/Support/Numbers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;
namespace json = llvm::json;

namespace {

/// Boxes below the slots.
std::string drawMessages(ArrayRef<Stretch> stretches) {
  std::string path;
  for (const Stretch &stretch : stretches)
    path += llvm::formatv("M{0} 22h{1}v8h-{1}z", stretch.begin, stretch.length());
  return path;
}

json::Object timelineRow(const DrawnStage &stage, ArrayRef<TimedAction> actions, const PredictedStep &predicted) {
  StageTimeline timeline = makeTimeline(actions, predicted.step);
  json::Array slots;
  int64_t computed = 0;
  auto nameTime = [&](int64_t parts) {
    double time = predicted.step * double(parts) / double(StageTimeline::kParts);
    return predicted.isTime
               ? formatSeconds(time)
               : llvm::formatv("{0:f1} % of the step", 100 * double(parts) / double(StageTimeline::kParts)).str();
  };
  for (const Slot &slot : timeline.slots) {
    computed += slot.length();
    std::string title = nameOf(slot.part).str();
    if (slot.microBatch)
      title += " of micro-batch " + std::to_string(*slot.microBatch);
    slots.push_back(json::Object{{"pass", nameOf(slot.part)},
                                 {"x", slot.begin},
                                 {"width", slot.length()},
                                 {"title", title + ", " + nameTime(slot.length())}});
  }
  return json::Object{
      {"name", stage.first ? "stage " + std::to_string(stage.first->stage) : stage.name},
      {"summary",
       llvm::formatv("computes {0:f1} % of the step", 100 * double(computed) / double(StageTimeline::kParts)).str()},
      {"parts", StageTimeline::kParts},
      {"slots", std::move(slots)},
      {"hidden", drawMessages(timeline.hidden)},
      {"exposed", drawMessages(timeline.exposed)}};
}

json::Array texts(ArrayRef<std::string> values, StringRef key) {
  json::Array array;
  for (const std::string &value : values)
    array.push_back(json::Object{{key, value}});
  return array;
}

/// What a stage's step is made of, by the names of the columns.
llvm::SmallVector<std::pair<std::string, double>> partsOf(const StageTime &time) {
  llvm::SmallVector<std::pair<std::string, double>> parts;
  for (auto [work, seconds] : llvm::enumerate(time.kernels))
    parts.emplace_back(getName(KernelWork(work)).str(), seconds);
  for (auto [stream, messages] : llvm::enumerate(time.messages))
    if (!exec::computes(exec::Stream(stream)) && exec::Stream(stream) != exec::Stream::copy)
      parts.emplace_back(exec::stringifyStream(exec::Stream(stream)).str() + ", exposed", messages.exposed);
  parts.emplace_back("tensor, exposed", time.tensor.exposed);
  parts.emplace_back("waiting", time.waiting);
  parts.emplace_back("step", time.step);
  return parts;
}

} // namespace

json::Object xlc::timelineSection(ArrayRef<DrawnStage> stages, const PredictedStep &predicted, const Spec &spec) {
  json::Array rows, passes;
  for (const DrawnStage &stage : stages)
    rows.push_back(timelineRow(stage, predicted.stages[stage.first->stage], predicted));
  for (size_t part = 0; part < kStepParts; ++part)
    passes.push_back(json::Object{{"pass", nameOf(StepPart(part))}});
  std::string text = predicted.isTime
                         ? "The predicted time of a step on " + spec.device->name + " is " +
                               formatSeconds(predicted.step) + ". The messages of a stage are below its computations."
                         : "The spec has no cluster.device: widths show work, in floating-point "
                           "operations and the bytes of kernels; messages have no width.";
  if (spec.ranks() > 1 && predicted.isTime)
    text += llvm::formatv(" Anything shorter than 1/{0} of the step is not drawn.", StageTimeline::kParts);
  return json::Object{{"title", stages.size() > 1 ? "The pipeline's step" : "The step"},
                      {"text", text},
                      {"isTime", predicted.isTime},
                      {"passes", std::move(passes)},
                      {"stages", std::move(rows)}};
}

json::Object xlc::timesTable(ArrayRef<DrawnStage> stages, const PlanReport &report) {
  std::vector<std::string> names;
  json::Array rows;
  for (const DrawnStage &stage : stages) {
    std::vector<std::string> cells;
    names.clear();
    for (const auto &[name, seconds] : partsOf(stage.first->time)) {
      names.push_back(name);
      cells.push_back(seconds > 0 ? formatSeconds(seconds) : "0");
    }
    rows.push_back(json::Object{{"name", stage.name}, {"cells", texts(cells, "text")}});
  }
  return json::Object{{"caption", "Predicted time of a step on " + report.spec.device->name + ", by kind"},
                      {"columns", texts(names, "name")},
                      {"rows", std::move(rows)}};
}
