// xlc: the driver. Subcommands, their options and exit codes; the work is done by the phases.
#include "CLI/CLI.hpp"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/MLIRContext.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Phases/Phases.h"

using namespace xlc;

namespace {

/// Exit codes, as docs/Spec.md lists them.
enum Exit { Done = 0, Rejected = 1, Usage = 2, DoesNotFit = 3, VerificationFailed = 4, Internal = 70 };

/// What `plan`, `compile` and `verify` have in common.
struct CommonOptions {
  std::string model, spec;
  bool noRaise = false, verbose = false;
  RunOptions run;

  void addTo(CLI::App &command) {
    command.add_option("model", model, "the ONNX file")->required();
    command.add_option("--spec", spec, "the YAML file that says how to train")->required();
    command.add_flag("--no-raise", noRaise, "keep the model's small ops; recognise nothing");
    command.add_flag("-v,--verbose", verbose, "say what Import undid and recognised");
    command.add_option("--dump-phases", run.dumpDirectory, "write the IR after each phase into this folder");
  }
};

std::vector<std::string> phaseNames() {
  std::vector<std::string> names;
  for (const Phase &phase : getPhases())
    names.push_back(phase.name.str());
  return names;
}

mlir::LogicalResult compileTo(Compilation &compilation, const CommonOptions &options) {
  compilation.modelPath = options.model;
  compilation.specPath = options.spec;
  compilation.importing.raise = !options.noRaise;
  compilation.importing.notes = options.verbose ? &llvm::errs() : nullptr;
  return runPhases(compilation, options.run);
}

int plan(const CommonOptions &options, mlir::MLIRContext &context) {
  Compilation compilation(context, llvm::errs());
  if (failed(compileTo(compilation, options)))
    return Rejected;
  if (!options.run.stopAfter.empty() && compilation.module)
    compilation.module->print(llvm::outs(), mlir::OpPrintingFlags());
  return Done;
}

int compile(const CommonOptions &options, llvm::StringRef output, const char *driver, mlir::MLIRContext &context) {
  Compilation compilation(context, llvm::errs());
  if (failed(compileTo(compilation, options)))
    return Rejected;
  std::string path = llvm::sys::fs::getMainExecutable(driver, (void *)&compile);
  return failed(compileProgram(compilation, output, path, "xlc 0.1.0")) ? Rejected : Done;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("xlc: a compiler and planner for distributed training");
  app.require_subcommand(1);
  app.set_version_flag("--version", "xlc 0.1.0");

  CommonOptions options;
  CLI::App *planning = app.add_subcommand("plan", "what every rank will hold in memory, send and compute");
  options.addTo(*planning);
  planning->add_option("--stop-after", options.run.stopAfter, "stop after this phase and print its IR")
      ->check(CLI::IsMember(phaseNames()));

  std::string output;
  CLI::App *compiling = app.add_subcommand("compile", "makes a training program that needs nothing else");
  options.addTo(*compiling);
  compiling->add_option("-o,--output", output, "the program; initial parameters go to OUTPUT.safetensors")->required();

  std::string topic;
  CLI::App *docs = app.add_subcommand("docs", "prints a page of the documentation that is made from tables");
  docs->add_option("page", topic, "spec, phases or operators")->required()->check(CLI::IsMember({"spec", "phases", "operators"}));

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? Done : Usage;
  }

  mlir::DialectRegistry registry;
  registerDialects(registry);
  registerLowerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  context.disableMultithreading();
  if (*docs) {
    topic == "spec" ? printSpecDocumentation(llvm::outs()) : topic == "phases" ? printPhases(llvm::outs()) : printOperators(llvm::outs());
    return Done;
  }
  return *compiling ? compile(options, output, argv[0], context) : plan(options, context);
}
