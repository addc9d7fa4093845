// See LoadedProgram.h.
#include "LoadedProgram.h"

using namespace xlc;
using namespace xlc::verify;

llvm::Expected<LoadedProgram> verify::loadProgram(llvm::MemoryBufferRef object) {
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  if (llvm::Error error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBuffer(object, false)))
    return error;
  void *addresses[5];
  const char *names[5] = {"xlc_kernels", "xlc_kernel_count", "xlc_plan", "xlc_plan_size", "xlc_plan_checksum"};
  for (auto [name, address] : llvm::zip(names, addresses)) {
    auto found = (*jit)->lookup(name);
    if (!found)
      return found.takeError();
    address = found->toPtr<void *>();
  }
  return LoadedProgram{
      std::move(*jit),
      (const XlcKernel *)addresses[0],
      *(const uint64_t *)addresses[1],
      {(const uint8_t *)addresses[2], *(const uint64_t *)addresses[3], *(const uint64_t *)addresses[4]}};
}
