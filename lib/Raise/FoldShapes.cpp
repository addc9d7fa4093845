// Folds transposes into the letters of contractions, and moves reshapes that flatten leading dimensions
// past contractions, element-wise ops and the loss until they meet the reshape that undoes them.
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xlc/Raise/Raise.h"

using namespace mlir;
using namespace xlc;
using xlc::graph::shapeOf;
using xlc::graph::typeOf;

namespace xlc {
#define GEN_PASS_DEF_FOLDSHAPESPASS
#include "xlc/Raise/Passes.h.inc"
} // namespace xlc

namespace {

Value reshape(PatternRewriter &rewriter, Location loc, Value x, ArrayRef<int64_t> shape) {
  return shapeOf(x) == shape ? x : graph::ReshapeOp::create(rewriter, loc, typeOf(x).clone(shape), x);
}

/// contract(transpose(x), b): x's letters instead.
struct FoldTransposedOperand : OpRewritePattern<graph::ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ContractOp op, PatternRewriter &rewriter) const override {
    std::string letters[] = {op.getLettersA().str(), op.getLettersB().str()};
    Value operands[] = {op.getA(), op.getB()};
    bool changes = false;
    for (int i = 0; i < 2; ++i)
      if (auto transpose = operands[i].getDefiningOp<graph::TransposeOp>()) {
        std::string before = letters[i];
        for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
          letters[i][from] = before[to];
        operands[i] = transpose.getX();
        changes = true;
      }
    if (!changes)
      return failure();
    rewriter.replaceOpWithNewOp<graph::ContractOp>(
        op, op.getType(), letters[0] + "," + letters[1] + "->" + op.getLettersY().str(), operands[0], operands[1]);
    return success();
  }
};

/// transpose(contract): the result's letters in another order.
struct FoldTransposedResult : OpRewritePattern<graph::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::TransposeOp op, PatternRewriter &rewriter) const override {
    auto contract = op.getX().getDefiningOp<graph::ContractOp>();
    if (!contract || !contract->hasOneUse())
      return failure();
    std::string letters;
    for (int64_t d : op.getPermutation())
      letters += contract.getLettersY()[d];
    std::string spec = contract.getLettersA().str() + "," + contract.getLettersB().str() + "->" + letters;
    rewriter.replaceOpWithNewOp<graph::ContractOp>(op, op.getType(), spec, contract.getA(), contract.getB());
    return success();
  }
};

/// reshape(transpose(reshape(x))) that flattens groups of dimensions, permutes and splits them again is a
/// transpose of x.
struct FoldFlattenedTranspose : OpRewritePattern<graph::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getX().getDefiningOp<graph::TransposeOp>();
    auto flatten = transpose ? transpose.getX().getDefiningOp<graph::ReshapeOp>() : graph::ReshapeOp();
    if (!flatten)
      return failure();
    ArrayRef<int64_t> from = shapeOf(flatten.getX());
    SmallVector<SmallVector<int64_t>> groups;
    int64_t next = 0;
    for (int64_t size : shapeOf(flatten.getY())) {
      SmallVector<int64_t> &group = groups.emplace_back();
      for (int64_t product = 1; product != size || group.empty(); ++next) {
        if (next == (int64_t)from.size())
          return failure();
        product *= from[next];
        if (size % product != 0)
          return failure();
        group.push_back(next);
      }
    }
    if (next != (int64_t)from.size())
      return failure();
    SmallVector<int64_t> permutation, shape;
    for (int64_t d : transpose.getPermutation())
      llvm::append_range(permutation, groups[d]);
    for (int64_t d : permutation)
      shape.push_back(from[d]);
    if (ArrayRef<int64_t>(shape) != shapeOf(op.getY()))
      return failure();
    rewriter.replaceOpWithNewOp<graph::TransposeOp>(op, op.getType(), flatten.getX(), permutation);
    return success();
  }
};

/// How many leading dimensions of `from` the first dimension of `to` stands for; 0 when it is none or one.
size_t countFlattened(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  if (to.empty() || from.size() < to.size())
    return 0;
  auto product = [&](size_t count) {
    int64_t result = 1;
    for (int64_t size : from.take_front(count))
      result *= size;
    return result;
  };
  size_t likely = from.size() - to.size() + 1;
  if (likely >= 2 && product(likely) == to[0] && from.drop_front(likely) == to.drop_front())
    return likely;
  for (size_t count = 2; count <= from.size(); ++count)
    if (product(count) == to[0])
      return count;
  return 0;
}

/// contract(reshape(x), b) where the reshape flattens leading dimensions that the result keeps.
struct MoveReshapePastContract : OpRewritePattern<graph::ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ContractOp op, PatternRewriter &rewriter) const override {
    return success(succeeded(move(op, rewriter, 0)) || succeeded(move(op, rewriter, 1)));
  }

  LogicalResult move(graph::ContractOp op, PatternRewriter &rewriter, int side) const {
    Value operand = op->getOperand(side);
    auto flatten = operand.getDefiningOp<graph::ReshapeOp>();
    size_t count = flatten ? countFlattened(shapeOf(flatten.getX()), shapeOf(operand)) : 0;
    std::string letters[] = {op.getLettersA().str(), op.getLettersB().str(), op.getLettersY().str()};
    if (count == 0 || letters[1 - side].find(letters[side][0]) != std::string::npos)
      return failure();
    size_t place = letters[2].find(letters[side][0]);
    if (place == std::string::npos)
      return failure();
    std::string fresh;
    for (char letter = 'a'; letter <= 'z' && fresh.size() < count; ++letter)
      if (!op.getSpec().contains(letter))
        fresh += letter;
    if (fresh.size() < count)
      return failure();
    ArrayRef<int64_t> leading = shapeOf(flatten.getX()).take_front(count);
    SmallVector<int64_t> shape(leading), result(shapeOf(op.getY()));
    llvm::append_range(shape, shapeOf(operand).drop_front());
    result.erase(result.begin() + place);
    result.insert(result.begin() + place, leading.begin(), leading.end());
    letters[side].replace(0, 1, fresh);
    letters[2].replace(place, 1, fresh);
    Value operands[] = {op.getA(), op.getB()};
    operands[side] = reshape(rewriter, flatten.getLoc(), flatten.getX(), shape);
    Value y = graph::ContractOp::create(rewriter, op.getLoc(), op.getType().clone(result),
                                        letters[0] + "," + letters[1] + "->" + letters[2], operands[0], operands[1]);
    rewriter.replaceOp(op, reshape(rewriter, op.getLoc(), y, shapeOf(op.getY())));
    return success();
  }
};

/// op(reshape(x), broadcast(b)) where the reshape flattens: reshape(op(x, broadcast(b))).
struct MoveReshapePastElementwise : RewritePattern {
  MoveReshapePastElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<graph::Elementwise>() || !op->hasTrait<OpTrait::SameOperandsAndResultType>())
      return failure();
    graph::ReshapeOp flatten;
    for (Value operand : op->getOperands())
      if (auto reshape = operand.getDefiningOp<graph::ReshapeOp>())
        flatten = reshape;
    if (!flatten || shapeOf(flatten.getX()).size() <= shapeOf(flatten.getY()).size())
      return failure();
    RankedTensorType type = typeOf(flatten.getX());
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      if (Value moved = moveOperand(operand, type, rewriter))
        operands.push_back(moved);
      else
        return failure();
    Operation *moved = rewriter.create(op->getLoc(), op->getName().getIdentifier(), operands, type, op->getAttrs());
    rewriter.replaceOp(op, reshape(rewriter, op->getLoc(), moved->getResult(0), shapeOf(op->getResult(0))));
    return success();
  }

  /// The operand under the shape of `type`; null when it is neither reshaped from it nor the same along what
  /// was flattened.
  static Value moveOperand(Value operand, RankedTensorType type, PatternRewriter &rewriter) {
    if (auto reshape = operand.getDefiningOp<graph::ReshapeOp>())
      return typeOf(reshape.getX()) == type ? reshape.getX() : Value();
    auto broadcast = operand.getDefiningOp<graph::BroadcastOp>();
    if (!broadcast)
      return {};
    ArrayRef<int64_t> small = shapeOf(broadcast.getX());
    while (!small.empty() && small.front() == 1)
      small = small.drop_front();
    if (shapeOf(broadcast.getX()).size() != small.size() || type.getShape().take_back(small.size()) != small ||
        shapeOf(operand).take_back(small.size()) != small)
      return {};
    return graph::BroadcastOp::create(rewriter, broadcast.getLoc(), type, broadcast.getX());
  }
};

/// The loss of flattened rows is the loss of the rows as they are.
struct MoveReshapePastLoss : OpRewritePattern<graph::CrossEntropyOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::CrossEntropyOp op, PatternRewriter &rewriter) const override {
    auto flatten = op.getLogits().getDefiningOp<graph::ReshapeOp>();
    if (!flatten || !op.getLse().use_empty() || shapeOf(flatten.getX()).empty() ||
        shapeOf(flatten.getX()).back() != shapeOf(op.getLogits()).back() ||
        shapeOf(flatten.getX()).size() < shapeOf(op.getLogits()).size())
      return failure();
    ArrayRef<int64_t> rows = shapeOf(flatten.getX()).drop_back();
    Value labels = reshape(rewriter, op.getLoc(), op.getLabels(), rows);
    auto loss = graph::CrossEntropyOp::create(
        rewriter, op.getLoc(),
        TypeRange{op.getSum().getType(), op.getCount().getType(), typeOf(op.getLse()).clone(rows)}, flatten.getX(),
        labels, op.getIgnoreIndexAttr());
    rewriter.replaceAllUsesWith(op.getSum(), loss.getSum());
    rewriter.replaceAllUsesWith(op.getCount(), loss.getCount());
    rewriter.eraseOp(op);
    return success();
  }
};

/// op(broadcast(a), broadcast(b)) of elements: broadcast(op(a, b)), along what repeats in all operands. A mask of flags
/// per key, which exporters repeat for every query before they turn it into numbers, stays that small.
struct MoveBroadcastPastElementwise : RewritePattern {
  MoveBroadcastPastElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<graph::Elementwise>())
      return failure();
    auto type = typeOf(op->getResult(0));
    SmallVector<int64_t> small(type.getRank(), 1);
    for (Value operand : op->getOperands())
      if (!growTo(operand, small))
        return failure();
    if (type.getShape() == ArrayRef<int64_t>(small))
      return failure();
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return shrink(operand, small, rewriter); });
    Operation *once =
        rewriter.create(op->getLoc(), op->getName().getIdentifier(), operands, type.clone(small), op->getAttrs());
    rewriter.replaceOpWithNewOp<graph::BroadcastOp>(op, type, once->getResult(0));
    return success();
  }

  static bool isSplat(Value value) {
    auto constant = value.getDefiningOp<graph::ConstantOp>();
    auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    return elements && elements.isSplat();
  }

  /// Makes `small` large enough for what `operand` repeats; false where it repeats nothing.
  static bool growTo(Value operand, MutableArrayRef<int64_t> small) {
    auto broadcast = operand.getDefiningOp<graph::BroadcastOp>();
    if (!broadcast)
      return isSplat(operand);
    ArrayRef<int64_t> from = shapeOf(broadcast.getX());
    for (auto [size, own] : llvm::zip_equal(small.take_back(from.size()), from))
      size = std::max(size, own);
    return true;
  }

  static Value shrink(Value operand, ArrayRef<int64_t> small, PatternRewriter &rewriter) {
    auto type = typeOf(operand).clone(small);
    auto broadcast = operand.getDefiningOp<graph::BroadcastOp>();
    if (broadcast && shapeOf(broadcast.getX()) == small)
      return broadcast.getX();
    if (broadcast)
      return graph::BroadcastOp::create(rewriter, broadcast.getLoc(), type, broadcast.getX());
    auto elements = cast<DenseElementsAttr>(operand.getDefiningOp<graph::ConstantOp>().getValue());
    return graph::ConstantOp::create(rewriter, operand.getLoc(), type,
                                     DenseElementsAttr::get(type, elements.getSplatValue<Attribute>()));
  }
};

/// broadcast(broadcast(x)) is one broadcast.
struct MergeBroadcasts : OpRewritePattern<graph::BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::BroadcastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<graph::BroadcastOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<graph::BroadcastOp>(op, op.getType(), inner.getX());
    return success();
  }
};

struct FoldShapes : xlc::impl::FoldShapesPassBase<FoldShapes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldTransposedOperand, FoldTransposedResult, FoldFlattenedTranspose, MoveReshapePastContract,
                 MoveReshapePastElementwise, MoveReshapePastLoss, MoveBroadcastPastElementwise, MergeBroadcasts>(
        &getContext());
    GreedyRewriteConfig config; // merging constants would lose the names of their nodes
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled); // a function has one block
    config.enableConstantCSE(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
