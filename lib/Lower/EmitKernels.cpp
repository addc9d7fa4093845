// Selects the kernels to emit: one function per kernel, memory layout of its operands and set of results that are added
// to. Calls with equal layouts share a function.
#include "CpuMapping.h"
#include "EmitKernel.h"
#include "Gpu/GpuMapping.h"
#include "Gpu/Intrinsics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xlc/Lower/Lower.h"
#include <map>
#include <numeric>

namespace xlc {
#define GEN_PASS_DEF_EMITKERNELSPASS
#define GEN_PASS_DEF_EMITGPUKERNELSPASS
#include "xlc/Lower/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

namespace {

/// Of an address that a view's offset is added to: places in the arena are aligned better than any access is.
int64_t alignmentOf(Value operand) {
  constexpr int64_t places = 16;
  auto view = operand.getDefiningOp<exec::ViewOp>();
  int64_t bytes = graph::getByteSize(cast<MemRefType>(operand.getType()).getElementType(), 1);
  return view ? std::gcd(places, int64_t(view.getOffset()) * bytes) : places;
}

/// Emits a copy: flattening changes the kernel.
LogicalResult emitCopy(ModuleOp code, StringAttr name, func::FuncOp kernel, exec::CallOp call, Mapping &mapping) {
  OwningOpRef<func::FuncOp> copy = kernel.clone();
  KernelRequest request{copy.get(), {}, {}, {}};
  for (Value operand : llvm::concat<Value>(call.getIns(), call.getOuts())) {
    request.memory.push_back(cast<MemRefType>(operand.getType()));
    request.alignments.push_back(alignmentOf(operand));
  }
  for (int32_t accumulate : call.getAccumulate())
    request.accumulates.push_back(accumulate != 0);
  flattenKernel(request);
  return emitKernel(code, name, request, mapping);
}

using MakeMapping = llvm::function_ref<std::unique_ptr<Mapping>()>;
using Specialise = llvm::function_ref<std::string(exec::CallOp)>;

/// The module @kernels, with the code that every call of a generated kernel then names.
LogicalResult emitKernels(ModuleOp module, MakeMapping makeMapping, Specialise specialise) {
  SymbolTable symbols(module);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto code = ModuleOp::create(builder, module.getLoc(), kKernelModule);
  std::map<std::string, StringAttr> emitted; // looked up only
  std::map<StringRef, int> versions;
  WalkResult walk = module.walk([&](exec::CallOp call) {
    auto kernel = symbols.lookup<func::FuncOp>(call.getKernel());
    if (!kernel || !exec::findKernelKind(kernel)) {
      call.emitError() << "kernel '" << call.getKernel() << "' does not exist";
      return WalkResult::interrupt();
    }
    if (exec::findKernelKind(kernel) == exec::KernelKind::library)
      return WalkResult::advance();
    StringAttr &name = emitted[specialise(call)];
    if (!name) {
      int version = versions[kernel.getName()]++;
      name = builder.getStringAttr(version ? kernel.getName() + "_" + Twine(version) : Twine(kernel.getName()));
      if (failed(emitCopy(code, name, kernel, call, *makeMapping())))
        return WalkResult::interrupt();
    }
    call->setAttr(kKernelCode, FlatSymbolRefAttr::get(name));
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

struct EmitKernelsPass : xlc::impl::EmitKernelsPassBase<EmitKernelsPass> {
  using Base::Base;
  void runOnOperation() override {
    auto makeMapping = [&] { return std::make_unique<CpuMapping>(vectorBytes); };
    if (failed(emitKernels(getOperation(), makeMapping, getSpecialisation)))
      signalPassFailure();
  }
};

struct EmitGpuKernelsPass : xlc::impl::EmitGpuKernelsPassBase<EmitGpuKernelsPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    EmitGpuKernelsPassBase::getDependentDialects(registry);
    grid::registerDialect(registry);
  }
  void runOnOperation() override {
    auto specialise = [](exec::CallOp call) {
      std::string key = getSpecialisation(call);
      for (Value operand : llvm::concat<Value>(call.getIns(), call.getOuts()))
        key += " " + std::to_string(alignmentOf(operand));
      return key;
    };
    auto makeMapping = [] { return std::make_unique<GpuMapping>(); };
    if (failed(emitKernels(getOperation(), makeMapping, specialise)) ||
        failed(grid::verifySharedMemory(getOperation().lookupSymbol<ModuleOp>(kKernelModule))))
      signalPassFailure();
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
