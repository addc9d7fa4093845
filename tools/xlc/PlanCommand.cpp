// xlc plan: prints the memory, communication and computation of every rank, and whether the plan fits.
#include "ReferenceCheck.h"
#include "SessionReport.h"
#include "xlc/Phases/Forks.h"
#include "xlc/Phases/Threads.h"
#include "xlc/Report/Report.h"
#include "xlc/Stage/Stage.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <future>

using namespace xlc;

namespace {

constexpr const char *examples = R"(Examples:
  xlc plan gpt2.onnx --spec zero3.yaml              memory, traffic and FLOPs of every rank
  xlc plan gpt2.onnx --spec zero3.yaml --json       the same for scripts
  xlc plan gpt2.onnx --spec zero3.yaml --html r.html  also as a page with pictures, for a browser
  xlc plan gpt2.onnx --spec zero3.yaml -v           also the rewrites that Import reverted, and every stage in full
  xlc plan gpt2.onnx --spec zero3.yaml --stop-after=Stage
  xlc plan gpt2.onnx --spec pp4.yaml --grid         the pipeline's schedule
  xlc plan gpt2.onnx --spec pp4.yaml --trace t.json its predicted timeline, for Perfetto

Exit code 3 when a rank needs more than the spec's cluster.device_memory, 4 when the gradients differ from the
model's reference (docs/Export.md).)";

struct PlanOptions : CommonOptions {
  bool json = false, grid = false;
  std::string trace, html; ///< files to write, or empty
  CheckOptions check;
};

std::vector<std::string> phaseNames() {
  std::vector<std::string> names;
  for (const Phase &phase : getPhases())
    names.push_back(phase.name.str());
  return names;
}

/// The same spec in float32, with the same answers to what it leaves open, where it can be planned.
std::optional<WideReport> planInFloat32(Session &session) {
  Spec spec = session.get().spec;
  const ZeroChoice &zero = session.get().zero;
  spec.precision = {};
  if (spec.zero.reduce == ZeroSpec::Reduce::Auto && zero.reduce != ZeroChoice::Origin::Moot)
    spec.zero.reduce = zero.reducesPerStep ? ZeroSpec::Reduce::Step : ZeroSpec::Reduce::MicroBatch;
  spec.zero.reshardAfterForward = !zero.keepsGathered;
  std::string obstacle;
  Forks forks(session.get());
  std::unique_ptr<Trial> trial = forks.plan(spec, obstacle);
  std::optional<Need> need;
  if (trial && trial->findLeast(Search::noLimit))
    need = trial->findNeed(Search::noLimit);
  return need ? std::optional(WideReport{need->bytes, trial->traffic()}) : std::nullopt;
}

/// What would make it fit, and what was said on the way; each change takes most of a plan.
std::future<std::pair<std::vector<Change>, std::string>> tryChanges(Session &session, const PlanReport &report) {
  int64_t total = report.largestTotal();
  return std::async(std::launch::async, [&session, total, spec = report.spec] {
    std::string notes;
    llvm::raw_string_ostream out(notes);
    Planners planners = Forks::getPlanners(session.get(), Threads::count());
    std::vector<Change> changes = findChanges(spec, total, planners, session.get().importing.notes ? &out : nullptr);
    return std::pair(std::move(changes), std::move(notes));
  });
}

int report(Session &session, const PlanOptions &options, std::chrono::duration<double> planning) {
  PlanReport report = reportOf(session);
  Threads threads(session.get().context);
  auto changes = report.fits() ? std::nullopt : std::optional(tryChanges(session, report)); // beside what follows
  if (report.spec.precision.isMixed()) {
    report.wide = planInFloat32(session);
    report.products =
        session.getTarget().describeProducts(PrecisionSpec::getElementName(report.spec.precision.compute));
  }
  llvm::StringRef model = llvm::sys::path::filename(options.model);
  if (!options.json)
    printTable(report, model, options.verbose, llvm::outs());
  llvm::outs().flush();
  if (changes) {
    if (planning.count() > 0.5)
      messages() << "trying single changes of the spec\n";
    auto [found, notes] = changes->get();
    report.changes = std::move(found);
    messages() << notes;
  }
  if (options.json)
    printJson(report, model, llvm::outs());
  else if (!report.fits())
    printChanges(report, llvm::outs());
  if (!options.html.empty())
    if (int code = writeOutput(session, options.html, [&](llvm::raw_ostream &out) {
          printHtml(report, *session.get().module, session.getTarget(), model, out);
        }))
      return code;
  return report.fits() ? Done : DoesNotFit;
}

/// The pipeline's schedule alone, once it is known to fit the model.
int printSchedule(PlanOptions options) {
  options.run.stopAfter = "Differentiate";
  LastSession last(new Session(options));
  Session &session = *last;
  if (int code = session.runPhases())
    return code;
  const Spec &spec = session.get().spec;
  const PipelineSchedule &schedule = getSchedule(spec);
  PipelineShape shape = getPipelineShape(spec);
  llvm::outs() << printGrid(schedule, shape, makeOrder(schedule, shape));
  if (spec.eval)
    llvm::outs() << "\nan evaluation:\n" << printGrid(schedule, shape, makeForwardOrder(schedule, shape));
  return Done;
}

int runPlan(PlanOptions options) {
  if (options.grid)
    return printSchedule(options);
  if (!options.html.empty() && options.html == options.trace) {
    messages() << "--html would overwrite the file of --trace, '" << options.trace << "'; choose another file\n";
    return Usage;
  }
  options.run.keeps = options.run.stopAfter.empty();
  auto begin = std::chrono::steady_clock::now();
  LastSession last(new Session(options));
  Session &session = *last;
  session.get().isPlanAlone = options.trace.empty() && options.run.stopAfter.empty();
  if (int code = session.runPhases())
    return code;
  std::chrono::duration<double> planning = std::chrono::steady_clock::now() - begin;
  if (!options.trace.empty())
    if (int code = writeOutput(session, options.trace, [&](llvm::raw_ostream &out) {
          printTrace(*session.get().module, session.get().spec, session.getTarget(), out);
        }))
      return code;
  if (options.run.stopAfter.empty()) {
    int fits = report(session, options, planning), compared = checkReference(session, options.check);
    return compared == Done ? fits : compared;
  }
  if (session.get().module)
    session.get().module->print(llvm::outs(), mlir::OpPrintingFlags());
  return Done;
}

} // namespace

Command xlc::addPlanCommand(CLI::App &app) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App *command = app.add_subcommand("plan", "print memory, communication and computation of every rank");
  options->addTo(*command);
  CLI::Option *json = command->add_flag("--json", options->json, "print JSON (keys: docs/PlanJson.md)");
  CLI::Option *stop =
      command->add_option("--stop-after", options->run.stopAfter, "stop after this phase and print its IR")
          ->check(CLI::IsMember(phaseNames()))
          ->excludes(json);
  CLI::Option *trace =
      command->add_option("--trace", options->trace, "write the predicted timeline of a step (https://ui.perfetto.dev)")
          ->excludes(stop);
  CLI::Option *html =
      command
          ->add_option("--html", options->html,
                       "write the report as an HTML page with pictures; a single file that opens offline")
          ->excludes(stop);
  command->add_flag("--grid", options->grid, "print the pipeline's schedule: a row per pp rank, a column per slot")
      ->excludes(json)
      ->excludes(trace)
      ->excludes(html)
      ->excludes(stop);
  options->check.addTo(*command);
  command->footer(examples);
  return {command, [options] { return runPlan(*options); }};
}
