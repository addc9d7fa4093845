// An operand and a result of a call may share bytes only if they are the same elements under the same strides, and the
// kernel reads, for each element, only that element of the operand. Then each element is read before it is written, in
// any order and with any number of threads. A kernel over rows may also reduce them: the reduction precedes the writes
// of the row, and no other thread writes that row. The check relies on the ops' traits, not on any decision of Memory.
#include "CallHazards.h"
#include "xlc/Kernels/LibraryCalls.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xlc;

unsigned xlc::slotOf(Value operand) {
  if (auto view = operand.getDefiningOp<exec::ViewOp>())
    operand = view.getSlot();
  return cast<BlockArgument>(operand).getArgNumber();
}

namespace {

/// Elements of memory: a first address, sizes, and strides in bytes.
struct Elements {
  int64_t address, bytes;
  SmallVector<int64_t> sizes, strides;

  static Elements of(Value operand, ArrayRef<ByteRange> slots) {
    auto type = cast<MemRefType>(operand.getType());
    Elements elements{slots[slotOf(operand)].begin, graph::getByteSize(type.getElementType(), 1), {}, {}};
    elements.sizes.assign(type.getShape().begin(), type.getShape().end());
    if (type.getLayout().isIdentity()) {
      elements.strides.assign(elements.sizes.size(), 1);
      for (size_t i = elements.sizes.size(); i-- > 1;)
        elements.strides[i - 1] = elements.strides[i] * elements.sizes[i];
    } else {
      int64_t ignored; // the view's own offset says where it begins
      (void)type.getStridesAndOffset(elements.strides, ignored);
    }
    for (int64_t &stride : elements.strides)
      stride *= elements.bytes;
    if (auto view = operand.getDefiningOp<exec::ViewOp>())
      elements.address += int64_t(view.getOffset()) * elements.bytes;
    return elements;
  }

  bool operator==(const Elements &) const = default;

  /// From the first to the last byte.
  ByteRange span() const {
    ByteRange range{address, address + bytes};
    for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
      if (size == 0)
        return {address, address};
      (stride < 0 ? range.begin : range.end) += (size - 1) * stride;
    }
    return range;
  }

  /// The bytes of all elements, as few ranges as their strides allow, in order.
  std::vector<ByteRange> runs() const {
    SmallVector<std::pair<int64_t, int64_t>> dims; // (stride, size), the innermost first
    for (auto [size, stride] : llvm::zip_equal(sizes, strides))
      if (size != 1 && stride != 0)
        dims.emplace_back(std::abs(stride), size);
    llvm::sort(dims);
    int64_t length = bytes;
    auto outer = dims.begin();
    for (; outer != dims.end() && outer->first == length; ++outer)
      length *= outer->second;
    std::vector<ByteRange> ranges{{span().begin, span().begin + length}};
    for (auto [stride, size] : llvm::reverse(llvm::make_range(outer, dims.end()))) {
      std::vector<ByteRange> repeated;
      for (const ByteRange &range : ranges)
        for (int64_t i = 0; i < size; ++i)
          repeated.push_back({range.begin + i * stride, range.end + i * stride});
      ranges = std::move(repeated);
    }
    llvm::sort(ranges, [](const ByteRange &a, const ByteRange &b) { return a.begin < b.begin; });
    return ranges;
  }

  /// Exact. Rows that lie in the same distance from each other, such as those of two parts of one tensor, are compared once
  /// for all; others run by run.
  bool meets(const Elements &other) const {
    ByteRange mine = span(), theirs = other.span();
    if (!mine.meets(theirs) || llvm::is_contained(sizes, 0) || llvm::is_contained(other.sizes, 0))
      return false;
    size_t here = outermost(), there = other.outermost();
    if (here < sizes.size() && there < other.sizes.size() && strides[here] == other.strides[there] && strides[here] > 0)
      return rowsMeet(other, here, there);
    std::vector<ByteRange> runsHere = runs(), runsThere = other.runs();
    for (auto a = runsHere.begin(), b = runsThere.begin(); a != runsHere.end() && b != runsThere.end();) {
      if (a->meets(*b))
        return true;
      ++(a->end <= b->begin ? a : b);
    }
    return false;
  }

private:
  /// The dimension of the longest stride; as many as there are dimensions where all have one element.
  size_t outermost() const {
    size_t found = sizes.size();
    for (size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] != 1 && strides[i] != 0 &&
          (found == sizes.size() || std::abs(strides[i]) > std::abs(strides[found])))
        found = i;
    return found;
  }

  Elements row(size_t dimension, int64_t number) const {
    Elements one = *this;
    one.address += number * strides[dimension];
    one.sizes[dimension] = 1;
    return one;
  }

  /// Row i meets row j of the other exactly where row i - j meets its first: few differences bring the spans together.
  bool rowsMeet(const Elements &other, size_t here, size_t there) const {
    int64_t stride = strides[here];
    ByteRange mine = row(here, 0).span(), theirs = other.row(there, 0).span();
    int64_t least = std::max(llvm::divideFloorSigned(theirs.begin - mine.end, stride) + 1, 1 - other.sizes[there]);
    int64_t most = std::min(llvm::divideCeilSigned(theirs.end - mine.begin, stride) - 1, sizes[here] - 1);
    for (int64_t difference = least; difference <= most; ++difference)
      if (row(here, difference).meets(other.row(there, 0)))
        return true;
    return false;
  }
};

/// Whether all that the kernel's results need of `argument` is, for each element, the element with the same indices.
bool isReadInStep(func::FuncOp kernel, unsigned argument) {
  std::optional<exec::KernelKind> kind = exec::findKernelKind(kernel);
  if (kind != exec::KernelKind::loop && kind != exec::KernelKind::rows)
    return false;
  DenseSet<Value> needs{kernel.getArgument(argument)};
  for (Operation &op : kernel.front())
    for (OpOperand &operand : op.getOpOperands())
      if (needs.contains(operand.get())) {
        if (kind == exec::KernelKind::rows && graph::isReducedAlone(&op))
          continue;
        if (!op.hasTrait<OpTrait::IsTerminator>() && !graph::readsOwnElement(operand))
          return false;
        needs.insert_range(op.getResults());
      }
  return true;
}

/// Ranges by where they begin, to find those that meet another one.
class RangeIndex {
public:
  explicit RangeIndex(ArrayRef<Elements> elements) {
    for (auto [number, each] : llvm::enumerate(elements))
      if (ByteRange span = each.span(); !span.isEmpty())
        sorted.push_back({span, number});
    llvm::sort(sorted, [](const Entry &a, const Entry &b) { return a.span.begin < b.span.begin; });
    for (const Entry &entry : sorted)
      furthest.push_back(std::max(furthest.empty() ? entry.span.end : furthest.back(), entry.span.end));
  }

  /// Numbers of the elements whose span meets the range, in order.
  SmallVector<size_t> findMeeting(ByteRange range) const {
    SmallVector<size_t> found;
    auto behind = llvm::partition_point(sorted, [&](const Entry &entry) { return entry.span.begin < range.end; });
    for (size_t i = behind - sorted.begin(); i > 0 && furthest[i - 1] > range.begin; --i)
      if (sorted[i - 1].span.meets(range))
        found.push_back(sorted[i - 1].number);
    llvm::sort(found);
    return found;
  }

private:
  struct Entry {
    ByteRange span;
    size_t number;
  };
  SmallVector<Entry> sorted;
  SmallVector<int64_t> furthest; ///< end of this one and all before it
};

LogicalResult verifyCall(exec::RunOp run, exec::CallOp call, const SymbolTable &symbols, ArrayRef<ByteRange> slots) {
  SmallVector<Elements> ins, outs;
  for (Value in : call.getIns())
    ins.push_back(Elements::of(in, slots));
  for (Value out : call.getOuts())
    outs.push_back(Elements::of(out, slots));
  auto complain = [&](StringRef what) {
    return run.emitOpError() << "'" << run.getLabel() << "' calls '" << call.getKernel() << "', which " << what;
  };
  RangeIndex inIndex(ins), outIndex(outs);
  for (auto [o, out] : llvm::enumerate(outs)) {
    for (size_t i : inIndex.findMeeting(out.span())) {
      const Elements &in = ins[i];
      if (!out.meets(in))
        continue;
      auto kernel = symbols.lookup<func::FuncOp>(call.getKernel());
      if (!(in == out) || call.getAccumulate()[o] || !kernel || !isReadInStep(kernel, i))
        return complain("overwrites elements of operand " + std::to_string(i) + " before it has read them");
    }
    for (size_t other : outIndex.findMeeting(out.span()))
      if (other < o && out.meets(outs[other]))
        return complain("writes two results to the same bytes");
  }
  if (Value workspace = call.getWorkspace())
    for (const Elements &used : llvm::concat<Elements>(ins, outs))
      if (used.meets(Elements::of(workspace, slots)))
        return complain("has a workspace that overlaps an operand or a result");
  return success();
}

} // namespace

LogicalResult xlc::verifySlots(func::FuncOp function) {
  SmallVector<ByteRange> slots; // each from 0
  for (Type type : function.getArgumentTypes())
    slots.push_back({0, graph::getByteSize(cast<MemRefType>(type))});
  SmallVector<std::optional<int32_t>> modes(slots.size());
  for (auto call : function.getOps<exec::CallOp>())
    for (auto [out, mode] : llvm::zip(call.getOuts(), call.getAccumulate())) {
      std::optional<int32_t> &known = modes[slotOf(out)];
      if (known.value_or(mode) != mode)
        return call.emitOpError() << "writes slot " << slotOf(out) << " with accumulate " << mode
                                  << ", but another call has accumulate " << *known
                                  << "; all calls that write a slot must have the same accumulate";
      known = mode;
    }
  return success();
}

LogicalResult xlc::verifyHazards(exec::RunOp run, func::FuncOp function, const SymbolTable &symbols,
                                 ArrayRef<ByteRange> slots) {
  SmallVector<unsigned> sums, read;
  for (Operation &op : function.front()) {
    if (auto collective = dyn_cast<exec::CollectiveOp>(op))
      read.push_back(slotOf(collective.getSrc()));
    auto call = dyn_cast<exec::CallOp>(op);
    if (!call)
      continue;
    if (failed(verifyCall(run, call, symbols, slots)))
      return failure();
    for (Value in : call.getIns())
      read.push_back(slotOf(in));
    for (auto [out, mode] : llvm::zip(call.getOuts(), call.getAccumulate()))
      if (mode)
        sums.push_back(slotOf(out));
  }
  // Of one buffer: another may have had the bytes before.
  auto bufferOf = [&](unsigned slot) { return cast<exec::PlaceAttr>(run.getPlaces()[slot]).getBuffer(); };
  llvm::DenseMap<int64_t, ByteSet> readBytes; // by buffer, of those with sums
  for (unsigned sum : sums)
    readBytes[bufferOf(sum)];
  for (unsigned slot : read)
    if (auto known = readBytes.find(bufferOf(slot)); known != readBytes.end())
      known->second.add(slots[slot]);
  for (unsigned sum : sums) {
    if (!readBytes.find(bufferOf(sum))->second.meets(slots[sum]))
      continue;
    for (unsigned slot : read)
      if (bufferOf(sum) == bufferOf(slot) && slots[sum].meets(slots[slot]))
        return run.emitOpError() << "'" << run.getLabel() << "' reads slot " << slot
                                 << ", which overlaps the sum in slot " << sum
                                 << ", to which the function adds; the value read would include other contributions";
  }
  return success();
}
