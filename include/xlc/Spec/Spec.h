// The spec file, understood: one checked struct. See docs/Spec.md for the keys.
//
// What the YAML does not say has its default here, except where the default needs the model
// (`batch.global`, dimensions): those are filled by `Import`, which knows it.
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

/// A place in the spec file, 1-based; line 0 means "nowhere" (a default).
struct SpecLocation {
  int line = 0, column = 0;
};

struct OptimizerGroupSpec {
  std::vector<std::string> match; ///< patterns over parameter names
  HyperParameters numbers;        ///< what the spec gives
  SpecLocation location;
};

struct OptimizerSpec {
  const Optimizer *rule = findOptimizer("adamw");
  HyperParameters numbers;                   ///< what the spec gives; the rule has the defaults
  std::optional<double> clipNorm, clipValue; ///< of all gradients together; of each element
  std::vector<OptimizerGroupSpec> groups;    ///< later ones win

  double get(HyperParameter which) const { return rule->get(which, {}, numbers); }
};

struct LossSpec {
  enum class Type { Default, Output, CrossEntropy } type = Type::Default;
  std::string output;         ///< Output: the model's loss
  std::string logits, labels; ///< CrossEntropy; labels names a data file, not a model input, unless the model has it
  bool shift = false;         ///< position t predicts label t + 1
  int64_t ignoreIndex = -100;
  /// Of what the loss is one: of the global batch, or of each micro-batch of a rank, and then averaged.
  enum class Scope { Global, MicroBatch } scope = Scope::Global;
  std::optional<int64_t> chunk; ///< rows of the logits that exist at once; 0: all; none: all where that fits
  SpecLocation location;
};

/// The row of embedding tables that gets no gradient from lookups.
struct PaddingRow {
  std::string pattern; ///< over parameter names
  int64_t row = 0;     ///< negative: counted from the end
};

struct InitSpec {
  enum class From { Model, Random, StateDict } from = From::Model;
  std::string stateDict; ///< StateDict: path of the .safetensors, joined with the spec file's folder
  uint64_t seed = 0;
  double std = 0.02;
};

/// Where PyTorch's loss and gradients of a few rows stand (include/xlc/Reference).
struct ReferenceSpec {
  enum class From { Beside, File, Nowhere } from = From::Beside; ///< Beside: the model, if there is such a file
  std::string path;                                              ///< File: joined with the spec file's folder
};

/// What has sixteen bits.
struct PrecisionSpec {
  enum class Compute { F32, BF16, F16 } compute = Compute::F32; ///< of products and what is kept for backward
  std::vector<std::string> keep;                                ///< patterns over names of parameters that stay float32
  std::optional<LossScale> lossScale;                           ///< what the spec gives
  bool masterless = false;                                      ///< the optimizer updates what units read
  bool narrowStates = false, narrowGradients = false;           ///< kept in the type of compute
  Compute reduce = Compute::F32;                                ///< of gradients of float32 that cross ranks
  bool wideStream = false;                                      ///< sums of activations stay float32
  bool wantsTf32 = false;                                       ///< for products of float32
  bool roundsToNearest = false; ///< what the optimizer keeps in sixteen bits; else stochastically

  bool isMixed() const { return compute != Compute::F32; }
  /// Whether the optimizer keeps something in sixteen bits from one step to the next.
  bool roundsUpdates() const { return isMixed() && (masterless || narrowStates); }
  /// As the spec writes it.
  static llvm::StringRef getName(Compute type) {
    return type == Compute::F32 ? "fp32" : type == Compute::BF16 ? "bf16" : "fp16";
  }
  llvm::StringRef getName() const { return getName(compute); }
  /// As the IR writes it.
  static llvm::StringRef getElementName(Compute type) {
    return type == Compute::F32 ? "f32" : type == Compute::BF16 ? "bf16" : "f16";
  }
  /// Where the spec gives none, float16 has one that moves.
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
  std::optional<int64_t> chunks; ///< stages per pp rank; none: as few as the schedule takes
  std::vector<std::string> cuts; ///< names of tensors or nodes; empty: balanced
};

/// Dimensions of the parameters of a name that are split over tp, whatever the search would choose.
struct LayoutPin {
  std::string pattern; ///< over parameter names
  std::vector<int64_t> dimensions;
  SpecLocation location;
};

/// A stream of tokens that is cut into rows. Paths are joined with the spec file's folder.
struct TokenStreamSpec {
  enum class Type { Auto, U8, U16, U32, I32 } type = Type::Auto; ///< Auto: the files have headers
  enum class Targets { Default, Next, Same } targets = Targets::Default;
  std::vector<std::string> files;     ///< paths or patterns
  std::string input, labels;          ///< model inputs; no labels: the loss needs none
  std::map<std::string, double> fill; ///< model input -> the number that all its elements are
};

/// Where rows come from: files by input, a folder of them, a stream of tokens.
struct RowsSpec {
  std::map<std::string, std::string> files; ///< model input (or labels) -> .npy path
  std::string folder;                       ///< of NAME.npy
  std::optional<TokenStreamSpec> stream;

  bool isEmpty() const { return files.empty() && folder.empty() && !stream; }
};

struct DataSpec {
  RowsSpec train, validation;
  bool shuffles = false;
  std::optional<uint64_t> seed;                          ///< of the order of rows; none: that of all that is random
  enum class End { Continue, Drop } end = End::Continue; ///< Drop: rows of an epoch that fill no step are left out
};

/// When and where a program writes checkpoints.
struct CheckpointSpec {
  std::string dir;                    ///< joined with the spec file's folder
  std::optional<int64_t> everySteps;  ///< none: not by steps
  std::optional<double> everySeconds; ///< none: not by time
  int64_t keep = 2;                   ///< so many of the newest; 0: all
  std::optional<int64_t> keepEvery;   ///< and those of steps that are multiples of it
  enum class Background { Off, Direct, Copy };
  std::optional<Background> background; ///< none: as the target likes
  std::optional<bool> compare;          ///< what replicas hold, by checksums; none: as the target likes
  bool stops = false;                   ///< the run ends where one cannot be written
};

/// When a program evaluates, and what it tells then.
struct EvalSpec {
  std::optional<int64_t> everySteps; ///< none: not by steps
  bool everyEpoch = false;
  std::vector<std::string> names = {"loss"};     ///< of metrics
  std::vector<runtime::Metric> metrics;          ///< the same, since they were checked; first the loss
  std::optional<runtime::MetricAverage> average; ///< none: as the number of classes suggests
  struct Best {
    std::string metric = "loss";
    std::optional<bool> isSmallest; ///< none: as the metric has it
  };
  std::optional<Best> best; ///< its checkpoint stays
  struct Stop {
    int64_t patience = 1; ///< evaluations without a better one, behind which the run ends
    double minDelta = 0;
  };
  std::optional<Stop> stop;
  std::vector<std::string> outputs; ///< of the model, whose rows a program can write
};

/// A running average of the parameters: e = decay e + (1 - decay) p behind each applied step.
struct EmaSpec {
  double decay = 0.999;
  int64_t start = 0; ///< up to and including this step it is the parameters
};

struct Spec {
  std::string path;                                ///< of the YAML, for diagnostics
  std::string target = kTargetFacts[0].name.str(); ///< a row of the table of targets
  int64_t dp = 1, pp = 1, tp = 1;
  std::optional<bool> sequenceParallel; ///< none: where tp > 1 and the model allows it
  PipelineSpec pipeline;
  std::vector<LayoutPin> layout; ///< later ones win
  int zeroStage = 0;
  std::optional<int64_t> dpShard;     ///< divides dp; none: dp
  std::optional<int64_t> globalBatch; ///< none: microBatch * dp
  int64_t microBatch = 1;
  std::map<std::string, int64_t> dims;
  LossSpec loss;
  InitSpec init;
  ReferenceSpec reference;
  bool dropsNothing = false; ///< dropouts of the file are left out
  std::vector<std::string> trainable = {"*"};
  std::vector<PaddingRow> padding;           ///< later ones win
  std::vector<std::vector<std::string>> tie; ///< names of one parameter each, the first of which stays
  std::vector<std::string> untie;            ///< names of parameters that stand for themselves
  OptimizerSpec optimizer;
  std::optional<runtime::RateSchedule> schedule; ///< of learning rates; none: they stay
  PrecisionSpec precision;
  ZeroSpec zero;
  DataSpec data;
  std::optional<CheckpointSpec> checkpoint;
  std::optional<EvalSpec> eval;
  std::optional<EmaSpec> ema;
  std::optional<int> threadsPerRank;
  std::optional<int64_t> deviceMemory; ///< bytes; where the spec gives none, the device's
  std::optional<Device> device;        ///< complete
  std::string deviceFile, deviceLike;  ///< where its figures are from; empty: the spec or the table
  std::optional<int64_t> devicesPerNode, nodes;
  bool isDeterministic = false;       ///< sums over ranks in their order, whatever the target's library prefers
  std::optional<bool> fusesAttention; ///< none: where that is deterministic, if asked for
  std::optional<bool> overlap;        ///< messages beside computations; none: where the device is no CPU
  bool weightsBeside = false;         ///< products that make gradients of weights, beside other computations

  /// Where a key stands, by its dotted path ("optimizer.lr"); nowhere when it is a default.
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
  /// `target` is in the table: the spec was read.
  const TargetFacts &targetFacts() const { return *findTargetFacts(target); }
  /// Cores shared evenly among the ranks, at least one each.
  int threadsPerRankOrDefault() const;
  /// What messages are timed on where the spec names no device.
  const Device &deviceOrCpu() const { return device ? *device : *findDevice("cpu"); }
  /// Whether attention is a library's kernel where it has one, and not products and the matrix of scores.
  bool hasFusedAttention() const {
    return fusesAttention.value_or(!isDeterministic || targetFacts().fusesAttentionDeterministically);
  }
  bool overlaps() const { return overlap.value_or(device && !device->isCpu()); }
  /// Whether labels of a stream are the tokens one place further.
  bool predictsNextToken(const TokenStreamSpec &stream) const {
    using Targets = TokenStreamSpec::Targets;
    return stream.targets == Targets::Next || (stream.targets == Targets::Default && !loss.shift);
  }
  int64_t microBatches() const { return globalBatchOrDefault() / (microBatch * dp); }
};

/// Reads and checks a spec file. All errors of the file are reported in one run, each with the line and a caret;
/// returns none if there was any. `target`, unless it is empty, stands in place of the file's.
std::optional<Spec> readSpec(llvm::StringRef path, Diagnostics &diagnostics, llvm::StringRef target = "");

/// The same on text that is already in memory; `path` is used for messages and relative files.
std::optional<Spec> parseSpec(llvm::StringRef text, llvm::StringRef path, Diagnostics &diagnostics,
                              llvm::StringRef target = "");

/// Of `candidates`, the one that is spelled nearly as `written`; none when they are all too far.
std::optional<llvm::StringRef> findNearest(llvm::StringRef written, llvm::ArrayRef<llvm::StringRef> candidates);

/// docs/Spec.md, from the table that validates.
void printSpecDocumentation(llvm::raw_ostream &out);

/// Whether `name` is selected by a list of shell-like patterns ("*", "?", leading "!" excludes; the last
/// pattern that matches decides; none matching: false).
bool matchesPatterns(llvm::StringRef name, const std::vector<std::string> &patterns);

} // namespace xlc

#endif
