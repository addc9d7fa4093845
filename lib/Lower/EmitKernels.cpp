// Which kernels there are: one function per kernel, memory layout of its operands and set of results that are added to.
// Calls with equal layouts share one.
#include "CpuMapping.h"
#include "EmitKernel.h"
#include "xlc/Lower/Lower.h"
#include <map>

namespace xlc {
#define GEN_PASS_DEF_EMITKERNELSPASS
#include "xlc/Lower/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

namespace {

struct EmitKernelsPass : xlc::impl::EmitKernelsPassBase<EmitKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto code = ModuleOp::create(builder, module.getLoc(), kKernelModule);
    std::map<std::string, StringAttr> emitted; // looked up only
    std::map<StringRef, int> versions;
    WalkResult walk = module.walk([&](exec::CallOp call) {
      auto kernel = symbols.lookup<func::FuncOp>(call.getKernel());
      if (!kernel || !exec::findKernelKind(kernel)) {
        call.emitError() << "no kernel '" << call.getKernel() << "'";
        return WalkResult::interrupt();
      }
      if (exec::findKernelKind(kernel) == exec::KernelKind::library)
        return WalkResult::advance();
      StringAttr &name = emitted[getSpecialisation(call)];
      if (!name) {
        int version = versions[kernel.getName()]++;
        name = builder.getStringAttr(version ? kernel.getName() + "_" + Twine(version) : Twine(kernel.getName()));
        if (failed(emit(code, name, kernel, call)))
          return WalkResult::interrupt();
      }
      call->setAttr(kKernelCode, FlatSymbolRefAttr::get(name));
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }

  /// Emits a copy: flattening changes the kernel.
  LogicalResult emit(ModuleOp code, StringAttr name, func::FuncOp kernel, exec::CallOp call) {
    OwningOpRef<func::FuncOp> copy = kernel.clone();
    KernelRequest request{copy.get(), {}, {}};
    for (Value operand : llvm::concat<Value>(call.getIns(), call.getOuts()))
      request.memory.push_back(cast<MemRefType>(operand.getType()));
    for (int32_t accumulate : call.getAccumulate())
      request.accumulates.push_back(accumulate != 0);
    flattenKernel(request);
    CpuMapping mapping(vectorBytes);
    return emitKernel(code, name, request, mapping);
  }
};

} // namespace

std::string xlc::getSpecialisation(exec::CallOp call) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << call.getKernel();
  for (Value operand : llvm::concat<Value>(call.getIns(), call.getOuts())) {
    auto type = cast<MemRefType>(operand.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    (void)type.getStridesAndOffset(strides, offset);
    llvm::interleaveComma(strides, os << " [");
    os << "]";
  }
  for (int32_t accumulate : call.getAccumulate())
    os << (accumulate ? "+" : "=");
  return key;
}
