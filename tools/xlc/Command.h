// The common parts of the subcommands of xlc: exit codes, common options, and the declaration of a subcommand.
//
// Results are written to stdout, everything else to stderr, so that `xlc plan --json | jq` works with any diagnostics.
#ifndef XLC_TOOLS_XLC_COMMAND_H
#define XLC_TOOLS_XLC_COMMAND_H

#include "CLI/CLI.hpp"
#include "xlc/Phases/Phases.h"
#include <functional>

namespace xlc {

/// Exit codes of every xlc command. Training programs have their own (lib/Runtime/Failure.h); README.md has the table
/// of both.
enum Exit { Done = 0, Rejected = 1, Usage = 2, DoesNotFit = 3, VerificationFailed = 4, Internal = 70 };

/// The common options of `plan`, `compile` and `verify`.
struct CommonOptions {
  std::string model, spec, cpu = "native";
  std::string target; ///< empty: the spec's
  bool noRaise = false, verbose = false;
  RunOptions run;

  void addTo(CLI::App &command);
  /// Adds the options other than model and spec.
  void addBeside(CLI::App &command);
};

/// A subcommand: its options and its action, whose result is the exit code.
struct Command {
  CLI::App *app;
  std::function<int()> run;
};

Command addPlanCommand(CLI::App &app);
Command addDiffCommand(CLI::App &app);
Command addCompileCommand(CLI::App &app, const char *driver);
Command addVerifyCommand(CLI::App &app);
Command addInspectCommand(CLI::App &app);
Command addCalibrateCommand(CLI::App &app);
Command addCheckpointCommand(CLI::App &app);
Command addDoctorCommand(CLI::App &app);
Command addDocsCommand(CLI::App &app);

} // namespace xlc

#endif
