// Translates with LLVM's NVPTX backend, without NVIDIA's tools: PTX for compute_80, which drivers since CUDA 11 accept
// and translate for the present device. No fast arithmetic: products and sums are rounded separately (no fma except
// explicit ones), division and roots are correctly rounded, and subnormal numbers are preserved, as on CPUs.
#include "xlc/Lower/Lower.h"
#include "xlc/Support/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace xlc {
#define GEN_PASS_DEF_PRINTPTXPASS
#include "xlc/Lower/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

std::unique_ptr<llvm::TargetMachine> xlc::createGpuMachine(std::string &error) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, "sm_80", "+ptx70", options, llvm::Reloc::Static));
}

std::string xlc::makePtx(llvm::Module &code, llvm::TargetMachine &machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager passes;
  [[maybe_unused]] bool writesNone =
      machine.addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::AssemblyFile);
  assert(!writesNone && "PTX is what NVPTX writes");
  passes.run(code);
  return text.str().str();
}

std::string xlc::makePtx(ModuleOp module, ArrayRef<StringRef> deviceKernels) {
  std::string problem;
  std::unique_ptr<llvm::TargetMachine> machine = createGpuMachine(problem);
  if (!machine) {
    blame(Fault::User, module.emitError()) << "LLVM has no target for NVIDIA's GPUs: " << problem;
    return "";
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateGpuKernels(module, context, *machine);
  if (!code)
    return "";
  if (failed(linkDeviceKernels(*code, deviceKernels))) {
    blame(Fault::Compiler, module.emitError())
        << "no device code contains all of the kernels " << llvm::join(deviceKernels, ", ");
    return "";
  }
  return makePtx(*code, *machine);
}

namespace {

struct PrintPtxPass : xlc::impl::PrintPtxPassBase<PrintPtxPass> {
  using PrintPtxPassBase::PrintPtxPassBase;

  void runOnOperation() override {
    SmallVector<StringRef> names(deviceKernels.begin(), deviceKernels.end());
    std::string ptx = makePtx(getOperation(), names);
    if (ptx.empty())
      return signalPassFailure();
    llvm::outs() << ptx;
  }
};

} // namespace
