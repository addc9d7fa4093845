// See DropDependencies.h.
#include "DropDependencies.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "xlc/Interpret/Verify.h"
#include "xlc/Memory/Memory.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {

struct DropDependenciesPass : PassWrapper<DropDependenciesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DropDependenciesPass)

  DropDependenciesPass() = default;
  DropDependenciesPass(const DropDependenciesPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "xlc-test-drop-dependencies"; }
  StringRef getDescription() const final { return "forgets each dependency between streams in turn, for tests"; }

  void runOnOperation() final {
    unpartitioned = parseSourceFile<ModuleOp>(reference.getValue(), &getContext());
    if (!unpartitioned)
      return signalPassFailure();
    int64_t dropped = 0, rejected = 0, seen = 0;
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      for (auto action : program.getBody().front().getOps<exec::Action>()) {
        SmallVector<int64_t> after(action.getAfter());
        for (size_t i = 0; i < after.size(); ++i, ++dropped) {
          SmallVector<int64_t> others = after;
          others.erase(others.begin() + i);
          action.setAfter(others);
          rejected += isRejected();
          bool isSeen = isMissed(program.getStage(), after[i]);
          seen += isSeen;
          if (!isSeen && shows)
            action.emitRemark() << "'" << action.getLabel() << "' comes after action " << after[i]
                                << ", which no order misses";
        }
        action.setAfter(after);
      }
    llvm::outs() << "// dependencies " << dropped << ", rejected without " << rejected << ", seen without " << seen
                 << "\n";
  }

private:
  bool isRejected() {
    ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); });
    OpPassManager gate(ModuleOp::getOperationName());
    gate.addPass(createVerifyStreamsPass());
    return failed(runPipeline(gate, getOperation()));
  }

  bool isMissed(int64_t stage, int64_t action) {
    for (int64_t i = 0; i <= orders; ++i) {
      Order order{uint64_t(i), std::nullopt};
      if (i == 0)
        order.delayed = {stage, action};
      if (!isEqualIn(order))
        return true;
    }
    return false;
  }

  bool isEqualIn(const Order &order) {
    ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); });
    VerifyOptions options;
    options.order = order;
    FailureOr<VerifyReport> report = verify({*unpartitioned, getOperation()}, options);
    return succeeded(report) && report->isEqual();
  }

  OwningOpRef<ModuleOp> unpartitioned;
  Option<std::string> reference{*this, "reference", llvm::cl::desc("file with the unpartitioned program")};
  Option<int64_t> orders{*this, "orders", llvm::cl::desc("random orders to try"), llvm::cl::init(20)};
  Option<bool> shows{*this, "show", llvm::cl::desc("a remark for each that no order misses"), llvm::cl::init(false)};
};

} // namespace

void xlc::test::registerDropDependenciesPass() { PassRegistration<DropDependenciesPass>(); }
