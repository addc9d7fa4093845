// --xlc-print-grid: prints a pipeline schedule in the form that tests and documents show.
#include "xlc/Pipeline/Pipeline.h"
#include "xlc/Schedule/Schedule.h"

namespace xlc {
#define GEN_PASS_DEF_PRINTGRIDPASS
#include "xlc/Schedule/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

struct PrintGridPass : xlc::impl::PrintGridPassBase<PrintGridPass> {
  using PrintGridPassBase::PrintGridPassBase;

  void runOnOperation() override {
    const PipelineSchedule *known = findPipelineSchedule(schedule);
    PipelineShape shape{pp, chunks, microBatches};
    std::optional<std::string> misfit =
        known ? findMisfit(*known, shape) : "there is no schedule '" + schedule.getValue() + "'";
    if (misfit) {
      getOperation().emitError() << *misfit;
      return signalPassFailure();
    }
    SmallVector<StringRef> lines;
    std::string grid = printGrid(*known, shape, makeOrder(*known, shape));
    StringRef(grid).split(lines, '\n', -1, false);
    for (StringRef line : lines)
      llvm::outs() << "// " << line << "\n";
  }
};

} // namespace
