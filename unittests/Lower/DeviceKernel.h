// Kernels of xlc/Runtime/DeviceKernels.h, run by simulated threads.
#ifndef XLC_UNITTESTS_LOWER_DEVICEKERNEL_H
#define XLC_UNITTESTS_LOWER_DEVICEKERNEL_H

#include "xlc/Runtime/DeviceKernels.h"
#include "xlc/Simulate/Grid.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace xlc::test {

/// The names of all.
const std::vector<llvm::StringRef> &deviceKernels();

/// Launches one; `problem` of the grid, or nothing. `others`: memory whose addresses are among the parameters.
std::string launchDevice(llvm::StringRef name, int64_t blocks, const std::vector<simulate::Operand> &operands,
                         const void *parameters, uint64_t seed, const std::vector<simulate::Operand> &others = {});

template <class Element> simulate::Operand operandOf(const std::vector<Element> &elements) {
  return {(const char *)elements.data(), elements.size() * sizeof(Element)};
}

} // namespace xlc::test

#endif
