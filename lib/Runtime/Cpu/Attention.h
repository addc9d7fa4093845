// softmax(scale Q K^T, masked) V and its gradients, without the score matrix.
//
// Forward walks blocks of keys with a running maximum and sum per row (Dao, FlashAttention-2, 2023); backward
// computes the probabilities again from the log-sum-exp. Work is cut in items that write disjoint memory, so
// any thread may take any item and the bits stay the same.
#ifndef XLC_LIB_RUNTIME_CPU_ATTENTION_H
#define XLC_LIB_RUNTIME_CPU_ATTENTION_H

#include "xlc/Runtime/Dropout.h"
#include "xlc/Runtime/Workspace.h"

namespace xlc::runtime {

/// Operands of the shape's type; `lse` is dense [batch, heads, queries]. Those from `dout` to `dv` are for backward;
/// `bias` is bytes or floats, by the shape's kind; `draws`, dense [batch, heads], are there where the shape drops.
struct AttentionOperands {
  const void *q, *k, *v;
  void *out;
  double *lse;
  const void *dout;
  void *dq, *dk, *dv;
  const void *bias = nullptr;
  const HeadDraws *draws = nullptr;
};

/// Independent items of the call; each writes its own part of the results.
int64_t attentionItems(const AttentionShape &shape);

/// Bytes of scratch one thread needs, a multiple of 64.
int64_t attentionScratch(const AttentionShape &shape);

/// Does one item with scratch of `attentionScratch` bytes.
void runAttention(const AttentionShape &shape, const AttentionOperands &operands, int64_t item, char *scratch);

} // namespace xlc::runtime

#endif
