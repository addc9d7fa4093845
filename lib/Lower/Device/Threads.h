// The indices and operations of a thread of an NVIDIA GPU and of its warp, by clang's builtins: device code includes no
// header of CUDA.
#ifndef XLC_LIB_LOWER_DEVICE_THREADS_H
#define XLC_LIB_LOWER_DEVICE_THREADS_H

#include "xlc/Runtime/DeviceKernels.h"

/// Defines a kernel.
#define XLC_KERNEL extern "C" [[clang::nvptx_kernel]] void

namespace xlc::device {

/// A pointer into the device's memory. Its accesses are ld.global and st.global, and are visible to the simulated grid.
template <class T> using Global = __attribute__((address_space(1))) T *;

/// An element in the memory that the threads of a block share; writes are visible to the block after synchronizeBlock.
template <class T> using Shared = __attribute__((address_space(3))) T;

inline int64_t findBlock() { return __nvvm_read_ptx_sreg_ctaid_x(); }
/// The number of this thread in the grid.
inline int64_t findThread() { return findBlock() * runtime::kDeviceThreads + __nvvm_read_ptx_sreg_tid_x(); }
/// The warp of this thread in its block, and its lane in the warp.
inline int64_t findWarp() { return __nvvm_read_ptx_sreg_tid_x() / runtime::kDeviceWarp; }
inline int64_t findLane() { return __nvvm_read_ptx_sreg_tid_x() % runtime::kDeviceWarp; }

/// All threads of the block wait for each other.
inline void synchronizeBlock() { __syncthreads(); }

/// The lanes of the warp for which `holds` is true; all lanes must call this.
inline uint32_t findLanes(bool holds) { return __nvvm_vote_ballot_sync(~0U, holds); }

} // namespace xlc::device

#endif
