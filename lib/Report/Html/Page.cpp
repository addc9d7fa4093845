// The HTML report: page.html, a Mustache template, filled with the sections of a plan. Names come from strangers' files: the template
// escapes each; only paths of numbers, and the page's own style and script, go in as they are.
#include "../DescribePlan.h"
#include "Sections.h"
#include "xlc/Support/Bytes.h"
#include "xlc/Support/Numbers.h"
#include "llvm/Support/Mustache.h"

using namespace mlir;
using namespace xlc;
namespace json = llvm::json;

namespace {

constexpr char kPage[] = {
#include "page.html.inc"
};
constexpr char kStyle[] = {
#include "page.css.inc"
};
constexpr char kScript[] = {
#include "page.js.inc"
};

StringRef textOf(ArrayRef<char> bytes) { return {bytes.data(), bytes.size()}; }

/// JSON that HTML and XML both take in the middle of a page.
std::string quote(const json::Value &value) {
  std::string text, quoted;
  llvm::raw_string_ostream(text) << value;
  for (char c : text)
    quoted += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : c == '&' ? "\\u0026" : std::string(1, c);
  return quoted;
}

bool isAlike(const GroupReport &a, const GroupReport &b) {
  const MemoryReport &left = a.memory, &right = b.memory;
  auto parts = [](const GroupReport &group) {
    std::array<Quantity, std::tuple_size_v<decltype(Traffic::axes)>> bytes;
    for (auto [sum, axis] : llvm::zip_equal(bytes, group.traffic.axes))
      sum = axis.total();
    return bytes;
  };
  return left.byCause == right.byCause && left.arena == right.arena && left.total() == right.total() &&
         parts(a) == parts(b) && a.cost.total().flops == b.cost.total().flops && a.time.waiting == b.time.waiting;
}

bool isAlike(const StagePicture &a, const StagePicture &b) {
  auto isSame = [](const MemoryColumn &x, const MemoryColumn &y) { return x.byCause == y.byCause && x.part == y.part; };
  return a.moments == b.moments && llvm::equal(a.columns, b.columns, isSame);
}

std::string nameStages(const GroupReport &first, const GroupReport &last, bool hasStages) {
  auto range = [](const char *noun, int64_t from, int64_t until) {
    return std::string(noun) +
           (from == until ? " " + std::to_string(from) : "s " + std::to_string(from) + "-" + std::to_string(until));
  };
  std::string ranks = range("rank", first.ranks.front(), last.ranks.back());
  return hasStages ? range("stage", first.stage, last.stage) + ", " + ranks : ranks;
}

/// Stages that are alike and follow each other are drawn once.
std::vector<DrawnStage> drawStages(const PlanReport &report, ModuleOp module) {
  std::vector<DrawnStage> drawn;
  const GroupReport *last = nullptr;
  for (auto [program, group] : llvm::zip_equal(exec::programsOf(module), report.groups)) {
    StagePicture picture = makePicture(program);
    if (!last || !isAlike(*last, group) || !isAlike(drawn.back().picture, picture))
      drawn.push_back({&group, "", std::move(picture)});
    last = &group;
    drawn.back().name = nameStages(*drawn.back().first, group, report.pp > 1);
  }
  return drawn;
}

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

const GroupReport *findFullest(const PlanReport &report) {
  return &*llvm::max_element(
      report.groups, [](const GroupReport &a, const GroupReport &b) { return a.memory.total() < b.memory.total(); });
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
    add("a step, predicted", formatSeconds(fullest->time.step), "on " + report.spec.device->name);
  return facts;
}

json::Array makeNavigation(const PlanReport &report) {
  json::Array sections;
  for (auto [id, name] : {std::pair("memory", "memory"),
                          {"fit", "what would fit"},
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

/// What the device's memory leaves for the arena.
std::optional<int64_t> limitOf(const PlanReport &report) {
  if (!report.spec.deviceMemory)
    return std::nullopt;
  return *report.spec.deviceMemory - sumOf(findFullest(report)->memory.outside);
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
                    {"style", textOf(kStyle)},
                    {"script", textOf(kScript)},
                    {"facts", makeFacts(report)},
                    {"sections", makeNavigation(report)},
                    {"memory", memorySection(stages, limitOf(report))},
                    {"data", quote(scriptData(stages))},
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
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  llvm::mustache::MustacheContext context(allocator, saver);
  llvm::mustache::Template page(textOf(kPage), context);
  page.render(fillPage(report, module, target, model), out);
}
