// The data that outlives a step: the names of its numbers, and the layout of the elements of parameters. Used by the
// compiler, the interpreter and the runtime: no LLVM, no plan.
//
//   whole     [rows, run, rest]      dimension `dim` is [outer, run]; rows = what is before it times outer
//   piece     [rows, block, rest]    of index i: elements [i * block, (i + 1) * block) of each run; the tail may be
//                                    short
//   bucket    ... | piece | ...      from element `offset`; whole on a rank, or cut in shards of equal length
#ifndef XLC_RUNTIME_STATES_H
#define XLC_RUNTIME_STATES_H

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace xlc::runtime {

/// Names of numbers of a rank (f32). The results of a step: the mean loss of its rows, and the norm of its gradient.
inline constexpr std::string_view kLossResult = "loss", kNormResult = "norm";
/// A counter: 1 if the previous step was applied, and before the first step; otherwise 0.
inline constexpr std::string_view kAppliedCounter = "applied";
/// The state of an optimizer that is an average of the parameters.
inline constexpr std::string_view kAverageState = "ema";

/// The geometry of a tensor's pieces, in elements.
struct PieceShape {
  uint64_t run = 0, block = 0, rest = 1;

  /// A tensor that is one piece.
  static PieceShape whole(uint64_t elements) { return {elements, elements, 1}; }
  /// A tensor whose dimension of `size` is [outer, size / outer], each run of it cut in `parts`. `rest`: elements of
  /// the tensor per index of that dimension and those before it.
  static PieceShape cut(uint64_t size, uint64_t outer, uint64_t parts, uint64_t rest) {
    uint64_t run = size / outer;
    return {run, (run + parts - 1) / parts, rest};
  }

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
  /// The piece with element `at` of the whole, the element's position there, and the number of elements that follow it
  /// in both.
  struct Found {
    uint64_t index, inPiece, count;
  };
  Found find(uint64_t at) const {
    uint64_t row = at / (run * rest), inRun = at % (run * rest), width = block * rest;
    uint64_t index = inRun / width, inBlock = inRun % width;
    return {index, row * width + inBlock, std::min(width - inBlock, run * rest - inRun)};
  }
};

/// A member of a bucket on a rank: elements [begin, end) of the bucket are the piece of `index`.
struct BucketMember {
  uint64_t begin, end;
  uint64_t index;
  PieceShape shape;

  /// Calls visit(inBucket, inWhole, count) for the member's elements among [first, last) of the bucket, without
  /// padding.
  template <class Visit> void forEachRun(uint64_t first, uint64_t last, Visit visit) const {
    first = std::max(first, begin), last = std::min(last, end);
    if (first < last)
      shape.forEachRun(index, first - begin, last - begin, [&](uint64_t inPiece, uint64_t inWhole, uint64_t count) {
        visit(begin + inPiece, inWhole, count);
      });
  }
};

/// The columns of a bucket's table of members, which maps elements of a rank's piece to elements of parameters. An
/// element at `at` of the piece belongs to the last member whose Begin is not above it. With j = at - Begin it is
/// element j + (j div Width) * Skip + Base of the whole parameter. A row of the table is one column for all members:
/// [kMemberColumns, members] numbers of 64 bits.
enum class MemberColumn : unsigned {
  Begin,       ///< in the rank's piece of the bucket; negative if the member starts in an earlier piece
  Subsequence, ///< of the member's random bits (Philox.h)
  Width,       ///< consecutive elements of the rank's piece that are also consecutive in the whole parameter
  Skip,        ///< elements of the whole parameter between two such runs
  Base,        ///< of the piece's first element
};
inline constexpr int64_t kMemberColumns = 5;
inline constexpr int64_t elementsOfMemberTable(int64_t members) { return kMemberColumns * members; }

/// Writes the column entries of member `i` of `count`, in the bucket's order. `first`: the element of the bucket at
/// which the rank's piece starts.
inline void putMember(const BucketMember &member, uint64_t subsequence, uint64_t first, uint64_t i, uint64_t count,
                      int64_t *table) {
  auto put = [&](MemberColumn column, uint64_t value) { table[(unsigned)column * count + i] = (int64_t)value; };
  uint64_t width = member.shape.block * member.shape.rest, whole = member.shape.run * member.shape.rest;
  put(MemberColumn::Begin, member.begin - first);
  put(MemberColumn::Subsequence, subsequence);
  put(MemberColumn::Width, std::max<uint64_t>(width, 1));
  put(MemberColumn::Skip, whole - width);
  put(MemberColumn::Base, std::min(member.shape.run, member.index * member.shape.block) * member.shape.rest);
}

} // namespace xlc::runtime

#endif
