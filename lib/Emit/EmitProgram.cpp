// Emits the object file of plan and code from a lowered module, together with the list of link inputs.
#include "xlc/Emit/Emit.h"
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
    return blame(Fault::User, emitError(loc))
           << "cannot find " << name << " in " << where << " (relative to the directory of the compiler)";
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
