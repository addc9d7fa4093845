// See CpuObject.h.
#include "CpuObject.h"
#include "../ProgramObject.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Support/Diagnostics.h"

using namespace mlir;
using namespace xlc;

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
  SmallVector<llvm::Function *> kernels;
  for (auto kernel : module.lookupSymbol<ModuleOp>(kKernelModule).getOps<func::FuncOp>())
    kernels.push_back(code->getFunction(kernel.getName()));
  return makeProgramObject(*code, {kernels, {}, plan}, *machine, module.getLoc());
}
