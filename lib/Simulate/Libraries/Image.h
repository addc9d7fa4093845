// The kernels of a program in the form that runs here: a shared library created together with it, which belongs to one
// PTX text. The declarations of each kernel in the PTX (parameters, threads) are checked against its launches.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_IMAGE_H
#define XLC_LIB_SIMULATE_LIBRARIES_IMAGE_H

#include "xlc/Simulate/Grid.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace xlc::simulate {

class Image;

struct SimulatedKernel {
  std::string name;
  Kernel code;
  std::vector<uint64_t> parameters; ///< bytes of each
  uint64_t threads = 0;             ///< of a block, where the PTX demands it
  const Image *image = nullptr;
};

/// The entries of a PTX text, without code.
std::map<std::string, SimulatedKernel> readEntries(std::string_view ptx);

class Image {
public:
  /// Opens the file of XLC_SIMULATE_IMAGE; ends the process if that is not the image of this text.
  explicit Image(const char *ptx);
  /// An image for another chip: it has no kernels.
  Image() = default;
  ~Image();
  Image(const Image &) = delete;

  bool isForThisChip() const { return library != nullptr; }
  /// The memory other than the device's that kernels may read.
  const std::vector<Operand> &constants() const { return ownConstants; }
  /// Null if there is no kernel of that name.
  SimulatedKernel *find(const std::string &name);

private:
  void *library = nullptr;
  std::map<std::string, SimulatedKernel> kernels;
  std::vector<Operand> ownConstants;
};

} // namespace xlc::simulate

#endif
