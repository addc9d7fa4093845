// The loops around a kernel's elements, by kind; the mapping determines how they run (Mapping.h).
//
//     all          one element of each result; a GPU treats it as a row
//     1-d domains  independent positions
//     loop         independent elements
//     rows         for each row: row values once, then elements along the last dimension; a sum of columns over chunks
//                  of rows visits the rows of a chunk one after the other, with its partial sums in registers
//     columns      independent positions; the positions of results of another length follow
//
// Within a row all results are computed before any is stored, and row results are stored last, so an operand that
// shares memory with a result is read before it is overwritten.
#include "EmitKernel.h"
#include "ElementRules.h"
#include "KernelResults.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xlc/Lower/Lower.h"
#include "llvm/ADT/MapVector.h"
#include <numeric>

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

namespace {

/// Results of a kernel over rows, by what they have an element for.
struct RowResults {
  SmallVector<const Result *> perElement, perRow;
  SmallVector<const Result *> perColumn; ///< of each chunk of rows: [chunks, columns]
};

ArrayRef<int64_t> shapeOf(Value value) { return cast<ShapedType>(value.getType()).getShape(); }

int64_t product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
}

class KernelLoops {
public:
  KernelLoops(const KernelRequest &request, func::FuncOp code, Mapping &mapping)
      : request(request), kernel(request.kernel), mapping(mapping),
        e(&code.front(), code.getLoc(), mapping, mapping.frame().constantSpace()), stores(e, mapping) {}

  LogicalResult emit() {
    bindOperands();
    assert(exec::findKernelKind(kernel) && "FormKernels has marked each kernel with its execution");
    exec::KernelKind kind = *exec::findKernelKind(kernel);
    if (llvm::all_of(results, [](const Result &result) { return product(result.shape) == 1; })) {
      int64_t longest = longestReduction();
      return mapping.sharesTotals() && longest > 1 ? emitRows(1, longest) : emitAll();
    }
    auto hasFewer = [](const Result &a, const Result &b) { return product(a.shape) < product(b.shape); };
    ArrayRef<int64_t> domain = std::max_element(results.begin(), results.end(), hasFewer)->shape;
    if (kind == exec::KernelKind::rows)
      for (graph::ReduceOp reduce : kernel.getOps<graph::ReduceOp>())
        if (reduce.isOverRow()) {
          ArrayRef<int64_t> reduced = shapeOf(reduce.getX());
          return emitRows(product(reduced.drop_back()), reduced.back());
        }
    if (domain.size() > 1)
      return emitElements(product(domain.drop_back()), domain.back());
    return kind == exec::KernelKind::columns ? emitColumns() : emitPositions(domain.front());
  }

private:
  /// Elements along the longest dimension that one reduces.
  int64_t longestReduction() {
    int64_t longest = 0;
    for (graph::ReduceOp reduce : kernel.getOps<graph::ReduceOp>())
      for (int64_t dimension : reduce.getDimensions())
        longest = std::max(longest, shapeOf(reduce.getX())[dimension]);
    return longest;
  }

  void bindOperands() {
    SmallVector<Memory> memories;
    for (size_t i = 0; i < request.memory.size(); ++i)
      memories.push_back(mapping.frame().bindOperand(e, i));
    auto arguments = kernel.getArguments();
    assert(memories.size() == arguments.size() + request.accumulates.size() &&
           "a request has the memory of all arguments, then of all results");
    for (auto [argument, memory] : llvm::zip(arguments, memories))
      e.bind(argument, memory);
    for (auto [i, value] : llvm::enumerate(kernel.front().getTerminator()->getOperands())) {
      Result result{value, memories[arguments.size() + i], {}, shapeOf(value)};
      if (request.accumulates[i])
        result.adds = mapping.frame().bindAdds(e, i);
      results.push_back(result);
    }
  }

  SmallVector<const Result *> pointers() {
    return llvm::map_to_vector(results, [](const Result &result) { return &result; });
  }

  LogicalResult emitAll() {
    SmallVector<Indices> indices;
    for (const Result &result : results)
      indices.push_back(Indices(result.shape.size()));
    mapping.once(e, [&] { stores.evaluateAndStore(pointers(), indices, {}); });
    return success();
  }

  void storePositions(const Index &position, const Lanes &lanes, Results which) {
    stores.evaluateAndStore(which, SmallVector<Indices>(which.size(), Indices{position}), lanes);
  }

  LogicalResult emitPositions(int64_t size) {
    mapping.forPositions(e, size, [&](const Index &position, const Lanes &lanes, ValueRange) -> SmallVector<Value> {
      storePositions(position, lanes, pointers());
      return {};
    });
    return success();
  }

  LogicalResult emitColumns() {
    llvm::MapVector<int64_t, SmallVector<const Result *>> bySize;
    for (const Result &result : results)
      bySize[result.shape.front()].push_back(&result);
    if (bySize.size() > 1 && !mapping.sharesTotals())
      return kernel.emitError("a kernel with columns of several lengths requires a GPU");
    auto sizes = llvm::map_to_vector(bySize, [](const auto &each) { return each.first; });
    mapping.forColumns(e, sizes, longestReduction(), [&](int64_t size, const Index &position, const Lanes &lanes) {
      storePositions(position, lanes, bySize[size]);
    });
    return success();
  }

  FailureOr<RowResults> sortResults(int64_t rows, int64_t size) {
    RowResults sorted;
    bool isOverRows = exec::findKernelKind(kernel) == exec::KernelKind::rows;
    for (const Result &result : results)
      if (product(result.shape) == rows * size && result.shape.back() == size)
        sorted.perElement.push_back(&result);
      else if (isOverRows && findChunkSum(result) && rows % result.shape.front() == 0 && result.shape.back() == size)
        sorted.perColumn.push_back(&result);
      else if (product(result.shape) == rows)
        sorted.perRow.push_back(&result);
      else
        return kernel.emitError() << "result of shape [" << result.shape << "] has neither one element for each of the "
                                  << rows << " rows of the kernel, nor the " << size << " elements of each row";
    return sorted;
  }

  LogicalResult emitElements(int64_t rows, int64_t size) {
    FailureOr<RowResults> sorted = sortResults(rows, size);
    if (failed(sorted))
      return failure();
    if (!sorted->perRow.empty() || !sorted->perColumn.empty())
      return emitRows(rows, size);
    mapping.forElements(e, rows, size, [&](const Index &row, const Index &position, const Lanes &lanes) {
      storeElements(row, position, lanes, sorted->perElement);
    });
    return success();
  }

  LogicalResult emitRows(int64_t rows, int64_t size) {
    FailureOr<RowResults> sorted = sortResults(rows, size);
    if (failed(sorted))
      return failure();
    if (!sorted->perColumn.empty())
      return emitChunks(rows, size, *sorted);
    mapping.forRows(e, rows, size, [&](const Index &row) { emitRow(row, size, *sorted, {}); });
    return success();
  }

  /// A row's values, then its elements. Gives `sums` with what the row adds to its columns.
  SmallVector<Value> emitRow(const Index &row, int64_t size, const RowResults &which, ValueRange sums) {
    SmallVector<Indices> atRow;
    SmallVector<Value> rowValues;
    for (const Result *result : which.perRow) {
      atRow.push_back(e.delinearize(row, result->shape, 1));
      rowValues.push_back(e.evaluate(result->value, atRow.back(), {}));
    }
    SmallVector<Value> added = ColumnSums(e, mapping, size, which.perColumn).add(row, sums);
    if (!which.perElement.empty())
      emitElementsOf(row, size, which.perElement);
    if (!which.perRow.empty() || which.perElement.empty())
      mapping.separate(e); // elements begin so: the next row's stand behind one
    if (!which.perRow.empty())
      mapping.storeRow(e, [&] {
        for (auto [result, at, value] : llvm::zip_equal(which.perRow, atRow, rowValues))
          stores.store(*result, at, {}, value);
      });
    return added;
  }

  /// Each worker has one chunk's rows, one after the other, and keeps the sums of those columns whose elements it has of
  /// each row.
  LogicalResult emitChunks(int64_t rows, int64_t size, const RowResults &which) {
    int64_t chunks = which.perColumn.front()->shape.front(), perChunk = rows / chunks;
    if (llvm::any_of(which.perColumn, [&](const Result *sum) { return sum->shape.front() != chunks; }))
      return kernel.emitError("all column sums of a kernel must have the same number of chunks");
    if (!mapping.keepsRow(size))
      return kernel.emitError() << "column sums over rows of " << size << " elements exceed the row buffer";
    mapping.forRows(e, chunks, size, [&](const Index &chunk) {
      ColumnSums columns(e, mapping, size, which.perColumn);
      SmallVector<Value> sums = columns.begin();
      sums = e.loop(e.constantIndex(0), e.constantIndex(perChunk), 1, sums, [&](const Index &i, ValueRange carried) {
        SmallVector<Value> added;
        mapping.withinRow(e, [&] {
          Index row = e.add(e.multiply(chunk, perChunk, 1), i, 1);
          readRow(row, rows, size, columns);
          added = emitRow(row, size, which, carried);
        });
        return added;
      });
      columns.store(chunk, sums, stores);
    });
    return success();
  }

  /// Reads all that there is of a row at once: few workers wait for memory together.
  void readRow(const Index &row, int64_t rows, int64_t size, ColumnSums &columns) {
    columns.forKept([&](const Index &position, const Lanes &lanes) {
      for (BlockArgument argument : kernel.getArguments()) {
        ArrayRef<int64_t> shape = shapeOf(argument);
        if (product(shape) != rows * size || shape.back() != size)
          continue;
        Indices at = e.delinearize(row, shape.drop_back(), 1);
        at.push_back(position);
        (void)e.evaluate(argument, at, lanes);
      }
    });
  }

  void emitElementsOf(const Index &row, int64_t size, Results which) {
    mapping.separate(e);
    mapping.forLanes(e, size, mapping.chooseWidth(size, 1), {},
                     [&](const Index &position, const Lanes &lanes, ValueRange) -> SmallVector<Value> {
                       storeElements(row, position, lanes, which);
                       return {};
                     });
  }

  void storeElements(const Index &row, const Index &position, const Lanes &lanes, Results which) {
    SmallVector<Indices> indices;
    for (const Result *result : which) {
      indices.push_back(e.delinearize(row, result->shape.drop_back(), 1));
      indices.back().push_back(position);
    }
    SmallVector<Value> values = stores.evaluateAll(which, indices, lanes);
    if (lanes.exists)
      mapping.separate(e); // who repeats an element has read it where its own thread stores
    stores.storeAll(which, indices, lanes, values);
  }

  const KernelRequest &request;
  func::FuncOp kernel;
  Mapping &mapping;
  KernelEmitter e;
  ResultStores stores;
  SmallVector<Result> results;
};

} // namespace

LogicalResult lower::emitKernel(ModuleOp target, StringRef name, const KernelRequest &request, Mapping &mapping) {
  func::FuncOp kernel = request.kernel;
  for (Operation &op : kernel.front().without_terminator())
    if (!findElementRule(op.getName().getStringRef()))
      return op.emitError() << "'" << op.getName().getStringRef() << "' has no row in the lowering table, so it "
                            << "cannot be part of a generated kernel";
  for (auto constant : kernel.getOps<graph::ConstantOp>())
    if (!isa<DenseElementsAttr>(constant.getValue()))
      return constant.emitError("the constant's elements are not in the module");
  OpBuilder builder = OpBuilder::atBlockEnd(target.getBody());
  FailureOr<func::FuncOp> code = mapping.frame().createFunction(builder, name, request);
  return failed(code) ? failure() : KernelLoops(request, *code, mapping).emit();
}
