// The object of a program in this process: its code, and the plan that it embeds.
#ifndef XLC_LIB_VERIFY_LOADEDPROGRAM_H
#define XLC_LIB_VERIFY_LOADEDPROGRAM_H

#include "Plan/Plan.h"
#include "xlc/Runtime/Kernel.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace xlc::verify {

struct LoadedProgram {
  std::unique_ptr<llvm::orc::LLJIT> jit; ///< owns the code
  const XlcKernel *codes;
  uint64_t codeCount;
  runtime::PlanBytes plan;
};

/// `object` must outlive the result.
llvm::Expected<LoadedProgram> loadProgram(llvm::MemoryBufferRef object);

} // namespace xlc::verify

#endif
