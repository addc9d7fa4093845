// See Session.h. Passes report errors at places in the IR; a user knows the model's nodes instead, which are in the
// locations.
#include "Session.h"
#include "Failure.h"
#include "Files/OutputFile.h"
#include "Files/StandardStreams.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Spec/SpecPlace.h"
#include "xlc/Support/Diagnostics.h"
#include "xlc/Support/InputFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace xlc;

namespace {

constexpr StringRef reproducerPath = "xlc-reproducer.mlir";

DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  registerLowerDialects(registry);
  return registry;
}

/// What the error says of itself; else what its phase says. Behind the phases nothing is compiled.
Fault faultOf(Diagnostic &diagnostic, StringRef phaseName) {
  const Phase *phase = llvm::find_if(getPhases(), [&](const Phase &row) { return row.name == phaseName; });
  return getFault(diagnostic).value_or(phase == getPhases().end() ? Fault::User : phase->fault);
}

} // namespace

void CommonOptions::addTo(CLI::App &command) {
  command.add_option("model", model, "the ONNX file")->required();
  command
      .add_option("--spec", spec,
                  "the YAML file with the training configuration (keys: xlc docs spec); -: read from stdin")
      ->required();
  addBeside(command);
  command.add_option("--dump-phases", run.dumpDirectory, "write the IR after each phase into this folder");
}

void CommonOptions::addBeside(CLI::App &command) {
  command.add_option("--cpu", cpu, "CPU that the program runs on (x86-64 levels; native: the level of this machine)")
      ->check(CLI::IsMember(getTargets().front().listChips()))
      ->capture_default_str();
  command.add_option("--target", target, "hardware that the program runs on; overrides the spec's `target`")
      ->check(CLI::IsMember(listTargets()));
  command.add_flag("--no-raise", noRaise, "keep the model's small ops; do not recognise patterns");
  command.add_flag(
      "-v,--verbose", verbose,
      "report rewrites that Import reverted and patterns that it recognised; plan: print every pipeline stage in full");
}

Session::Session(const CommonOptions &options)
    : options(options), context(makeRegistry()), diagnostics(messages()),
      compilation(
          context, [this](const Spec &spec) { return chooseTarget(spec); }, diagnostics),
      handler(&context, [this](Diagnostic &diagnostic) { show(diagnostic); }) {
  context.loadAllAvailableDialects();
  context.disableMultithreading();
  context.printOpOnDiagnostic(false);
  compilation.targetName = options.target;
  compilation.modelPath = options.model;
  compilation.specPath = options.spec == "-" ? kStdin.str() : options.spec;
  compilation.request.compiler = XLC_VERSION;
  compilation.importing.raise = !options.noRaise;
  compilation.importing.notes = options.verbose ? &messages() : nullptr;
}

std::optional<std::string> Session::chooseChip(const Spec &spec, const TargetRow &row) {
  auto refuse = [&](StringRef key, const Twine &reason) {
    diagnostics.error(findPlace(spec, key).value_or(options.spec), reason);
    return std::nullopt;
  };
  if (!row.chipOf)
    return options.cpu;
  if (options.cpu != CommonOptions().cpu)
    return refuse("target", "--cpu " + options.cpu + " applies to target " + kTargetFacts[0].name + ", not to target " +
                                spec.target);
  if (!spec.device)
    return row.listChips().front();
  ChipOfDevice found = row.chipOf(*spec.device);
  if (found.chip.empty())
    return refuse("cluster.device", found.obstacle);
  return found.chip;
}

const Target *Session::chooseTarget(const Spec &spec) {
  const TargetRow &row = *findTarget(spec.target);
  if (std::optional<std::string> chip = chooseChip(spec, row))
    target = row.make(*chip);
  return target.get();
}

void Session::show(Diagnostic &diagnostic) {
  Message message = toMessage(diagnostic, options.model);
  message.fault = faultOf(diagnostic, compilation.phase);
  if (message.severity == Severity::Error && message.fault == Fault::Compiler)
    message.text = ("internal error in phase " + compilation.phase + ": " + message.text).str();
  diagnostics.report(message);
}

int Session::run(const RunOptions &run) { return succeeded(xlc::runPhases(compilation, run)) ? int(Done) : failed(); }

int Session::runPhases() {
  RunOptions upTo = options.run;
  if (upTo.stopAfter.empty())
    upTo.stopAfter = kPlanPhase;
  return run(upTo);
}

int Session::compile(const CompilationInputs::Request &request) {
  std::string compiler = compilation.request.compiler;
  compilation.request = request;
  compilation.request.compiler = compiler;
  RunOptions rest = options.run;
  rest.startAfter = kPlanPhase;
  rest.stopAfter.clear();
  return run(rest);
}

std::optional<Compilation> Session::tryPhases(const Spec &spec) {
  ScopedDiagnosticHandler silence(&context, [](Diagnostic &) { return success(); });
  Compilation other(compilation, spec, silent);
  RunOptions afterSpec;
  afterSpec.startAfter = "Spec";
  afterSpec.stopAfter = kPlanPhase;
  if (mlir::failed(xlc::runPhases(other, afterSpec)))
    return std::nullopt;
  return std::optional<Compilation>(std::move(other));
}

int Session::failed() { return diagnostics.hasCompilerFault() ? writeReproducer() : int(Rejected); }

int Session::writeReproducer() {
  // Phases are deterministic, so what went into the one that failed can be made again.
  StringRef before;
  for (const Phase &phase : getPhases()) {
    if (phase.name == compilation.phase)
      break;
    before = phase.name;
  }
  if (!target)
    return Internal;
  Compilation again(context, *target, silent, compilation.quiet());
  RunOptions upTo;
  upTo.stopAfter = before.str();
  ScopedDiagnosticHandler silence(&context, [](Diagnostic &) { return success(); });
  if (before.empty() || mlir::failed(xlc::runPhases(again, upTo)) || !again.module)
    return Internal;
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "// xlc " XLC_VERSION " for " << target->name() << " " << target->chip() << ": the module before phase "
      << compilation.phase << ", which failed\n";
  again.module->print(out, OpPrintingFlags().enableDebugInfo());
  try {
    runtime::OutputFile file(reproducerPath.str());
    file.write(text);
    file.publish();
  } catch (const runtime::Rejected &rejected) { // where nothing can be written, the failure itself is what is told
    return Internal;
  }
  diagnostics.report({.severity = Severity::Note,
                      .where = options.model,
                      .text = ("this is a bug in xlc; please report it with the file '" + reproducerPath + "'").str()});
  return Internal;
}

/// A result that did not reach stdout is none. LLVM would give up at exit.
static int finishOutput(int code) {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  if (!out.has_error())
    return code;
  messages() << "xlc: error: cannot write to stdout: " << out.error().message() << "\n";
  out.clear_error();
  return Rejected;
}

int xlc::runGuarded(const Command &command) {
  try {
    return finishOutput(command.run());
  } catch (const runtime::Rejected &problem) { // an output that cannot be written
    messages() << problem.what() << "\n";
    return Rejected;
  } catch (const std::bad_alloc &) {
    runtime::sayPlainly("xlc: error: out of memory; ulimit -v or a container may set a limit\n");
    return Rejected;
  } catch (const std::system_error &error) {
    messages() << "xlc: error: cannot create a thread or open a file: " << error.what() << "\n";
    return Rejected;
  } catch (const std::exception &error) {
    messages() << "xlc: error: internal error: " << error.what() << "\n";
    return Internal;
  }
}
