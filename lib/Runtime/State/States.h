// The states of a rank: every tensor and number of the plan's table that outlives a step, and where the rank keeps it.
// Initialization, saving and checks walk over it here and nowhere else.
#ifndef XLC_LIB_RUNTIME_STATE_STATES_H
#define XLC_LIB_RUNTIME_STATE_STATES_H

#include "Plan/Ranks.h"
#include "xlc/Runtime/States.h"

#include <functional>

namespace xlc::runtime {

/// A state of a bucket on a rank: elements [begin, end) of the bucket, the first at `offset` in the rank's arena.
struct HeldState {
  const plan::StateT *row;
  uint64_t begin, end;
  uint64_t offset;

  uint64_t offsetOf(uint64_t at) const { return offset + (at - begin) * bytesOf(row->element); }
  uint64_t getBytes() const { return (end - begin) * bytesOf(row->element); }
};

/// Calls visit(held) for each state of each bucket on a rank, in the order of its program.
void forEachState(const Plan &plan, int rank, const std::function<void(const HeldState &)> &visit);

/// Parameters and running averages of a bucket, as units read them; none where the rank does not hold the bucket.
std::optional<HeldState> findRead(const Plan &plan, int rank, uint32_t bucket);
/// The same as the optimizer moves them: the master, where there is one.
std::optional<HeldState> findMoved(const Plan &plan, int rank, uint32_t bucket);
/// Their average, or where there is none the same as findMoved.
std::optional<HeldState> findAverage(const Plan &plan, int rank, uint32_t bucket);

/// The first stage that holds a bucket, as the number of its first rank.
int findFirstHolder(const Plan &plan, uint32_t bucket);

/// A parameter as a member of its bucket on a rank.
BucketMember memberOf(const Plan &plan, const plan::ParameterT &parameter, int rank);
PieceShape shapeOf(const Plan &plan, const plan::ParameterT &parameter);

/// The row of a bucket's parameters and running averages, as units read them; a plan that was checked has one.
const plan::StateT &rowOfRead(const Plan &plan, uint32_t bucket);

/// Whether the optimizer moves a parameter: it is neither frozen nor a running average.
bool isTrained(const Plan &plan, const plan::ParameterT &parameter);

/// Whether ranks hold of a parameter nothing but a rounded copy, which no step moves.
bool isHeldRounded(const Plan &plan, const plan::ParameterT &parameter);

/// Whether checkpoints have a state: what the optimizer moves, running averages, and the optimizer's own. What is
/// rounded from another they have not.
bool isSaved(const Plan &plan, const plan::StateT &state);
/// Whether it changes in updates alone: forward moves running averages.
inline bool changesInUpdates(const plan::StateT &state) { return state.kind != plan::StateKind::RunningAverage; }

/// By the steps of a program: whether one changes such a state.
std::vector<bool> findUpdates(const Plan &plan, const plan::ProgramT &program);

/// The type of a bucket's parameters in files, whatever units read: that of the master; without one, what is narrow is
/// widened.
plan::Element storedElement(const Plan &plan, uint32_t bucket);

/// Calls write(offset in the arena, element type, value) for each counter, index, site and table of members that one of
/// a rank's programs has, number by number, as it is before the first step.
void forEachFirstNumber(const Plan &plan, const plan::ProgramT &program, int rank,
                        const std::function<void(uint64_t offset, plan::Element element, int64_t value)> &write);

} // namespace xlc::runtime

#endif
