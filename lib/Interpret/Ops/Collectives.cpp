// Collectives on all ranks of a tensor-parallel group at once. Sums run in the order of the ranks' index.
#include "Collectives.h"
#include "xlc/Interpret/Bounded.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {

/// A tensor as [above, parts, below]: where blocks of a dimension of [outer, parts, block] stand.
struct Blocks {
  int64_t above, below;
  Blocks(ArrayRef<int64_t> piece, int64_t dim, int64_t outer)
      : above(countOf(piece.take_front(dim)) * outer), below(countOf(piece.drop_front(dim)) / outer) {}
};

/// y[above][part] = pieces[part][above].
template <class T> void gather(ArrayRef<const Tensor<T> *> pieces, Blocks blocks, Tensor<T> &y) {
  for (int64_t above = 0, next = 0; above < blocks.above; ++above)
    for (const Tensor<T> *piece : pieces)
      for (int64_t i = 0; i < blocks.below; ++i)
        y.elements[next++] = piece->elements[above * blocks.below + i];
}

template <class T> void combine(ArrayRef<const Tensor<T> *> terms, dist::Reduction kind, Tensor<T> &y) {
  y = *terms.front();
  for (const Tensor<T> *term : terms.drop_front())
    for (auto [sum, element] : llvm::zip(y.elements, term->elements))
      sum = kind == dist::Reduction::max ? larger(sum, element) : sum + element;
}

/// Block `part` of [above, parts, below].
template <class T>
Tensor<T> blockOf(const Tensor<T> &whole, ArrayRef<int64_t> shape, Blocks blocks, int64_t parts, int64_t part) {
  Tensor<T> y(shape);
  for (int64_t above = 0; above < blocks.above; ++above)
    std::copy_n(whole.elements.begin() + (above * parts + part) * blocks.below, blocks.below,
                y.elements.begin() + above * blocks.below);
  return y;
}

/// Of every member its block of dimension `to`, put together along dimension `from`.
template <class T> Tensor<T> allToAll(dist::AllToAllOp op, ArrayRef<const Tensor<T> *> members, int64_t index) {
  ArrayRef<int64_t> x = op.getX().getType().getShape(), y = op.getY().getType().getShape();
  SmallVector<int64_t> block(x);
  block[op.getTo()] = y[op.getTo()];
  Blocks cuts(block, op.getTo(), op.getToOuter());
  std::vector<Tensor<T>> blocks;
  for (const Tensor<T> *member : members)
    blocks.push_back(blockOf(*member, block, cuts, members.size(), index));
  SmallVector<const Tensor<T> *> pieces;
  for (const Tensor<T> &piece : blocks)
    pieces.push_back(&piece);
  Tensor<T> whole(y);
  gather(ArrayRef<const Tensor<T> *>(pieces), Blocks(block, op.getFrom(), op.getFromOuter()), whole);
  return whole;
}

template <class T> Tensor<T> resultOf(Operation *op, ArrayRef<const Tensor<T> *> members, int64_t index) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Tensor<T> y(type.getShape());
  if (auto reduce = dyn_cast<dist::AllReduceOp>(op))
    combine(members, reduce.getKind(), y);
  else if (auto all = dyn_cast<dist::AllGatherOp>(op))
    gather(members, Blocks(members.front()->shape, all.getDim(), all.getOuter()), y);
  else if (auto turn = dyn_cast<dist::AllToAllOp>(op))
    return allToAll(turn, members, index);
  else if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op)) {
    Tensor<T> sum;
    combine(members, dist::Reduction::sum, sum);
    return blockOf(sum, type.getShape(), Blocks(type.getShape(), scatter.getDim(), scatter.getOuter()), members.size(),
                   index);
  }
  return y;
}

} // namespace

namespace xlc::interpret {

template <class E>
LogicalResult collect(Operation *op, ArrayRef<const Datum<E> *> operands, size_t ranks,
                      std::vector<Datum<E>> &results) {
  auto group = cast<dist::Collective>(op).getGroup();
  auto mesh = dist::MeshAttr::get(op->getContext(), 1, 1, ranks, 1);
  for (size_t rank = 0; rank < ranks; ++rank) {
    SmallVector<int64_t> members = group.members(mesh, rank);
    for (int64_t member : members)
      if (member >= int64_t(ranks))
        return op->emitOpError() << "has rank " << member << " in its group, but there are " << ranks << " ranks";
    int64_t index = group.indexOf(mesh, rank);
    if (operands.empty()) {
      results.push_back(Integers({}, index));
      continue;
    }
    std::visit(
        [&](auto &own) {
          using T = std::decay_t<decltype(own)>;
          SmallVector<const T *> values;
          for (int64_t member : members)
            values.push_back(&std::get<T>(*operands[member]));
          results.push_back(resultOf(op, ArrayRef(values), index));
        },
        *operands[rank]);
  }
  return success();
}
template LogicalResult collect(Operation *, ArrayRef<const Datum<double> *>, size_t, std::vector<Datum<double>> &);
template LogicalResult collect(Operation *, ArrayRef<const Datum<float> *>, size_t, std::vector<Datum<float>> &);
template LogicalResult collect(Operation *, ArrayRef<const Datum<Bounded> *>, size_t, std::vector<Datum<Bounded>> &);
template LogicalResult collect(Operation *, ArrayRef<const Datum<Field> *>, size_t, std::vector<Datum<Field>> &);

} // namespace xlc::interpret
