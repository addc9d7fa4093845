// A kernel written as graph ops, compiled by the phase Lower and loaded into the test: what goes in and comes out are
// tensors of double, whatever the element types and strides in memory.
#ifndef XLC_UNITTESTS_LOWER_COMPILEDKERNEL_H
#define XLC_UNITTESTS_LOWER_COMPILEDKERNEL_H

#include "xlc/Runtime/Kernel.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace xlc::test {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<double> values; ///< row-major

  int64_t size() const;
};
using Tensors = std::vector<Tensor>;

/// An operand: element type, shape, and strides in memory (empty: contiguous).
struct Operand {
  std::string element;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides = {};

  std::string tensorType() const;
  std::string memoryType() const;
};

/// Floats between -scale and scale, which the seed decides.
Tensor randomTensor(std::vector<int64_t> shape, unsigned seed, double scale = 2);

struct KernelText {
  std::string kind;
  std::vector<Operand> ins, outs;
  std::string body; ///< on %0, %1, ...; ends with "=> " and the returned values
  int accumulate = 0;
};

/// Numbers of both signs for the ins; of integers small ones, of booleans 0 and 1.
Tensors makeInputs(const KernelText &text);

class CompiledKernel {
public:
  /// Compiles with registers of `vectorBytes`, 0 for the machine's. Aborts the test with the diagnostic on failure.
  explicit CompiledKernel(const KernelText &text, int64_t vectorBytes = 0);

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

/// What the interpreter makes of the kernel, in double.
Tensors evaluate(const KernelText &text, const Tensors &ins);

/// Whether all that the kernel's ops read of an in, for an element of their results, is the same element.
bool readsOwnElements(const KernelText &text, size_t in);

} // namespace xlc::test

#endif
