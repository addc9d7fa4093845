// xlc: the driver. Each subcommand has a file of its own; the work is done by the phases.
#include "Files/OutputFile.h"
#include "Files/OwnStack.h"
#include "Files/StandardStreams.h"
#include "Session.h"
#include "xlc/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdlib>

using namespace xlc;

namespace {

constexpr const char *footer = R"(Examples:
  xlc inspect gpt2.onnx
  xlc plan gpt2.onnx --spec zero3.yaml
  xlc diff gpt2.onnx zero1.yaml zero3.yaml
  xlc compile gpt2.onnx --spec zero3.yaml -o train && ./train --steps 20
  xlc verify mlp.onnx --spec zero3.yaml
  xlc checkpoint inspect checkpoints/step-00001000
  xlc calibrate -o machine.yaml
  xlc doctor

Exit codes: 0 done, 1 input rejected, 2 usage, 3 plan does not fit, 4 verification failed, 70 internal error.
Results are written to stdout, progress and diagnostics to stderr.)";

/// LLVM's way to give up.
void endOnFatalError(void *, const char *reason, bool) {
  llvm::errs() << "xlc: error: internal error: " << reason << "\n";
  std::_Exit(Internal);
}

/// Nothing half-written stays behind; the shell sees the signal.
void endOnSignal(int signal) {
  runtime::removeTemporaryFiles();
  raise(signal); // SA_RESETHAND: the system's own action
}

void handleSignals() {
  struct sigaction before, ending = {};
  ending.sa_handler = endOnSignal;
  ending.sa_flags = SA_RESETHAND;
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(signal, &ending, nullptr);
  std::signal(SIGXFSZ, SIG_IGN); // a file that would grow too large is an error of its writer
}

} // namespace

static int runMain(int argc, char **argv) {
  CLI::App app("xlc: a compiler and planner for distributed training");
  app.require_subcommand(1);
  app.set_version_flag("--version", "xlc " XLC_VERSION);
  app.footer(footer);
  llvm::install_fatal_error_handler(endOnFatalError);
  const Command commands[] = {addInspectCommand(app),          addPlanCommand(app),   addDiffCommand(app),
                              addCompileCommand(app, argv[0]), addVerifyCommand(app), addCheckpointCommand(app),
                              addCalibrateCommand(app),        addDoctorCommand(app), addDocsCommand(app)};
  for (CLI::App *command : app.get_subcommands({}))
    refuseEmptyValues(*command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? Done : Usage;
  }
  for (const Command &command : commands)
    if (command.app->parsed())
      return runGuarded(command);
  return Usage;
}

int main(int argc, char **argv) {
  runtime::openStandardStreams();
  handleSignals();
  return runtime::runWithOwnStack([&] { return runMain(argc, argv); });
}
