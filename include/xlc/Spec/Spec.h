// The spec file after parsing and checking: one struct. docs/Spec.md describes the keys.
//
// A key that the YAML omits has its default here, unless the default depends on the model (`batch.global`, dimensions).
// `Import` fills those.
#ifndef XLC_SPEC_SPEC_H
#define XLC_SPEC_SPEC_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "xlc/Cluster/Device.h"
#include "xlc/Dialect/Graph/LossScale.h"
#include "xlc/Dialect/Graph/Optimizers.h"
#include "xlc/Runtime/Metrics.h"
#include "xlc/Runtime/RateSchedules.h"
#include "xlc/Support/Diagnostics.h"
#include "xlc/Target/TargetFacts.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace xlc {

/// A place in the spec file, 1-based. Line 0 means that the value is a default and has no place.
struct SpecLocation {
  int line = 0, column = 0;
};

struct OptimizerGroupSpec {
  std::vector<std::string> match; ///< patterns for parameter names
  HyperParameters numbers;        ///< the values that the spec gives
  SpecLocation location;
};

struct OptimizerSpec {
  const Optimizer *rule = findOptimizer("adamw");
  HyperParameters numbers;                   ///< the values that the spec gives; `rule` has the defaults
  std::optional<double> clipNorm, clipValue; ///< limit of the norm over all gradients; limit of each element
  std::vector<OptimizerGroupSpec> groups;    ///< a later group overrides an earlier one

  double get(HyperParameter which) const { return rule->get(which, {}, numbers); }
};

struct LossSpec {
  enum class Type { Default, Output, CrossEntropy } type = Type::Default;
  std::string output; ///< Output: the name of the model's loss
  /// CrossEntropy; `labels` names a model input or, if there is none of this name, a data file
  std::string logits, labels;
  bool shift = false; ///< position t predicts label t + 1
  int64_t ignoreIndex = -100;
  /// The range that one loss is averaged over: the global batch, or each micro-batch of a rank. The losses of the
  /// micro-batches are then averaged.
  enum class Scope { Global, MicroBatch } scope = Scope::Global;
  std::optional<int64_t> chunk; ///< number of rows of the logits in memory at once; 0: all; none: all if that fits
  SpecLocation location;
};

/// The row of embedding tables that receives no gradient from lookups.
struct PaddingRow {
  std::string pattern; ///< for parameter names
  int64_t row = 0;     ///< negative: counted from the end
};

struct InitSpec {
  enum class From { Model, Random, StateDict } from = From::Model;
  std::string stateDict; ///< StateDict: path of the .safetensors, joined with the spec file's folder
  uint64_t seed = 0;
  double std = 0.02;
};

/// The file with PyTorch's loss and gradients of a few rows (include/xlc/Reference).
struct ReferenceSpec {
  enum class From { Beside, File, Nowhere } from = From::Beside; ///< Beside: next to the model, if the file exists
  std::string path;                                              ///< File: joined with the spec file's folder
};

/// The values that are stored or computed in sixteen bits.
struct PrecisionSpec {
  enum class Compute { F32, BF16, F16 } compute = Compute::F32; ///< of products and of the values kept for backward
  std::vector<std::string> keep;                                ///< patterns for names of parameters that stay float32
  std::optional<LossScale> lossScale;                           ///< as given by the spec
  bool masterless = false;                            ///< the optimizer updates the parameters that units read
  bool narrowStates = false, narrowGradients = false; ///< kept in the type of `compute`
  Compute reduce = Compute::F32;                      ///< of float32 gradients that are exchanged between ranks
  bool wideStream = false;                            ///< sums of activations stay float32
  bool wantsTf32 = false;                             ///< for products of float32
  bool roundsToNearest = false; ///< rounding of the optimizer's values in sixteen bits; false: stochastic

  bool isMixed() const { return compute != Compute::F32; }
  /// Whether the optimizer keeps any value in sixteen bits from one step to the next.
  bool roundsUpdates() const { return isMixed() && (masterless || narrowStates); }
  /// The name used in the spec.
  static llvm::StringRef getName(Compute type) {
    return type == Compute::F32 ? "fp32" : type == Compute::BF16 ? "bf16" : "fp16";
  }
  llvm::StringRef getName() const { return getName(compute); }
  /// The name used in the IR.
  static llvm::StringRef getElementName(Compute type) {
    return type == Compute::F32 ? "f32" : type == Compute::BF16 ? "bf16" : "f16";
  }
  /// If the spec gives no loss scale, float16 has a dynamic one.
  std::optional<LossScale> getLossScale() const {
    return lossScale || compute != Compute::F16 ? lossScale : std::optional(LossScale());
  }
};

struct ZeroSpec {
  enum class Reduce { Auto, MicroBatch, Step } reduce = Reduce::Auto;
  int64_t bucketBytes = 25 << 20;
  int64_t persistenceThreshold = 100000; ///< elements
  enum class Prefetch { Auto, Units, Bytes } prefetch = Prefetch::Auto;
  int64_t prefetchAmount = 0;              ///< units or bytes
  std::optional<bool> reshardAfterForward; ///< none: auto
};

struct PipelineSpec {
  std::string schedule = "1f1b"; ///< a row of lib/Pipeline's table
  std::optional<int64_t> chunks; ///< stages per pp rank; none: the fewest that the schedule allows
  std::vector<std::string> cuts; ///< names of tensors or nodes; empty: balanced
};

/// Dimensions of the parameters with matching names that are split over tp. Overrides the search.
struct LayoutPin {
  std::string pattern; ///< for parameter names
  std::vector<int64_t> dimensions;
  SpecLocation location;
};

/// A stream of tokens that is cut into rows. Paths are relative to the spec file's folder.
struct TokenStreamSpec {
  enum class Type { Auto, U8, U16, U32, I32 } type = Type::Auto; ///< Auto: the files have headers
  enum class Targets { Default, Next, Same } targets = Targets::Default;
  std::vector<std::string> files;     ///< paths or patterns
  std::string input, labels;          ///< model inputs; no labels: the loss has none
  std::map<std::string, double> fill; ///< model input -> the value of all its elements
};

/// The source of rows: one file per input, a folder of files, or a stream of tokens.
struct RowsSpec {
  std::map<std::string, std::string> files; ///< model input (or labels) -> .npy path
  std::string folder;                       ///< contains NAME.npy
  std::optional<TokenStreamSpec> stream;

  bool isEmpty() const { return files.empty() && folder.empty() && !stream; }
};

struct DataSpec {
  RowsSpec train, validation;
  bool shuffles = false;
  std::optional<uint64_t> seed;                          ///< of the order of rows; none: the seed of all random values
  enum class End { Continue, Drop } end = End::Continue; ///< Drop: omits the rows of an epoch that do not fill a step
};

/// When and where a program writes checkpoints.
struct CheckpointSpec {
  std::string dir;                    ///< joined with the spec file's folder
  std::optional<int64_t> everySteps;  ///< none: not by steps
  std::optional<double> everySeconds; ///< none: not by time
  int64_t keep = 2;                   ///< number of the newest checkpoints to keep; 0: all
  std::optional<int64_t> keepEvery;   ///< also keeps those of steps that are multiples of it
  enum class Background { Off, Direct, Copy };
  std::optional<Background> background; ///< none: the target's default
  std::optional<bool> compare;          ///< compares the data of replicas by checksums; none: the target's default
  bool stops = false;                   ///< the run ends if a checkpoint cannot be written
};

/// When a program evaluates, and the metrics that it reports.
struct EvalSpec {
  std::optional<int64_t> everySteps; ///< none: not by steps
  bool everyEpoch = false;
  std::vector<std::string> names = {"loss"};     ///< of metrics
  std::vector<runtime::Metric> metrics;          ///< `names` after checking; the first is the loss
  std::optional<runtime::MetricAverage> average; ///< none: follows from the number of classes
  struct Best {
    std::string metric = "loss";
    std::optional<bool> isSmallest; ///< none: the metric's own order
  };
  std::optional<Best> best; ///< its checkpoint is kept
  struct Stop {
    int64_t patience = 1; ///< the run ends after this many evaluations without an improvement
    double minDelta = 0;
  };
  std::optional<Stop> stop;
  std::vector<std::string> outputs; ///< of the model; a program can write their rows
};

/// A running average of the parameters: e = decay e + (1 - decay) p after each applied step.
struct EmaSpec {
  double decay = 0.999;
  int64_t start = 0; ///< up to and including this step the average equals the parameters
};

struct Spec {
  std::string path;                                ///< of the YAML, for diagnostics
  std::string target = kTargetFacts[0].name.str(); ///< a row of the table of targets
  int64_t dp = 1, pp = 1, tp = 1;
  std::optional<bool> sequenceParallel; ///< none: if tp > 1 and the model allows it
  PipelineSpec pipeline;
  std::vector<LayoutPin> layout; ///< a later pin overrides an earlier one
  int zeroStage = 0;
  std::optional<int64_t> dpShard;     ///< divides dp; none: dp
  std::optional<int64_t> globalBatch; ///< none: microBatch * dp
  int64_t microBatch = 1;
  std::map<std::string, int64_t> dims;
  LossSpec loss;
  InitSpec init;
  ReferenceSpec reference;
  bool dropsNothing = false; ///< removes the dropouts of the file
  std::vector<std::string> trainable = {"*"};
  std::vector<PaddingRow> padding;           ///< a later entry overrides an earlier one
  std::vector<std::vector<std::string>> tie; ///< each list: names of one parameter, of which the first is kept
  std::vector<std::string> untie;            ///< names of parameters that are not tied
  OptimizerSpec optimizer;
  std::optional<runtime::RateSchedule> schedule; ///< of learning rates; none: constant
  PrecisionSpec precision;
  ZeroSpec zero;
  DataSpec data;
  std::optional<CheckpointSpec> checkpoint;
  std::optional<EvalSpec> eval;
  std::optional<EmaSpec> ema;
  std::optional<int> threadsPerRank;
  std::optional<int64_t> deviceMemory; ///< bytes; if the spec gives none, the device's memory
  std::optional<Device> device;        ///< with all figures filled in
  std::string deviceFile, deviceLike;  ///< the source of its figures; empty: the spec or the table
  std::optional<int64_t> devicesPerNode, nodes;
  bool isDeterministic = false;       ///< reduces over ranks in the order of the ranks, on every target
  std::optional<bool> fusesAttention; ///< none: if that is deterministic, or determinism is not requested
  std::optional<bool> overlap;        ///< messages run beside computations; none: if the device is not a CPU
  bool weightsBeside = false;         ///< products for gradients of weights run beside other computations

  /// The place of a key, by its dotted path ("optimizer.lr"); line 0 if the value is a default.
  std::map<std::string, SpecLocation> locations;
  SpecLocation where(llvm::StringRef key) const {
    auto it = locations.find(key.str());
    return it == locations.end() ? SpecLocation() : it->second;
  }

  int64_t dpShardOrAll() const { return dpShard.value_or(dp); }
  int64_t ranks() const { return dp * pp * tp; }
  int64_t globalBatchOrDefault() const { return globalBatch.value_or(microBatch * dp); }
  /// Stages per pp rank.
  int64_t chunksPerRank() const;
  /// Requires `target` to be in the table, which holds after the spec was read.
  const TargetFacts &targetFacts() const { return *findTargetFacts(target); }
  /// Cores are divided evenly among the ranks; at least one each.
  int threadsPerRankOrDefault() const;
  /// The device used to time messages if the spec names none.
  const Device &deviceOrCpu() const { return device ? *device : *findDevice("cpu"); }
  /// Whether attention uses the library's kernel, if there is one, in place of products and a matrix of scores.
  bool hasFusedAttention() const {
    return fusesAttention.value_or(!isDeterministic || targetFacts().fusesAttentionDeterministically);
  }
  bool overlaps() const { return overlap.value_or(device && !device->isCpu()); }
  /// Whether the labels of a stream are its tokens shifted by one.
  bool predictsNextToken(const TokenStreamSpec &stream) const {
    using Targets = TokenStreamSpec::Targets;
    return stream.targets == Targets::Next || (stream.targets == Targets::Default && !loss.shift);
  }
  int64_t microBatches() const { return globalBatchOrDefault() / (microBatch * dp); }
};

/// Reads and checks a spec file. Reports all errors of the file in one run, each with its line and a caret; returns
/// none if there was any. A `target` that is not empty overrides the file's.
std::optional<Spec> readSpec(llvm::StringRef path, Diagnostics &diagnostics, llvm::StringRef target = "");

/// The same for text in memory; `path` is used for messages and to resolve relative paths.
std::optional<Spec> parseSpec(llvm::StringRef text, llvm::StringRef path, Diagnostics &diagnostics,
                              llvm::StringRef target = "");

/// The candidate that is spelled most similarly to `written`; none if all of them differ too much.
std::optional<llvm::StringRef> findNearest(llvm::StringRef written, llvm::ArrayRef<llvm::StringRef> candidates);

/// Prints docs/Spec.md from the table that also validates specs.
void printSpecDocumentation(llvm::raw_ostream &out);

/// Whether a list of shell-like patterns selects `name` ("*", "?", leading "!" excludes; the last pattern that matches
/// decides; none matching: false).
bool matchesPatterns(llvm::StringRef name, const std::vector<std::string> &patterns);

} // namespace xlc

#endif
