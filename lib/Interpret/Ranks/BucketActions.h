// The effect of the actions on buckets on the ranks of a stage, or of several.
#ifndef XLC_LIB_INTERPRET_RANKS_BUCKETACTIONS_H
#define XLC_LIB_INTERPRET_RANKS_BUCKETACTIONS_H

#include "Ranks.h"

namespace xlc::interpret {

/// All ranks of a step, in the order of their numbers.
template <class E> struct World {
  dist::MeshAttr mesh;
  std::vector<Rank<E>> ranks;

  /// The ranks of the stage whose timeline an action belongs to.
  llvm::MutableArrayRef<Rank<E>> ranksOf(mlir::Operation *action) {
    int64_t stage = action->getParentOfType<sched::TimelineOp>().getStage();
    return llvm::MutableArrayRef(ranks).slice(stage * mesh.getStageRanks(), mesh.getStageRanks());
  }
};

/// Error: a rank reads a missing element.
template <class E>
llvm::LogicalResult missing(mlir::Operation *action, const Rank<E> &rank, llvm::StringRef what, llvm::StringRef member,
                            llvm::StringRef why) {
  return action->emitOpError() << "on rank " << rank.index << " reads " << what << " '" << member << "', which " << why;
}

/// Actions of one stage. Sums run in the order of the group's ranks.
template <class E> llvm::LogicalResult act(World<E> &world, sched::ReleaseOp release);
template <class E> llvm::LogicalResult act(World<E> &world, sched::NormOp norm);
template <class E> llvm::LogicalResult act(World<E> &world, sched::ZeroScalarsOp zero);

/// The same collective, as each of the stages that take part has it.
template <class E> llvm::LogicalResult act(World<E> &world, llvm::ArrayRef<sched::CollectiveOp> collectives);
template <class E> llvm::LogicalResult act(World<E> &world, llvm::ArrayRef<sched::AllReduceScalarsOp> reduces);

/// The optimizer's update of a bucket at step `now`.
template <class E>
llvm::LogicalResult act(World<E> &world, sched::UpdateOp update, const Model &model, const runtime::StepClock &clock,
                        const Functions<E> &functions);

} // namespace xlc::interpret

#endif
