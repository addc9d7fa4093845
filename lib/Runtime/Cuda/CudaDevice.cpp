// See CudaDevice.h.
#include "CudaDevice.h"

#include "Failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

namespace xlc::runtime::cuda {
namespace {

Address addressOf(const char *place) { return (Address)(uintptr_t)place; }

char *placeOf(Address address) {
  return (char *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr): the driver's addresses are numbers
}

/// Bit i: out i is added to.
uint32_t addsOf(const plan::CallT &call, const CallOperands &operands) {
  uint32_t bits = 0;
  for (size_t i = 0; i < call.outs.size(); ++i)
    bits |= uint32_t(operands.accumulate[i] != 0) << i;
  return bits;
}

} // namespace

CudaDevice::CudaDevice(const Libraries &libraries, Ordinal ordinal, const DeviceSetup &setup, int rank)
    : driver(libraries.driver), setup(setup), ordinal(ordinal), sharing(libraries.sharing), context(driver, ordinal),
      ofContext(takenBytes()), streams(driver, setup.plan, stageOf(setup.plan, rank), setup.isInline), marks(driver),
      readings(driver, streams.current()), readEnd(makeEvent(driver)), launches(setup.plan.kernels.size()) {
  load();
  ofCode = takenBytes() - ofContext;
  libraryCalls =
      std::make_unique<LibraryCalls>(driver, *libraries.products, libraries.fusing ? &*libraries.fusing : nullptr,
                                     setup.plan, code.get(), libraries.tuning ? &*libraries.tuning : nullptr);
  combiner.emplace(driver, setup.plan, stageOf(setup.plan, rank), code.get());
}

CudaDevice::~CudaDevice() {
  driver.setContext(context.get());
  releaseGraphs();
  others.reset(); // what waits for a rank that has failed does not end by itself
  streams.drain();
}

/// Any kernel of the program's; empty: it has none.
static std::string findAnyKernel(const Plan &plan) {
  for (const auto &kernel : plan.kernels)
    if (!kernel->launches.empty())
      return kernel->launches[0]->function;
  return "";
}

/// Cubins are for their chip alone, and come before PTX, which the driver translates. One of another chip it loads too, and
/// refuses when it is asked for a kernel.
void CudaDevice::load() {
  const std::string any = findAnyKernel(setup.plan);
  std::string problems;
  for (uint64_t i = 0; i < setup.imageCount; ++i) {
    std::array<char, 4096> log{};
    std::array<int, 2> options{jitErrorLog, jitErrorLogBytes};
    std::array<void *, 2> values{log.data(),
                                 (void *)log.size()}; // NOLINT(performance-no-int-to-ptr): as it is declared
    const char *function = "cuLibraryLoadData";
    Library library;
    Status status = driver.load(&library, setup.images[i].bytes, options.data(), values.data(), options.size(), nullptr,
                                nullptr, 0);
    if (status == success) {
      code = OwnedLibrary(library, {&driver}), function = "cuLibraryGetKernel";
      if (any.empty())
        return;
      Function kernel;
      status = driver.getKernel(&kernel, library, any.c_str());
      // A driver that loads kernels when they are asked for may notice here alone.
      if (status == success)
        status = driver.getFunction(&kernel, kernel), function = "cuKernelGetFunction";
    }
    if (status == success)
      return;
    code.reset();
    problems += fmt::format("{}{}: {}: {}{}{}", problems.empty() ? "" : "; ", setup.images[i].chip, function,
                            driver.describe(status), log[0] ? ": " : "", log.data());
  }
  throw DeviceFailure("none of the program's images can be used: " + problems);
}

Uuid CudaDevice::uuid() const {
  Uuid uuid;
  driver.check(driver.getUuid(&uuid, ordinal), "cuDeviceGetUuid");
  return uuid;
}

uint64_t CudaDevice::takenBytes() const {
  size_t free, total;
  driver.check(driver.getMemory(&free, &total), "cuMemGetInfo");
  return total - free;
}

/// As differences of what is free: right where nobody else uses the device. What libraries take, they take when calls are made
/// ready or first run.
std::vector<OutsideBytes> CudaDevice::measureOutside() {
  context.enter();
  uint64_t ofArenas = 0, ofBounces = 0, rest = takenBytes() - ofContext - ofCode;
  for (const auto &arena : arenas)
    ofArenas += arena->size();
  for (const auto &bounce : bounces)
    ofBounces += bounce->size();
  uint64_t ofOurs = ofArenas + ofBounces + ofGraphs;
  std::vector<OutsideBytes> lines = {
      {"context", ofContext}, {"code", ofCode}, {"libraries", rest > ofOurs ? rest - ofOurs : 0}};
  if (ofBounces)
    lines.push_back({"bounce", ofBounces});
  if (ofGraphs)
    lines.push_back({"graphs", ofGraphs});
  return lines;
}

DeviceMemory CudaDevice::allocate(uint64_t bytes) {
  return {allocate(arenas, bytes), bytes}; // the rest is the line `rounding`
}
char *CudaDevice::allocateBounce(uint64_t bytes) { return allocate(bounces, bytes); }

char *CudaDevice::allocate(std::vector<std::unique_ptr<Arena>> &kept, uint64_t bytes) {
  context.enter();
  Arena &made = *kept.emplace_back(std::make_unique<Arena>(driver, ordinal, bytes, sharing));
  if (others && sharing == Sharing::Exportable)
    others->registerMemory(made.begin(), made.size());
  return placeOf(made.begin());
}

void CudaDevice::prepare(const plan::CallT &call) {
  const plan::KernelT &kernel = *setup.plan.kernels[call.kernel];
  parameters.reserve(call.ins.size() + call.outs.size() + 2);
  if (kernel.launches.empty())
    return libraryCalls->prepare(call);
  std::vector<Launch> &ready = launches[call.kernel];
  if (!ready.empty())
    return;
  for (const auto &launch : kernel.launches)
    ready.push_back({driver.findKernel(code.get(), launch->function), launch->grid, launch->block});
}

void CudaDevice::run(const plan::CallT &call, const CallOperands &operands) {
  const plan::KernelT &kernel = *setup.plan.kernels[call.kernel];
  if (!launches[call.kernel].empty())
    return launch(kernel, launches[call.kernel], call, operands);
  libraryCalls->run(call, operands, streams.current());
}

void CudaDevice::launch(const plan::KernelT &kernel, const std::vector<Launch> &launches, const plan::CallT &call,
                        const CallOperands &operands) {
  uint32_t adds = addsOf(call, operands);
  parameters.clear();
  for (size_t i = 0; i < call.ins.size() + call.outs.size(); ++i)
    parameters.push_back((void *)&operands.addresses[i]);
  if (operands.workspace)
    parameters.push_back((void *)&operands.workspace);
  if (kernel.adds)
    parameters.push_back(&adds);
  for (const Launch &each : launches)
    driver.check(driver.launch(each.function, each.grid, 1, 1, each.block, 1, 1, 0, streams.current(),
                               parameters.data(), nullptr),
                 "cuLaunchKernel");
}

void CudaDevice::write(char *to, const void *from, uint64_t bytes) {
  context.enter();
  if (writing)
    return writing->write(addressOf(to), from, bytes);
  steps->written += StepGraph::bytesToKeep(bytes);
  streams.staging().write(addressOf(to), from, bytes);
}

void CudaDevice::beginStep(plan::Purpose purpose) {
  steps = &ofPurpose[(size_t)purpose];
  streams.beginStep(purpose);
}

void CudaDevice::endAction(uint64_t index) {
  if (writing)
    writing->endWrites(streams.current());
  streams.endAction(index);
}

void CudaDevice::endStep() {
  streams.endStep();
  steps->writtenInStep = std::exchange(steps->written, 0);
}

/// Streams that wait for nothing of the step are part of it all the same.
void CudaDevice::beginCapture(unsigned slot) {
  takenBefore = takenBytes();
  writing = &steps->graphs[slot].emplace(driver, steps->writtenInStep);
  writing->beginCapture(streams.current());
  streams.fork();
}

void CudaDevice::endCapture() {
  streams.join();
  std::exchange(writing, nullptr)->endCapture();
  ofGraphs += std::max(takenBytes(), takenBefore) - takenBefore;
}

void CudaDevice::cancelCapture() noexcept {
  for (auto &graph : steps->graphs)
    if (graph)
      graph->cancel();
  writing = nullptr;
  streams.abandonAction();
}

void CudaDevice::beginReplay(unsigned slot) {
  StepGraph &graph = *steps->graphs[slot];
  watchOthersUntil([&] { return graph.isOver(); });
  graph.waitUntilOver();
  writing = &graph;
}

void CudaDevice::replay(unsigned slot) {
  writing = nullptr;
  steps->graphs[slot]->launch(streams.current());
  streams.fork();
}

void CudaDevice::endSteps() {
  if (!others)
    return;
  streams.finish();
  releaseGraphs(); // communicators live as long as graphs have calls of theirs
  others->destroy();
  others.reset();
}

void CudaDevice::releaseGraphs() {
  for (Steps &each : ofPurpose)
    for (auto &graph : each.graphs)
      if (graph)
        graph->release();
}

/// What the device does may wait for other ranks, which may fail.
template <class IsOver> void CudaDevice::watchOthersUntil(IsOver isOver) const {
  constexpr auto moment = std::chrono::microseconds(20);
  for (; others && !isOver(); std::this_thread::sleep_for(moment))
    others->checkOthers();
}

void CudaDevice::read(void *to, const char *from, uint64_t bytes) {
  context.enter();
  if (others) {
    driver.check(driver.record(readEnd.get(), streams.current()), "cuEventRecord");
    watchOthersUntil([&] { return isOver(driver, readEnd); });
  }
  driver.check(driver.copyToHost(to, addressOf(from), bytes, streams.current()), "cuMemcpyDtoHAsync");
  driver.check(driver.waitForStream(streams.current()), "cuStreamSynchronize");
}

void CudaDevice::beginRead(unsigned slot, const char *from) { readings.begin(slot, addressOf(from)); }
float CudaDevice::finishRead(unsigned slot) {
  watchOthersUntil([&] { return readings.isOver(slot); });
  return readings.finish(slot);
}

int64_t CudaDevice::timeOf(int64_t mark) {
  watchOthersUntil([&] { return marks.isOver(mark); });
  return marks.timeOf(mark);
}

void CudaDevice::fill(char *to, unsigned char value, uint64_t bytes) {
  context.enter();
  driver.check(driver.fill(addressOf(to), value, bytes, streams.current()), "cuMemsetD8Async");
}

void CudaDevice::copy(const Copy &copy) {
  for (uint64_t outer = 0; outer < copy.outer; ++outer)
    for (uint64_t row = 0; row < copy.rows; ++row) {
      Address from = addressOf(copy.from) + outer * copy.fromSteps.outer + row * copy.fromSteps.row;
      Address to = addressOf(copy.to) + outer * copy.toSteps.outer + row * copy.toSteps.row;
      if (from != to)
        driver.check(driver.copyOnDevice(to, from, copy.bytes, streams.current()), "cuMemcpyDtoDAsync");
    }
}

void CudaDevice::combine(const Combination &what) { combiner->combine(what, streams.current()); }
void CudaDevice::convert(const Conversion &what) { combiner->convert(what, streams.current()); }

} // namespace xlc::runtime::cuda
