// xlc-opt: every pass and every dialect of xlc behind mlir-opt's command line, for tests; and test/lib's passes. Passes ask the
// target that --xlc-target=NAME[:CHIP] gives as the first option, else the CPU at hand.
#include "DropDependencies/DropDependencies.h"
#include "PlantFault/PlantFault.h"
#include "SetMesh/SetMesh.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "xlc/DataParallel/DataParallel.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Dialect/Sched/Sched.h"
#include "xlc/Differentiate/Differentiate.h"
#include "xlc/Interpret/Passes.h"
#include "xlc/Kernels/Kernels.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Memory/Memory.h"
#include "xlc/Precision/Precision.h"
#include "xlc/Raise/Raise.h"
#include "xlc/Schedule/Schedule.h"
#include "xlc/Shard/Shard.h"
#include "xlc/Stage/Stage.h"
#include "xlc/Target/Targets.h"
#include "xlc/Units/Units.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

/// Of the first option, which is taken out where it names one; null where there is no such target.
static std::unique_ptr<xlc::Target> takeTarget(int &argc, char **&argv) {
  llvm::StringRef name = xlc::kTargetFacts[0].name, chip, first = argc > 1 ? argv[1] : "";
  if (first.consume_front("--xlc-target=")) {
    argv[1] = argv[0];
    --argc, ++argv;
    std::tie(name, chip) = first.split(':');
  }
  const xlc::TargetRow *row = xlc::findTarget(name);
  return row ? row->make(chip.empty() ? row->listChips().front() : chip.str()) : nullptr;
}

int main(int argc, char **argv) {
  std::unique_ptr<xlc::Target> target = takeTarget(argc, argv);
  if (!target) {
    llvm::errs() << "xlc-opt: error: --xlc-target must be one of " << llvm::join(xlc::listTargets(), ", ")
                 << ", optionally with :CHIP\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, xlc::graph::GraphDialect, xlc::dist::DistDialect, xlc::sched::SchedDialect,
                  xlc::exec::ExecDialect>();
  mlir::registerTransformsPasses();
  xlc::registerLowerDialects(registry);
  xlc::registerRaisePasses();
  xlc::registerUnitsPasses();
  xlc::registerDifferentiatePasses();
  xlc::registerShardPasses();
  xlc::registerPrecisionPasses(*target);
  xlc::registerStagePasses();
  xlc::registerDataParallelPasses();
  xlc::registerSchedulePasses();
  xlc::registerKernelsPasses(*target);
  xlc::registerMemoryPasses(*target);
  xlc::interpret::registerInterpretPasses();
  xlc::registerLowerPasses();
  xlc::test::registerDropDependenciesPass();
  xlc::test::registerPlantFaultPass();
  xlc::test::registerSetMeshPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "xlc optimizer driver\n", registry));
}
