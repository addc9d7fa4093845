// Plans for other specs, begun where a compilation's own phases stop being of use.
//
//   this spec    Import ─> Differentiate ─> Shard ─> Stage ─> DataParallel ─> Schedule ─> Memory
//                              │                       └── zero_stage: 2 ──> DataParallel ─> ...
//                              └── tp: 16 ──> Shard ─> Stage ─> DataParallel ─> ...
//
// The column `reads` of the phase table says where: a phase that reads nothing of what differs did the same already.
// Nothing is verified in a trial: it is asked for its bytes and never run.
#ifndef XLC_PHASES_FORKS_H
#define XLC_PHASES_FORKS_H

#include "xlc/Phases/Phases.h"
#include "xlc/Search/Search.h"

namespace xlc {

class Forks {
public:
  /// Forks the modules that `from` keeps. While DataParallel is at work also the one that it starts from.
  explicit Forks(const Compilation &from);

  /// Plans up to Schedule; see Planner. The spec differs from that of the compilation in keys of the table in Forks.cpp.
  std::unique_ptr<Trial> plan(const Spec &spec, std::string &obstacle);

  /// Planners that fork from `from` beside each other; they must not outlive it. Its context is to allow several threads.
  static Planners getPlanners(const Compilation &from, unsigned count);

  /// This as a function; it must not outlive it.
  Planner getPlanner() {
    return [this](const Spec &spec, std::string &obstacle) { return plan(spec, obstacle); };
  }

private:
  /// A module after a phase, and the spec that made it.
  struct Start {
    const Spec *spec;
    llvm::StringRef phase;
    mlir::ModuleOp module;
  };
  /// The module from which least is left to do; its phase is Spec where that is everything.
  Start findStart(const Spec &spec) const;
  /// Asks the phases that may be skipped for what they complain of.
  bool isAllowed(const Spec &spec, Diagnostics &diagnostics) const;

  const Compilation &from;
  std::vector<Start> starts;
  Spec lastSpec; ///< the last that was planned, whose answers to ZeRO's open questions come one after the other
  mlir::OwningOpRef<mlir::ModuleOp> last; ///< after Stage; may be null
};

/// Whether the phase `name` and all before it, but for Spec, read nothing in which the specs differ.
bool agreeUpTo(llvm::StringRef name, const Spec &a, const Spec &b);

} // namespace xlc

#endif
