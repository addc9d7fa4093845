// xlc-opt: every pass and every dialect of xlc behind mlir-opt's command line, for tests; and test/lib's passes.
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

int main(int argc, char **argv) {
  std::unique_ptr<xlc::Target> target = xlc::getTargets().front().make("native"); // passes ask it
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, xlc::graph::GraphDialect, xlc::dist::DistDialect, xlc::sched::SchedDialect,
                  xlc::exec::ExecDialect>();
  mlir::registerTransformsPasses();
  xlc::registerLowerDialects(registry);
  xlc::registerRaisePasses();
  xlc::registerUnitsPasses();
  xlc::registerDifferentiatePasses();
  xlc::registerShardPasses();
  xlc::registerPrecisionPasses();
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
