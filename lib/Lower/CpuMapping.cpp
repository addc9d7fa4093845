// See CpuMapping.h.
#include "CpuMapping.h"
#include "EmitKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "xlc/Lower/Lower.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

namespace {

/// Rows a caller may cut a flat loop or a set of columns in; multiples of every vector width in use.
constexpr int64_t flatGrain = 1024, columnGrain = 64;

/// Elements that are computed at once where random bits are drawn, in registers: four of them share a counter.
constexpr int64_t kDrawnRegisters = 4;

/// Neighbours of `position`, a vector of them where there are several.
Index lanesAt(Index position, int64_t width) {
  position.stride = width == 1 ? 0 : 1;
  return position;
}

/// Loads element `i` of an array of the caller's.
Value loadEntry(KernelEmitter &e, Value array, Type type, size_t i, unsigned alignment) {
  OpBuilder &b = e.builder();
  Value at = LLVM::GEPOp::create(b, e.loc(), array.getType(), type, array, ArrayRef<LLVM::GEPArg>{(int32_t)i});
  return LLVM::LoadOp::create(b, e.loc(), type, at, alignment);
}

} // namespace

FailureOr<func::FuncOp> CpuFrame::createFunction(OpBuilder &builder, StringRef name, const KernelRequest &asked) {
  request = &asked;
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  func::FuncOp kernel = asked.kernel;
  code =
      func::FuncOp::create(builder, kernel.getLoc(), name, builder.getFunctionType({pointer, i64, i64, pointer}, {}));
  builder.setInsertionPointToStart(code.addEntryBlock());
  func::ReturnOp::create(builder, code.getLoc());
  return code;
}

Memory CpuFrame::bindOperand(KernelEmitter &e, size_t i) {
  auto pointer = LLVM::LLVMPointerType::get(code.getContext());
  Value operand = loadEntry(e, code.getArgument(0), pointer, i, 8);
  Memory memory{operand, request->memory[i].getElementType(), {}};
  int64_t offset;
  [[maybe_unused]] LogicalResult strided = request->memory[i].getStridesAndOffset(memory.strides, offset);
  assert(succeeded(strided) && "the verifier of exec.view takes no other memory");
  return memory;
}

Value CpuFrame::bindAdds(KernelEmitter &e, size_t i) {
  Type byte = e.builder().getI8Type();
  Value flag = loadEntry(e, code.getArgument(3), byte, i, 1);
  return arith::CmpIOp::create(e.builder(), e.loc(), arith::CmpIPredicate::ne, flag, e.constant(byte, 0));
}

Value CpuFrame::loadWhere(KernelEmitter &e, Value condition, const Memory &memory, ArrayRef<Index> indices,
                          const Lanes &lanes) {
  Lanes existing = lanes;
  if (!llvm::all_of(indices, [](const Index &index) { return index.isUniform(); })) {
    existing.mask = e.splat(condition, lanes.width);
    if (lanes.mask)
      existing.mask = arith::AndIOp::create(e.builder(), e.loc(), lanes.mask, existing.mask);
  }
  return e.load(memory, indices, existing);
}

void CpuFrame::setExtent(int64_t extent, int64_t grain) {
  OpBuilder builder(code.getContext());
  code->setAttr(kKernelExtent, builder.getI64IntegerAttr(extent));
  code->setAttr(kKernelGrain, builder.getI64IntegerAttr(grain));
}

void CpuMapping::once(KernelEmitter &e, llvm::function_ref<void()> body) {
  function.setExtent(1, 1);
  body();
}

bool CpuFrame::draws() const {
  func::FuncOp kernel = request->kernel;
  return !kernel.getOps<graph::RandomBitsOp>().empty();
}

void CpuMapping::forPositions(KernelEmitter &e, int64_t size, LaneBody body) {
  function.setExtent(size, flatGrain);
  forRange(e, function.begin(flatGrain), function.end(), chooseWidth(size, 1), body);
}

void CpuMapping::forColumns(KernelEmitter &e, ArrayRef<int64_t> sizes, int64_t, ColumnBody body) {
  assert(sizes.size() == 1 && "KernelLoops refuses several lengths where totals are not shared");
  function.setExtent(sizes.front(), columnGrain);
  // Several vectors at a time, so that each row read is whole cache lines.
  forRange(e, function.begin(columnGrain), function.end(), chooseWidth(sizes.front(), 4),
           [&](const Index &position, const Lanes &lanes, ValueRange) -> Values {
             body(sizes.front(), position, lanes);
             return {};
           });
}

void CpuMapping::forElements(KernelEmitter &e, int64_t rows, int64_t size, ElementBody body) {
  int64_t registers = function.draws() ? kDrawnRegisters : 1;
  forRows(e, rows, size, [&](const Index &row) {
    forLanes(e, size, chooseWidth(size, registers), {},
             [&](const Index &position, const Lanes &lanes, ValueRange) -> Values {
               body(row, position, lanes);
               return {};
             });
  });
}

void CpuMapping::forRows(KernelEmitter &e, int64_t rows, int64_t size, RowBody body) {
  function.setExtent(rows, 1);
  e.loop(function.begin(1), function.end(), 1, {}, [&](const Index &row, ValueRange) -> Values {
    body(row);
    return {};
  });
}

Mapping::Values CpuMapping::forLanes(KernelEmitter &e, int64_t size, int64_t width, ValueRange carried, LaneBody body) {
  int64_t full = size / width * width;
  Values values = llvm::to_vector_of<Value>(carried);
  if (full > 0)
    values =
        e.loop(e.constantIndex(0), e.constantIndex(full), width, values, [&](const Index &position, ValueRange inner) {
          return body(lanesAt(position, width), {.width = width}, inner);
        });
  if (full == size)
    return values;
  Lanes lanes{.width = width, .mask = e.constantMask(width, size - full)};
  return body(lanesAt(e.constantIndex(full), width), lanes, values);
}

void CpuMapping::forRange(KernelEmitter &e, const Index &from, const Index &to, int64_t width, LaneBody body) {
  Index length = e.add(to, e.multiply(from, -1, 1), 1);
  Index full = e.add(from, e.multiply(e.divide(length, width, 1), width, 1), 1);
  full.multiple = width;
  Index begin = from;
  begin.multiple = width;
  e.loop(begin, full, width, {},
         [&](const Index &position, ValueRange) { return body(lanesAt(position, width), {.width = width}, {}); });
  if (width == 1)
    return;
  // At most one turn: the elements that do not fill a vector.
  e.loop(full, to, width, {}, [&](const Index &position, ValueRange) {
    Index rest = e.add(to, e.multiply(position, -1, 1), 1);
    Value iota = e.vectorOf(Index{.stride = 1}, width), end = e.splat(e.scalarOf(rest), width);
    Lanes lanes{.width = width, .depth = e.currentDepth()};
    lanes.mask = arith::CmpIOp::create(e.builder(), e.loc(), arith::CmpIPredicate::slt, iota, end);
    return body(lanesAt(position, width), lanes, {});
  });
}

int64_t CpuMapping::chooseWidth(int64_t size, int64_t registers) const {
  int64_t width = registerBytes / 4 * registers;
  while (width > 1 && width / 2 >= size)
    width /= 2;
  return width;
}
