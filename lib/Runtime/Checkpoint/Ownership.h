// Lists the tensors of a checkpoint of a plan, and assigns each part of them to the rank that writes it. Each element
// is written once:
//
//     shards       a rank writes the elements of its shard and its piece
//     replicas     of elements replicated on R ranks, replica r writes [r n / R, (r + 1) n / R), in multiples of 64
//                  elements; below 1 MiB, one replica, chosen by the name, writes all
//     averages     running averages differ between replicas: the first, with dp index 0, writes all
//     copies       of a parameter that is on several pipeline stages, the first stage writes
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_OWNERSHIP_H
#define XLC_LIB_RUNTIME_CHECKPOINT_OWNERSHIP_H

#include "Manifest.h"
#include "State/States.h"

namespace xlc::runtime {

/// The tensor of a saved state of a bucket for one of its parameters, without pieces. If ranks hold the parameter only
/// in rounded form (State/States.h, isHeldRounded), the tensor has its initial values.
SavedTensor describeTensor(const Plan &plan, const plan::StateT &state, const plan::ParameterT &parameter);

/// All tensors, in the order of the plan's parameters, then of its states.
std::vector<SavedTensor> listTensors(const Plan &plan);

/// The names of the optimizer's states, sorted.
std::vector<std::string> listOptimizerStates(const Plan &plan);

/// A part of a tensor on a rank: a range of elements of its piece, which begins at element `inBucket` of the state.
struct HeldPart {
  HeldState held;
  size_t parameter; ///< index in the plan
  PieceRange range;
  uint64_t inBucket;

  /// The offset in the arena, and the size in bytes.
  uint64_t offset() const { return held.offsetOf(inBucket); }
  uint64_t bytes() const { return (range.end - range.begin) * bytesOf(held.row->element); }
};

/// Calls visit(part) for each part that a rank writes: parameters in the order of the plan, then the states of each in
/// their order.
void forEachOwnedPart(const Plan &plan, int rank, const std::function<void(const HeldPart &)> &visit);

/// The same for each part that other ranks of its first stage hold too, bit by bit. Running averages are excluded: each
/// dp index computes its own from its rows.
void forEachSharedPart(const Plan &plan, int rank, const std::function<void(const HeldPart &)> &visit);

} // namespace xlc::runtime

#endif
