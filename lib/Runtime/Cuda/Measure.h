// What a GPU of this machine reaches, for `xlc calibrate`: as its own libraries do it, with the calls that programs make.
#ifndef XLC_LIB_RUNTIME_CUDA_MEASURE_H
#define XLC_LIB_RUNTIME_CUDA_MEASURE_H

#include <array>
#include <cstdint>
#include <string>

namespace xlc::runtime::cuda {

struct Measured {
  std::string name;                 ///< as the driver has it
  int capability = 0;               ///< compute capability times ten
  int64_t memory = 0;               ///< bytes
  std::array<double, 3> products{}; ///< floating-point operations a second of large ones: f32, bf16, f16
  double attention = 0; ///< the same of cuDNN's in bf16, forward and backward, causal; 0: no cuDNN that does it
  double bandwidth = 0; ///< bytes a second that a copy reads and writes
  int64_t context = 0, libraries = 0; ///< bytes that a process has beside its arena
};

/// Of the first GPU, on which nothing else should run. Libraries are those of `folder`, or where programs find them. Takes some
/// seconds. Throws Rejected where there is no GPU or library, DeviceFailure where a call fails.
Measured measureGpu(const std::string &folder);

} // namespace xlc::runtime::cuda

#endif
