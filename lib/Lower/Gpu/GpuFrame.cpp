// The function of a kernel on a GPU. See GpuMapping.h.
#include "../EmitKernel.h"
#include "GpuMapping.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "xlc/Kernels/Kernels.h"
#include "xlc/Lower/Lower.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

namespace {

/// Of one access.
constexpr int64_t kAccessBytes = 16;
/// Each lane of erf, a choice of polynomials, takes more registers than eight of them leave.
constexpr int64_t kMostLanes = 8, kMostLanesOfErf = 4;

} // namespace

FailureOr<func::FuncOp> GpuFrame::createFunction(OpBuilder &builder, StringRef name, const KernelRequest &asked) {
  request = &asked;
  func::FuncOp kernel = asked.kernel;
  if (failed(verifyGpuKernel(kernel)))
    return failure();
  if (asked.accumulates.size() > kMostAdded && llvm::is_contained(asked.accumulates, true))
    return kernel.emitError() << "programs for GPUs do not support kernels with more than " << kMostAdded
                              << " accumulated results";
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), constantSpace());
  SmallVector<Type> parameters(asked.memory.size(), pointer);
  if (llvm::is_contained(asked.accumulates, true))
    parameters.push_back(builder.getI32Type());
  movesLanes = llvm::any_of(kernel.front(), [](Operation &op) { return !keepsNeighbours(op); });
  mostLanes = kernel.getOps<graph::ErfOp>().empty() ? kMostLanes : kMostLanesOfErf;
  code = func::FuncOp::create(builder, kernel.getLoc(), name, builder.getFunctionType(parameters, {}));
  builder.setInsertionPointToStart(code.addEntryBlock());
  func::ReturnOp::create(builder, code.getLoc());
  return code;
}

Memory GpuFrame::bindOperand(KernelEmitter &e, size_t i) {
  Value address = code.getArgument(i);
  Memory memory{address, request->memory[i].getElementType(), {}, request->alignments[i]};
  int64_t offset;
  [[maybe_unused]] LogicalResult strided = request->memory[i].getStridesAndOffset(memory.strides, offset);
  assert(succeeded(strided) && "the verifier of exec.view takes no other memory");
  return memory;
}

Value GpuFrame::bindAdds(KernelEmitter &e, size_t i) {
  OpBuilder &b = e.builder();
  Value flags = code.getArguments().back();
  Value bit = arith::AndIOp::create(b, e.loc(), flags, e.constant(b.getI32Type(), double(int64_t(1) << i)));
  return arith::CmpIOp::create(b, e.loc(), arith::CmpIPredicate::ne, bit, e.constant(b.getI32Type(), 0));
}

Value GpuFrame::loadWhere(KernelEmitter &e, Value condition, const Memory &memory, ArrayRef<Index> indices,
                          const Lanes &lanes) {
  return e.chosen(condition, [&] { return e.load(memory, indices, lanes); });
}

unsigned GpuFrame::constantSpace() const { return grid::globalSpace(); }

void GpuFrame::setLaunch(int64_t blocks, int64_t blockThreads) {
  OpBuilder builder(code.getContext());
  code->setAttr(kKernelGrid, builder.getI64IntegerAttr(blocks));
  code->setAttr(kKernelBlock, builder.getI64IntegerAttr(blockThreads));
}

int64_t GpuFrame::chooseWidth(int64_t size) const {
  int64_t width = 1;
  for (MemRefType memory : request->memory)
    if (memory.getRank() > 0 && memory.getShape().back() > 1)
      width = std::max<int64_t>(width, kAccessBytes / graph::getByteSize(memory.getElementType(), 1));
  width = std::min(width, mostLanes);
  while (width > 1 && (movesLanes || (size % width != 0 && !areRowsAligned(size, width))))
    width /= 2;
  return width;
}

bool GpuFrame::areRowsAligned(int64_t size, int64_t width) const {
  bool has = false;
  for (MemRefType memory : request->memory) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (memory.getRank() < 2 || memory.getShape().back() != size || failed(memory.getStridesAndOffset(strides, offset)))
      continue;
    has = true;
    if (llvm::any_of(ArrayRef(strides).drop_back(), [&](int64_t stride) { return stride % width != 0; }))
      return false;
  }
  return has;
}

Value GpuFrame::sharedSlots(KernelEmitter &e, Type type, int64_t count) {
  std::string name = (code.getName() + "_shared" + Twine(slots++)).str();
  return grid::sharedArray(e, code, name, type, count);
}
