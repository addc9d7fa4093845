// A kernel compiled by the phase Lower for this machine, and loaded into the test.
#ifndef XLC_UNITTESTS_LOWER_COMPILEDKERNEL_H
#define XLC_UNITTESTS_LOWER_COMPILEDKERNEL_H

#include "KernelText.h"
#include "xlc/Runtime/Kernel.h"
#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace xlc::test {

class CompiledKernel {
public:
  /// Compiles with registers of `vectorBytes`, 0 for the machine's. Aborts the test with the diagnostic on failure.
  explicit CompiledKernel(const KernelText &text, int64_t vectorBytes = 0);
  ~CompiledKernel();

  /// Calls the kernel in `parts` pieces. `before`: what is in the outs; `over`: the in whose memory the first out is.
  Tensors run(const Tensors &ins, const Tensors &before = {}, int parts = 1, bool add = false,
              std::optional<size_t> over = std::nullopt) const;
  /// Calls it on memory of the caller's.
  void call(std::vector<char *> operands, int64_t begin, int64_t end, bool add = false) const;
  int64_t extent() const { return rows; }

private:
  KernelText text;
  int64_t rows = 0, grain = 1;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  XlcKernel code = nullptr;
};

} // namespace xlc::test

#endif
