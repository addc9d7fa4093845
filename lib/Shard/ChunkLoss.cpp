// Computes the head's product, its loss and the backward of both in chunks of rows, so that the logits of all rows
// never exist at once. The rows are split once, at the operand of the product; from there the ops are repeated, with
// fewer rows each:
//
//     rows i ── contract ── cross_entropy ── cross_entropy_backward ─┬─ contract ──> rows i of dx, a piece of a concat
//               with w            │                                  └─ contract ──> added to the gradient of w
//                                 └──> added to the sum and the count
//
// All of it runs in backward: gradients are added where backward adds them, and forward keeps the operand of the
// product.
#include "mlir/IR/IRMapping.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Shard/Shard.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace xlc {
#define GEN_PASS_DEF_CHUNKLOSSPASS
#include "xlc/Shard/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

/// The ops between the rows that enter a product and what leaves them, of one loss. A value of theirs has the loss's row
/// dimensions first, or none.
class Head {
public:
  explicit Head(CrossEntropyOp loss) : loss(loss), rowShape(typeOf(loss.getLabels()).getShape()) {}

  /// Fails where an op has no rows to cut; `obstacle` then says which and why.
  LogicalResult find();
  void chunk(func::FuncOp function, int64_t rowsPerChunk);

  int64_t countRows() const { return ShapedType::getNumElements(rowShape); }

  std::string obstacle;

private:
  using Names = DenseMap<Value, Value>; ///< of a whole value to that of some rows

  LogicalResult refuse(Operation *op, StringRef why) {
    StringRef name = getSourceName(op).empty() ? op->getName().getStringRef() : getSourceName(op);
    obstacle = llvm::formatv("'{0}' {1}", name, why);
    return failure();
  }
  LogicalResult findBackward();
  LogicalResult collectBack(Value value);
  LogicalResult collectProduct(ContractOp product);
  LogicalResult collectAhead(Value gradient);
  LogicalResult collectGradient(ContractOp product, Value gradient);
  LogicalResult checkReaders();
  LogicalResult findFollowers();
  LogicalResult findLate();

  Value cut(Value value, int64_t from, int64_t rows);
  void repeat(Operation *op, Names &names, int64_t from, int64_t rows);
  void give(func::FuncOp function, Value total, ArrayRef<Names> chunks);
  Value join(Value piece, ArrayRef<Names> chunks);

  template <typename OpTy, typename... Args> OpTy create(Location loc, Args &&...args) {
    OpTy op = OpTy::create(*builder, loc, std::forward<Args>(args)...);
    adopt(op);
    return op;
  }
  void adopt(Operation *op) const {
    if (ModelUnitAttr unit = getUnit(loss))
      op->setAttr(kUnit, unit);
    op->setAttr(kRole, RoleAttr::get(op->getContext(), Role::I));
  }

  CrossEntropyOp loss;
  CrossEntropyBackwardOp backward;
  SmallVector<int64_t> rowShape;
  llvm::SetVector<Operation *> members;       ///< what is repeated
  DenseMap<Operation *, std::string> letters; ///< of the rows, in each product
  llvm::SetVector<Value> sources;             ///< rows that members read and do not make
  llvm::SetVector<Value> pieces, totals;      ///< what others read of members: rows, and sums over rows
  SmallVector<Operation *> followers;         ///< forward's ops behind the sum and the count
  llvm::SetVector<Operation *> late;          ///< backward's ops that members read
  Names flat;
  std::optional<OpBuilder> builder;
};

LogicalResult Head::find() {
  totals.insert(loss.getSum());
  totals.insert(loss.getCount());
  if (failed(findBackward()) || failed(collectBack(loss.getLogits())) || failed(collectBack(backward.getLogits())))
    return failure();
  members.insert(loss);
  members.insert(backward);
  sources.insert(loss.getLabels());
  sources.insert(backward.getLabels());
  if (failed(collectAhead(backward.getDlogits())) || failed(checkReaders()) || failed(findFollowers()))
    return failure();
  return findLate();
}

LogicalResult Head::findBackward() {
  for (Operation *user : loss.getLse().getUsers())
    if (auto found = dyn_cast<CrossEntropyBackwardOp>(user); found && !backward)
      backward = found;
    else
      return refuse(user, "reads the log-sum-exp of the loss");
  return backward ? success() : refuse(loss, "has no gradient");
}

/// What lies between the product and the loss: element by element, with what has no rows repeated for each.
LogicalResult Head::collectBack(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return refuse(loss, "reads an input of the model");
  if (members.contains(op))
    return success();
  if (auto product = dyn_cast<ContractOp>(op)) {
    if (failed(collectProduct(product)))
      return failure();
  } else if (auto constant = dyn_cast<ConstantOp>(op)) {
    if (!constant.getValue().isSplat())
      return refuse(op, "differs from row to row");
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    // Of the dimensions before those of the row one may be there: a number that is the same for all rows.
    RankedTensorType x = typeOf(broadcast.getX());
    int64_t before = x.getRank() + (int64_t)rowShape.size() - typeOf(value).getRank();
    if (before > 1 || (before == 1 && x.getDimSize(0) != 1))
      return refuse(op, "repeats rows");
  } else if (op->hasTrait<Elementwise>()) {
    for (Value operand : op->getOperands())
      if (failed(collectBack(operand)))
        return failure();
  } else {
    return refuse(op, "is between the last product and the loss, but is not elementwise");
  }
  members.insert(op);
  return success();
}

LogicalResult Head::collectProduct(ContractOp product) {
  StringRef rows = product.getLettersY().take_front(rowShape.size());
  bool isA = product.getLettersA().starts_with(rows);
  StringRef matrix = isA ? product.getLettersB() : product.getLettersA();
  if ((!isA && !product.getLettersB().starts_with(rows)) || matrix.find_first_of(rows) != StringRef::npos)
    return refuse(product, "does not multiply rows by a matrix");
  letters[product] = rows.str();
  sources.insert(isA ? product.getA() : product.getB());
  return success();
}

/// From the gradient of the logits to the products that it enters.
LogicalResult Head::collectAhead(Value gradient) {
  SmallVector<int64_t> rowDimensions = llvm::to_vector(llvm::seq<int64_t>(0, rowShape.size()));
  for (Operation *user : gradient.getUsers()) {
    if (members.contains(user))
      continue;
    if (auto product = dyn_cast<ContractOp>(user)) {
      if (failed(collectGradient(product, gradient)))
        return failure();
    } else if (auto reduce = dyn_cast<ReduceOp>(user)) {
      if (reduce.getKind() != Reduction::sum || reduce.getDimensions() != ArrayRef<int64_t>(rowDimensions))
        return refuse(reduce, "does not sum over all rows");
      totals.insert(reduce.getY());
    } else if (user->hasTrait<Elementwise>()) {
      for (Value operand : user->getOperands())
        if (operand != gradient && failed(collectBack(operand)))
          return failure();
      if (failed(collectAhead(user->getResult(0))))
        return failure();
    } else {
      return refuse(user, "reads the gradient of the logits, but is not a product, a sum or an elementwise op");
    }
    members.insert(user);
  }
  return success();
}

/// Over rows that begin both operands, a sum; else rows of the result.
LogicalResult Head::collectGradient(ContractOp product, Value gradient) {
  bool isA = product.getA() == gradient;
  StringRef mine = isA ? product.getLettersA() : product.getLettersB();
  StringRef others = isA ? product.getLettersB() : product.getLettersA(), rows = mine.take_front(rowShape.size());
  Value other = isA ? product.getB() : product.getA();
  if (product.getLettersY().starts_with(rows) && others.find_first_of(rows) == StringRef::npos)
    pieces.insert(product.getY());
  else if (others.starts_with(rows) && product.getLettersY().find_first_of(rows) == StringRef::npos &&
           other != gradient)
    totals.insert(product.getY()), sources.insert(other);
  else
    return refuse(product, "does not have the row dimensions of the logits as its first dimensions");
  letters[product] = rows.str();
  return success();
}

/// Whether nobody else reads what will not exist as a whole.
LogicalResult Head::checkReaders() {
  for (Operation *op : members)
    for (Value result : op->getResults())
      for (Operation *user : result.getUsers())
        if (!pieces.contains(result) && !totals.contains(result) && !members.contains(user))
          return refuse(user, "also reads the logits");
  return success();
}

/// What forward makes of the sum and the count is made behind them, in backward.
LogicalResult Head::findFollowers() {
  DenseSet<Operation *> behind{loss};
  for (Operation *op = loss->getNextNode(); op && op != backward; op = op->getNextNode()) {
    bool follows = llvm::any_of(op->getOperands(), [&](Value x) { return behind.contains(x.getDefiningOp()); });
    if (!follows || members.contains(op))
      continue;
    if (getRole(op) != Role::F || getUnit(op) != getUnit(loss))
      return refuse(op, "reads the loss in backward or in another unit");
    behind.insert(op);
    followers.push_back(op);
  }
  return success();
}

/// Backward's ops that members read, and what those read: all are to stand before the chunks.
LogicalResult Head::findLate() {
  SmallVector<Value> work;
  for (Operation *op : members)
    llvm::append_range(work, op->getOperands());
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || members.contains(op))
      continue;
    bool follows = llvm::is_contained(followers, op);
    if (follows || llvm::any_of(op->getOperands(), [&](Value x) { return members.contains(x.getDefiningOp()); }))
      return refuse(op, "depends on one part of the loss and is used by another");
    if (backward->isBeforeInBlock(op) && late.insert(op))
      llvm::append_range(work, op->getOperands());
  }
  return success();
}

/// The rows of a value along one dimension.
Value Head::cut(Value value, int64_t from, int64_t rows) {
  SmallVector<int64_t> shape{countRows()};
  llvm::append_range(shape, typeOf(value).getShape().drop_front(rowShape.size()));
  Value &all = flat[value];
  if (!all)
    all =
        rowShape.size() == 1 ? value : create<ReshapeOp>(value.getLoc(), typeOf(value).clone(shape), value).getResult();
  SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
  shape.front() = rows, offsets.front() = from;
  return create<SliceOp>(value.getLoc(), typeOf(value).clone(shape), all, offsets, strides);
}

/// The op on some rows.
void Head::repeat(Operation *op, Names &names, int64_t from, int64_t rows) {
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    if (sources.contains(operand) && !names.contains(operand))
      names[operand] = cut(operand, from, rows);
    mapping.map(operand, names.lookup_or(operand, operand));
  }
  Operation *copy = builder->clone(*op, mapping);
  adopt(copy);
  for (auto [whole, part] : llvm::zip(op->getResults(), copy->getResults())) {
    names[whole] = part;
    if (totals.contains(whole))
      continue;
    SmallVector<int64_t> shape{rows};
    llvm::append_range(shape, typeOf(whole).getShape().drop_front(rowShape.size()));
    part.setType(typeOf(whole).clone(shape));
  }
  if (auto product = dyn_cast<ContractOp>(copy)) {
    std::string spec;
    for (char letter : product.getSpec())
      if (!StringRef(letters[op]).drop_front().contains(letter))
        spec.push_back(letter);
    product.setSpec(spec);
  } else if (auto reduce = dyn_cast<ReduceOp>(copy)) {
    reduce.setDimensions({0});
  } else if (auto constant = dyn_cast<ConstantOp>(copy)) {
    constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(constant.getType()));
  }
}

/// A gradient that nobody else reads is returned in parts, which are added where it lies; else the parts are added here.
void Head::give(func::FuncOp function, Value total, ArrayRef<Names> chunks) {
  Operation *terminator = function.front().getTerminator();
  if (total.hasOneUse() && *total.user_begin() == terminator) {
    unsigned place = total.use_begin()->getOperandNumber();
    if (Attribute name = Result(function, place).getGradient()) {
      terminator->setOperand(place, chunks.front().lookup(total));
      for (const Names &names : chunks.drop_front()) {
        unsigned last = function.getNumResults();
        (void)function.insertResult(last, total.getType(), builder->getDictionaryAttr({{kGrad, name}}));
        terminator->insertOperands(last, names.lookup(total));
      }
      return;
    }
  }
  Value sum = chunks.front().lookup(total);
  for (const Names &names : chunks.drop_front())
    sum = create<AddOp>(total.getLoc(), total.getType(), sum, names.lookup(total));
  total.replaceAllUsesWith(sum);
}

Value Head::join(Value piece, ArrayRef<Names> chunks) {
  SmallVector<Value> parts = llvm::map_to_vector(chunks, [&](const Names &names) { return names.lookup(piece); });
  SmallVector<int64_t> shape(typeOf(parts.front()).getShape());
  shape.front() = countRows();
  Value rows = create<ConcatOp>(piece.getLoc(), typeOf(piece).clone(shape), parts, 0);
  return rowShape.size() == 1 ? rows : create<ReshapeOp>(piece.getLoc(), piece.getType(), rows).getResult();
}

void Head::chunk(func::FuncOp function, int64_t rowsPerChunk) {
  auto inOrder = [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); };
  SmallVector<Operation *> ops = members.takeVector(), before = late.takeVector();
  llvm::sort(ops, inOrder);
  llvm::sort(before, inOrder);
  builder.emplace(backward);
  for (Operation *op : before)
    op->moveBefore(backward);
  SmallVector<Names> chunks;
  for (int64_t from = 0, rows; from < countRows(); from += rows) {
    rows = std::min(rowsPerChunk, countRows() - from);
    Names &names = chunks.emplace_back();
    for (Operation *op : ops)
      repeat(op, names, from, rows);
  }
  for (Value piece : pieces)
    piece.replaceAllUsesWith(join(piece, chunks));
  for (Value total : totals)
    give(function, total, chunks);
  for (Operation *op : followers) {
    op->moveBefore(backward);
    adopt(op);
  }
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

struct ChunkLossPass : xlc::impl::ChunkLossPassBase<ChunkLossPass> {
  using ChunkLossPassBase::ChunkLossPassBase;

  void runOnOperation() override {
    func::FuncOp function = Entry::find(getOperation(), Purpose::train).getFunction();
    if (!function)
      return;
    for (CrossEntropyOp loss : llvm::to_vector(function.front().getOps<CrossEntropyOp>())) {
      Head head(loss);
      if (failed(head.find()))
        loss.emitRemark() << "the loss cannot be computed in chunks of rows: " << head.obstacle;
      else if (head.countRows() > rows)
        head.chunk(function, rows);
    }
  }
};

} // namespace

shard::LossRows shard::findLossRows(ModuleOp module) {
  LossRows found;
  func::FuncOp function = Entry::find(module, Purpose::train).getFunction();
  if (!function)
    return found;
  for (CrossEntropyOp loss : function.front().getOps<CrossEntropyOp>())
    if (Head head(loss); succeeded(head.find()))
      found.rows = std::max(found.rows, head.countRows());
    else
      found.obstacle = head.obstacle;
  if (found.rows == 0 && found.obstacle.empty())
    found.obstacle = "loss.chunk requires a cross-entropy loss over logits";
  return found;
}
