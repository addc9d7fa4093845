// The loops around a kernel's elements, by kind:
//
//     all          one element of each result
//     1-d domains  positions [begin, end), a vector at a time; columns several vectors at a time, so that each row
//                  read is whole cache lines
//     rows, loop   for each row in [begin, end): row values once, then elements along the last dimension
//
// Within a row results are computed before any is stored, and row results are stored last: an operand that shares
// memory with a result is read in time.
#include "EmitKernel.h"
#include "ElementRules.h"
#include "KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xlc/Lower/Lower.h"
#include <numeric>

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

namespace {

/// Rows a caller may cut a flat loop or a set of columns in; multiples of every vector width in use.
constexpr int64_t flatGrain = 1024, columnGrain = 64;

struct Result {
  Value value;
  Memory memory;
  Value adds; ///< i1: added to what is there; null: never
  ArrayRef<int64_t> shape;
};

int64_t product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
}

class KernelLoops {
public:
  KernelLoops(const KernelRequest &request, func::FuncOp code, int64_t vectorBytes)
      : request(request), kernel(request.kernel), code(code), e(&code.front(), code.getLoc(), vectorBytes) {}

  LogicalResult emit() {
    bindOperands();
    exec::KernelKind kind = *exec::findKernelKind(kernel);
    if (llvm::all_of(results, [](const Result &result) { return product(result.shape) == 1; }))
      return emitAll();
    ArrayRef<int64_t> domain = results.front().shape;
    if (kind == exec::KernelKind::rows)
      for (graph::ReduceOp reduce : kernel.getOps<graph::ReduceOp>()) {
        ArrayRef<int64_t> reduced = cast<ShapedType>(reduce.getX().getType()).getShape();
        if (reduce.getDimensions() != ArrayRef<int64_t>{(int64_t)reduced.size() - 1})
          continue;
        return emitRows(product(reduced.drop_back()), reduced.back());
      }
    if (domain.size() > 1)
      return emitRows(product(domain.drop_back()), domain.back());
    return emitRange(domain.front(), kind == exec::KernelKind::columns);
  }

private:
  void bindOperands() {
    OpBuilder &b = e.builder();
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto at = [&](Value base, Type type, size_t i) -> Value {
      return LLVM::GEPOp::create(b, e.loc(), pointer, type, base, ArrayRef<LLVM::GEPArg>{(int32_t)i});
    };
    auto operand = [&](size_t i) -> Value {
      return LLVM::LoadOp::create(b, e.loc(), pointer, at(code.getArgument(0), pointer, i), 8);
    };
    for (auto bits : kernel.getOps<graph::RandomBitsOp>())
      e.bind(bits, {operand(request.memory.size()), b.getI32Type(), {1}});
    SmallVector<Memory> memories;
    for (auto [i, type] : llvm::enumerate(request.memory)) {
      Memory memory;
      memory.pointer = operand(i);
      memory.element = type.getElementType();
      int64_t offset;
      (void)type.getStridesAndOffset(memory.strides, offset);
      memories.push_back(memory);
    }
    auto arguments = kernel.getArguments();
    for (auto [argument, memory] : llvm::zip(arguments, memories))
      e.bind(argument, memory);
    for (auto [i, value] : llvm::enumerate(kernel.front().getTerminator()->getOperands())) {
      Result result{value, memories[arguments.size() + i], {}, cast<ShapedType>(value.getType()).getShape()};
      if (request.accumulates[i]) {
        Type byte = b.getI8Type();
        Value flag = LLVM::LoadOp::create(b, e.loc(), byte, at(code.getArgument(3), byte, i), 1);
        result.adds = arith::CmpIOp::create(b, e.loc(), arith::CmpIPredicate::ne, flag, e.constant(byte, 0));
      }
      results.push_back(result);
    }
  }

  /// Sixteen bits are added as f32 and rounded once.
  Value add(Value value, Value old, Type element) {
    OpBuilder &b = e.builder();
    if (!isa<FloatType>(element))
      return arith::AddIOp::create(b, e.loc(), value, old);
    if (!graph::isNarrow(element))
      return arith::AddFOp::create(b, e.loc(), value, old);
    auto widen = [&](Value narrow) { return convertElement(e, narrow, b.getF32Type()); };
    return convertElement(e, arith::AddFOp::create(b, e.loc(), widen(value), widen(old)), element);
  }

  /// Stores, or adds to what is there; what is there is read only then.
  void store(const Result &result, ArrayRef<Index> indices, const Lanes &lanes, Value value) {
    if (result.adds) {
      OpBuilder &b = e.builder();
      Lanes adding = lanes;
      bool isVector = llvm::any_of(indices, [](const Index &index) { return !index.isUniform(); });
      Value adds = isVector ? e.splat(result.adds, lanes.width) : result.adds;
      if (isVector)
        adding.mask = lanes.mask ? arith::AndIOp::create(b, e.loc(), lanes.mask, adds).getResult() : adds;
      Value old = e.load(result.memory, indices, adding);
      value = isVector ? e.splat(value, lanes.width) : value;
      value = arith::SelectOp::create(b, e.loc(), adds, add(value, old, result.memory.element), value);
    }
    e.store(result.memory, indices, lanes, value);
  }

  /// Evaluates `which` results, all before the first is stored.
  void evaluateAndStore(ArrayRef<const Result *> which, ArrayRef<Indices> indices, const Lanes &lanes) {
    SmallVector<Value> values;
    for (auto [result, at] : llvm::zip_equal(which, indices))
      values.push_back(e.evaluate(result->value, at, lanes));
    for (auto [result, at, value] : llvm::zip_equal(which, indices, values))
      store(*result, at, lanes, value);
  }

  SmallVector<const Result *> pointers() {
    return llvm::map_to_vector(results, [](const Result &result) { return &result; });
  }

  LogicalResult emitAll() {
    setExtent(1, 1);
    SmallVector<Indices> indices;
    for (const Result &result : results)
      indices.push_back(Indices(result.shape.size()));
    evaluateAndStore(pointers(), indices, {});
    return success();
  }

  Index argument(unsigned i, int64_t multiple) { return {.base = code.getArgument(i), .multiple = multiple}; }

  LogicalResult emitRange(int64_t size, bool columns) {
    int64_t grain = columns ? columnGrain : flatGrain;
    setExtent(size, grain);
    int64_t width = chooseWidth(e, size, columns ? 4 : 1);
    e.loopOverLanes(argument(1, grain), argument(2, 1), width,
                    [&](const Index &position, const Lanes &lanes, ValueRange) -> SmallVector<Value> {
                      evaluateAndStore(pointers(), SmallVector<Indices>(results.size(), Indices{position}), lanes);
                      return {};
                    });
    return success();
  }

  LogicalResult emitRows(int64_t rows, int64_t size) {
    setExtent(rows, 1);
    SmallVector<const Result *> perElement, perRow;
    for (const Result &result : results)
      if (product(result.shape) == rows * size && result.shape.back() == size)
        perElement.push_back(&result);
      else if (product(result.shape) == rows)
        perRow.push_back(&result);
      else
        return kernel.emitError() << "result of shape [" << result.shape << "] fits neither the " << rows
                                  << " rows of the kernel nor their " << size << " elements";
    e.loop(argument(1, 1), argument(2, 1), 1, {}, [&](const Index &row, ValueRange) -> SmallVector<Value> {
      SmallVector<Indices> atRow;
      SmallVector<Value> rowValues;
      for (const Result *result : perRow) {
        atRow.push_back(e.delinearize(row, result->shape, 1));
        rowValues.push_back(e.evaluate(result->value, atRow.back(), {}));
      }
      if (!perElement.empty())
        emitElements(row, size, perElement);
      for (auto [result, at, value] : llvm::zip_equal(perRow, atRow, rowValues))
        store(*result, at, {}, value);
      return {};
    });
    return success();
  }

  void emitElements(const Index &row, int64_t size, ArrayRef<const Result *> which) {
    e.loopOverLanes(size, chooseWidth(e, size, 1), {},
                    [&](const Index &position, const Lanes &lanes, ValueRange) -> SmallVector<Value> {
                      SmallVector<Indices> indices;
                      for (const Result *result : which) {
                        indices.push_back(e.delinearize(row, result->shape.drop_back(), 1));
                        indices.back().push_back(position);
                      }
                      evaluateAndStore(which, indices, lanes);
                      return {};
                    });
  }

  void setExtent(int64_t extent, int64_t grain) {
    code->setAttr(kKernelExtent, e.builder().getI64IntegerAttr(extent));
    code->setAttr(kKernelGrain, e.builder().getI64IntegerAttr(grain));
  }

  const KernelRequest &request;
  func::FuncOp kernel, code;
  KernelEmitter e;
  SmallVector<Result> results;
};

} // namespace

LogicalResult lower::emitKernel(ModuleOp target, StringRef name, const KernelRequest &request, int64_t vectorBytes) {
  func::FuncOp kernel = request.kernel;
  for (Operation &op : kernel.front().without_terminator())
    if (!findElementRule(op.getName().getStringRef()))
      return op.emitError() << "'" << op.getName().getStringRef() << "' has no row in the lowering table, so it "
                            << "cannot stand in a generated kernel";
  for (auto constant : kernel.getOps<graph::ConstantOp>())
    if (!isa<DenseElementsAttr>(constant.getValue()))
      return constant.emitError("the constant's elements are not in the module");
  OpBuilder builder = OpBuilder::atBlockEnd(target.getBody());
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  auto code =
      func::FuncOp::create(builder, kernel.getLoc(), name, builder.getFunctionType({pointer, i64, i64, pointer}, {}));
  builder.setInsertionPointToStart(code.addEntryBlock());
  func::ReturnOp::create(builder, code.getLoc());
  return KernelLoops(request, code, vectorBytes).emit();
}
