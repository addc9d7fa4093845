// See Intrinsics.h.
#include "Intrinsics.h"
#include "../ElementRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Lower/GpuAssembly.h"
#include "xlc/Support/Diagnostics.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

namespace {

Value toI64(KernelEmitter &e, Value value) {
  return arith::ExtUIOp::create(e.builder(), e.loc(), e.builder().getI64Type(), value);
}

/// One word of 32 bits from another thread of the warp.
Value exchangeWord(KernelEmitter &e, Value word, int64_t distance) {
  auto number = [&](int64_t value) { return e.constant(e.builder().getI32Type(), double(value)); };
  return NVVM::ShflOp::create(e.builder(), e.loc(), word.getType(), number(-1), word, number(distance), number(31),
                              NVVM::ShflKind::bfly, UnitAttr());
}

/// Whether LLVM has the op on a GPU, or ApproximateMath writes it out.
bool hasCode(Operation &op) {
  if (isa<graph::AtanOp>(op))
    return false;
  if (!isRoutine(op.getName().getStringRef()) || isa<graph::SqrtOp, graph::LogOp>(op))
    return true;
  if (auto pow = dyn_cast<graph::PowOp>(op))
    return !needsLibraryPower(pow);
  return getElementTypeOrSelf(op.getResult(0).getType()).isF32();
}

} // namespace

LogicalResult lower::verifyGpuKernel(func::FuncOp kernel) {
  for (Operation &op : kernel.front().without_terminator())
    if (!hasCode(op))
      return blame(Fault::User, op.emitError()) << "programs for GPUs do not support '" << op.getName().getStringRef()
                                                << "' of " << getElementTypeOrSelf(op.getResult(0).getType()) << " yet";
  return success();
}

bool lower::keepsNeighbours(Operation &op) {
  if (auto slice = dyn_cast<graph::SliceOp>(op))
    return slice.getStrides().empty() || slice.getStrides().back() == 1;
  if (auto transpose = dyn_cast<graph::TransposeOp>(op))
    return transpose.getPermutation().empty() ||
           transpose.getPermutation().back() == (int64_t)transpose.getPermutation().size() - 1;
  return !isa<graph::ConcatOp, graph::PadOp>(op) && !isa<graph::GatherElementsOp>(op);
}

/// Two at a time, the first in the lower half. Assembly, since code of bf16 for the simulated grid would call functions that are
/// not there.
Value grid::roundToBf16(KernelEmitter &e, Value value) {
  OpBuilder &b = e.builder();
  auto assembly = [&](Type type, ValueRange operands, StringRef text, StringRef constraints) -> Value {
    return LLVM::InlineAsmOp::create(b, e.loc(), type, operands, text, constraints, /*has_side_effects=*/false,
                                     /*is_align_stack=*/false, LLVM::TailCallKind::None, LLVM::AsmDialectAttr(),
                                     ArrayAttr())
        .getResult(0);
  };
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return assembly(b.getI16Type(), value, kRoundOne, "=h,f");
  int64_t width = vector.getNumElements();
  Value words = vector::BroadcastOp::create(b, e.loc(), VectorType::get({width / 2}, b.getI32Type()),
                                            e.constant(b.getI32Type(), 0));
  for (int64_t i = 0; i < width; i += 2) {
    Value low = vector::ExtractOp::create(b, e.loc(), value, ArrayRef<int64_t>{i});
    Value high = vector::ExtractOp::create(b, e.loc(), value, ArrayRef<int64_t>{i + 1});
    Value word = assembly(b.getI32Type(), {high, low}, kRoundTwo, "=r,f,f");
    words = vector::InsertOp::create(b, e.loc(), word, words, ArrayRef<int64_t>{i / 2});
  }
  return vector::BitCastOp::create(b, e.loc(), VectorType::get({width}, b.getI16Type()), words);
}

Value grid::block(KernelEmitter &e) {
  return toI64(e, NVVM::BlockIdXOp::create(e.builder(), e.loc(), e.builder().getI32Type()));
}

Value grid::threadOfBlock(KernelEmitter &e) {
  return toI64(e, NVVM::ThreadIdXOp::create(e.builder(), e.loc(), e.builder().getI32Type()));
}

Value grid::globalThread(KernelEmitter &e, int64_t threads) {
  Value first = arith::MulIOp::create(e.builder(), e.loc(), block(e), e.integer(threads));
  return arith::AddIOp::create(e.builder(), e.loc(), first, threadOfBlock(e));
}

Value grid::quotient(KernelEmitter &e, Value value, int64_t divisor) {
  return arith::DivUIOp::create(e.builder(), e.loc(), value, e.integer(divisor));
}

Value grid::remainder(KernelEmitter &e, Value value, int64_t divisor) {
  return arith::RemUIOp::create(e.builder(), e.loc(), value, e.integer(divisor));
}

Value grid::isBelow(KernelEmitter &e, Value value, int64_t bound) {
  return arith::CmpIOp::create(e.builder(), e.loc(), arith::CmpIPredicate::ult, value, e.integer(bound));
}

Value grid::isNot(KernelEmitter &e, Value condition) {
  return arith::XOrIOp::create(e.builder(), e.loc(), condition, e.constant(e.builder().getI1Type(), 1));
}

Value grid::exchange(KernelEmitter &e, Value value, int64_t distance) {
  OpBuilder &b = e.builder();
  Type type = value.getType(), word = b.getI32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 32)
    return exchangeWord(e, value, distance);
  Type integer = b.getIntegerType(bits);
  Value raw = type == integer ? value : arith::BitcastOp::create(b, e.loc(), integer, value).getResult();
  if (bits < 32) {
    raw = exchangeWord(e, arith::ExtUIOp::create(b, e.loc(), word, raw), distance);
    raw = arith::TruncIOp::create(b, e.loc(), integer, raw);
  } else {
    auto shifted = [&](Value high) { return arith::ShLIOp::create(b, e.loc(), high, e.integer(32)); };
    Value low = arith::TruncIOp::create(b, e.loc(), word, raw);
    Value high = arith::TruncIOp::create(b, e.loc(), word, arith::ShRUIOp::create(b, e.loc(), raw, e.integer(32)));
    low = toI64(e, exchangeWord(e, low, distance)), high = toI64(e, exchangeWord(e, high, distance));
    raw = arith::OrIOp::create(b, e.loc(), shifted(high), low);
  }
  return type == integer ? raw : arith::BitcastOp::create(b, e.loc(), type, raw).getResult();
}

void grid::registerDialect(DialectRegistry &registry) {
  registry.insert<NVVM::NVVMDialect>();
  registerNVVMDialectTranslation(registry);
}

void grid::meetBlock(KernelEmitter &e) { NVVM::Barrier0Op::create(e.builder(), e.loc()); }

void grid::meetWarp(KernelEmitter &e) {
  NVVM::SyncWarpOp::create(e.builder(), e.loc(), e.constant(e.builder().getI32Type(), -1));
}

unsigned grid::globalSpace() { return (unsigned)NVVM::NVVMMemorySpace::Global; }

Value grid::sharedArray(KernelEmitter &e, func::FuncOp code, StringRef name, Type type, int64_t count) {
  OpBuilder &b = e.builder();
  auto array = LLVM::LLVMArrayType::get(type, count);
  unsigned space = (unsigned)NVVM::NVVMMemorySpace::Shared;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(code);
    auto global = LLVM::GlobalOp::create(b, e.loc(), array, /*isConstant=*/false, LLVM::Linkage::Internal, name,
                                         /*value=*/Attribute(), /*alignment=*/16, space);
    b.createBlock(&global.getInitializerRegion());
    LLVM::ReturnOp::create(b, e.loc(), LLVM::UndefOp::create(b, e.loc(), array).getResult());
  }
  return LLVM::AddressOfOp::create(b, e.loc(), LLVM::LLVMPointerType::get(b.getContext(), space), name);
}

LogicalResult grid::verifySharedMemory(ModuleOp kernels) {
  // What all devices give arrays that are declared (CUDA C++ Programming Guide, "Compute Capabilities").
  constexpr int64_t most = 48 << 10;
  SymbolTable symbols(kernels);
  for (auto kernel : kernels.getOps<func::FuncOp>()) {
    llvm::SmallPtrSet<Operation *, 8> arrays;
    kernel.walk([&](LLVM::AddressOfOp at) {
      if (auto global = symbols.lookup<LLVM::GlobalOp>(at.getGlobalName());
          global && global.getAddrSpace() == (unsigned)NVVM::NVVMMemorySpace::Shared)
        arrays.insert(global);
    });
    int64_t bytes = 0;
    for (Operation *array : arrays) {
      auto type = cast<LLVM::LLVMArrayType>(cast<LLVM::GlobalOp>(array).getGlobalType());
      bytes += graph::getByteSize(type.getElementType(), int64_t(type.getNumElements()));
    }
    if (bytes > most)
      return kernel.emitError() << "kernel '" << kernel.getName() << "' needs " << bytes
                                << " bytes of shared memory, but a GPU provides at most " << most;
  }
  return success();
}
