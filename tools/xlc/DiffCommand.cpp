// xlc diff: prints the differences between the plans of two specs.
#include "SessionReport.h"
#include "xlc/Report/Diff.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace xlc;

namespace {

constexpr const char *examples = R"(Examples:
  xlc diff gpt2.onnx zero1.yaml zero3.yaml               the figures of the fullest ranks that differ
  xlc diff gpt2.onnx zero1.yaml zero3.yaml --json        the same for scripts (keys: docs/PlanJson.md)
  xlc diff gpt2.onnx zero1.yaml zero3.yaml --html d.html memory of both plans over the step, on one scale

Exit code 0 if both plans can be made, even if they differ or do not fit.)";

struct DiffOptions {
  CommonOptions a, b; ///< the same but for the spec
  std::string html;   ///< a file to write, or empty
  bool json = false;
};

int runDiff(DiffOptions options) {
  std::string spec = options.b.spec;
  options.b = options.a;
  options.b.spec = spec;
  LastSession a(new Session(options.a)), b(new Session(options.b));
  for (Session *session : {a.get(), b.get()}) {
    session->get().isPlanAlone = true;
    if (int code = session->runPhases())
      return code;
  }
  PlanReport left = reportOf(*a), right = reportOf(*b);
  NamedPlan one{llvm::sys::path::filename(options.a.spec).str(), left, *a->get().module};
  NamedPlan other{llvm::sys::path::filename(options.b.spec).str(), right, *b->get().module};
  if (one.name == other.name) // in two folders
    one.name = options.a.spec, other.name = options.b.spec;
  llvm::StringRef model = llvm::sys::path::filename(options.a.model);
  (options.json ? printDiffJson : printDiff)(one, other, model, llvm::outs());
  if (options.html.empty())
    return Done;
  for (Session *session : {a.get(), b.get()})
    if (failed(checkOutputs(session->get(), options.html)))
      return Rejected;
  return writeOutput(*a, options.html, [&](llvm::raw_ostream &out) { printDiffHtml(one, other, model, out); });
}

} // namespace

Command xlc::addDiffCommand(CLI::App &app) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App *command = app.add_subcommand("diff", "compare the plans of two specs");
  command->add_option("model", options->a.model, "the ONNX file")->required();
  command->add_option("a", options->a.spec, "a spec")->required();
  command->add_option("b", options->b.spec, "another spec")->required();
  options->a.addBeside(*command);
  command->add_flag("--json", options->json, "print JSON");
  command->add_option("--html", options->html, "write an HTML page with pictures; a single file that opens offline");
  command->footer(examples);
  return {command, [options] { return runDiff(*options); }};
}
