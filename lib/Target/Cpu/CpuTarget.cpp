// The operands that the CPU's libraries accept are checked on the shapes of LibraryCalls.h; the size of their scratch
// memory comes from the runtime's own code, which is linked here and nowhere else in the compiler.
#include "CpuTarget.h"
#include "Cpu/OneDnn.h"
#include "CpuObject.h"
#include "MeasureCpu.h"
#include "Plan_generated.h"
#include "xlc/Kernels/LibraryCalls.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Runtime/CpuLevel.h"
#include "xlc/Runtime/Workspace.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace xlc;

namespace {

/// All ranks together: code, libraries, thread stacks, pages of data, the embedded plan. Measured: 10.5 to 11.8 MiB, from
/// 8 ranks of a tiny model to GPT-2.
constexpr int64_t kOutsideBytes = 12 << 20;

/// A figure between today's CPUs and GPUs. Where stages are weighed against each other, only the relation of small units
/// to matrix products depends on it.
constexpr int64_t kFlopsPerByte = 8;

/// A cache line, and the widest vector.
constexpr int64_t kAlignment = 64;

/// 64 KiB of f32, for which a call wakes a thread (lib/Runtime/Cpu/Kernels.cpp).
constexpr int64_t kFewestElements = 16384;

std::optional<LibraryContract> findContract(const LibraryCall &call) {
  return findContractShape(cast<graph::ContractOp>(call.op), call.memory[0], call.memory[1], call.memory[2],
                           call.epilogue);
}

/// What a level beyond that of the code is for.
bool isBf16Product(const std::unique_ptr<plan::KernelT> &kernel) {
  const plan::ContractT *contract = kernel->library.AsContract();
  return contract && contract->operands == plan::Element::BF16;
}

class CpuBackend : public Backend {
public:
  explicit CpuBackend(runtime::CpuLevel level) : level(level) {}

  void addLowering(OpPassManager &passes) const override { addLoweringPasses(passes, vectorBytesOf(level)); }

  void describe(plan::PlanT &plan) const override {
    plan.alignment = kAlignment;
    plan.cpu = (uint8_t)(llvm::any_of(plan.kernels, isBf16Product) ? level : codeLevelOf(level));
  }

  std::unique_ptr<llvm::MemoryBuffer> makeObject(ModuleOp module, ArrayRef<uint8_t> plan) const override {
    return makeCpuObject(module, plan, nameOf(codeLevelOf(level)), vectorBytesOf(level));
  }

  StringRef runtime() const override { return "libXLCRuntime.a"; }
  std::vector<std::string> findLibraries() const override { return runtime::findOneDnnFiles(); }

private:
  const runtime::CpuLevel level;
};

class CpuTarget : public Target {
public:
  explicit CpuTarget(runtime::CpuLevel level) : level(level), code(level) {}

  StringRef name() const override { return "cpu"; }
  StringRef chip() const override { return nameOf(level); }
  std::vector<std::string> findMissingFeatures() const override { return runtime::findMissingFeatures(level); }

  bool fits(const LibraryCall &call) const override {
    if (isa<graph::ContractOp>(call.op))
      return !call.epilogue.hasBeside() && findContract(call).has_value();
    if (call.op->hasTrait<graph::ScatterAdd>())
      return findScatterShape(call.op, call.memory).has_value();
    if (isa<graph::ScatterElementsOp>(call.op))
      return findScatterIntoShape(call.op, call.memory).has_value();
    if (call.op->hasTrait<graph::Convolution>()) {
      std::optional<runtime::ConvolutionShape> shape = findConvolutionShape(call.op, call.memory);
      return shape && shape->type == runtime::FloatType::F32;
    }
    if (call.op->hasTrait<graph::MaxPool>())
      return findPoolShape(call.op, call.memory).has_value();
    return findAttentionShape(call.op, call.memory).has_value();
  }

  int64_t workspace(const LibraryCall &call, int threads) const override {
    if (isa<graph::ContractOp>(call.op))
      return runtime::contractWorkspace(findContract(call)->shape, threads);
    if (call.op->hasTrait<graph::Convolution>())
      return runtime::convolutionWorkspace(*findConvolutionShape(call.op, call.memory), threads);
    if (call.op->hasTrait<graph::Attention>())
      return runtime::attentionWorkspace(*findAttentionShape(call.op, call.memory), threads);
    return 0;
  }

  /// Threads share columns as they are.
  FewestSummed fewestSummed() const override { return {.elements = kFewestElements}; }

  bool hasElementType(Type type) const override {
    return type.isF32() || type.isBF16() || type.isF16() || type.isF64() || type.isInteger(64) || type.isInteger(32) ||
           type.isInteger(1);
  }
  std::string describeProducts(StringRef element) const override {
    if (element == "bf16" && level >= runtime::CpuLevel::V4Bf16)
      return "in bf16, by AVX-512 BF16";
    return ("operands are widened in blocks: " + chip() + " has no products of " + element).str();
  }
  int64_t arenaAlignment() const override { return kAlignment; }
  std::vector<OutsideLine> outsideLines() const override { return {{"code, libraries, stacks", kOutsideBytes}}; }
  int64_t flopsPerByte() const override { return kFlopsPerByte; }
  Device measure(const Measuring &how) const override { return measureCpu(how.cores); }

  const Backend &backend() const override { return code; }

private:
  const runtime::CpuLevel level;
  const CpuBackend code;
};

} // namespace

MachineReport xlc::examineCpu() {
  std::string cores = std::to_string(llvm::hardware_concurrency().compute_thread_count());
  return {{{"processor", std::string(nameOf(runtime::findHostLevel())) + ", " + cores + " cores"}}, ""};
}

std::vector<std::string> xlc::listCpuChips() { return runtime::listCpuLevels(); }

std::unique_ptr<Target> xlc::makeCpuTarget(StringRef chip) {
  std::optional<runtime::CpuLevel> level = runtime::findCpuLevel(std::string_view(chip));
  if (!level)
    return nullptr;
  limitLibraries(*level);
  return std::make_unique<CpuTarget>(*level);
}
