// The HTML report: page.html, a Mustache template, filled with the sections of a plan. Names come from untrusted files,
// so the template escapes each of them; only paths of numbers, and the page's own style and script, are inserted
// unescaped.
#include "../DescribePlan.h"
#include "Render.h"
#include "Sections.h"
#include "xlc/Support/Bytes.h"
#include "xlc/Support/Numbers.h"

using namespace mlir;
using namespace xlc;
namespace json = llvm::json;

namespace {

const DrawnStage *findDrawn(ArrayRef<DrawnStage> stages, const GroupReport *group) {
  const DrawnStage *found = &stages.front();
  for (const DrawnStage &stage : stages)
    if (stage.first->stage <= group->stage)
      found = &stage;
  return found;
}

/// Those whose arena is mapped: as many as a printed report shows in full.
std::vector<const DrawnStage *> chooseMapped(const PlanReport &report, ArrayRef<DrawnStage> stages) {
  std::vector<const DrawnStage *> mapped;
  for (const GroupReport *group : listShown(report, /*isVerbose=*/false))
    if (const DrawnStage *stage = findDrawn(stages, group); !llvm::is_contained(mapped, stage))
      mapped.push_back(stage);
  return mapped;
}

json::Array makeFacts(const PlanReport &report) {
  json::Array facts;
  auto add = [&](const std::string &name, const std::string &value, const std::string &note = "") {
    json::Object fact{{"name", name}, {"value", value}};
    if (!note.empty())
      fact["note"] = note;
    facts.push_back(std::move(fact));
  };
  const GroupReport *fullest = findFullest(report);
  add("memory of the fullest rank", formatBytes(fullest->memory.total()),
      report.spec.deviceMemory ? "of " + formatBytes(*report.spec.deviceMemory)
                               : groupDigits(fullest->memory.total()) + " B");
  add("ranks", std::to_string(report.spec.ranks()));
  add("read per rank and step", formatBytes(report.largestTraffic()));
  Quantity flops;
  for (const GroupReport &group : report.groups)
    flops = std::max(flops, group.cost.total().flops);
  add("computed per rank and step", formatFlops(flops));
  if (report.spec.device)
    add("predicted time per step", formatSeconds(fullest->time.step), "on " + report.spec.device->name);
  return facts;
}

json::Array makeNavigation(const PlanReport &report) {
  json::Array sections;
  for (auto [id, name] : {std::pair("memory", "memory"),
                          {"fit", "changes that fit"},
                          {"arena", "arena"},
                          {"buffers", "buffers"},
                          {"time", "time"},
                          {"traffic", "traffic"},
                          {"units", "units"},
                          {"outside", "outside the arena"},
                          {"text", "text"}})
    if (StringRef(id) != "fit" || !report.fits())
      sections.push_back(json::Object{{"id", id}, {"name", name}});
  return sections;
}

std::string printText(const PlanReport &report, StringRef model) {
  std::string text;
  llvm::raw_string_ostream out(text);
  printTable(report, model, /*isVerbose=*/false, out);
  if (!report.fits())
    printChanges(report, out);
  return text;
}

json::Object fillPage(const PlanReport &report, ModuleOp module, const Target &target, StringRef model) {
  std::vector<DrawnStage> stages = drawStages(report, module);
  const DrawnStage &fullest = *findDrawn(stages, findFullest(report));
  json::Object page{{"title", model},
                    {"headline", describePlan(report)},
                    {"many", stages.size() > kFullStages},
                    {"facts", makeFacts(report)},
                    {"sections", makeNavigation(report)},
                    {"memory", memorySection(stages)},
                    {"data", quoteForScript(scriptData(stages))},
                    {"arena", arenaSection(chooseMapped(report, stages))},
                    {"largest", largestSection(fullest)},
                    {"timeline", timelineSection(stages, predictStep(module, report.spec, target), report.spec)},
                    {"traffic", trafficSection(stages)},
                    {"units", unitsSection(fullest)},
                    {"outside", outsideRows(stages)},
                    {"text", printText(report, model)}};
  if (report.spec.deviceMemory)
    page["verdict"] = json::Object{
        {"class", report.fits() ? "good" : "bad"},
        {"text", report.fits() ? "Fits into the device's memory." : "Does not fit into the device's memory."}};
  if (!report.fits())
    page["changes"] = changesSection(report);
  if (report.spec.device)
    page["times"] = timesTable(stages, report);
  return page;
}

} // namespace

void xlc::printHtml(const PlanReport &report, ModuleOp module, const Target &target, StringRef model,
                    raw_ostream &out) {
  render("page.html", fillPage(report, module, target, model), out);
}
