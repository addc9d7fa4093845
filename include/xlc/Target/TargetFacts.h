// What a spec has to know of each target: its name, and which keys mean something for it. The table has no IR, so that
// the spec reads it and no target is linked for that; the rest of a row is in lib/Target/Targets.cpp.
#ifndef XLC_TARGET_TARGETFACTS_H
#define XLC_TARGET_TARGETFACTS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace xlc {

struct TargetFacts {
  llvm::StringLiteral name;
  llvm::StringLiteral devices; ///< a word for several of them
  llvm::StringLiteral madeFor; ///< what programs are made for: for documentation
  /// Attention in one kernel adds up in an order that is the same in each run.
  bool fusesAttentionDeterministically;
  /// Attention in one kernel drops probabilities by the definition of docs/rationale/Random.md.
  bool fusesDroppingAttention;
  /// Products of float32 may be done in tf32.
  bool hasTf32;
  /// Gradients of weights can be computed beside what else a rank computes.
  bool takesWeightsBeside;
  /// What ranks hold is memory of the host, which others can read while they compute.
  bool isHost;
};

/// The first is the default.
inline constexpr TargetFacts kTargetFacts[] = {
    {.name = "cpu",
     .devices = "CPUs",
     .madeFor = "processors (chosen by `--cpu`)",
     .fusesAttentionDeterministically = true,
     .fusesDroppingAttention = true,
     .hasTf32 = false,
     .takesWeightsBeside = false,
     .isHost = true},
    {.name = "cuda",
     .devices = "GPUs",
     .madeFor = "NVIDIA's GPUs from compute capability 8.0 on, with one GPU for each rank",
     .fusesAttentionDeterministically = false,
     .fusesDroppingAttention = false,
     .hasTf32 = true,
     .takesWeightsBeside = true,
     .isHost = false},
};

/// Null: there is none of that name.
inline const TargetFacts *findTargetFacts(llvm::StringRef name) {
  const auto *row = llvm::find_if(kTargetFacts, [&](const TargetFacts &facts) { return facts.name == name; });
  return row == std::end(kTargetFacts) ? nullptr : row;
}

} // namespace xlc

#endif
