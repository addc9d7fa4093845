// A device with memory, and cuDNN for it: the simulated one, or with XLC_CUDA_LIBRARIES set to nothing a real one.
#ifndef XLC_UNITTESTS_CUDA_BENCH_H
#define XLC_UNITTESTS_CUDA_BENCH_H

#include "Cuda/Arena.h"
#include "Cuda/Cudnn.h"
#include "Cuda/Staging.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace xlc::test {

inline std::string libraryFolder() {
  const char *given = getenv("XLC_CUDA_LIBRARIES");
  return given ? given : XLC_SIMULATED_LIBRARIES;
}

/// Places are one after the other.
class Bench {
public:
  Bench() { library.require(library.create(&handle), "cudnnCreate", "test"); }
  ~Bench() { library.destroy(handle); }
  Bench(const Bench &) = delete;
  Bench &operator=(const Bench &) = delete;

  runtime::cudnn::Device device() const { return {handle}; }
  void *queue() const { return stream.get(); }

  char *place(uint64_t bytes) {
    runtime::cuda::Address at = arena.begin() + used;
    used += (bytes + 255) / 256 * 256;
    return (char *)(uintptr_t)at; // NOLINT(performance-no-int-to-ptr): the driver's addresses are numbers
  }
  void write(const void *from, uint64_t bytes, char *at) {
    driver.check(driver.copyToDevice((runtime::cuda::Address)(uintptr_t)at, from, bytes, stream.get()), "write");
    driver.check(driver.waitForStream(stream.get()), "write");
  }
  template <class T> char *write(const std::vector<T> &values) {
    char *at = place(values.size() * sizeof(T));
    write(values.data(), values.size() * sizeof(T), at);
    return at;
  }
  template <class T> std::vector<T> read(const char *at, uint64_t bytes) {
    std::vector<T> result(bytes / sizeof(T));
    driver.check(driver.copyToHost(result.data(), (runtime::cuda::Address)(uintptr_t)at, bytes, stream.get()), "read");
    driver.check(driver.waitForStream(stream.get()), "read");
    return result;
  }

private:
  runtime::cuda::Driver driver{libraryFolder()};
  runtime::cuda::Ordinal ordinal = (driver.check(driver.initialize(0), "cuInit"), 0);
  runtime::cuda::OwnedContext context{driver, ordinal};
  runtime::cuda::Arena arena{driver, ordinal, 8 << 20};
  runtime::cuda::OwnedStream stream = runtime::cuda::makeStream(driver);
  runtime::OpenedLibrary file{runtime::cudnnLibrary, libraryFolder()};
  uint64_t used = 0;
  runtime::cudnn::Handle handle = nullptr;

public:
  const runtime::cudnn::Library library{file};
};

} // namespace xlc::test

#endif
