// See Exchange.h.
#include "Exchange.h"
#include "xlc/Interpret/Interpret.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {

/// `count` elements that hold nothing yet, of the kind of `like`.
template <class E> Cargo<E> emptyLike(const Cargo<E> &like, int64_t count) {
  Cargo<E> cargo;
  std::visit([&](auto &tensor) { cargo.elements = std::decay_t<decltype(tensor)>(ArrayRef<int64_t>{count}); },
             like.elements);
  cargo.isSet.assign(count, false);
  return cargo;
}

/// to[at ... at + count) = from[first ... first + count)
template <class E> void copy(const Cargo<E> &from, int64_t first, int64_t count, Cargo<E> &to, int64_t at) {
  std::visit(
      [&](auto &target) {
        const auto &source = std::get<std::decay_t<decltype(target)>>(from.elements).elements;
        std::copy_n(source.begin() + first, count, target.elements.begin() + at);
      },
      to.elements);
  std::copy_n(from.isSet.begin() + first, count, to.isSet.begin() + at);
}

/// a = the larger of a and b; what is missing in either is missing.
template <class E> void keepLarger(Cargo<E> &a, const Cargo<E> &b) {
  std::visit(
      [&](auto &tensor) {
        const auto &other = std::get<std::decay_t<decltype(tensor)>>(b.elements).elements;
        for (size_t i = 0; i < tensor.elements.size(); ++i)
          tensor.elements[i] = larger(tensor.elements[i], other[i]);
      },
      a.elements);
  for (size_t i = 0; i < a.isSet.size(); ++i)
    a.isSet[i] = a.isSet[i] && b.isSet[i];
}

/// Of everybody's chunks those for the rank of an index, in the order of who sent them.
template <class E> Cargo<E> allToAll(const Exchange &what, ArrayRef<Cargo<E>> sources, int64_t index) {
  int64_t ranks = sources.size(), rows = what.rows;
  Cargo<E> whole = emptyLike(sources[0], what.resultElements());
  for (int64_t o = 0; o < what.outer; ++o)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t sender = 0; sender < ranks; ++sender) {
        int64_t block = o * rows * ranks;
        int64_t from = block + (what.ranksFirst ? index * rows + row : row * ranks + index);
        int64_t to = block + (what.ranksFirst ? row * ranks + sender : sender * rows + row);
        copy(sources[sender], from * what.chunk, what.chunk, whole, to * what.chunk);
      }
  return whole;
}

/// What the rank of an index gets.
template <class E> Cargo<E> resultOf(const Exchange &what, ArrayRef<Cargo<E>> sources, int64_t index) {
  int64_t ranks = sources.size();
  if (what.kind == dist::CollectiveKind::all_gather) {
    Cargo<E> whole = emptyLike(sources[0], what.resultElements());
    for (int64_t o = 0; o < what.outer; ++o)
      for (int64_t i = 0; i < ranks; ++i)
        copy(sources[i], o * what.chunk, what.chunk, whole, (o * ranks + i) * what.chunk);
    return whole;
  }
  if (what.kind == dist::CollectiveKind::all_to_all)
    return allToAll(what, sources, index);
  Cargo<E> total;
  for (auto [i, source] : llvm::enumerate(sources)) {
    Cargo<E> term = source;
    if (what.kind == dist::CollectiveKind::reduce_scatter) {
      term = emptyLike(source, what.resultElements());
      for (int64_t o = 0; o < what.outer; ++o)
        copy(source, (o * ranks + index) * what.chunk, what.chunk, term, o * what.chunk);
    }
    if (i == 0)
      total = std::move(term);
    else if (what.kind == dist::CollectiveKind::all_reduce_max)
      keepLarger(total, term);
    else
      addTo(total, term);
  }
  return total;
}

/// In place, the other ranks' slices of what was scattered are theirs now.
template <class E> void forgetScattered(const Participant<E> &rank) {
  int64_t bytes = countOf(rank.src.sizes) * rank.src.elementBytes();
  if (rank.dst.address >= rank.src.address && rank.dst.address < rank.src.address + bytes)
    rank.memory->forget(rank.access.rank, rank.src.address, bytes);
}

} // namespace

template <class E> LogicalResult interpret::exchange(const Exchange &what, ArrayRef<Participant<E>> group) {
  std::vector<Cargo<E>> sources(group.size());
  auto cross = [&](Cargo<E> &cargo) {
    if (what.wire)
      roundTo(what.wire, cargo.elements);
  };
  for (auto [rank, source] : llvm::zip(group, sources)) {
    if (failed(rank.memory->load(rank.access, rank.src, source)))
      return failure();
    cross(source);
  }
  bool isSameForAll =
      what.kind == dist::CollectiveKind::all_reduce || what.kind == dist::CollectiveKind::all_reduce_max;
  Cargo<E> result;
  for (auto [index, rank] : llvm::enumerate(group)) {
    if (what.kind == dist::CollectiveKind::reduce_scatter)
      forgetScattered(rank);
    if (index == 0 || !isSameForAll) {
      result = resultOf<E>(what, sources, index);
      cross(result);
    }
    if (failed(rank.memory->store(rank.access, rank.dst, result, what.accumulate)))
      return failure();
  }
  return success();
}

template LogicalResult interpret::exchange(const Exchange &, ArrayRef<Participant<double>>);
template LogicalResult interpret::exchange(const Exchange &, ArrayRef<Participant<float>>);
template LogicalResult interpret::exchange(const Exchange &, ArrayRef<Participant<Field>>);
