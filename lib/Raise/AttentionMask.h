// Reads the ops on scores between the product and the softmax as a mask of graph.attention.
//
// Exporters write one mask in many ways: added or selected, as 0 and -3.4e38 (or -1e9, -1e4, -inf), causal and padding
// masks joined by And or by addition, computed from positions or from an input. So the mask is decomposed: the known
// parts that allow keys by their distance from the query become the op's `causal` and `window`; the rest becomes its
// bias, no larger than the values that it depends on.
#ifndef XLC_LIB_RAISE_ATTENTIONMASK_H
#define XLC_LIB_RAISE_ATTENTIONMASK_H

#include "Factors.h"
#include "xlc/Dialect/Graph/TrainingAttributes.h"
#include <map>

namespace xlc {

/// The factors of the scores, by their role in attention.
struct ScoreFactors {
  FactorList batch, heads, query, key;
};

/// Distances query - key at which a known mask allows keys; no value for a mask that depends on anything else.
struct Distances {
  int64_t low = INT64_MIN, high = INT64_MAX;
  bool isFinite = true; ///< no number of the mask is minus infinity

  bool allowAll() const { return low == INT64_MIN && high == INT64_MAX; }
};

/// At or below this value, a score with this added has exp(...) = 0 relative to any other; old GPT-2 exports use
/// -10000.
inline constexpr double kMasked = -1e4;

/// Cached results for known masks, which all layers share. For lookup only.
struct MaskMemory {
  using Question = std::tuple<const void *, int64_t, int64_t, int64_t, bool, double>;
  std::map<Question, std::optional<Distances>> answers;
};

class AttentionMask {
public:
  AttentionMask(FactorTable &factors, const ScoreFactors &scores, MaskMemory &memory)
      : factors(factors), scores(scores), memory(memory) {}

  /// Scores + factor * `value`; the dimensions of `value` are those of the scores at that point.
  void readAdded(FactoredValue value, double factor);
  /// Scores that are replaced by `fill` where `value` is true (or, if `keeps`, false).
  void readSelected(const FactoredValue &value, bool keeps, double fill) { readCondition(value, keeps, fill, true); }

  /// The reason why this cannot be a mask of the op; empty if it can.
  llvm::StringRef getProblem() const { return problem; }
  graph::Mask getKind() const;
  /// The window, or 0.
  int64_t getWindow() const;
  /// Whether a query that sees no key attends to all keys equally.
  bool isUniform() const;
  /// Whether all forbidden scores are masked by adding finite numbers, so that a gradient reaches the scores of a query
  /// that sees no key.
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

/// Whether `value` depends on a trained parameter.
bool isLearned(mlir::Value value);

} // namespace xlc

#endif
