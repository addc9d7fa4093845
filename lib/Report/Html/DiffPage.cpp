// The HTML page of `xlc diff`: diff.html, with memory over the step of both plans.
#include "../DescribePlan.h"
#include "Render.h"
#include "Sections.h"
#include "xlc/Report/Diff.h"
#include "xlc/Support/Bytes.h"

using namespace mlir;
using namespace xlc;
namespace json = llvm::json;

namespace {

json::Object describe(const NamedPlan &plan) {
  json::Object described{
      {"name", plan.name}, {"headline", describePlan(plan.report)}, {"total", formatBytes(plan.report.largestTotal())}};
  if (plan.report.spec.deviceMemory)
    described["verdict"] = plan.report.fits() ? "fits" : "does not fit";
  return described;
}

} // namespace

void xlc::printDiffHtml(const NamedPlan &a, const NamedPlan &b, StringRef model, raw_ostream &out) {
  std::vector<DrawnStage> stages;
  for (const NamedPlan *plan : {&a, &b})
    for (DrawnStage &stage : drawStages(plan->report, plan->module)) {
      stage.name = plan->name + ": " + stage.name;
      stages.push_back(std::move(stage));
    }
  json::Array rows;
  std::vector<Difference> differences = findDifferences(a.report, b.report);
  for (const Difference &each : differences)
    rows.push_back(json::Object{{"key", each.key}, {"a", each.a}, {"b", each.b}, {"change", each.change}});
  render("diff.html",
         json::Object{{"title", (model + ": " + a.name + " and " + b.name).str()},
                      {"many", stages.size() > kFullStages},
                      {"plans", json::Array{describe(a), describe(b)}},
                      {"text", differences.empty() ? "Nothing differs." : "Figures that differ; all others are equal."},
                      {"rows", std::move(rows)},
                      {"memory", memorySection(stages)},
                      {"data", quoteForScript(scriptData(stages))}},
         out);
}
