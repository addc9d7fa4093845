// One compilation on behalf of a user: the phases, what they complain about, and what that means for the exit code.
//
// A complaint about model or spec is the user's to solve: exit code 1. A gate that fails is ours: exit code 70, and the
// IR that went into the phase is written to a file, with which xlc-opt can repeat the failure.
#ifndef XLC_TOOLS_XLC_SESSION_H
#define XLC_TOOLS_XLC_SESSION_H

#include "Command.h"
#include "MessageStream.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "xlc/Target/Targets.h"
#include "llvm/Support/Compiler.h"
#include <memory>

namespace xlc {

class Session {
public:
  explicit Session(const CommonOptions &options);

  /// Runs the phases up to the plan, or up to --stop-after: Done, Rejected or Internal.
  int runPhases();
  /// Runs those after the plan: the object and, unless its `output` is empty, the program. The request's `compiler` is
  /// this one.
  int compile(const CompilationInputs::Request &request);
  /// Runs the phases after Spec for another spec, without a word; none where the spec is not possible for the model.
  std::optional<Compilation> tryPhases(const Spec &spec);
  /// The exit code for a failure after the phases, according to the diagnostics so far.
  int failed();

  Compilation &get() { return compilation; }
  const Target &getTarget() const { return *target; }

private:
  int run(const RunOptions &run);
  /// Null after a diagnostic.
  const Target *chooseTarget(const Spec &spec);
  /// The chip of the device, or of --cpu; none after a diagnostic.
  std::optional<std::string> chooseChip(const Spec &spec, const TargetRow &row);
  /// Reports an error of a pass as one of the model's file, with the name of the node.
  void show(mlir::Diagnostic &diagnostic);
  /// Writes the input of the phase that failed. Returns Internal.
  int writeReproducer();

  const CommonOptions &options;
  mlir::MLIRContext context;
  std::unique_ptr<Target> target;
  Diagnostics diagnostics, silent;
  Compilation compilation;
  mlir::ScopedDiagnosticHandler handler;
};

/// Does not destroy its object before the end of the process: the module of a long plan has millions of ops, whose
/// destruction would take seconds. A build that checks for leaks does destroy it.
struct LeaveToExit {
  template <typename T> void operator()(T *pointer) const {
    if (LLVM_ADDRESS_SANITIZER_BUILD)
      delete pointer;
  }
};

/// The session of a command, which is the last object that its process uses.
using LastSession = std::unique_ptr<Session, LeaveToExit>;

/// Runs a command. Exceptions result in exit code 70.
int runGuarded(const Command &command);

} // namespace xlc

#endif
