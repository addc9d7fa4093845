// Attention by cuDNN's fused kernels (xlc/Runtime/FusedAttention.h selects the calls): the graphs that its engines
// support, forward and backward as in Dao, FlashAttention-2, 2023, section 3.
#ifndef XLC_LIB_RUNTIME_CUDA_FUSEDATTENTION_H
#define XLC_LIB_RUNTIME_CUDA_FUSEDATTENTION_H

#include "CudnnGraph.h"
#include "xlc/Runtime/FusedAttention.h"

#include <optional>

namespace xlc::runtime::cudnn {

class FusedAttention {
public:
  /// Throws Rejected if the library has no kernel for the call within this many bytes of workspace.
  FusedAttention(const Library &library, const Device &device, const std::string &name, const AttentionShape &shape,
                 int64_t bytes);

  const FusedAttentionWorkspace &places() const { return workspace; }
  bool isBackward() const { return shape.backward; }
  /// The number of rows of all heads.
  int64_t rows() const { return shape.batch * shape.heads * shape.queries; }
  /// The condition in addition to the scores; before a call runs, its float form must be in `bias`.
  std::optional<ConditionParameters> condition() const {
    return shape.biasKind == AttentionBias::None ? std::nullopt : std::optional(conditionOf(shape));
  }
  static constexpr size_t mostOperands = 8; ///< the limit for `run`
  /// Operands: q, k, v, out, whose log-sum-exps are written to `stats`; or q, k, v, out, dout, dq, dk, dv, which reads
  /// them there.
  void run(std::span<char *const> operands, char *at, void *stream) const;

private:
  void buildForward();
  void buildBackward();
  /// Scores times the scale, plus the term of a condition; all other masked scores are -infinity.
  Graph::Tensor scaled(Graph::Tensor scores);
  Graph::Tensor biased(Graph::Tensor scores);
  Graph::Tensor masked(Graph::Tensor scores);
  Graph::Tensor selected(Graph::Tensor scores, PointwiseMode compares, Graph::Tensor first, Graph::Tensor second);
  Sizes sizesOf(const HeadStrides &strides, int64_t heads, int64_t rows, int64_t columns) const;

  const Library &library;
  const AttentionShape shape;
  const FusedAttentionWorkspace workspace;
  const DataType type;
  const Sizes ofScores, ofRows;
  Graph graph;
};

} // namespace xlc::runtime::cudnn

#endif
