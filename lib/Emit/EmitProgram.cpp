// Object file and link. The object defines what Kernel.h declares:
//
//     xlc_kernels[]  xlc_kernel_count     addresses of the code, in the order of @kernels
//     xlc_plan[]     xlc_plan_size        the plan's bytes
//
// The object lies beside the output under a temporary name, and so does the program until the caller publishes it.
#include "Files/OutputFile.h"
#include "Link.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Runtime/Kernel.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
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
  auto level = (runtime::CpuLevel)plan.cpu;
  int64_t vectorBytes = vectorBytesOf(level);
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(level, reason);
  if (!machine) {
    module.emitError() << "LLVM has no target for this machine: " << reason;
    return nullptr;
  }
  if (failed(lowerKernels(module, vectorBytes)) || failed(fillPlan(module, plan)))
    return nullptr;
  plan.version = XLC_PLAN_VERSION;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateKernels(module, context, *machine, vectorBytes);
  if (!code)
    return nullptr;
  addTables(*code, module.lookupSymbol<ModuleOp>(kKernelModule), serializePlan(plan));
  return assemble(*code, *machine, module.getLoc());
}

LogicalResult xlc::emitProgram(ModuleOp module, plan::PlanT &plan, const EmitOptions &options,
                               runtime::OutputFile &program) {
  std::unique_ptr<llvm::MemoryBuffer> bytes = makeObject(module, plan);
  if (!bytes)
    return failure();
  runtime::OutputFile object(program.path); // another temporary file; it is never published
  object.write(bytes->getBuffer());
  object.flush();
  if (failed(link(options, object.temporaryPath(), program.temporaryPath(), module.getLoc())))
    return failure();
  program.reopen();
  return success();
}
