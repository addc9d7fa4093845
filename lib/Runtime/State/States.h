// The states of a rank: every tensor and number of the plan's table that outlives a step, and its place on the rank.
// Initialization, saving and checks iterate over the table only here.
#ifndef XLC_LIB_RUNTIME_STATE_STATES_H
#define XLC_LIB_RUNTIME_STATE_STATES_H

#include "Plan/Ranks.h"
#include "xlc/Runtime/States.h"

#include <functional>

namespace xlc::runtime {

/// A state of a bucket on a rank: elements [begin, end) of the bucket, beginning at `offset` in the rank's arena.
struct HeldState {
  const plan::StateT *row;
  uint64_t begin, end;
  uint64_t offset;

  uint64_t offsetOf(uint64_t at) const { return offset + (at - begin) * bytesOf(row->element); }
  uint64_t getBytes() const { return (end - begin) * bytesOf(row->element); }
};

/// Calls visit(held) for each state of each bucket on a rank, in the order of its program.
void forEachState(const Plan &plan, int rank, const std::function<void(const HeldState &)> &visit);

/// Parameters and running averages of a bucket in the form that units read; none if the rank does not hold the bucket.
std::optional<HeldState> findRead(const Plan &plan, int rank, uint32_t bucket);
/// The same in the form that the optimizer updates: the master, if there is one.
std::optional<HeldState> findMoved(const Plan &plan, int rank, uint32_t bucket);
/// Their average or, if there is none, the result of findMoved.
std::optional<HeldState> findAverage(const Plan &plan, int rank, uint32_t bucket);

/// The first stage that holds a bucket, as the number of its first rank.
int findFirstHolder(const Plan &plan, uint32_t bucket);

/// A parameter as a member of its bucket on a rank.
BucketMember memberOf(const Plan &plan, const plan::ParameterT &parameter, int rank);
PieceShape shapeOf(const Plan &plan, const plan::ParameterT &parameter);

/// The row of a bucket's parameters and running averages in the form that units read; a checked plan has one.
const plan::StateT &rowOfRead(const Plan &plan, uint32_t bucket);

/// Whether the optimizer updates a parameter: it is neither frozen nor a running average.
bool isTrained(const Plan &plan, const plan::ParameterT &parameter);

/// Whether ranks hold only a rounded copy of a parameter, which no step changes.
bool isHeldRounded(const Plan &plan, const plan::ParameterT &parameter);

/// Whether checkpoints contain a state: the values that the optimizer updates, running averages, and the optimizer's
/// own states. States that are rounded from others are not included.
bool isSaved(const Plan &plan, const plan::StateT &state);
/// Whether a state changes only in updates: forward changes running averages.
inline bool changesInUpdates(const plan::StateT &state) { return state.kind != plan::StateKind::RunningAverage; }

/// For each step of a program: whether it changes such a state.
std::vector<bool> findUpdates(const Plan &plan, const plan::ProgramT &program);

/// The type of a bucket's parameters in files, independent of the type that units read: that of the master; without
/// one, narrow types are widened.
plan::Element storedElement(const Plan &plan, uint32_t bucket);

/// Calls write(offset in the arena, element type, value) for each number of each counter, index, site and table of
/// members in a rank's programs, with its value before the first step.
void forEachFirstNumber(const Plan &plan, const plan::ProgramT &program, int rank,
                        const std::function<void(uint64_t offset, plan::Element element, int64_t value)> &write);

} // namespace xlc::runtime

#endif
