// See SimulatedKernel.h.
#include "SimulatedKernel.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Lower/Lower.h"
#include "llvm/ADT/bit.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;
using namespace xlc::test;

SimulatedKernel::SimulatedKernel(const KernelText &text, std::function<void(llvm::Module &)> damage) : text(text) {
  DialectRegistry registry;
  registry.insert<graph::GraphDialect, exec::ExecDialect>();
  registerLowerDialects(registry);
  MLIRContext context(registry);
  ScopedDiagnosticHandler diagnostics(&context, [&](Diagnostic &what) {
    problem += what.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(moduleText(text), &context);
  PassManager lowering(&context);
  lowering.addPass(createExpandNamedOpsPass());
  lowering.addPass(createEmitGpuKernelsPass());
  if (!module || failed(lowering.run(*module)))
    return;
  auto kernel = *module->lookupSymbol<ModuleOp>(kKernelModule).getOps<func::FuncOp>().begin();
  blocks = kernel->getAttrOfType<IntegerAttr>(kKernelGrid).getInt();
  threads = kernel->getAttrOfType<IntegerAttr>(kKernelBlock).getInt();
  auto machine = createGpuMachine(problem);
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  auto image = translateGpuKernels(*module, *llvmContext, *machine);
  if (!image)
    return;
  if (damage)
    damage(*image);
  loaded = std::make_unique<SimulatedImage>(std::move(image), std::move(llvmContext), problem);
  code = loaded->find("k");
}

Tensors SimulatedKernel::launch(KernelMemory &memory, uint64_t seed, bool add, uint64_t lacking) {
  std::vector<char *> addresses = memory.addresses();
  uint32_t adds = add ? ~0u : 0;
  simulate::Launch launch{code, blocks, threads, {}, {}, seed};
  for (char *&address : addresses)
    launch.parameters.push_back(&address);
  if (text.accumulate)
    launch.parameters.push_back(&adds);
  for (const std::vector<char> &bytes : memory.memory)
    launch.memory.push_back({bytes.data(), bytes.size() - lacking});
  problem = simulate::run(launch);
  return memory.results();
}

Tensors SimulatedKernel::run(const Tensors &ins, uint64_t seed, const Tensors &before, bool add,
                             std::optional<size_t> over) {
  KernelMemory memory(text, ins, before, over);
  return launch(memory, seed, add, 0);
}

Tensors SimulatedKernel::runWithin(const Tensors &ins, uint64_t lacking) {
  KernelMemory memory(text, ins, {}, std::nullopt);
  return launch(memory, 0, false, lacking);
}

void xlc::test::expectSameBits(const Tensors &actual, const Tensors &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t k = 0; k < actual.size(); ++k)
    for (size_t i = 0; i < actual[k].values.size(); ++i)
      ASSERT_EQ(llvm::bit_cast<uint64_t>(actual[k].values[i]), llvm::bit_cast<uint64_t>(expected[k].values[i]))
          << "result " << k << ", element " << i << ": " << actual[k].values[i] << " and " << expected[k].values[i];
}

void xlc::test::expectSameOnGpu(const KernelText &text, const Tensors &inputs, const Tensor &cpu) {
  SimulatedKernel kernel(text);
  if (!kernel.hasCode()) {
    EXPECT_NE(kernel.problem.find("programs for GPUs do not support"), std::string::npos) << kernel.problem;
    return;
  }
  Tensor gpu = kernel.run(inputs).front();
  EXPECT_EQ(kernel.problem, "");
  // Sums have another order, and for CPUs the C library has sin and cos.
  bool isOther = text.kind != "loop" || text.body.find("graph.sin ") != std::string::npos ||
                 text.body.find("graph.cos ") != std::string::npos;
  for (size_t i = 0; i < cpu.values.size(); ++i) {
    double expected = cpu.values[i], tolerance = isOther ? 1e-5 * std::max(1.0, std::fabs(expected)) : 0;
    bool isSame = gpu.values[i] == expected || std::fabs(gpu.values[i] - expected) <= tolerance ||
                  (std::isnan(gpu.values[i]) && std::isnan(expected));
    ASSERT_TRUE(isSame) << "element " << i << ": " << gpu.values[i] << " on a GPU, " << expected << " here";
  }
}
