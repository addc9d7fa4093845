// Reads a Dropout between the softmax of attention and its second product as the draws of graph.attention's masks.
//
//     words = graph.random_bits %element, %key, %site        %element = %sample * F + sum of iotas * strides
//
// The op counts the scores of a head of a sample from `first`, row by row. So the iotas along keys and queries must
// have the strides 1 and `keys`; the other terms of %element, along the batch and heads and by the sample, form
// `first`.
#ifndef XLC_LIB_RAISE_DROPPEDSCORES_H
#define XLC_LIB_RAISE_DROPPEDSCORES_H

#include "AttentionMask.h"
#include "Factors.h"

namespace xlc {

class DroppedScores {
public:
  /// `words`, with the factors of the probabilities at that point, keep those that a Dropout of `ratio` does not drop.
  DroppedScores(FactorTable &factors, FactoredValue words, double ratio)
      : factors(factors), words(std::move(words)), ratio(ratio) {}

  double getRatio() const { return ratio; }
  /// Reads the source of the words. False if the op cannot draw them.
  bool read(const ScoreFactors &scores);
  /// The op's draws, [batch, heads, 3].
  mlir::Value buildDraws(mlir::OpBuilder &builder, mlir::Location loc) const;

private:
  /// A number for each element of one or several factors, which is multiplied and added to the others.
  struct Term {
    FactoredValue value;
    int64_t factor;
  };
  bool readSum(FactoredValue value, int64_t factor);
  bool hasStrides(llvm::ArrayRef<int> list, int64_t stride);
  void splitIota(graph::IotaOp iota, const FactoredValue &value, int64_t factor);

  FactorTable &factors;
  FactoredValue words;
  double ratio;
  ScoreFactors scores;
  mlir::Value key, subsequence;
  llvm::SmallVector<Term> numbers;                    ///< of samples
  llvm::SmallVector<std::pair<int, int64_t>> strides; ///< of factors that are counted
  int64_t first = 0;                                  ///< beside all these
};

} // namespace xlc

#endif
