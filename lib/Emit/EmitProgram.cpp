// Object file and link. The object defines what Kernel.h declares:
//
//     xlc_kernels[]  xlc_kernel_count     addresses of the code, in the order of @kernels
//     xlc_plan[]     xlc_plan_size        the plan's bytes
//
// Both files are made beside the output under a temporary name; the output appears whole or not at all.
#include "xlc/Emit/Emit.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Runtime/Kernel.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

using namespace mlir;
using namespace xlc;

namespace {

llvm::GlobalVariable *define(llvm::Module &code, StringRef name, llvm::Constant *value) {
  auto *variable = new llvm::GlobalVariable(code, value->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::ExternalLinkage, value, name);
  variable->setAlignment(llvm::Align(64));
  return variable;
}

/// Adds the tables of Kernel.h; everything else becomes invisible to the linker.
void addTables(llvm::Module &code, ModuleOp kernels, ArrayRef<uint8_t> plan) {
  for (llvm::Function &function : code)
    if (!function.isDeclaration())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  auto *pointer = llvm::PointerType::getUnqual(code.getContext());
  auto *count = llvm::Type::getInt64Ty(code.getContext());
  SmallVector<llvm::Constant *> addresses;
  for (auto kernel : kernels.getOps<func::FuncOp>())
    addresses.push_back(code.getFunction(kernel.getName()));
  define(code, "xlc_kernels", llvm::ConstantArray::get(llvm::ArrayType::get(pointer, addresses.size()), addresses));
  define(code, "xlc_kernel_count", llvm::ConstantInt::get(count, addresses.size()));
  define(code, "xlc_plan", llvm::ConstantDataArray::get(code.getContext(), plan));
  define(code, "xlc_plan_size", llvm::ConstantInt::get(count, plan.size()));
}

/// The object file of `code`; null after a diagnostic.
std::unique_ptr<llvm::MemoryBuffer> assemble(llvm::Module &code, llvm::TargetMachine &machine, Location loc) {
  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    emitError(loc) << "LLVM cannot write object files for " << machine.getTargetTriple().str();
    return nullptr;
  }
  passes.run(code);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), /*RequiresNullTerminator=*/false);
}

LogicalResult writeObject(llvm::MemoryBufferRef bytes, StringRef path, Location loc) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return emitError(loc) << "cannot write '" << path << "': " << error.message();
  os << bytes.getBuffer();
  os.flush();
  if (os.has_error()) {
    std::string reason = os.error().message();
    os.clear_error();
    return emitError(loc) << "cannot write '" << path << "': " << reason;
  }
  return success();
}

std::string findCompiler(const EmitOptions &options) {
  for (const std::string &name : options.compilers)
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
  return "";
}

LogicalResult link(const EmitOptions &options, StringRef object, StringRef output, Location loc) {
  if (options.runtime.empty())
    return emitError(loc) << "cannot find libXLCRuntime.a beside the compiler, in ../lib or ../lib/xlc";
  std::string compiler = findCompiler(options);
  if (compiler.empty())
    return emitError(loc) << "cannot find a C++ compiler to link with: install clang-22 or g++";
  SmallVector<StringRef> arguments{compiler, "-o", output, object, options.runtime};
  SmallVector<StringRef> flags;
  StringRef(XLC_LINK_FLAGS).split(flags, ' ', -1, /*KeepEmpty=*/false);
  llvm::append_range(arguments, flags);
  std::string log = (output + ".log").str(), message;
  llvm::FileRemover removeLog(log);
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(log), StringRef(log)};
  int status = llvm::sys::ExecuteAndWait(compiler, arguments, std::nullopt, redirects, 0, 0, &message);
  if (status == 0)
    return success();
  if (auto text = llvm::MemoryBuffer::getFile(log))
    message += (*text)->getBuffer();
  return emitError(loc) << "linking with " << compiler << " failed: " << StringRef(message).trim();
}

} // namespace

std::string xlc::findRuntime(StringRef driver) {
  for (StringRef folder : {"lib", "lib/xlc"}) {
    SmallString<256> path(llvm::sys::path::parent_path(llvm::sys::path::parent_path(driver)));
    llvm::sys::path::append(path, folder, "libXLCRuntime.a");
    if (llvm::sys::fs::exists(path))
      return path.str().str();
  }
  return "";
}

std::unique_ptr<llvm::MemoryBuffer> xlc::makeObject(ModuleOp module, plan::PlanT &plan) {
  std::string reason;
  std::unique_ptr<llvm::TargetMachine> machine = createHostMachine(reason);
  if (!machine) {
    module.emitError() << "LLVM has no target for this machine: " << reason;
    return nullptr;
  }
  if (failed(lowerKernels(module, getVectorBytes(*machine))) || failed(fillPlan(module, plan)))
    return nullptr;
  plan.version = XLC_PLAN_VERSION;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateKernels(module, context, *machine);
  if (!code)
    return nullptr;
  addTables(*code, module.lookupSymbol<ModuleOp>(kKernelModule), serializePlan(plan));
  return assemble(*code, *machine, module.getLoc());
}

LogicalResult xlc::emitProgram(ModuleOp module, plan::PlanT &plan, const EmitOptions &options, StringRef path) {
  std::unique_ptr<llvm::MemoryBuffer> bytes = makeObject(module, plan);
  if (!bytes)
    return failure();
  std::string stem = (path + ".part").str(), object = stem + ".o";
  llvm::FileRemover removeObject(object), removePart(stem);
  if (failed(writeObject(*bytes, object, module.getLoc())) || failed(link(options, object, stem, module.getLoc())))
    return failure();
  if (std::error_code error = llvm::sys::fs::rename(stem, path))
    return module.emitError() << "cannot write '" << path << "': " << error.message();
  return success();
}
