// The pass list of the phase.
//
// Shapes are folded before anything is recognised, so that patterns match contractions without the exporter's wrappers.
// Units come last: they copy constants into each unit, which CSE would merge again.
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "xlc/Import/Passes.h"
#include "xlc/Raise/Raise.h"
#include "xlc/Units/Units.h"

using namespace mlir;
using namespace xlc;

void xlc::buildImportPipeline(OpPassManager &manager, bool raise, bool cutsBlocks) {
  OpPassManager &forward = manager.nest<func::FuncOp>();
  forward.addPass(createCSEPass());
  forward.addPass(createFoldShapesPass());
  if (raise) {
    forward.addPass(createRaiseAttentionPass());
    forward.addPass(createSettleRowsPass());
    forward.addPass(createRaiseNormsPass());
    forward.addPass(createRaiseGeluPass());
    forward.addPass(createRaiseSiluPass());
    forward.addPass(createFoldShapesPass());
  } else {
    forward.addPass(createSettleRowsPass());
    forward.addPass(createDecomposeNamedOpsPass());
  }
  forward.addPass(createCSEPass());
  forward.addPass(createAssignUnitsPass({.blocks = cutsBlocks}));
}
