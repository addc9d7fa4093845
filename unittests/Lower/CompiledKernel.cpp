// From text to a callable kernel. See CompiledKernel.h.
#include "CompiledKernel.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Runtime/CpuLevel.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::test;

CompiledKernel::CompiledKernel(const KernelText &text, int64_t vectorBytes) : text(text) {
  DialectRegistry registry;
  registry.insert<graph::GraphDialect, exec::ExecDialect>();
  registerLowerDialects(registry);
  MLIRContext context(registry);
  auto module = parseSourceString<ModuleOp>(moduleText(text), &context);
  std::string error;
  runtime::CpuLevel level = codeLevelOf(runtime::findHostLevel());
  auto machine = createMachine(nameOf(level), error);
  if (!vectorBytes)
    vectorBytes = vectorBytesOf(level);
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  PassManager lowering(&context);
  addLoweringPasses(lowering, vectorBytes);
  if (!module || failed(lowering.run(*module)))
    llvm::report_fatal_error("the kernel cannot be lowered");
  auto kernel = *module->lookupSymbol<ModuleOp>(kKernelModule).getOps<func::FuncOp>().begin();
  rows = kernel->getAttrOfType<IntegerAttr>(kKernelExtent).getInt();
  grain = kernel->getAttrOfType<IntegerAttr>(kKernelGrain).getInt();
  auto compiled = translateKernels(*module, *llvmContext, *machine, vectorBytes);
  if (!compiled)
    llvm::report_fatal_error("the kernel cannot be translated");
  auto builder = llvm::orc::JITTargetMachineBuilder(machine->getTargetTriple());
  builder.setCPU(machine->getTargetCPU().str());
  jit = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create());
  llvm::cantFail(jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(compiled), std::move(llvmContext))));
  code = llvm::cantFail(jit->lookup("k")).toPtr<XlcKernel>();
}

CompiledKernel::~CompiledKernel() = default;

void CompiledKernel::call(std::vector<char *> operands, int64_t begin, int64_t end, bool add) const {
  std::vector<uint8_t> accumulate(text.outs.size(), add);
  code(operands.data(), begin, end, accumulate.data());
}

Tensors CompiledKernel::run(const Tensors &ins, const Tensors &before, int parts, bool add,
                            std::optional<size_t> over) const {
  KernelMemory memory(text, ins, before, over);
  int64_t grains = (rows + grain - 1) / grain;
  for (int part = 0; part < parts; ++part)
    call(memory.addresses(), grains * part / parts * grain, std::min(rows, grains * (part + 1) / parts * grain), add);
  return memory.results();
}
