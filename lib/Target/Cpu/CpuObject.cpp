// The object defines what Kernel.h declares:
//
//     xlc_kernels[]  xlc_kernel_count     addresses of the code, in the order of @kernels
//     xlc_plan[]     xlc_plan_size        the plan's bytes
#include "CpuObject.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Runtime/Kernel.h"
#include "xlc/Support/Diagnostics.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
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
    blame(Fault::User, emitError(loc)) << "LLVM cannot write object files for " << machine.getTargetTriple().str();
    return nullptr;
  }
  passes.run(code);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), /*RequiresNullTerminator=*/false);
}

} // namespace

std::unique_ptr<llvm::MemoryBuffer> xlc::makeCpuObject(ModuleOp module, ArrayRef<uint8_t> plan, StringRef chip,
                                                       int64_t vectorBytes) {
  std::string reason;
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(chip, reason);
  if (!machine) {
    blame(Fault::User, module.emitError()) << "LLVM has no target for this machine: " << reason;
    return nullptr;
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateKernels(module, context, *machine, vectorBytes);
  if (!code)
    return nullptr;
  addTables(*code, module.lookupSymbol<ModuleOp>(kKernelModule), plan);
  return assemble(*code, *machine, module.getLoc());
}
