// Facts about cuBLASLt are from its documentation (docs.nvidia.com/cuda/cublas): a matrix has one stride of 1, a batch
// one stride per matrix; the remaining dimensions of a batch are a loop of calls. A bias is added along the rows of a
// column-major result, which are the rows of our row-major one. Operations that it does not support are kernels of the
// runtime.
#include "CudaTarget.h"
#include "Cuda/Measure.h"
#include "Cuda/OpenLibrary.h"
#include "CudaObject.h"
#include "Plan/Exchanges.h"
#include "Plan_generated.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Kernels/LibraryCalls.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Runtime/AlignedProduct.h"
#include "xlc/Runtime/ConvolutionWorkspace.h"
#include "xlc/Runtime/FusedAttention.h"
#include "xlc/Runtime/FusedConvolution.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace mlir;
using namespace xlc;

namespace {

/// What programs have code of their own for; other devices compile the PTX of the newest before them.
constexpr int64_t capabilities[] = {80, 90, 100, 120};
static_assert(capabilities[0] == runtime::oldestCapability);
constexpr int64_t kHopper = 90;

/// What cuBLASLt may use for one product. NVIDIA recommends 32 MiB from Hopper on and 4 MiB before.
constexpr int64_t kWorkspace = 4 << 20, kWorkspaceFromHopper = 32 << 20;

/// A sector of memory is 32 bytes, an access of a warp up to 512; cudaMalloc gives multiples of 256.
constexpr int64_t kAlignment = 256;
/// Rows of so many elements begin at multiples of a line of the cache, which costs six percent of their memory at most.
constexpr int64_t kLine = 128, kLongRow = 1024;
/// Physical memory comes in pieces of this (cuMemGetAllocationGranularity).
constexpr int64_t kGranularity = 2 << 20;

/// A step is a graph, of which two take turns. What the driver keeps of a node on the device: "around 10KB per kernel node"
/// (github.com/NVIDIA/cccl, pull request 3768).
constexpr int64_t kGraphs = 2, kNode = 10 << 10;

/// What a thread sums up of a column at least, a warp or a block of all elements, and who does a chunk of rows of each column.
constexpr int64_t kFewestRows = 32, kFewestElements = 1024, kFewestCarried = 8;
/// Elements of a row whose sums of columns have registers beside them, and vectors of which each thread has whole ones.
constexpr int64_t kMostCarried = 4096, kVector = 8;

/// Between A100 (312 TFLOP/s, 2 TB/s) and H100 (989, 3.35), of which stages are weighed alike.
constexpr int64_t kFlopsPerByte = 200;

std::string nameOf(int64_t capability) { return "sm_" + std::to_string(capability); }

/// Whether columns have a stride of 1, and rows one no shorter than a row.
bool isRowMajor(int64_t rows, int64_t columns, int64_t rowStride, int64_t columnStride) {
  return (columns == 1 || columnStride == 1) && (rows == 1 || rowStride >= columns);
}

/// Whether it or its transposition is row-major.
bool isMatrix(int64_t rows, int64_t columns, int64_t rowStride, int64_t columnStride) {
  return isRowMajor(rows, columns, rowStride, columnStride) || isRowMajor(columns, rows, columnStride, rowStride);
}

/// cuBLASLt's GELU wants lines of whole 16 bytes, and what lies beside a result is one matrix.
bool hasEpilogues(const runtime::ContractShape &shape) {
  constexpr int64_t group = 8;
  return shape.operands != runtime::FloatType::F32 && shape.batch.empty() && shape.n % group == 0 &&
         shape.yM % group == 0 && isRowMajor(shape.m, shape.n, shape.yM, shape.yN) &&
         runtime::AlignedProduct(shape).parts().size() == 1;
}

/// What is not measured (links, how long a call takes at least) is that of the known device that is most like it.
Device deviceOf(const runtime::cuda::Measured &measured) {
  const Device &alike = findAlike(measured.capability, measured.memory);
  Device device = alike;
  device.name = measured.name;
  device.memory = measured.memory;
  device.products = measured.products;
  device.bandwidth = measured.bandwidth;
  if (measured.attention > 0)
    device.attention = measured.attention / device.productsOf(ProductType::BF16);
  device.capability = measured.capability;
  device.outside = {{"context", measured.context}, {"libraries", measured.libraries}};
  return device;
}

/// Whether terms of a sum cross as another type than they have.
bool isRounded(const exec::Exchange &sum) { return sum.wire && sum.wire != sum.element; }

/// Kernels, copies and messages of a sum in the order of the ranks: of each piece a group of messages and a sum, and where elements
/// cross as others conversions of what goes to each rank, and comes from it (lib/Runtime/Fabric/SliceSums.cpp).
int64_t countNodesOfSum(const exec::Exchange &sum) {
  bool rounds = isRounded(sum), isScattered = sum.kind == dist::CollectiveKind::reduce_scatter;
  int64_t ranks = sum.group.size(), slice = llvm::divideCeil(sum.outer * sum.chunk, isScattered ? 1 : ranks);
  auto bytesOf = [](Type type) { return (uint64_t)graph::getByteSize(type, 1); };
  auto piece = (int64_t)runtime::BounceCut::pieceOf(runtime::bounceBytesOfGpus, (uint64_t)ranks, bytesOf(sum.element),
                                                    bytesOf(rounds ? sum.wire : sum.element), rounds);
  int64_t pieces = llvm::divideCeil(slice, piece), conversions = rounds ? ranks - 1 : 0;
  int64_t ofScatter = pieces * (2 + 2 * conversions), ofGather = rounds ? pieces * (2 + conversions) : 1;
  return isScattered ? ofScatter : ofScatter + ofGather;
}

/// What a rank does in a step, as far as it needs memory beside the arena.
struct StepWork {
  int64_t nodes = 0; ///< kernels, copies and messages, each call as one
  /// On which ranks sum in their order: the runtime gives each a bounce block (NcclFabric.cpp).
  std::set<exec::Stream> ordered;
};

StepWork findWork(exec::ProgramOp program, bool isDeterministic) {
  SymbolTable symbols(program->getParentOfType<ModuleOp>());
  StepWork work;
  auto nodesOf = [&](const exec::Exchange &what, exec::Stream stream) -> int64_t {
    if (!runtime::isSummedInOrder(isDeterministic, static_cast<plan::CollectiveKind>(what.kind), what.accumulate,
                                  isRounded(what)))
      return 1;
    work.ordered.insert(stream);
    return countNodesOfSum(what);
  };
  llvm::StringMap<int64_t> ofFunctions;
  for (auto action : program.getBody().getOps<exec::Action>()) {
    if (auto exchange = dyn_cast<exec::ExchangeOp>(action.getOperation())) {
      work.nodes += nodesOf(exchange.getExchange(), action.getStream());
    } else if (auto run = dyn_cast<exec::RunOp>(action.getOperation())) {
      auto [known, isNew] = ofFunctions.try_emplace(run.getFunction());
      assert(symbols.lookup<func::FuncOp>(run.getFunction()) && "the verifier of exec.run finds its function");
      if (isNew)
        for (Operation &op : symbols.lookup<func::FuncOp>(run.getFunction()).getOps()) {
          auto collective = dyn_cast<exec::CollectiveOp>(op);
          known->second +=
              collective ? nodesOf(collective.getExchange(), exec::Stream::compute) : isa<exec::CallOp>(op);
        }
      work.nodes += known->second;
    } else {
      ++work.nodes;
    }
  }
  return work;
}

class CudaBackend : public Backend {
public:
  explicit CudaBackend(std::string chip) : chip(std::move(chip)) {}

  void addLowering(OpPassManager &passes) const override {
    passes.addPass(createExpandNamedOpsPass());
    passes.addPass(createEmitGpuKernelsPass());
  }
  void describe(plan::PlanT &plan) const override {
    plan.alignment = kAlignment;
    plan.gpu = chip;
    plan.overlap = false; // a thread of the host gives the device all that it does
  }
  std::unique_ptr<llvm::MemoryBuffer> makeObject(ModuleOp module, ArrayRef<uint8_t> plan) const override {
    return makeCudaObject(module, plan, listCudaChips());
  }
  bool hasSimulator() const override { return true; }
  std::unique_ptr<llvm::MemoryBuffer> makeSimulatorObject(ModuleOp module, const plan::PlanT &plan) const override {
    return makeCudaSimulatorObject(module, plan);
  }
  StringRef runtime() const override { return "libXLCRuntimeCuda.a"; }

private:
  const std::string chip;
};

class CudaTarget : public Target {
public:
  explicit CudaTarget(int64_t capability) : capability(capability), chipName(nameOf(capability)), code(chipName) {}

  StringRef name() const override { return "cuda"; }
  StringRef chip() const override { return chipName; }
  std::vector<std::string> findMissingFeatures() const override { return {"GPUs"}; }

  bool fits(const LibraryCall &call) const override {
    if (auto contract = dyn_cast<graph::ContractOp>(call.op)) {
      std::optional<LibraryContract> found =
          findContractShape(contract, call.memory[0], call.memory[1], call.memory[2], call.epilogue);
      if (!found || (call.epilogue.hasBeside() && (call.memory[3] != call.memory[2] || !hasEpilogues(found->shape))))
        return false;
      const runtime::ContractShape &shape = found->shape;
      return isMatrix(shape.m, shape.k, shape.aM, shape.aK) && isMatrix(shape.k, shape.n, shape.bK, shape.bN) &&
             isMatrix(shape.m, shape.n, shape.yM, shape.yN) &&
             (!shape.epilogue.bias || isRowMajor(shape.m, shape.n, shape.yM, shape.yN));
    }
    if (call.op->hasTrait<graph::ScatterAdd>())
      return findScatterShape(call.op, call.memory).has_value();
    if (isa<graph::ScatterElementsOp>(call.op))
      return findScatterIntoShape(call.op, call.memory).has_value();
    if (call.op->hasTrait<graph::Convolution>()) {
      std::optional<runtime::ConvolutionShape> shape = findConvolutionShape(call.op, call.memory);
      return shape && (shape->type == runtime::FloatType::F32 || runtime::isFusedConvolution(*shape));
    }
    if (call.op->hasTrait<graph::Attention>()) {
      std::optional<runtime::AttentionShape> shape = findAttentionShape(call.op, call.memory);
      return shape && runtime::isFusedAttention(*shape);
    }
    return call.op->hasTrait<graph::MaxPool>() && findPoolShape(call.op, call.memory).has_value();
  }

  /// Scatters and pools have none: who owns an element of the result adds to it alone, without atomics.
  int64_t workspace(const LibraryCall &call, int) const override {
    int64_t ofProduct = capability >= kHopper ? kWorkspaceFromHopper : kWorkspace;
    if (auto contract = dyn_cast<graph::ContractOp>(call.op)) {
      auto found = findContractShape(contract, call.memory[0], call.memory[1], call.memory[2], call.epilogue);
      return ofProduct + runtime::AlignedProduct(found->shape).sumBytes();
    }
    if (call.op->hasTrait<graph::Attention>())
      return runtime::FusedAttentionWorkspace::bytes(*findAttentionShape(call.op, call.memory), capability);
    if (call.op->hasTrait<graph::Convolution>()) {
      runtime::ConvolutionShape shape = *findConvolutionShape(call.op, call.memory);
      Quantity ofSteps = runtime::ConvolutionWorkspace<Quantity>(shape).bytes + ofProduct;
      bool isNarrow = shape.type != runtime::FloatType::F32;
      return isNarrow ? std::max(ofSteps, runtime::fusedConvolutionBytes<Quantity>(shape)).clamp() : ofSteps.clamp();
    }
    return 0;
  }

  /// Threads compute their own.

  bool seesWithoutKeys() const override { return false; }
  FewestSummed fewestSummed() const override {
    return {.rows = kFewestRows, .elements = kFewestElements, .carriedRows = kFewestCarried};
  }
  bool carriesSums(int64_t size) const override { return size <= kMostCarried && size % kVector == 0; }

  /// Tensor cores read, and threads load, sixteen bytes at a time.
  int64_t rowPitch(Type element, int64_t elements) const override {
    int64_t perLine = kLine / graph::getByteSize(element, 1);
    return elements < kLongRow || !isa<FloatType>(element) ? elements : (int64_t)llvm::alignTo(elements, perLine);
  }

  bool hasElementType(Type type) const override {
    return type.isF32() || type.isBF16() || type.isF16() || type.isF64() || type.isInteger(64) || type.isInteger(32) ||
           type.isInteger(1);
  }
  std::string describeProducts(StringRef element) const override {
    return ("in " + element + ", by tensor cores, summed in f32").str();
  }
  int64_t arenaAlignment() const override { return kAlignment; }
  int64_t arenaGranularity() const override { return kGranularity; }
  std::vector<OutsideLine> outsideLines() const override {
    return findDevice("h100")->outside; // where no device is named
  }
  std::vector<OutsideLine> outsideLinesOfPeers() const override { return findDevice("h100")->outsideOfPeers; }
  std::vector<OutsideLine> outsideLinesOf(Operation *op, bool isDeterministic) const override {
    StepWork work = findWork(cast<exec::ProgramOp>(op), isDeterministic);
    std::vector<OutsideLine> lines = {{"graphs", kGraphs * kNode * work.nodes}};
    if (!work.ordered.empty())
      lines.push_back({"bounce", (int64_t)(runtime::bounceBytesOfGpus * work.ordered.size())});
    return lines;
  }
  int64_t flopsPerByte() const override { return kFlopsPerByte; }

  bool runsInCompiler() const override { return false; }
  Device measure(const Measuring &how) const override { return deviceOf(runtime::cuda::measureGpu(how.libraryFolder)); }

  const Backend &backend() const override { return code; }

private:
  const int64_t capability;
  const std::string chipName;
  const CudaBackend code;
};

} // namespace

std::vector<std::string> xlc::listCudaChips() {
  std::vector<std::string> names;
  for (int64_t capability : capabilities)
    names.push_back(nameOf(capability));
  return names;
}

std::unique_ptr<Target> xlc::makeCudaTarget(StringRef chip) {
  const int64_t *found = llvm::find_if(capabilities, [&](int64_t each) { return nameOf(each) == chip; });
  return found == std::end(capabilities) ? nullptr : std::make_unique<CudaTarget>(*found);
}

ChipOfDevice xlc::chipOfCudaDevice(const Device &device) {
  if (device.isCpu())
    return {"", "target cuda requires a GPU, but '" + device.name + "' is a CPU"};
  int64_t capability = device.capability ? device.capability : capabilities[0];
  if (capability < capabilities[0])
    return {"", llvm::formatv("target cuda requires compute capability {0:f1}, but '{1}' has {2:f1}",
                              double(capabilities[0]) / 10, device.name, double(capability) / 10)};
  return {nameOf(*std::prev(llvm::upper_bound(capabilities, capability))), ""};
}
