// A grid of simulated GPU threads: each is a fiber of this one thread, and which of them goes on is drawn. Accesses are
// checked: they lie within an operand, are aligned as the code believes, and no two threads touch a byte, one of them
// writing, without a barrier (or, within a warp, a meeting) between them. Shared memory is unwritten when a block begins.
#ifndef XLC_SIMULATE_GRID_H
#define XLC_SIMULATE_GRID_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace xlc::simulate {

/// What one thread does. Parameters as cuLaunchKernel takes them: an address of each one's value.
using Kernel = void (*)(void *const *parameters);

/// Memory that a kernel may touch.
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
  /// Sees every access to that memory; what is wrong with it ends the run. May be empty.
  std::function<std::string(const char *at, uint64_t bytes, bool writes)> observe = nullptr;
};

/// Runs all threads, or up to the first that does something wrong: what that is, or nothing.
std::string run(const Launch &launch);

/// In an image that is a shared library: a uint64_t, the hash of the PTX that it stands for (XXH3_64bits).
inline constexpr const char *kDigestName = "xlc_simulated_digest";

/// In such an image: an array of Operands, the constants of its kernels; the last begins nowhere.
inline constexpr const char *kConstantsName = "xlc_simulated_constants";

/// What the code of kernels calls, by name.
struct Symbol {
  const char *name;
  void *address;
};
std::vector<Symbol> getSymbols();

} // namespace xlc::simulate

#endif
