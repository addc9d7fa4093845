// Reads and writes of spans, with the reasons why one may not be done.
#include "Memory.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

template <class E> Memory<E>::Memory(exec::ProgramOp program) : shards(program.getShards()) {
  for (auto buffer : program.getBody().getOps<exec::BufferOp>())
    buffers.push_back(buffer);
  arenas.assign(program.getRanks(), Arena<E>(program.getArena()));
}

template <class E> Span Memory<E>::spanAt(exec::PlaceAttr place, int64_t rank, int64_t count, Type element) const {
  int64_t begin =
      place.getBuffer() < int64_t(buffers.size()) ? int64_t(exec::BufferOp(buffers[place.getBuffer()]).getOffset()) : 0;
  return {place.getBuffer(), begin + place.getOffset() + rank % shards * place.getStride(), element, {count}, {1}};
}

template <class E> LogicalResult Memory<E>::check(const Access &access, const Span &span) const {
  if (span.buffer < 0 || span.buffer >= int64_t(buffers.size()))
    return access.action->emitOpError() << "names buffer " << span.buffer << " of " << buffers.size();
  int64_t low = span.address, high = span.address + span.elementBytes();
  for (auto [size, stride] : llvm::zip(span.sizes, span.strides)) {
    if (size == 0)
      return success();
    (stride < 0 ? low : high) += (size - 1) * stride * span.elementBytes();
  }
  exec::BufferOp buffer = buffers[span.buffer];
  int64_t begin = buffer.getOffset(), end = begin + buffer.getSize();
  if (low < begin || high > end || end > arenas[access.rank].size())
    return access.action->emitOpError() << "'" << access.label << "' on rank " << access.rank << " takes bytes "
                                        << low - begin << " to " << high - begin << " of buffer '" << buffer.getName()
                                        << "', which has " << buffer.getSize();
  if (span.address % std::min<int64_t>(span.elementBytes(), 4))
    return access.action->emitOpError() << "'" << access.label << "' takes an element of " << span.elementBytes()
                                        << " bytes at byte " << low << ", which is not aligned";
  return success();
}

template <class E> LogicalResult Memory<E>::missing(const Access &access, const Span &span, int64_t address) const {
  exec::BufferOp buffer = buffers[span.buffer];
  return access.action->emitOpError() << "'" << access.label << "' on rank " << access.rank << " reads byte "
                                      << address - int64_t(buffer.getOffset()) << " of buffer '" << buffer.getName()
                                      << "', where no " << span.element << " is";
}

template <class E> LogicalResult Memory<E>::read(const Access &access, const Span &span, Datum<E> &value) const {
  if (failed(check(access, span)))
    return failure();
  value = span.element.isInteger() ? Datum<E>(Integers(span.sizes)) : Datum<E>(Tensor<E>(span.sizes));
  return std::visit(
      [&](auto &tensor) {
        using T = std::decay_t<decltype(tensor.elements[0])>;
        int64_t next = 0, bad = -1, bytes = span.elementBytes();
        forEachPosition<1>(span.sizes, {span.strides}, {0}, [&](auto offsets) {
          int64_t address = span.address + offsets[0] * bytes;
          std::optional<T> element = arenas[access.rank].template read<T>(address, bytes);
          if (!element && bad < 0)
            bad = address;
          tensor.elements[next++] = element.value_or(T());
        });
        return bad < 0 ? success() : missing(access, span, bad);
      },
      value);
}

template <class E>
template <class T>
LogicalResult Memory<E>::writeTensor(const Access &access, const Span &span, const Tensor<T> &value, bool accumulate) {
  Arena<E> &arena = arenas[access.rank];
  int64_t next = 0, bad = -1, bytes = span.elementBytes();
  forEachPosition<1>(span.sizes, {span.strides}, {0}, [&](auto offsets) {
    int64_t address = span.address + offsets[0] * bytes;
    T element = value.elements[next++];
    if (accumulate) {
      std::optional<T> old = arena.template read<T>(address, bytes);
      if (!old && bad < 0)
        bad = address;
      element = old.value_or(T()) + element;
    }
    arena.write(address, bytes, element);
  });
  return bad < 0 ? success() : missing(access, span, bad);
}

template <class E>
LogicalResult Memory<E>::write(const Access &access, const Span &span, const Datum<E> &value, bool accumulate) {
  if (failed(check(access, span)))
    return failure();
  return std::visit([&](auto &tensor) { return writeTensor(access, span, tensor, accumulate); }, value);
}

template <class E> void Memory<E>::expire(int64_t time) {
  for (exec::BufferOp dying : buffers) {
    if (dying.getPersistent() || int64_t(dying.getLast()) != time)
      continue;
    // What stays of its bytes: those of buffers that live on.
    SmallVector<std::pair<int64_t, int64_t>> kept;
    int64_t begin = dying.getOffset(), end = begin + dying.getSize();
    for (exec::BufferOp other : buffers)
      if (other != dying && isLive(other, time + 1) && int64_t(other.getOffset()) < end &&
          begin < int64_t(other.getOffset() + other.getSize()))
        kept.push_back({other.getOffset(), other.getOffset() + other.getSize()});
    llvm::sort(kept);
    kept.push_back({end, end});
    for (auto [from, to] : kept) {
      for (int64_t rank = 0; rank < int64_t(arenas.size()) && begin < from; ++rank)
        forget(rank, begin, std::min(from, end) - begin);
      begin = std::max(begin, to);
    }
  }
}

template class xlc::interpret::Memory<double>;
template class xlc::interpret::Memory<float>;
template class xlc::interpret::Memory<Field>;
