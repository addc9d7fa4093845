// Plans for other specs. A fork starts from the last module of a compilation that is valid for the other spec.
//
//   this spec    Import ─> Differentiate ─> Shard ─> Stage ─> DataParallel ─> Schedule ─> Memory
//                              │                       └── zero_stage: 2 ──> DataParallel ─> ...
//                              └── tp: 16 ──> Shard ─> Stage ─> DataParallel ─> ...
//
// The column `reads` of the phase table selects the module: a phase that reads none of the keys that differ has the
// same result for both specs. The modules of a trial are not verified: a trial only returns bytes and is never run.
#ifndef XLC_PHASES_FORKS_H
#define XLC_PHASES_FORKS_H

#include "xlc/Phases/Phases.h"
#include "xlc/Search/Search.h"

namespace xlc {

class Forks {
public:
  /// Forks the modules that `from` keeps. While DataParallel runs, also the module it started from.
  explicit Forks(const Compilation &from);

  /// Plans up to Schedule; see Planner. The spec may differ from that of the compilation only in the keys of the table
  /// in Forks.cpp.
  std::unique_ptr<Trial> plan(const Spec &spec, std::string &obstacle);

  /// Planners that fork from `from` in parallel. They must not outlive it, and its context must allow several threads.
  static Planners getPlanners(const Compilation &from, unsigned count);

  /// This object as a function, which must not outlive it.
  Planner getPlanner() {
    return [this](const Spec &spec, std::string &obstacle) { return plan(spec, obstacle); };
  }

private:
  /// A module after a phase, and the spec it was made from.
  struct Start {
    const Spec *spec;
    llvm::StringRef phase;
    mlir::ModuleOp module;
  };
  /// The module with the fewest phases left to run; its phase is Spec if all of them must run.
  Start findStart(const Spec &spec) const;
  /// Runs the checks of the phases that may be skipped.
  bool isAllowed(const Spec &spec, Diagnostics &diagnostics) const;

  const Compilation &from;
  std::vector<Start> starts;
  Spec lastSpec; ///< the last spec that was planned; the answers to ZeRO's open choices follow each other
  mlir::OwningOpRef<mlir::ModuleOp> last; ///< after Stage; may be null
};

/// Whether the phase `name` and all before it except Spec read only keys that are equal in both specs.
bool agreeUpTo(llvm::StringRef name, const Spec &a, const Spec &b);

} // namespace xlc

#endif
