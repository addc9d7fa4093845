// What NVIDIA's libraries take from the environment alone: the only place of the runtime that writes to it. Called
// before the library in question begins, while the process has one thread.
#ifndef XLC_LIB_RUNTIME_CUDA_VENDORSETTINGS_H
#define XLC_LIB_RUNTIME_CUDA_VENDORSETTINGS_H

namespace xlc::runtime::cuda {

/// How the driver loads kernels: all of a module at once, or each when it is asked for.
void setLoading(bool isLazy);

/// NCCL's way to a rank of this process. `firstRank`: the first of `count` ranks that are threads of it; `sharesGpu`:
/// ranks may have one GPU, so that to NCCL each is a host of its own, which it reaches over sockets of this machine.
void setNccl(int firstRank, int count, bool sharesGpu);

} // namespace xlc::runtime::cuda

#endif
