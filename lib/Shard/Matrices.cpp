// Finds matrices, the ways to split them, and vocabularies, by their uses.
#include "Matrices.h"
#include "xlc/Dialect/Graph/Signature.h"
#include <numeric>
#include <set>

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

std::vector<Instance> shard::findInstances(func::FuncOp function) {
  DenseSet<StringAttr> repeated = findRepeatedClasses(function);
  std::vector<Instance> instances;
  DenseMap<Attribute, size_t> indexOf;
  for (Operation &op : function.front().without_terminator()) {
    ModelUnitAttr unit = getUnit(&op);
    if (!unit || !repeated.contains(unit.getClassName()))
      continue;
    auto [it, isNew] = indexOf.try_emplace(unit, instances.size());
    if (isNew)
      instances.push_back({unit, {}, {}});
    Instance &instance = instances[it->second];
    instance.ops.push_back(&op);
    if (!isa<ContractOp>(op) || getRole(&op) != Role::F)
      continue;
    for (Value operand : op.getOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand);
      bool isMatrix = argument && Argument(argument).getParameter() && shapeOf(argument).size() == 2;
      if (isMatrix && llvm::none_of(instance.matrices, [&](Matrix &other) { return other.parameter == argument; }))
        instance.matrices.push_back({argument, &op});
    }
  }
  return instances;
}

namespace {

/// Follows a dimension forward from a product to learn how it is cut: into runs by slices, into pieces by reshapes.
class Cuts {
public:
  Cuts(int64_t size, int64_t tp) : size(size), tp(tp) {}

  std::set<std::pair<int64_t, int64_t>> found; ///< runs, and parts of each

  void follow(Value value, int64_t dim, int64_t runs) {
    if (!seen.insert(value).second)
      return;
    for (Operation *user : value.getUsers()) {
      if (getRole(user) != Role::F)
        continue;
      if (auto slice = dyn_cast<SliceOp>(user)) {
        int64_t of = shapeOf(value)[dim], taken = shapeOf(slice.getY())[dim];
        if (of % taken == 0)
          follow(slice.getY(), dim, runs * (of / taken));
      } else if (auto reshape = dyn_cast<ReshapeOp>(user)) {
        cut(value, reshape, dim, runs);
      } else if (auto next = spread(user, {operandNumber(user, value), {dim, 1, 2, false}, tp}); next && !next->isSum) {
        for (auto [result, layout] : llvm::zip(user->getResults(), next->results)) // the rules of factors ask no sizes
          if (layout.isSplit())
            follow(result, layout.dim, runs);
      }
    }
    add(runs, size / runs);
  }

private:
  static unsigned operandNumber(Operation *user, Value value) {
    return llvm::find(user->getOperands(), value) - user->operand_begin();
  }

  /// A dimension that becomes [a, b, ...] can be cut into a pieces, or first into a runs of b pieces.
  void cut(Value value, ReshapeOp reshape, int64_t dim, int64_t runs) {
    ArrayRef<int64_t> from = shapeOf(value), to = shapeOf(reshape.getY());
    int64_t before = std::accumulate(from.begin(), from.begin() + dim, int64_t(1), std::multiplies<int64_t>());
    int64_t begin = 1, inner = runs;
    for (auto [at, length] : llvm::enumerate(to)) {
      if (begin >= before && begin * length <= before * from[dim] && length > 1) {
        if (length == from[dim])
          return follow(reshape.getY(), at, runs);
        add(inner, length);
        inner *= length;
        if (inner >= size || at + 2 >= to.size())
          return;
      }
      begin *= length;
    }
  }

  void add(int64_t runs, int64_t pieces) {
    if (int64_t parts = pieces % tp == 0 ? tp : std::gcd(pieces, tp); parts > 1 && size % (runs * parts) == 0)
      found.insert({runs, parts});
  }

  int64_t size, tp;
  DenseSet<Value> seen;
};

} // namespace

std::vector<Layout> shard::findCandidates(const Matrix &matrix, int64_t tp) {
  auto product = cast<ContractOp>(matrix.reader);
  bool isA = product.getA() == matrix.parameter;
  StringRef letters = isA ? product.getLettersA() : product.getLettersB();
  std::vector<Layout> candidates;
  for (auto [dim, size] : llvm::enumerate(shapeOf(matrix.parameter))) {
    Cuts cuts(size, tp);
    if (size % tp == 0)
      cuts.found.insert({1, tp});
    if (size_t place = product.getLettersY().find(letters[dim]); place != StringRef::npos)
      cuts.follow(product.getY(), place, 1);
    for (auto [runs, parts] : cuts.found)
      candidates.push_back(Layout::split(dim, runs, parts));
  }
  return candidates;
}

//===----------------------------------------------------------------------===//
// Vocabulary
//===----------------------------------------------------------------------===//

/// Whether a value is made of an input of the model by moving elements and element by element.
static bool isFromInput(func::FuncOp function, Value value) {
  SmallVector<Value> work{value};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next); argument && Argument(argument).getInput())
      return true;
    if (Operation *op = next.getDefiningOp(); op && (isMovement(op) || isElementwise(op) || isa<PadOp>(op)))
      llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// The product whose last dimension a cross-entropy scores, and the letter of its classes.
static void findScored(CrossEntropyOp loss, llvm::function_ref<void(ContractOp, int64_t)> visit) {
  SmallVector<std::pair<Value, int64_t>> work{{loss.getLogits(), int64_t(shapeOf(loss.getLogits()).size()) - 1}};
  DenseSet<Value> seen;
  while (!work.empty()) {
    auto [value, dim] = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(value).second)
      continue;
    if (auto product = dyn_cast<ContractOp>(op)) {
      visit(product, dim);
      continue;
    }
    unsigned number = op->getNumOperands() + cast<OpResult>(value).getResultNumber();
    // So many parts that a reshape can only keep the dimension as it is.
    if (auto found = spread(op, {number, {dim, 1, 1 << 30, false}, 1 << 30}))
      for (auto [operand, layout] : llvm::zip(op->getOperands(), found->operands))
        if (layout.isSplit())
          work.push_back({operand, layout.dim});
  }
}

llvm::MapVector<Value, Layout> shard::findVocabularies(func::FuncOp function, int64_t tp, int64_t elements) {
  llvm::MapVector<Value, Layout> tables;
  DenseSet<StringAttr> repeated = findRepeatedClasses(function);
  auto add = [&](Value table, int64_t dim) {
    auto argument = dyn_cast<BlockArgument>(table);
    if (!argument || !Argument(argument).getParameter() || shapeOf(table).size() != 2 ||
        cast<RankedTensorType>(table.getType()).getNumElements() < elements)
      return;
    if (llvm::none_of(table.getUsers(), [&](Operation *user) {
          return getUnit(user) && repeated.contains(getUnit(user).getClassName());
        }))
      tables.insert({table, Layout::split(dim, 1, tp)});
  };
  for (Operation &op : function.front()) {
    if (auto lookup = dyn_cast<GatherOp>(op); lookup && isFromInput(function, lookup.getIndices()))
      add(lookup.getTable(), lookup.getDimension());
    if (auto loss = dyn_cast<CrossEntropyOp>(op))
      findScored(loss, [&](ContractOp product, int64_t dim) {
        char letter = product.getLettersY()[dim];
        for (auto [operand, letters] :
             {std::pair(product.getA(), product.getLettersA()), std::pair(product.getB(), product.getLettersB())})
          if (letters.contains(letter))
            add(operand, letters.find(letter));
      });
  }
  return tables;
}
