// Which tensors a checkpoint of a plan has, and which rank writes which part of them. Each element is written once:
//
//     shards       a rank writes what its shard and its piece have
//     replicas     of elements that R ranks hold alike, replica r writes [r n / R, (r + 1) n / R), in multiples of 64
//                  elements; of less than 1 MiB one replica, which follows from the name, writes all
//     averages     running averages differ between replicas: the first, of dp index 0, writes all
//     copies       of a parameter that several pipeline stages have, the first stage writes
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_OWNERSHIP_H
#define XLC_LIB_RUNTIME_CHECKPOINT_OWNERSHIP_H

#include "Manifest.h"
#include "State/States.h"

namespace xlc::runtime {

/// The tensor of a saved state of a bucket for one of its parameters; without pieces. Of a parameter that ranks hold
/// rounded alone (State/States.h, isHeldRounded) it has the values that it began with.
SavedTensor describeTensor(const Plan &plan, const plan::StateT &state, const plan::ParameterT &parameter);

/// All of them, in the order of the plan's parameters, then of its states.
std::vector<SavedTensor> listTensors(const Plan &plan);

/// The names of the optimizer's states, sorted.
std::vector<std::string> listOptimizerStates(const Plan &plan);

/// A part of a tensor on a rank: elements of its piece, which are elements from `inBucket` on of the state.
struct HeldPart {
  HeldState held;
  size_t parameter; ///< of the plan
  PieceRange range;
  uint64_t inBucket;

  /// Where it begins in the arena, and how many bytes it has there.
  uint64_t offset() const { return held.offsetOf(inBucket); }
  uint64_t bytes() const { return (range.end - range.begin) * bytesOf(held.row->element); }
};

/// Calls visit(part) for all that a rank writes, parameters in the order of the plan, of each its states in theirs.
void forEachOwnedPart(const Plan &plan, int rank, const std::function<void(const HeldPart &)> &visit);

/// The same for all that other ranks of the first stage that has it hold too, bit by bit. Running averages are not of
/// these, which each dp index has of its own rows.
void forEachSharedPart(const Plan &plan, int rank, const std::function<void(const HeldPart &)> &visit);

} // namespace xlc::runtime

#endif
