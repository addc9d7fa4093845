// From a lowered module to a program: the plan, the object file of plan and code, the link. The object lies beside the
// output under a temporary name, and so does the program until the caller publishes it.
#include "Files/OutputFile.h"
#include "Link.h"
#include "xlc/Runtime/Kernel.h"
#include "xlc/Support/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace xlc;

FailureOr<LinkFiles> xlc::findLinkFiles(const Target &target, StringRef driver, Location loc) {
  auto find = [&](ArrayRef<StringRef> folders, StringRef name) {
    for (StringRef folder : folders) {
      SmallString<256> path(llvm::sys::path::parent_path(llvm::sys::path::parent_path(driver)));
      llvm::sys::path::append(path, folder, name);
      if (llvm::sys::fs::exists(path))
        return path.str().str();
    }
    return std::string();
  };
  auto missing = [&](StringRef name, StringRef where) {
    return blame(Fault::User, emitError(loc)) << "cannot find " << name << " beside the compiler, in " << where;
  };
  StringRef runtime = target.backend().runtime(), last = "libc.so.6";
  LinkFiles files{find({"lib", "lib/xlc"}, runtime), find({"lib/xlc"}, last)};
  if (files.runtime.empty())
    return missing(runtime, "../lib or ../lib/xlc");
  if (files.folder.empty())
    return missing(last, "../lib/xlc");
  files.folder = llvm::sys::path::parent_path(files.folder).str();
  return files;
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

LogicalResult xlc::linkProgram(Location loc, const LinkFiles &files, const llvm::MemoryBuffer &code,
                               runtime::OutputFile &program) {
  return linkObject(code, program,
                    [&](StringRef object, StringRef output) { return linkProgram(files, object, output, loc); });
}

LogicalResult xlc::linkImage(Location loc, const llvm::MemoryBuffer &code, runtime::OutputFile &image) {
  return linkObject(code, image, [&](StringRef object, StringRef output) { return linkShared(object, output, loc); });
}
