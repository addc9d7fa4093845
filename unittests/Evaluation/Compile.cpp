// xlc compile, with a second purpose: the phases up to Schedule, the timelines that evaluate, the phases behind it.
// Beside the program it writes what a test loads: the kernels as a library, of the CPU's or of a simulated GPU's.
//
//     compile-evaluation MODEL SPEC TARGET DRIVER OUTPUT      OUTPUT, OUTPUT.safetensors, OUTPUT.so
#include "AddEvaluation.h"
#include "Files/OutputFile.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "xlc/Emit/Emit.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Phases/Phases.h"
#include "xlc/Schedule/Schedule.h"
#include "xlc/Target/Targets.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace mlir;
using namespace xlc;

static LogicalResult compile(Compilation &compilation, const std::string &output) {
  if (failed(runPhases(compilation, {.startAfter = "", .stopAfter = "Schedule", .dumpDirectory = ""})))
    return failure();
  test::addEvaluation(*compilation.module);
  PassManager gate(&compilation.context);
  gate.addPass(createVerifyTimelinePass());
  if (failed(gate.run(*compilation.module)))
    return failure();
  compilation.request.output = output;
  bool isOnGpus = compilation.getTarget().backend().hasSimulator();
  if (isOnGpus)
    compilation.request.simulatorImage = output + ".so";
  if (failed(runPhases(compilation, {.startAfter = "Schedule", .stopAfter = "", .dumpDirectory = ""})) || isOnGpus)
    return success(isOnGpus);
  runtime::OutputFile library(output + ".so");
  EmitOptions options;
  options.environment = compilation.request.environment;
  if (failed(linkImage(compilation.module->getLoc(), *compilation.object, options, library)))
    return failure();
  library.publish();
  return success();
}

int main(int, char **arguments) {
  DialectRegistry registry;
  registerDialects(registry);
  registerLowerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) { llvm::errs() << diagnostic.str() << "\n"; });
  Diagnostics diagnostics(llvm::errs());
  const TargetRow &row = *findTarget(arguments[3]);
  std::unique_ptr<Target> target = row.make(row.listChips().front());
  Compilation compilation(context, *target, diagnostics);
  compilation.targetName = arguments[3];
  compilation.modelPath = arguments[1];
  compilation.specPath = arguments[2];
  compilation.request.driver = arguments[4];
  for (char **entry = environ; *entry; ++entry)
    compilation.request.environment.emplace_back(*entry);
  return failed(compile(compilation, arguments[5]));
}
