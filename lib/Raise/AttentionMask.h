// What is done to scores between the product and the softmax, read as a mask of graph.attention.
//
// Exporters write one mask in many ways: added or selected, as 0 and -3.4e38 (or -1e9, -1e4, -inf), causal and padding
// joined by And or added up, made from positions or from an input. So it is taken apart: what is known and allows
// keys by their distance from the query becomes the op's `causal` and `window`; the rest becomes its bias, no larger
// than what it depends on.
#ifndef XLC_LIB_RAISE_ATTENTIONMASK_H
#define XLC_LIB_RAISE_ATTENTIONMASK_H

#include "Factors.h"
#include "xlc/Dialect/Graph/TrainingAttributes.h"
#include <map>

namespace xlc {

/// The factors of the scores by what they are to attention.
struct ScoreFactors {
  FactorList batch, heads, query, key;
};

/// Distances query - key at which a known mask allows keys; those of a mask that goes by anything else have no value.
struct Distances {
  int64_t low = INT64_MIN, high = INT64_MAX;
  bool isFinite = true; ///< no number of the mask is minus infinity

  bool allowAll() const { return low == INT64_MIN && high == INT64_MAX; }
};

/// From here on, a score with this added is exp(...) = 0 beside any other; old GPT-2 exports use -10000.
inline constexpr double kMasked = -1e4;

/// Answers about known masks, which all layers share. Looked up only.
struct MaskMemory {
  using Question = std::tuple<const void *, int64_t, int64_t, int64_t, bool, double>;
  std::map<Question, std::optional<Distances>> answers;
};

class AttentionMask {
public:
  AttentionMask(FactorTable &factors, const ScoreFactors &scores, MaskMemory &memory)
      : factors(factors), scores(scores), memory(memory) {}

  /// Scores + factor * `value`, which has the dimensions of the scores there.
  void readAdded(FactoredValue value, double factor);
  /// Scores that become `fill` where `value` is (or, if `keeps`, is not) true.
  void readSelected(const FactoredValue &value, bool keeps, double fill) { readCondition(value, keeps, fill, true); }

  /// Why this cannot be a mask of the op; empty when it can.
  llvm::StringRef getProblem() const { return problem; }
  graph::Mask getKind() const;
  /// 0: none.
  int64_t getWindow() const;
  /// Whether a query that sees no key attends to all alike.
  bool isUniform() const;
  /// Whether all that forbids is added to the scores, as finite numbers, so that a gradient reaches those of a query that
  /// sees no key.
  bool isAdded() const;
  /// The op's bias; null when there is none.
  mlir::Value buildBias(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type elementType) const;

private:
  struct Condition {
    FactoredValue value;
    bool keeps;
    double fill;
    bool replaces; ///< the score; otherwise `fill` is added to it
    bool isAdded() const { return !replaces && fill > graph::kForbidden; }
  };
  struct Term {
    FactoredValue value;
    double factor;
  };

  bool isTooLong();
  void readCondition(FactoredValue value, bool keeps, double fill, bool replaces);
  bool readSelection(graph::SelectOp select, const FactoredValue &value, double factor);
  bool readComplement(graph::SubOp sub, const FactoredValue &value, double factor);
  bool readKnown(const FactoredValue &value, bool keeps, double factor, bool isFiniteTerm);
  std::optional<Distances> classify(mlir::DenseElementsAttr mask, const FactoredValue &value, bool keeps,
                                    double factor) const;
  std::optional<Distances> classifyExpression(const FactoredValue &value, bool keeps, double factor) const;
  mlir::DenseElementsAttr findConstant(FactoredValue &value);
  bool isKind(int64_t low, int64_t high) const;
  mlir::Value place(mlir::OpBuilder &builder, mlir::Location loc, const FactoredValue &value) const;
  mlir::Value buildCondition(mlir::OpBuilder &builder, mlir::Location loc, const Condition &condition) const;
  mlir::Value buildTerms(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value allowed,
                         mlir::Type elementType) const;

  FactorTable &factors;
  ScoreFactors scores;
  MaskMemory &memory;
  std::string problem;
  int reads = 0; ///< steps taken; a file may make masks of any size
  Distances distances;
  bool areDistancesAdded = true; ///< as finite numbers
  llvm::SmallVector<Condition> conditions;
  llvm::SmallVector<Term> terms;
};

/// Whether `value` depends on a parameter that is trained.
bool isLearned(mlir::Value value);

} // namespace xlc

#endif
