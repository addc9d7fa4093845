// xlc verify: the partitioned program on simulated ranks against the unpartitioned one.
#include "Session.h"
#include "xlc/Interpret/Verify.h"
#include "llvm/Support/raw_ostream.h"

using namespace xlc;

namespace {

constexpr const char *examples = R"(Examples:
  xlc verify mlp.onnx --spec zero3.yaml                     exactly, in a finite field
  xlc verify mlp.onnx --spec zero3.yaml --arithmetic f64    in double precision, up to rounding
  xlc verify mlp.onnx --spec zero3.yaml --steps 3 --seed 7

The interpreter is slow; try small models or short sequences (dims). It says what it will cost before it starts.
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
};

int verify(VerifyCommandOptions &options) {
  for (const ArithmeticName &row : arithmetics)
    if (options.arithmetic == row.name)
      options.verify.arithmetic = row.arithmetic;
  Session session(options);
  if (int code = session.runPhases())
    return code;
  interpret::Programs programs{*session.get().unpartitioned, *session.get().module};
  llvm::errs() << "verification takes " << estimateCost(programs, options.verify).toString() << "\n";
  llvm::FailureOr<interpret::VerifyReport> report = interpret::verify(programs, options.verify);
  if (failed(report))
    return VerificationFailed;
  llvm::outs() << report->summary(options.verify);
  return report->isEqual() ? Done : VerificationFailed;
}

} // namespace

Command xlc::addVerifyCommand(CLI::App &app) {
  auto options = std::make_shared<VerifyCommandOptions>();
  CLI::App *command = app.add_subcommand("verify", "compares the partitioned program with the unpartitioned one");
  options->addTo(*command);
  std::vector<std::string> names;
  for (const ArithmeticName &row : arithmetics)
    names.push_back(row.name);
  std::vector<std::string> phases; // those that leave a program to run
  for (const Phase &phase : getPhases())
    if (phase.name != "Spec" && phase.name != "Import" && phase.name != "Differentiate")
      phases.push_back(phase.name.str());
  command->add_option("--stop-after", options->run.stopAfter, "compare what this phase leaves")
      ->check(CLI::IsMember(phases));
  command->add_option("--arithmetic", options->arithmetic, "what is computed with")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  command->add_option("--steps", options->verify.steps, "optimizer steps")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--seed", options->verify.seed, "of the random parameters and rows")->capture_default_str();
  command->footer(examples);
  return {command, [options] { return verify(*options); }};
}
