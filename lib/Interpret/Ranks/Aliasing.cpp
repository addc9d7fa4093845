// A call is evaluated as a whole, as if no result were written before all operands are read, but a machine proceeds
// element by element. So if operands and results share bytes, half of the results are written first and the call is
// evaluated again: the other half must not change. Halves by each bit of the element's number, both ways, separate any
// two elements. For more than a few elements one half by a hash is used, since a kernel that reads elsewhere does so
// for many elements. A kernel over rows has read all it needs of a row before it writes the row: there the halves are
// of rows.
#include "Aliasing.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <bit>

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {

/// More elements than these are halved by a hash.
constexpr int64_t kFew = 64;
/// And with more than these a kernel is believed that says of each of its ops that it reads its own element only (the
/// update of a large parameter): a second evaluation would take as much memory as all parameters.
constexpr int64_t kMany = 1 << 22;

/// Bytes from the first to the last.
std::pair<int64_t, int64_t> extentOf(const Span &span) {
  int64_t begin = span.address, end = span.address + span.elementBytes();
  for (auto [size, stride] : llvm::zip(span.sizes, span.strides)) {
    if (size == 0)
      return {begin, begin};
    (stride < 0 ? begin : end) += (size - 1) * stride * span.elementBytes();
  }
  return {begin, end};
}

bool mayMeet(const Span &a, const Span &b) {
  auto [beginA, endA] = extentOf(a);
  auto [beginB, endB] = extentOf(b);
  return beginA < endB && beginB < endA;
}

/// Whether a result stands exactly where each operand does that it shares a byte with.
template <class E> bool isInPlaceOrApart(const PendingCall<E> &call, const Span &out) {
  return llvm::all_of(call.ins, [&](const Span &in) {
    bool isSame = in.address == out.address && in.elementBytes() == out.elementBytes() && in.sizes == out.sizes &&
                  in.strides == out.strides;
    return isSame || !mayMeet(in, out);
  });
}

/// Which elements are written first.
struct Half {
  unsigned bit;
  bool isSecond, byHash;
  int64_t rows; ///< 0: any elements are written first; else whole rows, so many

  bool contains(uint64_t element, uint64_t elements) const {
    uint64_t number = rows && elements % rows == 0 ? element / (elements / rows) : element;
    number = byHash ? hashOf("half", 0, number) : number;
    return bool(number >> bit & 1) != isSecond;
  }
};

/// The elements of `half` from `after`, the others as they are in `before`.
template <class E> void mix(Cargo<E> &before, const Datum<E> &after, Half half) {
  std::visit(
      [&](auto &tensor) {
        const auto &fresh = std::get<std::decay_t<decltype(tensor)>>(after);
        for (size_t i = 0; i < tensor.elements.size(); ++i)
          if (half.contains(i, tensor.elements.size()))
            tensor.elements[i] = fresh.elements[i], before.isSet[i] = true;
      },
      before.elements);
}

/// Whether two elements are the same bit by bit: a NaN is itself, and 0 is not -0.
template <class T> bool isSame(const T &a, const T &b) {
  using Bytes = std::array<std::byte, sizeof(T)>;
  return std::bit_cast<Bytes>(a) == std::bit_cast<Bytes>(b);
}

/// The first element outside `half` in which two values differ; -1: none.
template <class E> int64_t findChange(const Datum<E> &a, const Datum<E> &b, Half half) {
  return std::visit(
      [&](auto &tensor) -> int64_t {
        const auto &other = std::get<std::decay_t<decltype(tensor)>>(b);
        for (size_t i = 0; i < tensor.elements.size(); ++i)
          if (!half.contains(i, tensor.elements.size()) && !isSame(tensor.elements[i], other.elements[i]))
            return i;
        return -1;
      },
      a);
}

/// A kernel over rows adds a row to what it sums of columns before it writes the row.
bool isSumOfColumns(func::FuncOp kernel, size_t result) {
  auto reduce = kernel.front().getTerminator()->getOperand(result).getDefiningOp<graph::ReduceOp>();
  return reduce && !reduce.isOverRow();
}

template <class E>
LogicalResult tryHalf(Memory<E> &memory, const Access &access, const PendingCall<E> &call, const Options &options,
                      Half half) {
  SmallVector<Cargo<E>> before(call.outs.size());
  for (auto [out, was] : llvm::zip(call.outs, before))
    if (failed(memory.load(access, out, was)))
      return failure();
  for (auto [out, result, was] : llvm::zip(call.outs, call.results, before)) {
    Cargo<E> mixed = was;
    mix<E>(mixed, result, half);
    if (failed(memory.write(access, out, mixed.elements, false)))
      return failure();
  }
  SmallVector<Datum<E>> arguments, results;
  for (auto [in, argument] : llvm::zip(call.ins, call.arguments)) {
    if (failed(memory.read(access, in, arguments.emplace_back())))
      return failure();
    auto shapeOf = [](const auto &tensor) { return tensor.shape; };
    std::visit([&](auto &tensor) { tensor.shape = std::visit(shapeOf, argument); }, arguments.back());
  }
  for (auto [out, was] : llvm::zip(call.outs, before)) // a call may add to what is there
    if (failed(memory.store(access, out, was, false)))
      return failure();
  if (failed(evaluate<E>(call.kernel, std::move(arguments), options, results)))
    return failure();
  for (auto [i, result] : llvm::enumerate(call.results))
    if (int64_t at = half.rows && isSumOfColumns(call.kernel, i) ? -1 : findChange<E>(result, results[i], half);
        at >= 0)
      return access.action->emitOpError() << "'" << access.label << "' calls '" << func::FuncOp(call.kernel).getName()
                                          << "', which computes element " << at << " of result " << i
                                          << " from elements that may already be overwritten";
  return success();
}

} // namespace

namespace xlc::interpret {

/// Of a kernel that reduces rows, as lower::emitKernel loops over them; else 0.
static int64_t countRows(func::FuncOp kernel) {
  if (exec::findKernelKind(kernel) == exec::KernelKind::rows)
    for (graph::ReduceOp reduce : kernel.getOps<graph::ReduceOp>())
      if (reduce.isOverRow())
        return graph::typeOf(reduce.getY()).getNumElements();
  return 0;
}

template <class E>
LogicalResult verifyInPlace(Memory<E> &memory, const Access &access, const PendingCall<E> &call,
                            const Options &options) {
  // Its probabilities are computed here from the whole row, which a kernel does not need: it has the saved sum.
  if (!func::FuncOp(call.kernel).getOps<graph::CrossEntropyBackwardOp>().empty())
    return success();
  int64_t elements = 0;
  for (const Span &out : call.outs)
    if (llvm::any_of(call.ins, [&](const Span &in) { return mayMeet(in, out); }))
      elements = std::max(elements, countOf(out.sizes));
  if (elements < 2)
    return success();
  auto isPointwise = [](Operation &op) { return op.hasTrait<graph::ReadsOwnElement>(); };
  if (elements > kMany && llvm::all_of(func::FuncOp(call.kernel).front().without_terminator(), isPointwise) &&
      llvm::all_of(call.outs, [&](const Span &out) { return isInPlaceOrApart<E>(call, out); }))
    return success();
  int64_t rows = countRows(call.kernel);
  bool byHash = elements > kFew;
  unsigned halves = byHash ? 1 : 2 * llvm::Log2_64_Ceil(elements);
  for (unsigned half = 0; half < halves; ++half)
    if (failed(tryHalf<E>(memory, access, call, options, {half / 2, half % 2 == 1, byHash, rows})))
      return failure();
  return success();
}

#define XLC_INSTANTIATE(E)                                                                                             \
  template LogicalResult verifyInPlace(Memory<E> &, const Access &, const PendingCall<E> &, const Options &)
XLC_INSTANTIATE(double);
XLC_INSTANTIATE(float);
XLC_INSTANTIATE(Field);

} // namespace xlc::interpret
