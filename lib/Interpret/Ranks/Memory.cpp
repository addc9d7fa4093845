// Reads and writes of spans, with the reasons for which they are rejected.
#include "Memory.h"
#include "xlc/Interpret/Interpret.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

template <class E> void interpret::addTo(Cargo<E> &a, const Cargo<E> &b) {
  addTo<E>(a.elements, b.elements);
  for (size_t i = 0; i < a.isSet.size(); ++i)
    a.isSet[i] = a.isSet[i] && b.isSet[i];
}

/// Two bytes where anything in the module is kept in so many; the same for all stages, which send each other elements.
static Grain findGrain(ModuleOp module) {
  auto isNarrow = [](Type type) { return graph::isNarrow(getElementTypeOrSelf(type)); };
  WalkResult walk = module.walk([&](Operation *op) {
    if (llvm::any_of(op->getOperandTypes(), isNarrow) || llvm::any_of(op->getResultTypes(), isNarrow))
      return WalkResult::interrupt();
    return op->getAttrDictionary().walk( // of what ranks exchange, of buckets
        [&](Type type) { return isNarrow(type) ? WalkResult::interrupt() : WalkResult::advance(); });
  });
  return walk.wasInterrupted() ? Grain::TwoBytes : Grain::FourBytes;
}

template <class E>
Memory<E>::Memory(exec::ProgramOp program)
    : mesh(program.getMesh()), firstRank(program.getStage() * mesh.getStageRanks()) {
  for (auto buffer : program.getBody().getOps<exec::BufferOp>())
    buffers.push_back(buffer);
  Grain grain = findGrain(program->getParentOfType<ModuleOp>());
  arenas.reserve(mesh.getStageRanks());
  for (int64_t rank = 0; rank < mesh.getStageRanks(); ++rank) // a copy of one would be large
    arenas.emplace_back(program.getArena(), grain);

  lives.resize(buffers.size());
  auto buffersOf = [&](Operation *op) {
    llvm::SmallSetVector<size_t, 8> found;
    op->getAttrDictionary().walk([&](exec::PlaceAttr place) {
      if (place.getBuffer() >= 0 && place.getBuffer() < int64_t(buffers.size()))
        found.insert(place.getBuffer());
    });
    return found.takeVector();
  };
  for (Operation &action : program.getBody().front())
    if (isa<exec::Action>(action))
      named.emplace_back(buffersOf(&action));
  for (ArrayRef<size_t> ofAction : named)
    for (size_t buffer : ofAction)
      ++lives[buffer].uses;
  for (auto [buffer, life] : llvm::zip(buffers, lives))
    life.isForever |= buffer.getPersistent();
  beginStep();
}

template <class E> void Memory<E>::takePersistent(const Memory &other) {
  llvm::StringMap<exec::BufferOp> known;
  for (exec::BufferOp buffer : other.buffers)
    if (buffer.getPersistent())
      known[buffer.getName()] = buffer;
  for (exec::BufferOp buffer : buffers)
    if (auto from = known.find(buffer.getName()); buffer.getPersistent() && from != known.end())
      for (auto [own, its] : llvm::zip(arenas, other.arenas))
        own.copyFrom(its, from->second.getOffset(), buffer.getOffset(), buffer.getSize());
}

template <class E> void Memory<E>::beginStep() {
  for (Life &life : lives)
    life.hasBegun = false, life.left = life.uses;
}

template <class E> void Memory<E>::begin(int64_t action) {
  for (size_t buffer : named[action])
    lives[buffer].hasBegun = true;
}

template <class E> void Memory<E>::end(int64_t action) {
  for (size_t buffer : named[action])
    --lives[buffer].left;
  for (size_t buffer : named[action])
    if (!isLive(buffer))
      forgetAllOf(buffer);
}

template <class E> Span Memory<E>::spanAt(exec::PlaceAttr place, int64_t rank, int64_t count, Type element) const {
  int64_t begin =
      place.getBuffer() < int64_t(buffers.size()) ? exec::BufferOp(buffers[place.getBuffer()]).getOffset() : 0;
  return {place.getBuffer(), begin + place.getOffset() + mesh.shardOf(rank) * place.getStride(), element, {count}, {1}};
}

template <class E> LogicalResult Memory<E>::check(const Access &access, const Span &span) const {
  if (span.buffer < 0 || span.buffer >= int64_t(buffers.size()))
    return access.action->emitOpError() << "uses buffer " << span.buffer << ", which must be below " << buffers.size();
  int64_t low = span.address, high = span.address + span.elementBytes();
  for (auto [size, stride] : llvm::zip(span.sizes, span.strides)) {
    if (size == 0)
      return success();
    (stride < 0 ? low : high) += (size - 1) * stride * span.elementBytes();
  }
  exec::BufferOp buffer = buffers[span.buffer];
  int64_t begin = buffer.getOffset(), end = begin + buffer.getSize();
  if (low < begin || high > end || end > arenas[access.rank].size())
    return access.action->emitOpError() << "'" << access.label << "' on rank " << firstRank + access.rank
                                        << " accesses bytes " << low - begin << " to " << high - begin << " of buffer '"
                                        << buffer.getName() << "', which has " << buffer.getSize() << " bytes";
  if (span.address % std::min<int64_t>(span.elementBytes(), 4))
    return access.action->emitOpError() << "'" << access.label << "' accesses an element of " << span.elementBytes()
                                        << " bytes at byte " << low << ", which is not aligned";
  return success();
}

/// Element `index` of a span is not there.
template <class E> LogicalResult Memory<E>::missing(const Access &access, const Span &span, int64_t index) const {
  int64_t address = span.address;
  for (size_t d = span.sizes.size(); d-- > 0; index /= span.sizes[d])
    address += index % span.sizes[d] * span.strides[d] * span.elementBytes();
  exec::BufferOp buffer = buffers[span.buffer];
  return access.action->emitOpError() << "'" << access.label << "' on rank " << firstRank + access.rank << " reads "
                                      << span.element << " at byte " << address - buffer.getOffset() << " of buffer '"
                                      << buffer.getName() << "', but these bytes do not hold a value of this type";
}

template <class E> LogicalResult Memory<E>::load(const Access &access, const Span &span, Cargo<E> &cargo) const {
  if (failed(check(access, span)))
    return failure();
  cargo.elements = span.element.isInteger() ? Datum<E>(Integers(span.sizes)) : Datum<E>(Tensor<E>(span.sizes));
  std::visit(
      [&](auto &tensor) {
        using T = std::decay_t<decltype(tensor.elements[0])>;
        const Arena<E> &arena = arenas[access.rank];
        cargo.isSet.assign(tensor.elements.size(), true);
        int64_t next = 0, bytes = span.elementBytes();
        if (span.isRun() && arena.readRun(span.address, bytes, tensor.elements.size(), tensor.elements.data()))
          return;
        forEachPosition<1>(span.sizes, {span.strides}, {0}, [&](auto offsets) {
          std::optional<T> element = arena.template read<T>(span.address + offsets[0] * bytes, bytes);
          cargo.isSet[next] = element.has_value();
          tensor.elements[next++] = element.value_or(T());
        });
      },
      cargo.elements);
  return success();
}

template <class E> LogicalResult Memory<E>::read(const Access &access, const Span &span, Datum<E> &value) const {
  Cargo<E> cargo;
  if (failed(load(access, span, cargo)))
    return failure();
  value = std::move(cargo.elements);
  auto unset = llvm::find(cargo.isSet, false);
  return unset == cargo.isSet.end() ? success() : missing(access, span, unset - cargo.isSet.begin());
}

template <class E>
LogicalResult Memory<E>::store(const Access &access, const Span &span, const Cargo<E> &cargo, bool accumulate) {
  Cargo<E> sum = cargo;
  if (accumulate) {
    if (failed(load(access, span, sum)))
      return failure();
    addTo(sum, cargo);
  }
  if (failed(write(access, span, sum.elements, false)))
    return failure();
  int64_t next = 0, bytes = span.elementBytes();
  forEachPosition<1>(span.sizes, {span.strides}, {0}, [&](auto offsets) {
    if (!sum.isSet[next++])
      forget(access.rank, span.address + offsets[0] * bytes, bytes);
  });
  return success();
}

template <class E>
LogicalResult Memory<E>::write(const Access &access, const Span &span, const Datum<E> &value, bool accumulate) {
  if (failed(check(access, span)))
    return failure();
  Datum<E> sum;
  bool isRounded = kRounds<E> && findNarrow(span.element);
  if (isRounded)
    sum = value;
  if (accumulate) {
    if (failed(read(access, span, sum)))
      return failure();
    addTo<E>(sum, value);
  }
  roundTo(span.element, sum);
  std::visit(
      [&](auto &tensor) {
        Arena<E> &arena = arenas[access.rank];
        int64_t next = 0, bytes = span.elementBytes();
        if (span.isRun())
          return arena.writeRun(span.address, bytes, tensor.elements.size(), tensor.elements.data());
        forEachPosition<1>(span.sizes, {span.strides}, {0}, [&](auto offsets) {
          arena.write(span.address + offsets[0] * bytes, bytes, tensor.elements[next++]);
        });
      },
      accumulate || isRounded ? sum : value);
  return success();
}

template <class E>
LogicalResult Memory<E>::copyFrom(const Access &to, exec::PlaceAttr place, const Memory &other, const Access &from,
                                  exec::PlaceAttr source, int64_t bytes) {
  Type byte = IntegerType::get(place.getContext(), 8);
  Span read = other.spanAt(source, from.rank, bytes, byte), written = spanAt(place, to.rank, bytes, byte);
  if (failed(other.check(from, read)) || failed(check(to, written)))
    return failure();
  Arena<E> &target = arenas[to.rank];
  if (!target.isAligned(read.address) || !target.isAligned(written.address))
    return to.action->emitOpError() << "'" << to.label << "' copies elements from byte " << read.address << " to byte "
                                    << written.address << ", which are not both aligned";
  target.copyFrom(other.arenas[from.rank], read.address, written.address, bytes);
  return success();
}

/// But bytes of buffers that live on.
template <class E> void Memory<E>::forgetAllOf(size_t dead) {
  exec::BufferOp dying = buffers[dead];
  int64_t begin = dying.getOffset(), end = begin + dying.getSize();
  SmallVector<std::pair<int64_t, int64_t>> kept;
  for (auto [other, buffer] : llvm::enumerate(buffers))
    if (isLive(other) && buffer.getOffset() < end && begin < buffer.getOffset() + buffer.getSize())
      kept.push_back({buffer.getOffset(), buffer.getOffset() + buffer.getSize()});
  llvm::sort(kept);
  kept.push_back({end, end});
  for (auto [from, to] : kept) {
    for (int64_t rank = 0; rank < int64_t(arenas.size()) && begin < from; ++rank)
      forget(rank, begin, std::min(from, end) - begin);
    begin = std::max(begin, to);
  }
}

template class xlc::interpret::Memory<double>;
template class xlc::interpret::Memory<float>;
template class xlc::interpret::Memory<Field>;
template void xlc::interpret::addTo(Cargo<double> &, const Cargo<double> &);
template void xlc::interpret::addTo(Cargo<float> &, const Cargo<float> &);
template void xlc::interpret::addTo(Cargo<Field> &, const Cargo<Field> &);
