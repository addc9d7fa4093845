// Runs the phase table: one phase after the other, with dumps and an early stop.
#include "Files/OutputFile.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Sched/Sched.h"
#include "xlc/Phases/Phases.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;

namespace {

/// Writes the module as DIRECTORY/NN-Name.mlir, or the object as NN-Name.o where that is what the phase made; throws
/// Rejected where the file cannot be written.
LogicalResult dump(Compilation &compilation, StringRef directory, unsigned number, StringRef name) {
  if (directory.empty() || !compilation.module)
    return success();
  if (std::error_code code = llvm::sys::fs::create_directories(directory)) {
    compilation.diagnostics.error(directory, "cannot be created: " + code.message());
    return failure();
  }
  std::string text;
  if (compilation.object)
    text = compilation.object->getBuffer();
  else
    llvm::raw_string_ostream(text) << *compilation.module;
  StringRef kind = compilation.object ? "o" : "mlir";
  runtime::OutputFile file(llvm::formatv("{0}/{1,0+2}-{2}.{3}", directory, number, name, kind));
  file.write(text);
  file.publish();
  return success();
}

/// For what plans another spec later.
void keep(Compilation &compilation, StringRef phase) {
  if (compilation.module && compilation.spec.deviceMemory && phase != kUnpartitionedPhase)
    compilation.kept.push_back({phase, compilation.module->clone()});
}

} // namespace

LogicalResult xlc::runPhases(Compilation &compilation, const RunOptions &options) {
  bool isDone = !options.startAfter.empty(), keeps = options.keeps;
  for (auto [number, phase] : llvm::enumerate(getPhases())) {
    if (isDone) {
      isDone = phase.name != options.startAfter;
      continue;
    }
    compilation.phase = phase.name;
    if (failed(phase.run(compilation)) || failed(dump(compilation, options.dumpDirectory, number, phase.name)))
      return failure();
    if (keeps)
      keep(compilation, phase.name);
    keeps &= phase.name != kLastKeptPhase;
    if (phase.name == options.stopAfter)
      break;
  }
  compilation.phase = "";
  return success();
}

void xlc::printPhases(raw_ostream &out) {
  out << "| # | phase | in → out | decides | spec keys that it reads | gate |\n|---|---|---|---|---|---|\n";
  for (auto [number, phase] : llvm::enumerate(getPhases()))
    out << "| " << number << " | `" << phase.name << "` | " << phase.input << " → " << phase.output << " | "
        << phase.decides << " | " << phase.reads << " | " << phase.gate << " |\n";
}

void xlc::registerDialects(DialectRegistry &registry) {
  registry.insert<func::FuncDialect, graph::GraphDialect, dist::DistDialect, sched::SchedDialect, exec::ExecDialect>();
}
