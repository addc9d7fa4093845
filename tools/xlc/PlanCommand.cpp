// xlc plan: what every rank will hold, send and compute, and whether it fits.
#include "Session.h"
#include "xlc/Report/Report.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace xlc;

namespace {

constexpr const char *examples = R"(Examples:
  xlc plan gpt2.onnx --spec zero3.yaml              memory, traffic and FLOPs of every rank
  xlc plan gpt2.onnx --spec zero3.yaml --json       the same for scripts
  xlc plan gpt2.onnx --spec zero3.yaml -v           also what was undone of the exporter's doing
  xlc plan gpt2.onnx --spec zero3.yaml --stop-after=Stage

Exit code 3 when a rank needs more than the spec's cluster.device_memory.)";

struct PlanOptions : CommonOptions {
  bool json = false;
};

std::vector<std::string> phaseNames() {
  std::vector<std::string> names;
  for (const Phase &phase : getPhases())
    names.push_back(phase.name.str());
  return names;
}

int report(Session &session, const PlanOptions &options) {
  PlanReport report = makeReport(*session.get().module, session.get().spec);
  if (!report.fits())
    report.changes = findChanges(report, [&](const Spec &spec) -> std::optional<PlanReport> {
      std::optional<Compilation> other = session.tryPhases(spec);
      if (!other)
        return std::nullopt;
      return makeReport(*other->module, spec);
    });
  llvm::StringRef model = llvm::sys::path::filename(options.model);
  options.json ? printJson(report, model, llvm::outs()) : printTable(report, model, llvm::outs());
  return report.fits() ? Done : DoesNotFit;
}

int plan(const PlanOptions &options) {
  Session session(options);
  if (int code = session.runPhases())
    return code;
  if (options.run.stopAfter.empty())
    return report(session, options);
  if (session.get().module)
    session.get().module->print(llvm::outs(), mlir::OpPrintingFlags());
  return Done;
}

} // namespace

Command xlc::addPlanCommand(CLI::App &app) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App *command = app.add_subcommand("plan", "what every rank will hold in memory, send and compute");
  options->addTo(*command);
  CLI::Option *json = command->add_flag("--json", options->json, "print JSON (keys: docs/PlanJson.md)");
  command->add_option("--stop-after", options->run.stopAfter, "stop after this phase and print its IR")
      ->check(CLI::IsMember(phaseNames()))
      ->excludes(json);
  command->footer(examples);
  return {command, [options] { return plan(*options); }};
}
