// xlc verify: compares the partitioned program on simulated ranks with the unpartitioned one, and then the compiled
// program with the partitioned one, call by call.
#include "ReferenceCheck.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Interpret/Verify.h"
#include "xlc/Runtime/Limits.h"
#include "xlc/Spec/SpecPlace.h"
#include "xlc/Support/FreedMemory.h"
#include "xlc/Support/Numbers.h"
#include "xlc/Verify/VerifyKernels.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace xlc;

namespace {

constexpr const char *examples = R"(Examples:
  xlc verify mlp.onnx --spec zero3.yaml                     exactly, in a finite field, and the compiled kernels
  xlc verify mlp.onnx --spec zero3.yaml --no-kernels        only the program, without compiled kernels
  xlc verify mlp.onnx --spec zero3.yaml --arithmetic f64    in double precision, up to rounding
  xlc verify mlp.onnx --spec zero3.yaml --steps 3 --seed 7
  xlc verify mlp.onnx --spec zero3.yaml --orders 20         also in 20 random orders of the ranks' streams

The interpreter is slow; try small models or short sequences (dims). The command prints its cost before it starts.
Exit code 4 when the two programs differ.)";

struct ArithmeticName {
  const char *name;
  interpret::Arithmetic arithmetic;
};
constexpr ArithmeticName arithmetics[] = {
    {"field", interpret::Arithmetic::Field}, {"f64", interpret::Arithmetic::F64}, {"f32", interpret::Arithmetic::F32}};

struct VerifyCommandOptions : CommonOptions {
  std::string arithmetic = "field";
  interpret::VerifyOptions verify;
  int64_t orders = 0;
  bool kernels = true;
};

/// Kernels for other processors cannot be run; says so.
bool canRunKernels(const Target &target) {
  std::vector<std::string> missing = target.findMissingFeatures();
  if (!missing.empty())
    messages() << "xlc: error: kernels for " << target.chip() << " cannot run here: this CPU lacks " << missing.front()
               << "; use --cpu native or --no-kernels\n";
  return missing.empty();
}

/// The compiled kernels and library calls on the arenas of simulated ranks.
int verifyKernels(Session &session, const VerifyCommandOptions &options) {
  mlir::OwningOpRef<mlir::ModuleOp> program = session.get().module->clone(); // Lower changes its kernels
  if (int code = session.compile({}))
    return code;
  verify::KernelOptions kernels{options.verify.seed, options.verify.steps, options.verify.maximalDifferences};
  llvm::FailureOr<verify::KernelReport> report = verify::verifyKernels(*program, *session.get().object, kernels);
  if (failed(report))
    return VerificationFailed;
  llvm::outs() << report->summary()
               << "not compared: initial values, the rows and learning rates of a training run, and the code that "
                  "executes the timeline\n";
  return report->isEqual() ? Done : VerificationFailed;
}

/// With one micro-batch nothing is added to what another left: so the program of a global batch of two is proved as
/// well, where the loss can be cut. One step shows it; kernels are those of the first, but for adding.
bool provesTwoMicroBatches(Session &session, const VerifyCommandOptions &options) {
  auto scope = session.get().unpartitioned->getOperation()->getAttrOfType<mlir::StringAttr>(kLossScope);
  return session.get().spec.microBatches() == 1 && options.run.stopAfter.empty() && scope && scope != "whole";
}

int verifyTwoMicroBatches(Session &session, const VerifyCommandOptions &options) {
  const Spec &spec = session.get().spec;
  Spec twice = spec;
  twice.globalBatch = 2 * spec.microBatch * spec.dp;
  std::optional<Compilation> variant = session.tryPhases(twice);
  if (!variant) // schedules may ask for one
    return Done;
  interpret::VerifyOptions once = options.verify;
  once.steps = 1;
  llvm::FailureOr<interpret::VerifyReport> report =
      interpret::verify({*variant->unpartitioned, *variant->module}, once);
  if (failed(report))
    return VerificationFailed;
  llvm::outs() << "with two micro-batches instead of one (a global batch of " << twice.globalBatch << "):\n"
               << report->summary(once);
  llvm::outs().flush();
  giveBackFreedMemory();
  return report->isEqual() ? Done : VerificationFailed;
}

/// The streams of each rank by themselves, as a program may run them.
int verifyInOrders(Session &session, const VerifyCommandOptions &options) {
  llvm::FailureOr<interpret::VerifyReport> report =
      interpret::verifyOrders({*session.get().unpartitioned, *session.get().module}, options.verify, options.orders);
  if (failed(report))
    return VerificationFailed;
  llvm::outs() << "in " << formatCount(options.orders, "random order") << " of streams; the last one:\n"
               << report->summary(options.verify);
  llvm::outs().flush();
  return report->isEqual() ? Done : VerificationFailed;
}

int runVerify(VerifyCommandOptions &options) {
  for (const ArithmeticName &row : arithmetics)
    if (options.arithmetic == row.name)
      options.verify.arithmetic = row.arithmetic;
  keepFreedMemory();
  LastSession last(new Session(options));
  Session &session = *last;
  if (int code = session.runPhases())
    return code;
  const Target &target = session.getTarget();
  bool canBeRun = target.runsInCompiler();
  if (options.kernels && canBeRun && !canRunKernels(target))
    return Rejected;
  if (int code = checkReference(session, CheckOptions::unlimited()))
    return code;
  mlir::ModuleOp module = *session.get().module;
  const Spec &spec = session.get().spec;
  if (spec.precision.isMixed() && options.verify.arithmetic == interpret::Arithmetic::F32) {
    session.get().diagnostics.error(findPlace(spec, "precision").value_or(spec.path),
                                    "--arithmetic f32 would round to " + spec.precision.getName() +
                                        ", but the unpartitioned program would not; use field or f64");
    return Rejected;
  }
  if (options.orders > 0 && module.getOps<exec::ProgramOp>().empty()) {
    messages() << "xlc: error: --orders " << options.orders << " requires the program that phase " << kPlanPhase
               << " creates; --stop-after " << options.run.stopAfter << " ends before that phase\n";
    return Rejected;
  }
  int64_t ranks = spec.ranks();
  bool hasKernels = options.kernels && canBeRun && !module.getOps<exec::ProgramOp>().empty();
  bool runsKernels = hasKernels && ranks <= runtime::kMostRanks;
  interpret::Programs programs{*session.get().unpartitioned, module};
  interpret::VerifyCost cost = estimateCost(programs, options.verify);
  if (provesTwoMicroBatches(session, options)) // twice as much in one step
    cost.multiplyAdds *= 1 + 2.0 / options.verify.steps, cost.seconds *= 1 + 2.0 / options.verify.steps;
  cost.multiplyAdds *= 1 + double(options.orders), cost.seconds *= 1 + double(options.orders);
  messages() << "verification takes " << cost.toString();
  if (runsKernels)
    messages() << llvm::format(", and %.1f s for compiled kernels",
                               verify::estimateSeconds(module, options.verify.steps));
  messages() << "\n";
  llvm::FailureOr<interpret::VerifyReport> report = interpret::verify(programs, options.verify);
  if (failed(report))
    return VerificationFailed;
  llvm::outs() << report->summary(options.verify);
  llvm::outs().flush();
  giveBackFreedMemory();
  if (report->isEqual() && provesTwoMicroBatches(session, options))
    if (int code = verifyTwoMicroBatches(session, options))
      return code;
  if (report->isEqual() && options.orders > 0)
    if (int code = verifyInOrders(session, options))
      return code;
  if (hasKernels && ranks > runtime::kMostRanks)
    llvm::outs() << "kernels are not run: the spec has " << ranks << " ranks, but a program can run at most "
                 << runtime::kMostRanks << "\n";
  if (runsKernels && report->isEqual())
    return verifyKernels(session, options);
  llvm::outs() << "not compared: rounding, generated and library kernels, and the code that executes the timeline\n";
  return report->isEqual() ? Done : VerificationFailed;
}

} // namespace

Command xlc::addVerifyCommand(CLI::App &app) {
  auto options = std::make_shared<VerifyCommandOptions>();
  CLI::App *command = app.add_subcommand("verify", "compare the partitioned program with the unpartitioned one");
  options->addTo(*command);
  std::vector<std::string> names;
  for (const ArithmeticName &row : arithmetics)
    names.push_back(row.name);
  std::vector<std::string> phases; // those that leave a program to run
  for (const Phase &phase : getPhases()) {
    if (phase.name != "Spec" && phase.name != "Import" && phase.name != "Differentiate")
      phases.push_back(phase.name.str());
    if (phase.name == kPlanPhase)
      break;
  }
  command->add_option("--stop-after", options->run.stopAfter, "compare the program after this phase")
      ->check(CLI::IsMember(phases));
  command->add_option("--arithmetic", options->arithmetic, "arithmetic of both programs")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  command->add_option("--steps", options->verify.steps, "optimizer steps")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--seed", options->verify.seed, "seed of the random parameters and rows")->capture_default_str();
  command->add_option("--orders", options->orders, "number of additional runs in random orders of the ranks' streams")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command->add_flag("--kernels,!--no-kernels", options->kernels, "also run the compiled kernels")
      ->capture_default_str();
  command->footer(examples);
  return {command, [options] { return runVerify(*options); }};
}
