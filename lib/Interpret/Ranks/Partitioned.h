// The partitioned programs: a `sched` timeline, and an `exec` program on byte-exact arenas.
#ifndef XLC_LIB_INTERPRET_RANKS_PARTITIONED_H
#define XLC_LIB_INTERPRET_RANKS_PARTITIONED_H

#include "KernelResults.h"
#include "Model.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Sched/Sched.h"
#include "xlc/Interpret/Verify.h"

namespace xlc::interpret {

/// All ranks of timelines, one per pipeline stage in their order; the module's buckets and unit functions go with them.
template <class E>
std::unique_ptr<Runner<E>> makeTimeline(llvm::ArrayRef<sched::TimelineOp> ops, const Model &model,
                                        const Source<E> &source, const Options &options);

/// All ranks of exec programs, one program per pipeline stage in their order, each rank with an arena of its own. The
/// ranks of a stage run its actions in one order. `known` may be null, else is kept and used.
template <class E>
std::unique_ptr<Runner<E>> makeProgram(llvm::ArrayRef<exec::ProgramOp> ops, const Model &model, const Source<E> &source,
                                       const Options &options, const std::optional<Order> &order,
                                       KernelResults<E> *known);

} // namespace xlc::interpret

#endif
