// The interface of a rule of the interpreter, and the rules by chapter.
//
// A rule computes the results of one op from its operands. Rules are static members of a
// struct per chapter, so that a file instantiates all of its rules for the element
// types in one line.
#ifndef XLC_LIB_INTERPRET_OPS_RULES_H
#define XLC_LIB_INTERPRET_OPS_RULES_H

#include "mlir/IR/Operation.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Dialect/Graph/TrainingAttributes.h"
#include "xlc/Interpret/Bounded.h"
#include "xlc/Interpret/Interpret.h"

namespace xlc::interpret {

template <class E> struct Evaluation {
  mlir::Operation *op;
  llvm::ArrayRef<const Datum<E> *> operands;
  const Functions<E> &functions;
  llvm::SmallVectorImpl<Datum<E>> &results;
  runtime::StepClock clock{}; ///< of the step that is interpreted

  const Tensor<E> &floats(size_t i) const { return std::get<Tensor<E>>(*operands[i]); }
  const Integers &integers(size_t i) const { return std::get<Integers>(*operands[i]); }
  llvm::ArrayRef<int64_t> resultShape(size_t i = 0) const {
    return mlir::cast<mlir::RankedTensorType>(op->getResult(i).getType()).getShape();
  }
  llvm::LogicalResult give(Datum<E> result) {
    results.push_back(std::move(result));
    return llvm::success();
  }
};

template <class E> using Rule = llvm::LogicalResult (*)(Evaluation<E> &);

/// Evaluates an op by its rule. Rules must be run through this function: 16-bit results are rounded once, here.
template <class E> llvm::LogicalResult apply(Rule<E> rule, Evaluation<E> &e);

template <class E> struct ElementwiseRules {
  static llvm::LogicalResult neg(Evaluation<E> &), abs(Evaluation<E> &), sign(Evaluation<E> &);
  static llvm::LogicalResult exp(Evaluation<E> &), log(Evaluation<E> &), sqrt(Evaluation<E> &);
  static llvm::LogicalResult tanh(Evaluation<E> &), erf(Evaluation<E> &);
  static llvm::LogicalResult sigmoid(Evaluation<E> &);
  static llvm::LogicalResult sin(Evaluation<E> &), cos(Evaluation<E> &);
  static llvm::LogicalResult atan(Evaluation<E> &), floor(Evaluation<E> &);
  static llvm::LogicalResult logicalNot(Evaluation<E> &), logicalAnd(Evaluation<E> &), logicalOr(Evaluation<E> &);
  static llvm::LogicalResult add(Evaluation<E> &), sub(Evaluation<E> &), mul(Evaluation<E> &), div(Evaluation<E> &);
  static llvm::LogicalResult max(Evaluation<E> &), min(Evaluation<E> &), pow(Evaluation<E> &);
  static llvm::LogicalResult isNan(Evaluation<E> &), cast(Evaluation<E> &), scale(Evaluation<E> &);
  static llvm::LogicalResult stochasticCast(Evaluation<E> &);
  static llvm::LogicalResult compare(Evaluation<E> &), select(Evaluation<E> &);
};

template <class E> struct ShapeRules {
  static llvm::LogicalResult constant(Evaluation<E> &), stepNumber(Evaluation<E> &), iota(Evaluation<E> &);
  static llvm::LogicalResult site(Evaluation<E> &);
  static llvm::LogicalResult randomBits(Evaluation<E> &);
  static llvm::LogicalResult broadcast(Evaluation<E> &), reshape(Evaluation<E> &), transpose(Evaluation<E> &);
  static llvm::LogicalResult slice(Evaluation<E> &), concat(Evaluation<E> &), pad(Evaluation<E> &);
  static llvm::LogicalResult gather(Evaluation<E> &), scatterAdd(Evaluation<E> &);
  static llvm::LogicalResult gatherElements(Evaluation<E> &), scatterElementsAdd(Evaluation<E> &);
  static llvm::LogicalResult scatterElements(Evaluation<E> &);
};

template <class E> struct ReductionRules {
  static llvm::LogicalResult reduce(Evaluation<E> &), contract(Evaluation<E> &), sumSquares(Evaluation<E> &);
  static llvm::LogicalResult softmax(Evaluation<E> &);
};

template <class E> struct NormRules {
  static llvm::LogicalResult gelu(Evaluation<E> &), geluBackward(Evaluation<E> &);
  static llvm::LogicalResult silu(Evaluation<E> &), siluBackward(Evaluation<E> &);
  static llvm::LogicalResult rmsNorm(Evaluation<E> &), rmsNormBackward(Evaluation<E> &);
  static llvm::LogicalResult rmsNormWeightBackward(Evaluation<E> &);
  static llvm::LogicalResult layerNorm(Evaluation<E> &), layerNormBackward(Evaluation<E> &);
  static llvm::LogicalResult layerNormWeightBackward(Evaluation<E> &);
};

template <class E> struct WindowRules {
  static llvm::LogicalResult convolution(Evaluation<E> &), convolutionTranspose(Evaluation<E> &);
  static llvm::LogicalResult convolutionWeightBackward(Evaluation<E> &);
  static llvm::LogicalResult maxPool(Evaluation<E> &), maxPoolBackward(Evaluation<E> &);
};

template <class E> struct AttentionRules {
  static llvm::LogicalResult attention(Evaluation<E> &), attentionBackward(Evaluation<E> &);
};

template <class E> struct TrainingRules {
  static llvm::LogicalResult crossEntropy(Evaluation<E> &), crossEntropyBackward(Evaluation<E> &);
  static llvm::LogicalResult optimizerStep(Evaluation<E> &);
};

/// exp(x - max) of one row, their sum, and max + log(sum); the row is turned into its softmax.
template <class E> E softmaxRow(llvm::MutableArrayRef<E> row, const Functions<E> &functions);

/// Whether a key of this score is not seen (graph::kForbids).
template <class E> bool isForbidden(E score) { return score <= E(graph::kForbidden); }
template <> inline bool isForbidden(Field score) { return score.isAbsent(); }

/// A saved log-sum-exp must be the one that the other operands give. In floating point they
/// differ by rounding and are not compared; in the field a stale one is an error.
template <class E> bool isSameSaved(E computed, E saved) { return true; }
template <> inline bool isSameSaved<Field>(Field computed, Field saved) {
  return computed == saved || computed.isUndefined();
}

/// The rule of an op, or null.
template <class E> Rule<E> findRule(llvm::StringRef opName);

} // namespace xlc::interpret

/// Instantiates a chapter of rules for the element types.
#define XLC_INSTANTIATE_RULES(CHAPTER)                                                                                 \
  template struct CHAPTER<double>;                                                                                     \
  template struct CHAPTER<float>;                                                                                      \
  template struct CHAPTER<Bounded>;                                                                                    \
  template struct CHAPTER<Field>

#endif
