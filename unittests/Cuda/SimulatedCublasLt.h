// The simulated cuBLASLt, opened as programs open it.
#ifndef XLC_UNITTESTS_CUDA_SIMULATEDCUBLASLT_H
#define XLC_UNITTESTS_CUDA_SIMULATEDCUBLASLT_H

#include "Cuda/CublasLt.h"

namespace xlc::test {

inline const runtime::OpenedLibrary &simulatedCublasLt() {
  static const runtime::OpenedLibrary library(runtime::cublasLtLibrary, XLC_SIMULATED_LIBRARIES);
  return library;
}

/// Its handles and descriptors that live.
inline size_t countObjects() {
  size_t (*count)() = nullptr;
  simulatedCublasLt().find(count, "xlcCountCublasLtObjects");
  return count();
}

} // namespace xlc::test

#endif
