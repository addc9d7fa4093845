// See SetMesh.h.
#include "SetMesh.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Dist/Dist.h"

using namespace mlir;
using namespace xlc;

namespace {

struct SetMeshPass : PassWrapper<SetMeshPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SetMeshPass)

  SetMeshPass() = default;
  SetMeshPass(const SetMeshPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "xlc-test-set-mesh"; }
  StringRef getDescription() const final { return "the module's mesh, for tests"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<dist::DistDialect>(); }

  void runOnOperation() final {
    auto complain = [&] { return getOperation().emitError(); };
    auto mesh =
        dist::MeshAttr::getChecked(llvm::function_ref<InFlightDiagnostic()>(complain), &getContext(), pp.getValue(),
                                   dp.getValue(), tp.getValue(), shards ? shards.getValue() : dp.getValue());
    if (!mesh)
      return signalPassFailure();
    getOperation()->setAttr(dist::kMesh, mesh);
  }

  Option<int64_t> pp{*this, "pp", llvm::cl::desc("pipeline stages"), llvm::cl::init(1)};
  Option<int64_t> dp{*this, "dp", llvm::cl::desc("data-parallel ranks"), llvm::cl::init(1)};
  Option<int64_t> tp{*this, "tp", llvm::cl::desc("tensor-parallel ranks"), llvm::cl::init(1)};
  Option<int64_t> shards{*this, "shards", llvm::cl::desc("ranks that share a shard group"), llvm::cl::init(0)};
};

} // namespace

void xlc::test::registerSetMeshPass() { PassRegistration<SetMeshPass>(); }
