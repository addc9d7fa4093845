// See SliceSums.h. The slices are cut into pieces. There is room for two pieces of every rank at a time:
//
//   post 0 | post 1, wait for 0, sum 0 | post 2, wait for 1, sum 1 | ...
//
// All ranks of a group use the same cut, so no rank waits for a piece that is not sent.
#include "SliceSums.h"

#include "Plan/Elements.h"
#include "Plan/Exchanges.h"

namespace xlc::runtime {

/// Of one exchange: `count` elements each of `runs` runs are a piece. The bounce block is
///
///   received, by half and rank | where elements cross as others: sent, by half and rank | received and widened, by rank
struct SliceSums::Pieces : BounceCut {
  Pieces(const Exchange &exchange, const Circle &circle, char *bounce, uint64_t bytes)
      : exchange(exchange), circle(circle), slicing(sliceOf(exchange, circle.size())), bounce(bounce),
        size(bytesOf(exchange.element)), crossing(bytesOf(exchange.wire)), isRounded(exchange.wire != exchange.element),
        most(pieceOf(bytes, circle.size(), size, crossing, isRounded)),
        partsOfRun(std::max<uint64_t>(1, (slicing.each + most - 1) / most)),
        runsOfPiece(partsOfRun > 1 ? 1 : std::min(slicing.outer, most / std::max<uint64_t>(1, slicing.each))) {}

  uint64_t count() const { return (slicing.outer + runsOfPiece - 1) / runsOfPiece * partsOfRun; }
  uint64_t firstRun(uint64_t piece) const { return piece / partsOfRun * runsOfPiece; }
  uint64_t runs(uint64_t piece) const { return std::min(runsOfPiece, slicing.outer - firstRun(piece)); }
  /// Where it begins in a slice, and how many elements of each run it has of that of a rank.
  uint64_t begin(uint64_t piece) const { return piece % partsOfRun * most; }
  uint64_t length(uint64_t piece, uint64_t index) const {
    uint64_t all = slicing.length(index), from = std::min(all, begin(piece));
    return std::min(most, all - from);
  }
  /// The byte at which a piece of a rank's slice begins in a buffer of all slices.
  uint64_t offset(uint64_t piece, uint64_t index) const {
    return (firstRun(piece) * slicing.run + slicing.begin(index) + begin(piece)) * size;
  }
  char *received(uint64_t piece, uint64_t index) const {
    return slot(piece % halves * circle.size() + index, crossing);
  }
  char *sent(uint64_t piece, uint64_t index) const {
    return slot((halves + piece % halves) * circle.size() + index, crossing);
  }
  char *widened(uint64_t index) const { return bounce + (slots * crossing * circle.size() + index * size) * most; }
  char *slot(uint64_t number, uint64_t elementBytes) const { return bounce + number * most * elementBytes; }

  const Exchange &exchange;
  const Circle &circle;
  const Slicing slicing;
  char *const bounce;
  const uint64_t size, crossing; ///< bytes of an element, and of what crosses of it
  const bool isRounded;
  const uint64_t most;       ///< elements of a piece
  const uint64_t partsOfRun; ///< pieces of a run of a slice, or
  const uint64_t runsOfPiece;
};

void SliceSums::postSlices(const Pieces &pieces, uint64_t piece, Batches &batches, const Participant &self) {
  const Exchange &exchange = pieces.exchange;
  uint64_t runs = pieces.runs(piece), run = pieces.slicing.run * pieces.size;
  pieces.circle.forEachOther([&](uint64_t peer) {
    uint64_t length = pieces.length(piece, peer), crossing = length * pieces.crossing;
    if (length == 0)
      return;
    const char *from = exchange.src + pieces.offset(piece, peer);
    if (!pieces.isRounded)
      return pieces.circle.send(batches, peer, {const_cast<char *>(from), crossing, runs, 1, {.outer = run}});
    char *to = pieces.sent(piece, peer);
    for (uint64_t i = 0; i < runs; ++i)
      self.mover.convert({exchange.element, exchange.wire, from + i * run, to + i * crossing, length});
    pieces.circle.send(batches, peer, {to, crossing, runs, 1, {.outer = crossing}});
  });
  if (uint64_t own = pieces.length(piece, pieces.circle.index) * pieces.crossing)
    pieces.circle.forEachOther([&](uint64_t peer) {
      pieces.circle.receive(batches, peer, {pieces.received(piece, peer), own, runs, 1, {.outer = own}});
    });
  batches.post(piece % 2);
}

/// Of the own slice, whose pieces follow each other from `to` on.
void SliceSums::combine(const Pieces &pieces, uint64_t piece, char *to, const Participant &self) {
  const Exchange &exchange = pieces.exchange;
  uint64_t index = pieces.circle.index, runs = pieces.runs(piece), length = pieces.length(piece, index);
  if (length == 0)
    return;
  sources.resize(pieces.circle.size());
  sources[index] = exchange.src + pieces.offset(piece, index);
  if (runs > 1) { // as the others' lie
    char *own = pieces.isRounded ? pieces.widened(index) : pieces.received(piece, index);
    uint64_t bytes = length * pieces.size;
    self.mover.copy(
        {sources[index], own, bytes, runs, 1, {.outer = pieces.slicing.run * pieces.size}, {.outer = bytes}});
    sources[index] = own;
  }
  pieces.circle.forEachOther([&](uint64_t peer) {
    sources[peer] = pieces.received(piece, peer);
    if (!pieces.isRounded)
      return;
    self.mover.convert({exchange.wire, exchange.element, sources[peer], pieces.widened(peer), runs * length});
    sources[peer] = pieces.widened(peer);
  });
  uint64_t before = pieces.firstRun(piece) * pieces.slicing.each + pieces.begin(piece);
  self.mover.combine({combinationOf(exchange), exchange.element, sources, 0, 0, runs * length, 1,
                      to + before * pieces.size, exchange.accumulate, exchange.wire});
}

void SliceSums::sum(const Pieces &pieces, char *to, Batches &batches, const Participant &self) {
  uint64_t count = pieces.count();
  for (uint64_t piece = 0; piece <= count; ++piece) {
    if (piece < count)
      postSlices(pieces, piece, batches, self);
    if (piece == 0)
      continue;
    batches.wait((piece - 1) % 2, self.pulse);
    combine(pieces, piece - 1, to, self);
  }
}

void SliceSums::scatter(const Exchange &exchange, const Circle &circle, Batches &batches, const Participant &self) {
  sum({exchange, circle, bounce, bytes}, exchange.dst, batches, self);
}

void SliceSums::share(const Exchange &exchange, const Circle &circle, Batches &batches, const Participant &self) {
  Pieces pieces(exchange, circle, bounce, bytes);
  auto sliceAt = [&](uint64_t index) { return exchange.dst + pieces.offset(0, index); };
  sum(pieces, sliceAt(circle.index), batches, self);
  if (pieces.isRounded)
    return gatherRounded(pieces, batches, self);
  auto runs = [&](uint64_t index) { return Runs{sliceAt(index), pieces.slicing.length(index) * pieces.size}; };
  circle.forEachOther([&](uint64_t peer) {
    if (Runs own = runs(circle.index); own.bytes)
      circle.send(batches, peer, own);
    if (Runs other = runs(peer); other.bytes)
      circle.receive(batches, peer, other);
  });
  batches.post(0);
  batches.wait(0, self.pulse);
}

/// Slices that were rounded already cross as what they are.
void SliceSums::gatherRounded(const Pieces &pieces, Batches &batches, const Participant &self) {
  const Exchange &exchange = pieces.exchange;
  const Circle &circle = pieces.circle;
  auto at = [&](uint64_t piece, uint64_t index) { return exchange.dst + pieces.offset(piece, index); };
  for (uint64_t piece = 0; piece < pieces.count(); ++piece) {
    uint64_t own = pieces.length(piece, circle.index);
    char *rounded = pieces.sent(piece, circle.index);
    self.mover.convert({exchange.element, exchange.wire, at(piece, circle.index), rounded, own});
    circle.forEachOther([&](uint64_t peer) {
      if (own)
        circle.send(batches, peer, {rounded, own * pieces.crossing});
      if (uint64_t other = pieces.length(piece, peer) * pieces.crossing)
        circle.receive(batches, peer, {pieces.received(piece, peer), other});
    });
    batches.post(0);
    batches.wait(0, self.pulse);
    circle.forEachOther([&](uint64_t peer) {
      self.mover.convert(
          {exchange.wire, exchange.element, pieces.received(piece, peer), at(piece, peer), pieces.length(piece, peer)});
    });
  }
}

} // namespace xlc::runtime
