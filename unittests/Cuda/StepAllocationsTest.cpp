// In a step without graphs the runtime allocates nothing: not in the executor, and not in the device's calls.
//
// A program trains on simulated devices, each behind a device that says when a step begins and ends. In between, every
// `new` is counted whose nearest caller, behind the C++ library, is the program itself, which holds the runtime. What
// the simulated libraries allocate, as NVIDIA's may, is theirs: their own frame stands in between.
#include "Device/ForwardingDevice.h"
#include "FaultyProgram.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>

#include <dlfcn.h>
#include <execinfo.h>

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

constexpr uint64_t firstCounted = 3; // libraries load, connect and allocate in those before
constexpr int steps = 3;

thread_local bool isCounting = false;
std::atomic<uint64_t> counted{0};

const void *moduleOf(const void *address) {
  Dl_info info{};
  return dladdr(address, &info) ? info.dli_fbase : nullptr;
}

bool isSimulated(const void *address) {
  Dl_info info{};
  return dladdr(address, &info) && info.dli_fname && std::strstr(info.dli_fname, "simulated");
}

/// Says the place, for addr2line.
void count(void *const *frames, int depth, const void *program) {
  constexpr uint64_t mostSaid = 10;
  if (counted++ >= mostSaid)
    return;
  std::fprintf(stderr, "allocated at");
  for (int i = 0; i < depth; ++i)
    if (moduleOf(frames[i]) == program)
      std::fprintf(stderr, " %#zx", (size_t)((const char *)frames[i] - (const char *)program));
  std::fprintf(stderr, "\n");
}

[[gnu::noinline]] void noteAllocation() {
  if (!std::exchange(isCounting, false))
    return;
  constexpr int mostFrames = 32, own = 2; // this function and operator new
  void *frames[mostFrames];
  int depth = backtrace(frames, mostFrames);
  const void *program = moduleOf((const void *)&noteAllocation);
  for (int i = own; i < depth && !isSimulated(frames[i]); ++i)
    if (moduleOf(frames[i]) == program) {
      count(frames + own, depth - own, program);
      break;
    }
  isCounting = true;
}

/// Passes everything on, and counts between the first action of a step and its end.
class CountedDevice : public ForwardingDevice {
public:
  /// `allocates`: one more for each action, as a mistake would.
  CountedDevice(std::unique_ptr<Device> device, bool allocates)
      : ForwardingDevice(*device), owned(std::move(device)), allocates(allocates) {}
  ~CountedDevice() override {
    if (step >= firstCounted)
      std::fprintf(stderr, "in steps: %llu allocations\n", (unsigned long long)counted.load()), std::fflush(stderr);
  }

  void beginAction(uint64_t index) override {
    if (index == 0)
      isCounting = ++step >= firstCounted;
    device.beginAction(index);
    if (allocates)
      ::operator delete(::operator new(1));
  }
  void endStep() override {
    device.endStep();
    isCounting = false;
  }

private:
  std::unique_ptr<Device> owned;
  const bool allocates;
  uint64_t step = 0;
};

template <bool allocates> Target countedTarget() {
  Target made = linkedTarget();
  made.makeDevice = [](const DeviceSetup &setup, int rank) -> std::unique_ptr<Device> {
    return std::make_unique<CountedDevice>(linkedTarget().makeDevice(setup, rank), allocates);
  };
  return made;
}

/// Token 0 everywhere: what is computed does not matter here.
void writeTokens(const std::string &file, int rows, int columns) {
  std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                       std::to_string(columns) + "), }";
  constexpr size_t whole = 128, before = 10;
  header.resize(whole - before - 1, ' ');
  std::ofstream out(file, std::ios::binary);
  out << "\x93NUMPY\x01" << '\0' << char(whole - before) << '\0' << header << '\n'
      << std::string((size_t)(rows * columns) * sizeof(int64_t), '\0');
}

std::string train(const FaultyProgram &program, const Target &target) {
  void *frames[1];
  backtrace(frames, 1); // which loads a library when it is first called
  FaultyProgram::Outcome outcome = program.trainOn(target, steps);
  EXPECT_NE(outcome.losses, "") << outcome.said;
  return outcome.said;
}

void expectNone(const FaultyProgram &program) {
  std::string said = train(program, countedTarget<false>());
  EXPECT_NE(said.find("in steps: 0 allocations"), std::string::npos) << said;
}

TEST(StepAllocations, AreCounted) {
  FaultyProgram program("examples/mlp/logits.onnx", "batch: {micro: 8}\n"
                                                    "loss: {type: cross_entropy, logits: logits, labels: y}\n"
                                                    "data: {train: " XLC_INPUTS "/examples/mlp}\n");
  expectNone(program);
  std::string said = train(program, countedTarget<true>());
  EXPECT_NE(said.find("allocated at 0x"), std::string::npos) << said;
}

TEST(StepAllocations, AttentionAndProducts) {
  std::string data = testing::TempDir() + "xlc-step-allocations-XXXXXX";
  ASSERT_TRUE(mkdtemp(data.data()));
  for (const char *name : {"/input_ids.npy", "/labels.npy"})
    writeTokens(data + name, 1, 128);
  expectNone({"test/Inputs/models/llama-tiny/loss.onnx", "batch: {micro: 1}\n"
                                                         "dims: {sequence: 128}\n"
                                                         "precision: bf16\n"
                                                         "data: {train: " +
                                                             data + "}\n"});
  std::filesystem::remove_all(data);
}

TEST(StepAllocations, Convolutions) {
  for (const char *precision : {"fp32", "bf16"})
    expectNone({"test/Inputs/models/cnn/logits-torchscript-train.onnx",
                "batch: {global: 4, micro: 2}\n"
                "loss: {type: cross_entropy, logits: logits, labels: y, shift: false}\n"
                "optimizer: {type: sgd, lr: 0.05}\n"
                "data: {train: " XLC_INPUTS "/test/Inputs/models/cnn}\n"
                "precision: " +
                    std::string(precision) + "\n"});
}

} // namespace

// NOLINTBEGIN(misc-definitions-in-headers,cppcoreguidelines-no-malloc): in place of the library's
void *operator new(size_t bytes) {
  noteAllocation();
  if (void *made = std::malloc(bytes))
    return made;
  throw std::bad_alloc();
}
void operator delete(void *what) noexcept { std::free(what); }
void operator delete(void *what, size_t) noexcept { std::free(what); }
// NOLINTEND(misc-definitions-in-headers,cppcoreguidelines-no-malloc)
