// From a lowered module to a program: the plan, the object file of plan and code, the link. The object lies beside the
// output under a temporary name, and so does the program until the caller publishes it.
#include "Files/OutputFile.h"
#include "Link.h"
#include "xlc/Runtime/Kernel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace xlc;

std::string xlc::findRuntime(const Target &target, StringRef driver) {
  for (StringRef folder : {"lib", "lib/xlc"}) {
    SmallString<256> path(llvm::sys::path::parent_path(llvm::sys::path::parent_path(driver)));
    llvm::sys::path::append(path, folder, target.backend().linkNeeds().runtime);
    if (llvm::sys::fs::exists(path))
      return path.str().str();
  }
  return "";
}

std::unique_ptr<llvm::MemoryBuffer> xlc::makeObject(ModuleOp module, const Target &target, plan::PlanT &plan) {
  plan.version = XLC_PLAN_VERSION;
  if (failed(fillPlan(module, plan)))
    return nullptr;
  target.backend().describe(plan);
  return target.backend().makeObject(module, serializePlan(plan));
}

/// Writes an object into a temporary file, links it by `link`, and makes the result the content of `made`.
static LogicalResult linkObject(const llvm::MemoryBuffer &code, runtime::OutputFile &made,
                                llvm::function_ref<LogicalResult(StringRef object, StringRef output)> link) {
  runtime::OutputFile object(made.path); // it is never published
  object.write(code.getBuffer());
  object.flush();
  if (failed(link(object.temporaryPath(), made.temporaryPath())))
    return failure();
  made.reopen();
  return success();
}

LogicalResult xlc::linkProgram(Location loc, const Target &target, const llvm::MemoryBuffer &code,
                               const EmitOptions &options, runtime::OutputFile &program) {
  return linkObject(code, program, [&](StringRef object, StringRef output) {
    return linkProgram(target.backend().linkNeeds(), options, object, output, loc);
  });
}

LogicalResult xlc::linkImage(Location loc, const llvm::MemoryBuffer &code, const EmitOptions &options,
                             runtime::OutputFile &image) {
  return linkObject(code, image,
                    [&](StringRef object, StringRef output) { return linkShared(options, object, output, loc); });
}
