// Sums over ranks that exchange messages, through a bounce block whose size does not depend on the plan.
#ifndef XLC_LIB_RUNTIME_FABRIC_SLICESUMS_H
#define XLC_LIB_RUNTIME_FABRIC_SLICESUMS_H

#include "Batches.h"
#include "Slicing.h"

namespace xlc::runtime {

/// The ranks of an exchange, from the view of one of them on one stream.
struct Circle {
  const std::vector<int> &ranks; ///< by index
  uint64_t index;                ///< the index of this rank
  uint32_t tag;
  uint64_t &counter; ///< counts the bytes that it receives

  uint64_t size() const { return ranks.size(); }
  template <class Visit> void forEachOther(Visit visit) const {
    for (uint64_t peer = 0; peer < size(); ++peer)
      if (peer != index)
        visit(peer);
  }
  void send(Batches &batches, uint64_t peer, const Runs &memory) const { batches.send(ranks[peer], tag, memory); }
  void receive(Batches &batches, uint64_t peer, const Runs &memory) const {
    counter += memory.bytes * memory.outer * memory.rows;
    batches.receive(ranks[peer], tag, memory);
  }
};

/// The sums of one stream.
class SliceSums {
public:
  /// `bounce`: memory of `bytes` bytes that the rank's device can access, used by this stream only.
  SliceSums(char *bounce, uint64_t bytes) : bounce(bounce), bytes(bytes) {}

  /// Runs a reduce_scatter.
  void scatter(const Exchange &exchange, const Circle &circle, Batches &batches, const Participant &self);
  /// Runs an all_reduce: a reduce_scatter, after which each slice is sent to all ranks.
  void share(const Exchange &exchange, const Circle &circle, Batches &batches, const Participant &self);

private:
  struct Pieces;
  void sum(const Pieces &pieces, char *to, Batches &batches, const Participant &self);
  void postSlices(const Pieces &pieces, uint64_t piece, Batches &batches, const Participant &self);
  void combine(const Pieces &pieces, uint64_t piece, char *to, const Participant &self);
  void gatherRounded(const Pieces &pieces, Batches &batches, const Participant &self);

  char *const bounce;
  const uint64_t bytes;
  std::vector<const char *> sources; ///< the summands, by index
};

} // namespace xlc::runtime

#endif
