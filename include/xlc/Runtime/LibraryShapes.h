// What library calls compute, as sizes and strides: compiler, plan and runtime speak of calls in these words. Whether a
// library of a target does such a call, and with how much scratch, is the target's to say.
#ifndef XLC_RUNTIME_LIBRARYSHAPES_H
#define XLC_RUNTIME_LIBRARYSHAPES_H

#include "xlc/Runtime/Windows.h"

#include <cstdint>
#include <vector>

namespace xlc::runtime {

/// The floats that library calls take. Whatever they are, sums run in float, and results are rounded once.
enum class FloatType : uint8_t { F32, BF16, F16 };

constexpr int64_t bytesOf(FloatType type) { return type == FloatType::F32 ? 4 : 2; }

/// What GELU, approximated by tanh, is to the sums of a product, in f32, s: y = gelu(s) where s is a result too, h, which lies
/// before y; y = gelu'(h) s, where h is an operand.
enum class Activation : uint8_t { None, Gelu, GeluBackward };

/// What a library does with a product's sums before it rounds them. A residual and h lie as y does, and have its type.
struct Epilogue {
  bool bias = false, residual = false; ///< sums to which bias[n], and c[m, n], are added
  Activation activation = Activation::None;

  /// Whether the call has a matrix beside a, b and y.
  bool hasBeside() const { return residual || activation != Activation::None; }
  bool readsBeside() const { return residual || activation == Activation::GeluBackward; }
};

/// y[batch, m, n] = sum over k of a[batch, m, k] b[batch, k, n], with its epilogue; strides in elements. With an epilogue all
/// have one type; sums are f32 and rounded once, at the end.
struct ContractShape {
  struct Batch {
    int64_t size, a, b, y;
  };
  int64_t m, n, k, aM, aK, bK, bN, yM, yN;
  std::vector<Batch> batch;
  Epilogue epilogue = {};
  FloatType operands = FloatType::F32, result = FloatType::F32; ///< the result is f32 or of the operands' type
};

/// Strides in elements of [batch, position, head, feature]; the feature stride is 1.
struct HeadStrides {
  int64_t batch, position, head;
};
/// What stands beside the scores: nothing, bytes that say which keys are seen, or floats to be added.
enum class AttentionBias : uint8_t { None, Allow, Add };
/// Strides in elements of [batch, head, query, key], 0 along what it is repeated over; the key stride is 1.
struct BiasStrides {
  int64_t batch, head, query;
};
struct AttentionShape {
  bool backward, causal;
  double scale;
  int64_t batch, queries, keys, heads, groups, d, e;
  HeadStrides q, k, v, out, dout, dq, dk, dv;
  int64_t window = 0;   ///< query i sees keys less than this away; 0: all
  bool uniform = false; ///< a query that sees no key attends to all alike, otherwise to none
  bool added = false;   ///< what forbids is added to scores: gradients reach q and k where all is attended to alike
  AttentionBias biasKind = AttentionBias::None;
  BiasStrides bias = {};
  FloatType type = FloatType::F32; ///< of q, k, v, out, dout, dq, dk, dv; an added bias is f32
  double ratio = 0;                ///< with which probabilities are dropped; 0: none, and no draws (Dropout.h)
};

/// x[batch, groups, inputs, in...], w[groups, outputs, inputs, size...], y[batch, groups, outputs, out...]; contiguous.
struct ConvolutionShape {
  enum class Kind { Forward, Transpose, WeightBackward } kind; ///< which of y, x and w is computed from the others
  int64_t batch, groups, inputs, outputs;
  std::vector<WindowDim> dims;     ///< one to three
  FloatType type = FloatType::F32; ///< of all three
};

} // namespace xlc::runtime

#endif
