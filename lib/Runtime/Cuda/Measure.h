// Measures the performance of a GPU of this machine, for `xlc calibrate`, with the vendor's libraries and the calls
// that programs make.
#ifndef XLC_LIB_RUNTIME_CUDA_MEASURE_H
#define XLC_LIB_RUNTIME_CUDA_MEASURE_H

#include <array>
#include <cstdint>
#include <string>

namespace xlc::runtime::cuda {

struct Measured {
  std::string name;                 ///< as reported by the driver
  int capability = 0;               ///< compute capability times ten
  int64_t memory = 0;               ///< bytes
  std::array<double, 3> products{}; ///< floating-point operations per second of large products: f32, bf16, f16
  double attention = 0;             ///< the same for cuDNN in bf16, forward and backward, causal; 0: no suitable cuDNN
  double bandwidth = 0;             ///< bytes per second that a copy reads and writes
  int64_t context = 0, libraries = 0; ///< bytes of a process in addition to its arena
};

/// Measures the first GPU, on which nothing else should run. Libraries come from `folder`, or from where programs find
/// them. Takes some seconds. Throws Rejected if there is no GPU or library, DeviceFailure if a call fails.
Measured measureGpu(const std::string &folder);

} // namespace xlc::runtime::cuda

#endif
