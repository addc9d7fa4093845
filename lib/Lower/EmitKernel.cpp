// The loops around a kernel's elements, by kind; how they run is the mapping's (Mapping.h).
//
//     all          one element of each result, of which a GPU makes a row
//     1-d domains  positions, each by itself; of columns each reads all rows
//     loop         elements, each by itself
//     rows         for each row: row values once, then elements along the last dimension
//
// Within a row results are computed before any is stored, and row results are stored last: an operand that shares
// memory with a result is read in time.
#include "EmitKernel.h"
#include "ElementRules.h"
#include "Mapping.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xlc/Lower/Lower.h"
#include <numeric>

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

namespace {

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
  KernelLoops(const KernelRequest &request, func::FuncOp code, Mapping &mapping)
      : request(request), kernel(request.kernel), mapping(mapping),
        e(&code.front(), code.getLoc(), mapping, mapping.constantSpace()) {}

  LogicalResult emit() {
    bindOperands();
    exec::KernelKind kind = *exec::findKernelKind(kernel);
    if (llvm::all_of(results, [](const Result &result) { return product(result.shape) == 1; })) {
      int64_t longest = longestReduction();
      return mapping.sharesTotals() && longest > 1 ? emitRows(1, longest) : emitAll();
    }
    ArrayRef<int64_t> domain = results.front().shape;
    if (kind == exec::KernelKind::rows)
      for (graph::ReduceOp reduce : kernel.getOps<graph::ReduceOp>()) {
        ArrayRef<int64_t> reduced = cast<ShapedType>(reduce.getX().getType()).getShape();
        if (reduce.getDimensions() != ArrayRef<int64_t>{(int64_t)reduced.size() - 1})
          continue;
        return emitRows(product(reduced.drop_back()), reduced.back());
      }
    if (domain.size() > 1)
      return emitElements(product(domain.drop_back()), domain.back());
    return emitPositions(domain.front(), kind == exec::KernelKind::columns);
  }

private:
  /// Elements along the longest dimension that one reduces.
  int64_t longestReduction() {
    int64_t longest = 0;
    for (graph::ReduceOp reduce : kernel.getOps<graph::ReduceOp>())
      for (int64_t dimension : reduce.getDimensions())
        longest = std::max(longest, cast<ShapedType>(reduce.getX().getType()).getDimSize(dimension));
    return longest;
  }

  void bindOperands() {
    for (auto bits : kernel.getOps<graph::RandomBitsOp>())
      e.bind(bits, mapping.bindOperand(e, request.memory.size()));
    SmallVector<Memory> memories;
    for (size_t i = 0; i < request.memory.size(); ++i)
      memories.push_back(mapping.bindOperand(e, i));
    auto arguments = kernel.getArguments();
    for (auto [argument, memory] : llvm::zip(arguments, memories))
      e.bind(argument, memory);
    for (auto [i, value] : llvm::enumerate(kernel.front().getTerminator()->getOperands())) {
      Result result{value, memories[arguments.size() + i], {}, cast<ShapedType>(value.getType()).getShape()};
      if (request.accumulates[i])
        result.adds = mapping.bindAdds(e, i);
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
      bool isVector = llvm::any_of(indices, [](const Index &index) { return !index.isUniform(); });
      Value adds = isVector ? e.splat(result.adds, lanes.width) : result.adds;
      Value old = mapping.loadWhere(e, result.adds, result.memory, indices, lanes);
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
    auto storeAll = [&] {
      for (auto [result, at, value] : llvm::zip_equal(which, indices, values))
        store(*result, at, lanes, value);
    };
    lanes.exists ? e.guarded(lanes.exists, storeAll) : storeAll();
  }

  SmallVector<const Result *> pointers() {
    return llvm::map_to_vector(results, [](const Result &result) { return &result; });
  }

  LogicalResult emitAll() {
    SmallVector<Indices> indices;
    for (const Result &result : results)
      indices.push_back(Indices(result.shape.size()));
    mapping.once(e, [&] { evaluateAndStore(pointers(), indices, {}); });
    return success();
  }

  LogicalResult emitPositions(int64_t size, bool columns) {
    mapping.forPositions(e, size, columns,
                         [&](const Index &position, const Lanes &lanes, ValueRange) -> SmallVector<Value> {
                           evaluateAndStore(pointers(), SmallVector<Indices>(results.size(), Indices{position}), lanes);
                           return {};
                         });
    return success();
  }

  /// Results by whether they have an element for each of a row, or for a row.
  LogicalResult sortResults(int64_t rows, int64_t size, SmallVector<const Result *> &perElement,
                            SmallVector<const Result *> &perRow) {
    for (const Result &result : results)
      if (product(result.shape) == rows * size && result.shape.back() == size)
        perElement.push_back(&result);
      else if (product(result.shape) == rows)
        perRow.push_back(&result);
      else
        return kernel.emitError() << "result of shape [" << result.shape << "] fits neither the " << rows
                                  << " rows of the kernel nor their " << size << " elements";
    return success();
  }

  LogicalResult emitElements(int64_t rows, int64_t size) {
    SmallVector<const Result *> perElement, perRow;
    if (failed(sortResults(rows, size, perElement, perRow)))
      return failure();
    if (!perRow.empty())
      return emitRows(rows, size);
    mapping.forElements(e, rows, size, [&](const Index &row, const Index &position, const Lanes &lanes) {
      storeElements(row, position, lanes, perElement);
    });
    return success();
  }

  LogicalResult emitRows(int64_t rows, int64_t size) {
    SmallVector<const Result *> perElement, perRow;
    if (failed(sortResults(rows, size, perElement, perRow)))
      return failure();
    mapping.forRows(e, rows, size, [&](const Index &row) {
      SmallVector<Indices> atRow;
      SmallVector<Value> rowValues;
      for (const Result *result : perRow) {
        atRow.push_back(e.delinearize(row, result->shape, 1));
        rowValues.push_back(e.evaluate(result->value, atRow.back(), {}));
      }
      if (!perElement.empty())
        emitElementsOf(row, size, perElement);
      if (perRow.empty())
        return;
      mapping.separate(e);
      mapping.storeRow(e, [&] {
        for (auto [result, at, value] : llvm::zip_equal(perRow, atRow, rowValues))
          store(*result, at, {}, value);
      });
    });
    return success();
  }

  void emitElementsOf(const Index &row, int64_t size, ArrayRef<const Result *> which) {
    mapping.separate(e);
    mapping.forLanes(e, size, mapping.chooseWidth(size, 1), {},
                     [&](const Index &position, const Lanes &lanes, ValueRange) -> SmallVector<Value> {
                       storeElements(row, position, lanes, which);
                       return {};
                     });
  }

  void storeElements(const Index &row, const Index &position, const Lanes &lanes, ArrayRef<const Result *> which) {
    SmallVector<Indices> indices;
    for (const Result *result : which) {
      indices.push_back(e.delinearize(row, result->shape.drop_back(), 1));
      indices.back().push_back(position);
    }
    evaluateAndStore(which, indices, lanes);
  }

  const KernelRequest &request;
  func::FuncOp kernel;
  Mapping &mapping;
  KernelEmitter e;
  SmallVector<Result> results;
};

} // namespace

LogicalResult lower::emitKernel(ModuleOp target, StringRef name, const KernelRequest &request, Mapping &mapping) {
  func::FuncOp kernel = request.kernel;
  for (Operation &op : kernel.front().without_terminator())
    if (!findElementRule(op.getName().getStringRef()))
      return op.emitError() << "'" << op.getName().getStringRef() << "' has no row in the lowering table, so it "
                            << "cannot stand in a generated kernel";
  for (auto constant : kernel.getOps<graph::ConstantOp>())
    if (!isa<DenseElementsAttr>(constant.getValue()))
      return constant.emitError("the constant's elements are not in the module");
  OpBuilder builder = OpBuilder::atBlockEnd(target.getBody());
  FailureOr<func::FuncOp> code = mapping.createFunction(builder, name, request);
  return failed(code) ? failure() : KernelLoops(request, *code, mapping).emit();
}
