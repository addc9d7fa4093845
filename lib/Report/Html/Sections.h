// The sections of the HTML report, each as the data that page.html shows.
#ifndef XLC_LIB_REPORT_HTML_SECTIONS_H
#define XLC_LIB_REPORT_HTML_SECTIONS_H

#include "../PredictStep.h"
#include "Timeline.h"
#include "llvm/Support/JSON.h"

namespace xlc {

/// Consecutive stages that are drawn as one, since their pictures and figures are equal.
struct DrawnStage {
  const GroupReport *first = nullptr;
  std::string name; ///< "stages 1-6, ranks 8-55"
  std::optional<int64_t>
      limit; ///< the part of the device's memory that is left for the arena, where the spec names one
  StagePicture picture;
};

/// All stages of a plan; consecutive stages that are equal are merged.
std::vector<DrawnStage> drawStages(const PlanReport &report, mlir::ModuleOp module);

/// {"bytes": "2.38 MiB", "exact": "2 494 336 B"}
llvm::json::Object describeBytes(Quantity bytes);

/// Memory over the step, all pictures in one scale.
llvm::json::Object memorySection(llvm::ArrayRef<DrawnStage> stages);

/// The picture's numbers for the script: the moments of the columns, and the actions that run at them.
llvm::json::Object scriptData(llvm::ArrayRef<DrawnStage> stages);

llvm::json::Object arenaSection(llvm::ArrayRef<const DrawnStage *> stages);
llvm::json::Object largestSection(const DrawnStage &stage);
llvm::json::Object timelineSection(llvm::ArrayRef<DrawnStage> stages, const PredictedStep &predicted, const Spec &spec);
llvm::json::Object timesTable(llvm::ArrayRef<DrawnStage> stages, const PlanReport &report);
llvm::json::Object trafficSection(llvm::ArrayRef<DrawnStage> stages);
llvm::json::Object unitsSection(const DrawnStage &stage);
llvm::json::Array outsideRows(llvm::ArrayRef<DrawnStage> stages);
llvm::json::Object changesSection(const PlanReport &report);

} // namespace xlc

#endif
