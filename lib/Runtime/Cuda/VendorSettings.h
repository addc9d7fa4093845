// Settings that NVIDIA's libraries read only from the environment: the only code of the runtime that writes to it.
// Called before the library is initialized, while the process has one thread.
#ifndef XLC_LIB_RUNTIME_CUDA_VENDORSETTINGS_H
#define XLC_LIB_RUNTIME_CUDA_VENDORSETTINGS_H

namespace xlc::runtime::cuda {

/// Sets how the driver loads kernels: all of a module at once, or each on demand.
void setLoading(bool isLazy);

/// Sets NCCL's transport to ranks of this process. `firstRank`: the first of `count` ranks that are threads of it.
/// `sharesGpu`: ranks may share a GPU; then each is a separate host to NCCL, reached over sockets of this machine.
void setNccl(int firstRank, int count, bool sharesGpu);

} // namespace xlc::runtime::cuda

#endif
