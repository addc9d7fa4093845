// See SimulatedImage.h.
#include "SimulatedImage.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Runtime/CpuLevel.h"
#include "xlc/Simulate/HostImage.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"

using namespace xlc;
using namespace xlc::test;

SimulatedImage::SimulatedImage(std::unique_ptr<llvm::Module> code, std::unique_ptr<llvm::LLVMContext> context,
                               std::string &problem) {
  auto host = createMachine(nameOf(codeLevelOf(runtime::findHostLevel())), problem);
  problem = simulate::makeHostImage(*code, *host);
  if (!problem.empty()) {
    code.reset(); // before its context
    return;
  }
  auto builder = llvm::orc::JITTargetMachineBuilder(host->getTargetTriple());
  builder.setCPU(host->getTargetCPU().str());
  jit = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create());
  llvm::orc::SymbolMap symbols;
  for (const simulate::Symbol &symbol : simulate::getSymbols())
    symbols[jit->mangleAndIntern(symbol.name)] = {llvm::orc::ExecutorAddr::fromPtr(symbol.address),
                                                  llvm::JITSymbolFlags::Exported};
  llvm::cantFail(jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))));
  llvm::cantFail(jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(code), std::move(context))));
}

SimulatedImage::~SimulatedImage() = default;

simulate::Kernel SimulatedImage::find(llvm::StringRef name) const {
  return jit ? llvm::cantFail(jit->lookup(name)).toPtr<simulate::Kernel>() : nullptr;
}
