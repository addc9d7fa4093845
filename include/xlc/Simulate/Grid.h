// A grid of simulated GPU threads: each is a fiber of this one thread, and the next one to run is drawn at random.
// Accesses are checked: they are within an operand, have the alignment assumed by the code, and two threads never touch
// the same byte, one of them writing, without a barrier (or, within a warp, a rendezvous) between them. Shared memory
// is uninitialized when a block starts.
#ifndef XLC_SIMULATE_GRID_H
#define XLC_SIMULATE_GRID_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace xlc::simulate {

/// The code of one thread. Parameters as for cuLaunchKernel: the address of each value.
using Kernel = void (*)(void *const *parameters);

/// Memory that a kernel may access.
struct Operand {
  const char *begin;
  uint64_t bytes;
};

struct Launch {
  Kernel kernel;
  int64_t blocks, threads; ///< threads of each block
  std::vector<void *> parameters;
  std::vector<Operand> memory;
  uint64_t seed = 0; ///< of the orders in which blocks and threads run
  /// Called for every access to that memory; a non-empty result is an error that ends the run. May be empty.
  std::function<std::string(const char *at, uint64_t bytes, bool writes)> observe = nullptr;
};

/// Runs all threads, or up to the first error. Returns the error, or an empty string.
std::string run(const Launch &launch);

/// In an image that is a shared library: a uint64_t, the hash of the PTX that it corresponds to (XXH3_64bits).
inline constexpr const char *kDigestName = "xlc_simulated_digest";

/// In such an image: an array of Operands, the constants of its kernels; the last has a null begin.
inline constexpr const char *kConstantsName = "xlc_simulated_constants";

/// A function that the code of kernels calls, by name.
struct Symbol {
  const char *name;
  void *address;
};
std::vector<Symbol> getSymbols();

} // namespace xlc::simulate

#endif
