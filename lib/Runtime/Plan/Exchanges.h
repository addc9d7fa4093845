// The collectives of a plan, and which of them the ranks sum by themselves.
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

/// visit(exchange, stream) for the collectives of a program, those within its functions included.
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

/// Of a bounce block, where nobody asks for another size: a rank that sums what others send has one for each stream.
inline constexpr uint64_t bounceBytes = 8 << 20;
/// On GPUs, whose links need larger pieces: of eight ranks 4 MiB go to each at once, 0.08 ms at the 370 GB/s that NCCL reaches on H100,
/// beside some 0.02 for the calls (not measured).
inline constexpr uint64_t bounceBytesOfGpus = 64 << 20;

/// How it is cut. Of each rank it has room for two pieces that it has received; and, where elements cross as others, for two that it
/// sends, and one that is widened.
struct BounceCut {
  static constexpr uint64_t grain = 16; ///< elements
  static constexpr uint64_t halves = 2, slots = halves + halves;
  /// Elements of a piece, of so many bytes each, and of what crosses of them.
  static constexpr uint64_t pieceOf(uint64_t bounce, uint64_t ranks, uint64_t size, uint64_t crossing, bool isRounded) {
    return bounce / (ranks * (isRounded ? slots * crossing + size : halves * size)) / grain * grain;
  }
};

/// Whether GPUs sum it in the order of the ranks, by kernels of the program: NCCL sums in an order of its own, adds to nothing
/// that is there, and rounds at every rank. `isOrdered`: the plan wants that order of all sums.
inline bool isSummedInOrder(bool isOrdered, plan::CollectiveKind kind, bool accumulates, bool crossesAsOther) {
  return isSum(kind) && (isOrdered || accumulates || crossesAsOther);
}
inline bool isSummedInOrder(const Plan &plan, const plan::ExchangeT &exchange) {
  return isSummedInOrder(plan.deterministic, exchange.kind, exchange.accumulate,
                         exchange.wire.value_or(exchange.element) != exchange.element);
}

} // namespace xlc::runtime

#endif
