// softmax(scale Q K^T, masked) V and its gradients, without the score matrix.
//
// Forward iterates over blocks of keys with a running maximum and sum per row (Dao, FlashAttention-2, 2023); backward
// recomputes the probabilities from the log-sum-exp. The work is divided into items that write disjoint memory, so any
// thread may run any item with the same bits.
#ifndef XLC_LIB_RUNTIME_CPU_ATTENTION_H
#define XLC_LIB_RUNTIME_CPU_ATTENTION_H

#include "xlc/Runtime/Dropout.h"
#include "xlc/Runtime/Workspace.h"

namespace xlc::runtime {

/// Operands of the shape's type; `lse` is dense [batch, heads, queries]. Those from `dout` to `dv` are for backward;
/// `bias` is bytes or floats, by the shape's kind; `draws`, dense [batch, heads], exist if the shape has dropout.
struct AttentionOperands {
  const void *q, *k, *v;
  void *out;
  double *lse;
  const void *dout;
  void *dq, *dk, *dv;
  const void *bias = nullptr;
  const HeadDraws *draws = nullptr;
};

/// The number of independent items of the call; each writes its own part of the results.
int64_t attentionItems(const AttentionShape &shape);

/// The bytes of scratch for one thread, a multiple of 64.
int64_t attentionScratch(const AttentionShape &shape);

/// Runs one item with scratch of `attentionScratch` bytes.
void runAttention(const AttentionShape &shape, const AttentionOperands &operands, int64_t item, char *scratch);

} // namespace xlc::runtime

#endif
