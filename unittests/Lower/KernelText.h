// A kernel written as graph ops, and the memory that it works on: what goes in and comes out are tensors of double, whatever
// the element types and strides in memory.
#ifndef XLC_UNITTESTS_LOWER_KERNELTEXT_H
#define XLC_UNITTESTS_LOWER_KERNELTEXT_H

#include <cstdint>
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

/// The module: the kernel @k, and a function that calls it.
std::string moduleText(const KernelText &text);

/// Memory of a kernel's operands, each exactly as large as it must be.
class KernelMemory {
public:
  /// `before`: what is in the outs; `over`: the in whose memory the first out is.
  KernelMemory(const KernelText &text, const Tensors &ins, const Tensors &before, std::optional<size_t> over);

  /// Addresses of ins, then outs.
  std::vector<char *> addresses();
  Tensors results();
  std::vector<std::vector<char>> memory; ///< by operand; what no element occupies is filled with NaN-like bytes

private:
  KernelText text;
  size_t first; ///< memory of the first out
};

/// What the interpreter makes of the kernel, in double.
Tensors evaluate(const KernelText &text, const Tensors &ins);

/// Whether all that the kernel's ops read of an in, for an element of their results, is the same element.
bool readsOwnElements(const KernelText &text, size_t in);

} // namespace xlc::test

#endif
