// The gate of Lower: the properties of a call that Emit reads are present and belong to that call.
#include "xlc/Lower/Lower.h"

namespace xlc {
#define GEN_PASS_DEF_VERIFYLOWEREDPASS
#include "xlc/Lower/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

struct VerifyLoweredPass : xlc::impl::VerifyLoweredPassBase<VerifyLoweredPass> {
  void runOnOperation() override {
    auto kernels = getOperation().lookupSymbol<ModuleOp>(kKernelModule);
    if (!kernels) {
      getOperation().emitError() << "gate of Lower: there is no module @" << kKernelModule;
      return signalPassFailure();
    }
    SymbolTable symbols(getOperation()), codes(kernels);
    llvm::StringMap<std::string> users; // of each code: what its calls have in common
    WalkResult walk = getOperation().walk([&](exec::CallOp call) {
      return WalkResult(verify(call, symbols.lookup<func::FuncOp>(call.getKernel()), codes, users));
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }

private:
  static LogicalResult verify(exec::CallOp call, func::FuncOp kernel, const SymbolTable &codes,
                              llvm::StringMap<std::string> &users) {
    auto kind = kernel ? exec::findKernelKind(kernel) : std::nullopt;
    if (!kind)
      return call.emitError() << "gate of Lower: '" << call.getKernel() << "' is not a kernel";
    auto name = call->getAttrOfType<FlatSymbolRefAttr>(kKernelCode);
    if (*kind == exec::KernelKind::library)
      return name ? call.emitError() << "gate of Lower: '" << call.getKernel() << "' is a library call, but has code"
                  : success();
    auto code = name ? codes.lookup<func::FuncOp>(name.getValue()) : func::FuncOp();
    if (!code)
      return call.emitError() << "gate of Lower: '" << call.getKernel() << "' has no code";
    bool hasRows = isPositive(code, kKernelExtent) && isPositive(code, kKernelGrain);
    bool hasThreads = isPositive(code, kKernelGrid) && isPositive(code, kKernelBlock);
    if (!hasRows && !hasThreads)
      return call.emitError() << "gate of Lower: the code of '" << call.getKernel()
                              << "' declares neither rows nor threads";
    std::string here = getSpecialisation(call);
    if (users.try_emplace(code.getName(), here).first->second != here)
      return call.emitError() << "gate of Lower: the code of '" << call.getKernel()
                              << "' is also used by a call that requires different code";
    return success();
  }

  static bool isPositive(func::FuncOp code, StringRef attribute) {
    auto number = code->getAttrOfType<IntegerAttr>(attribute);
    return number && number.getInt() > 0;
  }
};

} // namespace
