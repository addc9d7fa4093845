// Which elements of a parameter lie where: the parameter, a rank's piece of it, the bucket, its shards.
//
//   whole     [rows, run, rest]      dimension `dim` is [outer, run]; rows = what is before it times outer
//   piece     [rows, block, rest]    of index i: elements [i * block, (i + 1) * block) of each run; the tail may be
//                                    short
//   bucket    ... | piece | ...      from element `offset`; whole on a rank, or cut in shards of `shard_elements`
#ifndef XLC_LIB_RUNTIME_PLAN_PIECES_H
#define XLC_LIB_RUNTIME_PLAN_PIECES_H

#include "Ranks.h"

#include <algorithm>

namespace xlc::runtime {

/// The geometry of a parameter's pieces, in elements.
struct PieceShape {
  uint64_t run = 0, block = 0, rest = 1;

  PieceShape(const Plan &plan, const plan::ParameterT &parameter);

  /// Calls visit(inPiece, inWhole, count) for the runs of elements [begin, end) of the piece of `index` that exist.
  template <class Visit> void forEachRun(uint64_t index, uint64_t begin, uint64_t end, Visit visit) const {
    uint64_t width = block * rest, first = std::min(run, index * block);
    uint64_t valid = std::min(block, run - first) * rest;
    for (uint64_t row = width ? begin / width : 0; row * width < end; ++row) {
      uint64_t from = std::max(begin, row * width), to = std::min(end, row * width + valid);
      if (from < to)
        visit(from, (row * run + first) * rest + (from - row * width), to - from);
    }
  }
  /// The piece that holds element `at` of the whole, its place there, and how many follow it in both.
  struct Found {
    uint64_t index, inPiece, count;
  };
  Found find(uint64_t at) const {
    uint64_t row = at / (run * rest), inRun = at % (run * rest), width = block * rest;
    uint64_t index = inRun / width, inBlock = inRun % width;
    return {index, row * width + inBlock, std::min(width - inBlock, run * rest - inRun)};
  }
};

/// What a rank holds of a bucket: elements [begin, end), the first at `offset` in its arena.
struct HeldPiece {
  uint64_t begin, end;
  plan::Element element;
  uint64_t offset;

  uint64_t offsetOf(uint64_t at) const { return offset + (at - begin) * bytesOf(element); }
};

/// Where a rank keeps a bucket; null where its stage does not hold it.
const plan::BucketPlaceT *findBucket(const Plan &plan, uint32_t bucket, int rank);

/// The parameters of a bucket as units read them, and their master, which it has.
HeldPiece findHeld(const Plan &plan, const plan::BucketPlaceT &home, int rank);
HeldPiece findMaster(const Plan &plan, const plan::BucketPlaceT &home, int rank);

} // namespace xlc::runtime

#endif
