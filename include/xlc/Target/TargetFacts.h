// The properties of each target that the spec depends on: its name, and the keys that apply to it. The table has no IR,
// so that the spec can read it without linking targets; the rest of a row is in lib/Target/Targets.cpp.
#ifndef XLC_TARGET_TARGETFACTS_H
#define XLC_TARGET_TARGETFACTS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace xlc {

struct TargetFacts {
  llvm::StringLiteral name;
  llvm::StringLiteral devices; ///< a plural noun for them
  llvm::StringLiteral madeFor; ///< the hardware of programs, for documentation
  /// Attention as one kernel sums in the same order in each run.
  bool fusesAttentionDeterministically;
  /// Attention as one kernel implements dropout by the definition of docs/rationale/Random.md.
  bool fusesDroppingAttention;
  /// Products of float32 may use tf32.
  bool hasTf32;
  /// Gradients of weights can be computed beside other computations of a rank.
  bool takesWeightsBeside;
  /// The memory of ranks is host memory, which other ranks can read while they compute.
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

/// The row with this name, or null.
inline const TargetFacts *findTargetFacts(llvm::StringRef name) {
  const auto *row = llvm::find_if(kTargetFacts, [&](const TargetFacts &facts) { return facts.name == name; });
  return row == std::end(kTargetFacts) ? nullptr : row;
}

} // namespace xlc

#endif
