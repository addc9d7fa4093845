// Declarations of the import rules that Operators.cpp names. One rule may serve many operators.
#ifndef XLC_IMPORT_RULES_H
#define XLC_IMPORT_RULES_H

#include "Importer.h"

namespace xlc::onnx {

/// y = OP(x).
template <typename OpTy> bool importUnary(NodeImport &n) {
  mlir::Value x = n.value(0);
  return x && n.produce(OpTy::create(n.builder, n.loc, x.getType(), x));
}

/// y = OP(a, b), broadcast.
template <typename OpTy> bool importBinary(NodeImport &n) {
  mlir::Value a, b;
  return n.broadcastPair(0, 1, a, b) && n.produce(OpTy::create(n.builder, n.loc, a.getType(), a, b));
}

/// For Max and Min: PyTorch's maximum halves the gradient where operands are equal; clamp gives none to its bounds.
void shareTies(mlir::Operation *op, const Node &node);

/// y = OP(OP(a, b), c) ...; one input is the result itself.
template <typename OpTy> bool importVariadic(NodeImport &n) {
  Shape shape = n.shape(0);
  for (size_t i = 1; i < n.numInputs(); ++i)
    if (Shape common; broadcastShapes(shape, n.shape(i), common) && n.elementType(i) == n.elementType(0))
      shape = common;
    else
      return n.fail("has inputs that do not broadcast, or differ in element type");
  mlir::Value result = n.broadcast(0, shape);
  for (size_t i = 1; result && i < n.numInputs(); ++i) {
    mlir::Value next = n.broadcast(i, shape);
    if (!next)
      return false;
    auto op = OpTy::create(n.builder, n.loc, result.getType(), result, next);
    shareTies(op, n.node);
    result = op;
  }
  return result && n.produce(result);
}

bool importCompare(NodeImport &n, graph::Predicate predicate);
template <graph::Predicate predicate> bool importCompare(NodeImport &n) { return importCompare(n, predicate); }

bool importReduce(NodeImport &n, graph::Reduction kind, bool isMean, bool squares);
template <graph::Reduction kind> bool importReduce(NodeImport &n) { return importReduce(n, kind, false, false); }
bool importArgExtremum(NodeImport &n, graph::Reduction kind);
template <graph::Reduction kind> bool importArgExtremum(NodeImport &n) { return importArgExtremum(n, kind); }

/// Pads by repeating, mode reflect, edge or wrap; null (and a problem) if the result would be too large.
mlir::Value padByCopy(NodeImport &n, mlir::Value x, llvm::StringRef mode, llvm::ArrayRef<int64_t> low,
                      llvm::ArrayRef<int64_t> high);

// clang-format off
#define XLC_IMPORT_RULES(RULE) \
  RULE(Acos) RULE(Acosh) RULE(Asin) RULE(Asinh) RULE(Atanh) RULE(AveragePool) RULE(BatchNormalization) RULE(Bernoulli) \
  RULE(Cast) RULE(Ceil) RULE(Celu) RULE(Clip) RULE(Compress) RULE(Concat) RULE(Conv) RULE(ConvTranspose) \
  RULE(Cosh) RULE(CumSum) RULE(DepthToSpace) RULE(Dropout) RULE(Einsum) RULE(Elu) RULE(Expand) RULE(EyeLike) \
  RULE(Flatten) RULE(Gather) RULE(GatherElements) RULE(GatherND) RULE(Gelu) RULE(Gemm) \
  RULE(GlobalAveragePool) RULE(GlobalLpPool) RULE(GlobalMaxPool) RULE(GroupNormalization) RULE(HardSigmoid) \
  RULE(HardSwish) RULE(Hardmax) RULE(Identity) RULE(InstanceNormalization) RULE(IsInf) RULE(IsNaN) RULE(LRN) \
  RULE(LayerNormalization) RULE(LeakyRelu) RULE(LogSoftmax) RULE(LpNormalization) RULE(LpPool) RULE(MatMul) \
  RULE(MaxPool) RULE(Mean) RULE(MeanVarianceNormalization) RULE(Mish) RULE(Mod) \
  RULE(NegativeLogLikelihoodLoss) RULE(Not) RULE(OneHot) RULE(PRelu) RULE(Pad) RULE(Pow) \
  RULE(RandomNormal) RULE(RandomUniform) RULE(Reciprocal) \
  RULE(ReduceL1) RULE(ReduceL2) RULE(ReduceLogSum) RULE(ReduceLogSumExp) RULE(ReduceMean) \
  RULE(ReduceSumSquare) RULE(Relu) RULE(Reshape) RULE(Resize) RULE(Round) RULE(ScatterElements) \
  RULE(ScatterND) RULE(Selu) RULE(Shrink) RULE(Sigmoid) RULE(Sinh) RULE(Slice) RULE(Softmax) \
  RULE(SoftmaxCrossEntropyLoss) RULE(Softplus) RULE(Softsign) RULE(SpaceToDepth) RULE(Split) RULE(Squeeze) \
  RULE(Tan) RULE(ThresholdedRelu) RULE(Tile) RULE(TopK) RULE(Transpose) RULE(Trilu) RULE(Unsqueeze) \
  RULE(Where)
// clang-format on
#define XLC_DECLARE(NAME) bool import##NAME(NodeImport &n);
XLC_IMPORT_RULES(XLC_DECLARE)
#undef XLC_DECLARE

// clang-format off
#define XLC_STRUCTURE_RULES(RULE)                                                                                      \
  RULE(CastLike)                                                                                                       \
  RULE(ConcatFromSequence)                                                                                             \
  RULE(Identity)                                                                                                       \
  RULE(If) RULE(SequenceAt) RULE(SequenceConstruct) RULE(SequenceEmpty) RULE(SequenceErase) RULE(SequenceInsert)       \
      RULE(SequenceLength) RULE(SequenceMap) RULE(SplitToSequence)
// clang-format on
#define XLC_DECLARE(NAME) bool arrange##NAME(StructureImport &n);
XLC_STRUCTURE_RULES(XLC_DECLARE)
#undef XLC_DECLARE

} // namespace xlc::onnx

#endif
