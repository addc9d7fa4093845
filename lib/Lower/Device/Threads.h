// What a thread of an NVIDIA GPU knows of itself and of its warp, in clang's words: device code sees no header of CUDA.
#ifndef XLC_LIB_LOWER_DEVICE_THREADS_H
#define XLC_LIB_LOWER_DEVICE_THREADS_H

#include "xlc/Runtime/DeviceKernels.h"

/// Defines a kernel.
#define XLC_KERNEL extern "C" [[clang::nvptx_kernel]] void

namespace xlc::device {

/// A pointer into the device's memory, whose accesses are ld.global and st.global, and are seen by the simulated grid.
template <class T> using Global = __attribute__((address_space(1))) T *;

/// The number of this thread among all of the grid.
inline int64_t findThread() {
  return (int64_t)__nvvm_read_ptx_sreg_ctaid_x() * runtime::kDeviceThreads + __nvvm_read_ptx_sreg_tid_x();
}

/// Of which lanes of the warp something holds; all of them ask.
inline uint32_t findLanes(bool holds) { return __nvvm_vote_ballot_sync(~0U, holds); }

} // namespace xlc::device

#endif
