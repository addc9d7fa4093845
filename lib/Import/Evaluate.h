// Evaluation of ONNX nodes whose inputs are all known: one rule per operator, named in Operators.cpp.
#ifndef XLC_IMPORT_EVALUATE_H
#define XLC_IMPORT_EVALUATE_H

#include "ConstantTensor.h"

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace xlc::onnx {

/// One node under evaluation. Inputs that the node omits are null.
struct Evaluation {
  const Node &node;
  int64_t opset;
  llvm::SmallVector<const ConstantTensor *> inputs;
  llvm::SmallVector<ConstantTensor> outputs;
  std::string problem; ///< why the rule failed
  mlir::MLIRContext *context = nullptr;

  bool fail(const llvm::Twine &why) { return problem = why.str(), false; }
  bool produce(ConstantTensor tensor) {
    if (tensor.shape.size() > (size_t)maximumRank)
      return fail("produces a tensor of " + llvm::Twine(tensor.shape.size()) + " dimensions, but at most " +
                  llvm::Twine(maximumRank) + " are supported");
    if (!hasStrides(tensor.shape))
      return fail("produces a tensor of sizes whose product exceeds 2^63");
    return outputs.push_back(std::move(tensor)), true;
  }
  bool hasInput(size_t i) const { return i < inputs.size() && inputs[i]; }

  /// The integers of input `i`, or of attribute `name` in older opsets; none when both are missing.
  std::optional<Shape> getInts(size_t i, llvm::StringRef name) const;
};

using EvaluateRule = bool (*)(Evaluation &);

/// For operators without an evaluation of their own: imports the node on constants and interprets what it becomes.
bool evaluateByImport(Evaluation &evaluation);

// What a node says, with ONNX's defaults.
int64_t getInt(const Node &node, llvm::StringRef name, int64_t otherwise);
double getFloat(const Node &node, llvm::StringRef name, double otherwise);
std::string getString(const Node &node, llvm::StringRef name, llvm::StringRef otherwise);
std::optional<Shape> getInts(const Node &node, llvm::StringRef name);

// Shape rules that evaluation and import share. Each returns an explanation, empty when all is well.

/// Makes a possibly negative axis count from the front.
std::string normalizeAxis(int64_t &axis, int64_t rank);
std::string normalizeAxes(Shape &axes, int64_t rank);
std::string inferReshape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> request, bool allowZero, Shape &result);
std::string inferSqueeze(llvm::ArrayRef<int64_t> from, std::optional<Shape> axes, Shape &result);
std::string inferUnsqueeze(llvm::ArrayRef<int64_t> from, Shape axes, Shape &result);

/// A parsed Slice: per dimension, first element, step and number of elements.
struct SliceRange {
  Shape offsets, strides, sizes;
};
std::string inferSlice(llvm::ArrayRef<int64_t> from, const ConstantTensor &starts, const ConstantTensor &ends,
                       const ConstantTensor *axes, const ConstantTensor *steps, SliceRange &range);

/// Sizes of the pieces of a Split along a dimension of `size`.
std::string inferSplit(const Node &node, const ConstantTensor *sizes, int64_t size, Shape &pieces);

// clang-format off
#define XLC_EVALUATE_RULES(RULE) \
  RULE(Constant) RULE(ConstantOfShape) RULE(Range) RULE(NonZero) RULE(BitwiseAnd) RULE(BitwiseNot) \
  RULE(BitwiseOr) RULE(BitwiseXor) RULE(CumSum) RULE(GatherND) RULE(Gather) RULE(Concat) RULE(Slice) \
  RULE(Squeeze) RULE(Unsqueeze) RULE(Reshape) RULE(Transpose) RULE(Expand) RULE(Where) RULE(Cast) \
  RULE(Trilu) RULE(Flatten) RULE(Split) RULE(Shape) RULE(Size) RULE(Not) RULE(Neg) RULE(Abs) RULE(Sign) \
  RULE(Sqrt) RULE(Exp) RULE(Log) RULE(Tanh) RULE(Erf) RULE(Sin) RULE(Cos) RULE(Reciprocal) RULE(Floor) \
  RULE(Ceil) RULE(IsNaN) RULE(Add) RULE(Sub) RULE(Mul) RULE(Div) RULE(Mod) RULE(Pow) RULE(Max) RULE(Min) \
  RULE(Equal) RULE(Less) RULE(LessOrEqual) RULE(Greater) RULE(GreaterOrEqual) RULE(And) RULE(Or) \
  RULE(Xor) RULE(ReduceSum) RULE(ReduceProd) RULE(ReduceMax) RULE(ReduceMin) RULE(ReduceMean)
// clang-format on
#define XLC_DECLARE(NAME) bool evaluate##NAME(Evaluation &evaluation);
XLC_EVALUATE_RULES(XLC_DECLARE)
#undef XLC_DECLARE

/// Produces a result whose numbers are rounded to its type: floats to float32, integers to their bits.
bool produceRounded(Evaluation &e, ConstantTensor result);

} // namespace xlc::onnx

#endif
