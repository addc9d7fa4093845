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

/// y = OP(OP(a, b), c) ...; one input is the result itself.
template <typename OpTy> bool importVariadic(NodeImport &n) {
  Shape shape = n.shape(0);
  for (size_t i = 1; i < n.numInputs(); ++i)
    if (Shape common; broadcastShapes(shape, n.shape(i), common) && n.elementType(i) == n.elementType(0))
      shape = common;
    else
      return n.fail("inputs do not broadcast, or differ in element type");
  mlir::Value result = n.broadcast(0, shape);
  for (size_t i = 1; result && i < n.numInputs(); ++i) {
    mlir::Value next = n.broadcast(i, shape);
    result = next ? OpTy::create(n.builder, n.loc, result.getType(), result, next) : mlir::Value();
  }
  return result && n.produce(result);
}

bool importCompare(NodeImport &n, graph::Predicate predicate);
template <graph::Predicate predicate> bool importCompare(NodeImport &n) { return importCompare(n, predicate); }

bool importReduce(NodeImport &n, graph::Reduction kind, bool isMean, bool squares);
template <graph::Reduction kind> bool importReduce(NodeImport &n) { return importReduce(n, kind, false, false); }

#define XLC_IMPORT_RULES(RULE)                                                                                         \
  RULE(Identity)                                                                                                       \
  RULE(Dropout)                                                                                                        \
  RULE(Cast) RULE(Where) RULE(Clip) RULE(Pow) RULE(Relu) RULE(LeakyRelu) RULE(Sigmoid) RULE(Reciprocal) RULE(Softplus) \
      RULE(Gelu) RULE(IsNaN) RULE(Not) RULE(Reshape) RULE(Transpose) RULE(Squeeze) RULE(Unsqueeze) RULE(Flatten)       \
          RULE(Expand) RULE(Concat) RULE(Slice) RULE(Split) RULE(Pad) RULE(Gather) RULE(Trilu) RULE(ReduceMean)        \
              RULE(ReduceSumSquare) RULE(Gemm) RULE(MatMul) RULE(Softmax) RULE(LogSoftmax) RULE(LayerNormalization)    \
                  RULE(SoftmaxCrossEntropyLoss) /* windows and norms over channels */                                  \
      RULE(AveragePool) RULE(BatchNormalization) RULE(Conv) RULE(ConvTranspose) RULE(GlobalAveragePool)                \
          RULE(GlobalLpPool) RULE(GlobalMaxPool) RULE(GroupNormalization) RULE(InstanceNormalization) RULE(LRN)        \
              RULE(LpPool) RULE(MaxPool)
#define XLC_DECLARE(NAME) bool import##NAME(NodeImport &n);
XLC_IMPORT_RULES(XLC_DECLARE)
#undef XLC_DECLARE

} // namespace xlc::onnx

#endif
