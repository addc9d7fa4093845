// The collectives of a plan, and the selection of those that the ranks sum themselves.
#ifndef XLC_LIB_RUNTIME_PLAN_EXCHANGES_H
#define XLC_LIB_RUNTIME_PLAN_EXCHANGES_H

#include "Plan.h"

namespace xlc::runtime {

inline bool isSum(plan::CollectiveKind kind) {
  return kind != plan::CollectiveKind::all_gather && kind != plan::CollectiveKind::all_to_all;
}

/// Whether all ranks get the result: an all_reduce of any kind.
inline bool isReduction(plan::CollectiveKind kind) {
  return kind == plan::CollectiveKind::all_reduce || kind == plan::CollectiveKind::all_reduce_max;
}

/// Calls visit(exchange, stream) for the collectives of a program, including those within its functions.
template <class Visit> void forEachExchange(const Plan &plan, const plan::ProgramT &program, Visit visit) {
  for (const auto &step : program.steps) {
    if (const plan::ExchangeT *exchange = step->action.AsExchange())
      visit(*exchange, step->stream);
    if (const plan::RunT *run = step->action.AsRun())
      for (const auto &call : plan.functions[run->function]->calls)
        if (call->exchange)
          visit(*call->exchange, plan::Stream::compute);
  }
}

/// The default size of a bounce block: a rank that sums elements of other ranks has one for each stream.
inline constexpr uint64_t bounceBytes = 8 << 20;
/// The same on GPUs, whose links need larger pieces: with eight ranks, 4 MiB are sent to each at once, 0.08 ms at the
/// 370 GB/s that NCCL reaches on H100, in addition to some 0.02 for the calls (not measured).
inline constexpr uint64_t bounceBytesOfGpus = 64 << 20;

/// The partition of a bounce block. It has room for two received pieces of each rank. If elements are transmitted in
/// another type, it also has room for two pieces to send and one widened piece.
struct BounceCut {
  static constexpr uint64_t grain = 16; ///< in elements
  static constexpr uint64_t halves = 2, slots = halves + halves;
  /// The elements of a piece, given the bytes of an element and of a transmitted element.
  static constexpr uint64_t pieceOf(uint64_t bounce, uint64_t ranks, uint64_t size, uint64_t crossing, bool isRounded) {
    return bounce / (ranks * (isRounded ? slots * crossing + size : halves * size)) / grain * grain;
  }
};

/// Whether GPUs sum an exchange in the order of the ranks, by kernels of the program: NCCL sums in an order of its own,
/// cannot add to existing values, and rounds at every rank. `isOrdered`: the plan requires that order for all sums.
inline bool isSummedInOrder(bool isOrdered, plan::CollectiveKind kind, bool accumulates, bool crossesAsOther) {
  return isSum(kind) && (isOrdered || accumulates || crossesAsOther);
}
inline bool isSummedInOrder(const Plan &plan, const plan::ExchangeT &exchange) {
  return isSummedInOrder(plan.deterministic, exchange.kind, exchange.accumulate,
                         exchange.wire.value_or(exchange.element) != exchange.element);
}

} // namespace xlc::runtime

#endif
