// See SessionReport.h.
#include "SessionReport.h"
#include "CheckpointBytes.h"
#include "Files/OutputFile.h"

using namespace xlc;

PlanReport xlc::reportOf(Session &session) {
  Compilation &compilation = session.get();
  PlanReport report = makeReport(*compilation.module, compilation.spec, session.getTarget(), compilation.zero);
  report.chunk = compilation.chunk, report.dropsAttention = compilation.dropsAttention;
  report.checkpoint = measureCheckpoint(compilation);
  return report;
}

int xlc::writeOutput(Session &session, const std::string &path, llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (failed(checkOutputs(session.get(), path)))
    return Rejected;
  std::string text;
  llvm::raw_string_ostream out(text);
  print(out);
  runtime::OutputFile file(path, runtime::Devices::WrittenTo);
  file.write(text);
  file.publish();
  return Done;
}
