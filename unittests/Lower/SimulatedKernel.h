// A kernel compiled for a GPU's threads, run by simulated ones.
#ifndef XLC_UNITTESTS_LOWER_SIMULATEDKERNEL_H
#define XLC_UNITTESTS_LOWER_SIMULATEDKERNEL_H

#include "KernelText.h"
#include "SimulatedImage.h"
#include <functional>
#include <memory>

namespace xlc::test {

class SimulatedKernel {
public:
  /// `damage` changes the code first, as NVPTX would get it.
  explicit SimulatedKernel(const KernelText &text, std::function<void(llvm::Module &)> damage = {});

  /// Whether a GPU has code for it; the others say why not when they are called.
  bool hasCode() const { return code != nullptr; }
  /// Calls it; `problem` is what went wrong, or nothing.
  Tensors run(const Tensors &ins, uint64_t seed = 0, const Tensors &before = {}, bool add = false,
              std::optional<size_t> over = std::nullopt);
  /// The same with so many bytes less of what is the kernel's to read of each operand.
  Tensors runWithin(const Tensors &ins, uint64_t lacking);

  std::string problem;
  int64_t blocks = 0, threads = 0;

private:
  Tensors launch(KernelMemory &memory, uint64_t seed, bool add, uint64_t lacking);

  KernelText text;
  std::unique_ptr<SimulatedImage> loaded;
  simulate::Kernel code = nullptr;
};

void expectSameBits(const Tensors &actual, const Tensors &expected);

/// Runs a kernel, if a GPU has code for it, and compares its first result with a CPU's: the bits of elements, values of sums.
void expectSameOnGpu(const KernelText &text, const Tensors &inputs, const Tensor &cpu);

} // namespace xlc::test

#endif
