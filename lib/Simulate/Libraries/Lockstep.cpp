// A libcuda.so.1 between a program and the real driver. Each kernel that the program launches runs on the GPU and, with
// the same memory and the same LLVM IR, in the form of XLC_SIMULATE_IMAGE on this processor; then all memory that the
// program has mapped is compared, bit by bit. The program continues with the GPU's results. When the process ends,
// XLC_LOCKSTEP_REPORT receives a line of JSON for each kernel: the number of launches, the number of launches in which
// a word differed, and the first of these words.
//
// Functions that are not defined here are the real driver's: dlsym finds them in the libraries that this one needs. It
// supports programs of one rank whose work is on one stream.
#include "Device.h"
#include "Image.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <mutex>

using namespace xlc::simulate;

namespace {

using Status = int;
constexpr Status success = 0, noBinary = 209;

/// Of the driver itself.
template <class Function> Function findReal(Function, const char *name) {
  static void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void *found = driver ? dlsym(driver, name) : nullptr;
  if (!found)
    endWith(std::string("the driver does not export ") + name);
  return (Function)found;
}
#define REAL(function) findReal(&(function), #function)

/// Memory of the GPU, and what is in it.
struct Region {
  uint64_t bytes = 0;
  std::string before, after; ///< a launch; `before` is what the kernel of this processor works on
};

struct Record {
  uint64_t launches = 0, differing = 0, words = 0; ///< launches that differ; the words of these
  uint32_t gpu = 0, cpu = 0;                       ///< the first such word
  uint64_t offset = 0;
};

class Lockstep {
public:
  static Lockstep &get() {
    static Lockstep only;
    return only;
  }
  ~Lockstep() {
    const char *path = getenv("XLC_LOCKSTEP_REPORT");
    FILE *file = path ? std::fopen(path, "w") : stderr;
    if (!file)
      return;
    for (const auto &[name, record] : records)
      std::fprintf(file,
                   "{\"kernel\": \"%s\", \"launches\": %llu, \"differing\": %llu, \"words\": %llu, \"offset\": %llu, "
                   "\"gpu\": \"%08x\", \"cpu\": \"%08x\"}\n",
                   name.c_str(), (unsigned long long)record.launches, (unsigned long long)record.differing,
                   (unsigned long long)record.words, (unsigned long long)record.offset, record.gpu, record.cpu);
    if (path)
      std::fclose(file);
  }

  /// A copy of the parameters, with addresses of this processor's memory.
  std::vector<std::string> translate(const SimulatedKernel &kernel, void **parameters) {
    std::vector<std::string> values;
    for (size_t i = 0; i < kernel.parameters.size(); ++i) {
      std::string &value = values.emplace_back((const char *)parameters[i], kernel.parameters[i]);
      for (size_t at = 0; at + sizeof(uint64_t) <= value.size(); at += sizeof(uint64_t)) {
        uint64_t word;
        std::memcpy(&word, value.data() + at, sizeof word);
        auto next = regions.upper_bound(word);
        if (next == regions.begin())
          continue;
        auto &[begin, region] = *std::prev(next);
        if (word - begin > region.bytes)
          continue;
        word = (uint64_t)(uintptr_t)region.before.data() + (word - begin);
        std::memcpy(value.data() + at, &word, sizeof word);
      }
    }
    return values;
  }

  void runHere(const SimulatedKernel &kernel, std::vector<std::string> values, unsigned blocks, unsigned threads) {
    Launch launch{kernel.code, blocks, threads, {}, kernel.image->constants()};
    for (std::string &value : values)
      launch.parameters.push_back(value.data());
    for (const auto &[begin, region] : regions)
      launch.memory.push_back({region.before.data(), region.bytes});
    if (std::string problem = xlc::simulate::run(launch); !problem.empty())
      endWith("'" + kernel.name + "': " + problem);
  }

  void compare(const std::string &kernel) {
    Record &record = records[kernel];
    ++record.launches;
    bool differs = false;
    for (const auto &[begin, region] : regions)
      for (uint64_t at = 0; at < region.bytes; at += sizeof(uint32_t)) {
        uint32_t here, there;
        std::memcpy(&here, region.before.data() + at, sizeof here);
        std::memcpy(&there, region.after.data() + at, sizeof there);
        if (here == there)
          continue;
        if (record.words++ == 0)
          record.cpu = here, record.gpu = there, record.offset = at;
        differs = true;
      }
    record.differing += differs;
  }

  std::mutex mutex;
  std::map<uint64_t, Region> regions; ///< by address
  std::map<void *, SimulatedKernel *> kernels;
  std::map<void *, std::unique_ptr<Image>> images; ///< by the driver's library

private:
  Lockstep() = default;
  std::map<std::string, Record> records;
};

} // namespace

#define CUDA_FUNCTION extern "C" XLC_SIMULATED Status

extern "C" Status cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
extern "C" Status cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream);
extern "C" Status cuStreamSynchronize(void *stream);

namespace {

/// Reads all memory once the stream has done what it has.
Status readMemory(void *stream, std::string Region::*into) {
  for (auto &[begin, region] : Lockstep::get().regions) {
    (region.*into).resize(region.bytes);
    if (Status status = REAL(cuMemcpyDtoHAsync_v2)((region.*into).data(), begin, region.bytes, stream))
      return status;
  }
  return REAL(cuStreamSynchronize)(stream);
}

} // namespace

CUDA_FUNCTION cuMemMap(uint64_t address, size_t bytes, size_t offset, unsigned long long handle,
                       unsigned long long flags) {
  Status status = REAL(cuMemMap)(address, bytes, offset, handle, flags);
  std::lock_guard lock(Lockstep::get().mutex);
  if (status == success)
    Lockstep::get().regions[address].bytes = bytes;
  return status;
}
/// All that the program reaches is written, so that it can be read: with a NaN of each type.
CUDA_FUNCTION cuMemSetAccess(uint64_t address, size_t bytes, const void *description, size_t count) {
  if (Status status = REAL(cuMemSetAccess)(address, bytes, description, count))
    return status;
  if (Status status = REAL(cuMemsetD8Async)(address, 0xff, bytes, nullptr))
    return status;
  return REAL(cuStreamSynchronize)(nullptr);
}
CUDA_FUNCTION cuMemUnmap(uint64_t address, size_t bytes) {
  std::lock_guard lock(Lockstep::get().mutex);
  Lockstep::get().regions.erase(address);
  return REAL(cuMemUnmap)(address, bytes);
}

CUDA_FUNCTION cuLibraryLoadData(void **library, const void *code, void *options, void **values, unsigned count,
                                void *ofLibrary, void **ofLibraryValues, unsigned ofLibraryCount) {
  constexpr std::string_view elf = "\x7f"
                                   "ELF";
  if (std::memcmp(code, elf.data(), elf.size()) == 0)
    return noBinary; // the text says what parameters a kernel has
  Status status =
      REAL(cuLibraryLoadData)(library, code, options, values, count, ofLibrary, ofLibraryValues, ofLibraryCount);
  std::lock_guard lock(Lockstep::get().mutex);
  if (status == success)
    Lockstep::get().images[*library] = std::make_unique<Image>((const char *)code);
  return status;
}
CUDA_FUNCTION cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  Status status = REAL(cuLibraryGetKernel)(kernel, library, name);
  std::lock_guard lock(Lockstep::get().mutex);
  if (status == success)
    Lockstep::get().kernels[*kernel] = Lockstep::get().images.at(library)->find(name);
  return status;
}

CUDA_FUNCTION cuLaunchKernel(void *kernel, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                             unsigned blockY, unsigned blockZ, unsigned sharedBytes, void *stream, void **parameters,
                             void **extra) {
  Lockstep &state = Lockstep::get();
  std::lock_guard lock(state.mutex);
  auto found = state.kernels.find(kernel);
  auto launch = [&] {
    return REAL(cuLaunchKernel)(kernel, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, parameters,
                                extra);
  };
  if (found == state.kernels.end())
    return launch();
  if (Status status = readMemory(stream, &Region::before))
    return status;
  std::vector<std::string> values = state.translate(*found->second, parameters);
  if (Status status = launch())
    return status;
  if (Status status = readMemory(stream, &Region::after))
    return status;
  state.runHere(*found->second, std::move(values), gridX, blockX);
  state.compare(found->second->name);
  return success;
}
