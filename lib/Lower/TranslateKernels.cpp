// Translates @kernels to optimised LLVM IR. LLVM's own vectorisers are disabled: the loops are already vectorised, and
// the order of a sum must not change.
#include "Gpu/Intrinsics.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "xlc/Lower/Lower.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace xlc;

std::unique_ptr<llvm::TargetMachine> xlc::createMachine(StringRef cpu, std::string &error) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu, /*Features=*/"", options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

void xlc::addLoweringPasses(OpPassManager &passes, int64_t vectorBytes) {
  passes.addPass(createExpandNamedOpsPass());
  passes.addPass(createEmitKernelsPass({vectorBytes}));
}

/// Vectors, loops and arithmetic down to the LLVM dialect; what LLVM has no code for becomes calls of the C library where
/// there is one.
static LogicalResult convertToLLVM(ModuleOp kernels, const ApproximateMathPassOptions &math) {
  PassManager manager(kernels.getContext());
  manager.addPass(createCSEPass());
  manager.addPass(createApproximateMathPass(math));
  manager.addPass(createCSEPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass());
  if (math.hasLibrary)
    manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  return manager.run(kernels);
}

static void optimize(llvm::Module &code, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = false;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(code, modules);
}

/// As the machine wants it, not yet optimised.
static std::unique_ptr<llvm::Module> translate(ModuleOp module, llvm::LLVMContext &context,
                                               llvm::TargetMachine &machine, const ApproximateMathPassOptions &math) {
  OwningOpRef<ModuleOp> kernels = module.lookupSymbol<ModuleOp>(kKernelModule).clone();
  if (failed(convertToLLVM(*kernels, math)))
    return nullptr;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(*kernels, context, "kernels");
  if (!code)
    return nullptr;
  code->setTargetTriple(machine.getTargetTriple());
  code->setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : *code)
    function.addFnAttr("target-cpu", machine.getTargetCPU());
  return code;
}

std::unique_ptr<llvm::Module> xlc::translateKernels(ModuleOp module, llvm::LLVMContext &context,
                                                    llvm::TargetMachine &machine, int64_t vectorBytes) {
  bool hasScaling = machine.getMCSubtargetInfo()->checkFeatures("+avx512vl"); // vscalefps
  std::unique_ptr<llvm::Module> code =
      translate(module, context, machine, {.hasLibrary = true, .hasScaling = hasScaling});
  if (!code)
    return nullptr;
  for (llvm::Function &function : *code)
    function.addFnAttr("prefer-vector-width", std::to_string(vectorBytes * 8));
  optimize(*code, machine);
  return code;
}

std::unique_ptr<llvm::Module> xlc::translateGpuKernels(ModuleOp module, llvm::LLVMContext &context,
                                                       llvm::TargetMachine &machine) {
  std::unique_ptr<llvm::Module> code = translate(module, context, machine, {.hasLibrary = false});
  if (!code)
    return nullptr;
  for (auto kernel : module.lookupSymbol<ModuleOp>(kKernelModule).getOps<func::FuncOp>()) {
    llvm::Function *function = code->getFunction(kernel.getName());
    function->setCallingConv(llvm::CallingConv::PTX_Kernel);
    auto threads = kernel->getAttrOfType<IntegerAttr>(kKernelBlock);
    function->addFnAttr("nvvm.reqntid", std::to_string(threads.getInt()) + ",1,1");
  }
  optimize(*code, machine);
  return code;
}

void xlc::registerLowerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect, LLVM::LLVMDialect,
                  func::FuncDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  lower::grid::registerDialect(registry);
}
