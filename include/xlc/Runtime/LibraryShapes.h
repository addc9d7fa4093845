// The operations of library calls, as sizes and strides. Compiler, plan and runtime describe calls with these types.
// Each target defines which calls its library supports, and with how much scratch memory.
#ifndef XLC_RUNTIME_LIBRARYSHAPES_H
#define XLC_RUNTIME_LIBRARYSHAPES_H

#include "xlc/Runtime/Windows.h"

#include <cstdint>
#include <vector>

namespace xlc::runtime {

/// The float types of library calls. For all of them sums are computed in float, and results are rounded once.
enum class FloatType : uint8_t { F32, BF16, F16 };

constexpr int64_t bytesOf(FloatType type) { return type == FloatType::F32 ? 4 : 2; }

/// GELU, approximated by tanh, applied to the sums s of a product, in f32: y = gelu(s), with s as an additional result
/// h, which is placed before y; y = gelu'(h) s, with h as an operand.
enum class Activation : uint8_t { None, Gelu, GeluBackward };

/// The operations of a library on a product's sums before it rounds them. A residual and h have the layout and the type
/// of y.
struct Epilogue {
  bool bias = false, residual = false; ///< adds bias[n], and c[m, n], to the sums
  Activation activation = Activation::None;

  /// Whether the call has a matrix in addition to a, b and y.
  bool hasBeside() const { return residual || activation != Activation::None; }
  bool readsBeside() const { return residual || activation == Activation::GeluBackward; }
};

/// y[batch, m, n] = sum over k of a[batch, m, k] b[batch, k, n], with its epilogue; strides in elements. With an
/// epilogue all have one type; sums are f32 and rounded once, at the end.
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
/// The mask or bias of the scores: none, bytes that select the unmasked keys, or floats to be added.
enum class AttentionBias : uint8_t { None, Allow, Add };
/// Strides in elements of [batch, head, query, key], 0 along broadcast dimensions; the key stride is 1.
struct BiasStrides {
  int64_t batch, head, query;
};
struct AttentionShape {
  bool backward, causal;
  double scale;
  int64_t batch, queries, keys, heads, groups, d, e;
  HeadStrides q, k, v, out, dout, dq, dk, dv;
  int64_t window = 0;   ///< query i attends to keys at a smaller distance; 0: all
  bool uniform = false; ///< a query whose keys are all masked attends to all uniformly, otherwise to none
  bool added = false;   ///< masks are added to scores: uniform queries have gradients of q and k
  AttentionBias biasKind = AttentionBias::None;
  BiasStrides bias = {};
  FloatType type = FloatType::F32; ///< of q, k, v, out, dout, dq, dk, dv; an added bias is f32
  double ratio = 0;                ///< probability of dropping a probability; 0: none, and no draws (Dropout.h)
};

/// x[batch, groups, inputs, in...], w[groups, outputs, inputs, size...], y[batch, groups, outputs, out...]; contiguous.
struct ConvolutionShape {
  /// the one of y, x and w that is computed from the others
  enum class Kind { Forward, Transpose, WeightBackward } kind;
  int64_t batch, groups, inputs, outputs;
  std::vector<WindowDim> dims;     ///< one to three
  FloatType type = FloatType::F32; ///< of all three
};

} // namespace xlc::runtime

#endif
