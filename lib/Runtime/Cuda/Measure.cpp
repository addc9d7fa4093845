// See Measure.h. The work is increased until it takes a millisecond. Products and attention are measured under the
// conditions of a training step, in which the chip has been busy for a long time.
#include "Measure.h"

#include "Arena.h"
#include "Cudnn.h"
#include "Failure.h"
#include "FusedAttention.h"
#include "Products.h"
#include "Stopwatch.h"
#include "VendorSettings.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace xlc::runtime::cuda {
namespace {

constexpr Milliseconds kEnough = 1, kLoad = 1000;
/// Of the memory that is measured with; what products of 8192 x 8192 floats and their scratch need.
constexpr uint64_t kMost = uint64_t(1) << 30, kScratch = uint64_t(32) << 20, kLeast = uint64_t(4) << 20;

class Meter {
public:
  explicit Meter(const std::string &folder) : driver(folder), folder(folder) {
    setLoading(/*isLazy=*/false); // as nearly all programs have it: libraries take more memory then
    driver.check(driver.initialize(0), "cuInit");
    int count = 0, version = 0;
    driver.check(driver.getCount(&count), "cuDeviceGetCount");
    if (count == 0)
      throw Rejected("error: the driver of this machine finds no GPU");
    driver.check(driver.getVersion(&version), "cuDriverGetVersion");
    driver.check(driver.getDevice(&device, 0), "cuDeviceGet");
    file.emplace(version < 13000 ? cublasLt12Library : cublasLtLibrary, folder);
    describe();
  }

  Measured run() {
    context.emplace(driver, device);
    int64_t begin = takenBytes();
    found.context = begin;
    stream = makeStream(driver);
    size_t free = 0, total = 0;
    driver.check(driver.getMemory(&free, &total), "cuMemGetInfo");
    found.memory = (int64_t)total;
    arena.emplace(driver, device, std::min<uint64_t>(kMost, free / 2));
    if (arena->size() < kScratch + kLeast)
      throw Rejected("error: the GPU has too little free memory for the measurement: end other programs that use the "
                     "GPU");
    fillWithNumbers(driver, arena->begin(), arena->size(), stream.get());
    watch.emplace(driver, stream.get());
    measureCopies();
    for (FloatType type : {FloatType::F32, FloatType::BF16, FloatType::F16})
      found.products[(size_t)type] = rateOfProducts(type);
    measureAttention();
    found.libraries = std::max<int64_t>(0, takenBytes() - begin - (int64_t)arena->size());
    return found;
  }

private:
  void describe() {
    std::array<char, 256> name{};
    int major = 0, minor = 0;
    driver.check(driver.getName(name.data(), name.size(), device), "cuDeviceGetName");
    driver.check(driver.getAttribute(&major, capabilityMajor, device), "cuDeviceGetAttribute");
    driver.check(driver.getAttribute(&minor, capabilityMinor, device), "cuDeviceGetAttribute");
    found.name = name.data(), found.capability = major * 10 + minor;
  }

  int64_t takenBytes() const {
    size_t free = 0, total = 0;
    driver.check(driver.getMemory(&free, &total), "cuMemGetInfo");
    return (int64_t)(total - free);
  }

  char *at(uint64_t offset) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are numbers
    return (char *)(uintptr_t)(arena->begin() + offset);
  }

  void measureCopies() {
    uint64_t half = arena->size() / 2;
    Milliseconds taken = watch->time([&] {
      driver.check(driver.copyOnDevice(arena->begin() + half, arena->begin(), half, stream.get()), "cuMemcpyDtoDAsync");
    });
    found.bandwidth = 2 * (double)half / taken * 1e3;
  }

  double rateOfProducts(FloatType type) {
    Products products(*file);
    for (int64_t n = 256;; n *= 2) {
      int64_t matrix = n * n * bytesOf(type);
      ContractShape shape{n, n, n, n, 1, n, 1, n, 1, {}, {}, type, type};
      Product product = products.prepare("a product", shape, kScratch, {256, 256, 1, 1, 256});
      char *scratch = at(0), *a = scratch + kScratch, *b = a + matrix, *y = b + matrix;
      auto multiply = [&] { product.run({a, b, nullptr, nullptr, y}, false, scratch, stream.get()); };
      bool isLast = (int64_t)(kScratch + 12 * matrix) > (int64_t)arena->size();
      if (isLast || watch->time(multiply) >= kEnough)
        return 2.0 * (double)n * (double)n * (double)n / watch->timeUnderLoad(kLoad, multiply) * 1e3;
    }
  }

  /// Of GPT-2's heads, over 1024 positions where less takes too little time.
  void measureAttention() {
    try {
      OpenedLibrary opened(cudnnLibrary, folder);
      cudnn::Library library(opened);
      cudnn::Handle handle = nullptr;
      library.require(library.create(&handle), "cudnnCreate", "this device");
      std::unique_ptr<cudnn::cudnnContext, cudnn::Status (*)(cudnn::Handle)> owned(handle, library.destroy);
      constexpr int64_t mostPositions = 1024;
      int64_t batch = 1, positions = 128;
      while ((found.attention = rateOfAttention(library, {handle}, batch, positions)) == 0)
        (positions < mostPositions ? positions : batch) *= 2;
    } catch (const Rejected &) { // there is none, it is too old, or has no kernel for it
      found.attention = 0;
    }
  }

  /// 0: of so few it takes too little time.
  double rateOfAttention(const cudnn::Library &library, const cudnn::Device &device, int64_t batch, int64_t positions) {
    constexpr int64_t features = 64;
    AttentionShape shape{};
    shape.causal = true, shape.scale = 0.125, shape.batch = batch, shape.queries = shape.keys = positions;
    shape.heads = shape.groups = 1, shape.d = shape.e = features, shape.type = FloatType::BF16;
    HeadStrides strides{positions * features, features, features};
    for (HeadStrides *each : {&shape.q, &shape.k, &shape.v, &shape.out, &shape.dout, &shape.dq, &shape.dk, &shape.dv})
      *each = strides;
    AttentionShape back = shape;
    back.backward = true;
    int64_t tensor = batch * positions * features * bytesOf(shape.type);
    int64_t ofForward = FusedAttentionWorkspace::bytes(shape, found.capability);
    int64_t ofBackward = FusedAttentionWorkspace::bytes(back, found.capability);
    cudnn::FusedAttention forward(library, device, "attention", shape, ofForward);
    cudnn::FusedAttention backward(library, device, "attention", back, ofBackward);
    std::array<char *, 8> operands{};
    for (size_t i = 0; i < operands.size(); ++i)
      operands[i] = at(i * tensor);
    char *scratch = at(operands.size() * tensor);
    auto attend = [&] {
      forward.run(std::span(operands).first(4), scratch, stream.get());
      backward.run(operands, scratch, stream.get());
    };
    bool isLast = (int64_t)(2 * (operands.size() * tensor + std::max(ofForward, ofBackward))) > (int64_t)arena->size();
    double flops = 3.5 * 2 * (double)(batch * positions * positions * features); // half of the scores are seen
    return isLast || watch->time(attend) >= kEnough ? flops / watch->timeUnderLoad(kLoad, attend) * 1e3 : 0;
  }

  const Driver driver;
  const std::string folder;
  Ordinal device = 0;
  std::optional<OpenedLibrary> file; ///< of products
  Measured found;
  std::optional<OwnedContext> context; ///< outlives what is made in it
  OwnedStream stream;
  std::optional<Arena> arena;
  std::optional<Stopwatch> watch;
};

} // namespace

Measured measureGpu(const std::string &folder) { return Meter(folder).run(); }

} // namespace xlc::runtime::cuda
