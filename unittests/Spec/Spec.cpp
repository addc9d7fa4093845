// What a spec means once it is read: values where they belong, defaults where nothing is said, patterns.
// Messages are the business of test/Spec.
#include "xlc/Spec/Spec.h"

#include "xlc/Pipeline/Pipeline.h"
#include "xlc/Support/Bytes.h"
#include "gtest/gtest.h"

using namespace xlc;

namespace {

Spec parse(llvm::StringRef text) {
  Diagnostics diagnostics(llvm::errs());
  std::optional<Spec> spec = parseSpec(text, "specs/x.yaml", diagnostics);
  EXPECT_TRUE(spec);
  return spec.value_or(Spec());
}

TEST(Spec, EmptyFileGivesDefaults) {
  Spec spec = parse("");
  EXPECT_EQ(spec.dp, 1);
  EXPECT_EQ(spec.zeroStage, 0);
  EXPECT_EQ(spec.globalBatchOrDefault(), 1);
  EXPECT_EQ(spec.optimizer.rule, findOptimizer("adamw"));
  EXPECT_EQ(spec.optimizer.get(HyperParameter::LearningRate), 1e-3);
  EXPECT_EQ(spec.optimizer.get(HyperParameter::WeightDecay), 0.01);
  EXPECT_EQ(spec.loss.type, LossSpec::Type::Default);
}

TEST(Spec, EachScheduleIsAChoiceWithItsFewestChunks) {
  for (const PipelineSchedule &row : getPipelineSchedules()) {
    std::string pipeline = ("pipeline: {schedule: " + row.name).str();
    EXPECT_EQ(parse("{pp: 2, " + pipeline + "}}").chunksPerRank(), row.leastChunks) << row.name.str();
    EXPECT_EQ(parse("{pp: 2, " + pipeline + ", chunks: 3}}").chunksPerRank(), 3) << row.name.str();
  }
  EXPECT_EQ(parse("").chunksPerRank(), 1);
}

TEST(Spec, WeightDecayDefaultsAsInPyTorch) {
  EXPECT_EQ(parse("optimizer: {type: sgd}").optimizer.get(HyperParameter::WeightDecay), 0);
  EXPECT_EQ(parse("optimizer: {type: adam}").optimizer.get(HyperParameter::WeightDecay), 0);
  EXPECT_EQ(parse("optimizer: {type: adamw}").optimizer.get(HyperParameter::WeightDecay), 0.01);
  EXPECT_EQ(parse("optimizer: {type: sgd, weight_decay: 0.5}").optimizer.get(HyperParameter::WeightDecay), 0.5);
}

TEST(Spec, EveryValueArrives) {
  Spec spec = parse(R"(
dp: 4
zero_stage: 3
dp_shard: 2
batch: {global: 64, micro: 2}
dims: {sequence: 1024}
loss: {type: cross_entropy, logits: l, labels: y, shift: true, ignore_index: -1}
init: {from: random, seed: 7, std: 0.5}
trainable: ["*", "!b"]
optimizer: {type: adam, lr: 2, betas: [0.5, 0.25], eps: 3, weight_decay: 4, clip_norm: 5,
            groups: [{match: [a], lr: 6}, {match: [b], weight_decay: 0, betas: [0.1, 0.2], eps: 8}]}
zero: {reduce: step, bucket_size: 64KiB, persistence_threshold: 9, prefetch: 1MB, reshard_after_forward: false}
cluster: {device_memory: 1.5GiB}
data: {train: {x: in/x.npy, y: /y.npy}}
runtime: {threads_per_rank: 3}
)");
  EXPECT_EQ(spec.dp, 4);
  EXPECT_EQ(spec.zeroStage, 3);
  EXPECT_EQ(spec.dpShardOrAll(), 2);
  EXPECT_EQ(spec.microBatches(), 8);
  EXPECT_EQ(spec.dims.at("sequence"), 1024);
  EXPECT_EQ(spec.loss.type, LossSpec::Type::CrossEntropy);
  EXPECT_EQ(spec.loss.logits, "l");
  EXPECT_EQ(spec.loss.labels, "y");
  EXPECT_TRUE(spec.loss.shift);
  EXPECT_EQ(spec.loss.ignoreIndex, -1);
  EXPECT_EQ(spec.init.from, InitSpec::From::Random);
  EXPECT_EQ(spec.init.seed, 7u);
  EXPECT_EQ(spec.init.std, 0.5);
  EXPECT_EQ(spec.trainable, (std::vector<std::string>{"*", "!b"}));
  const OptimizerSpec &optimizer = spec.optimizer;
  EXPECT_EQ(optimizer.rule, findOptimizer("adam"));
  // Learning rate, weight decay, momentum, both betas, eps.
  EXPECT_EQ(optimizer.numbers, (HyperParameters{2, 4, std::nullopt, 0.5, 0.25, 3}));
  EXPECT_EQ(optimizer.clipNorm, 5);
  ASSERT_EQ(optimizer.groups.size(), 2u);
  EXPECT_EQ(optimizer.groups[0].numbers, (HyperParameters{6}));
  EXPECT_EQ(optimizer.groups[1].numbers, (HyperParameters{std::nullopt, 0, std::nullopt, 0.1, 0.2, 8}));
  EXPECT_EQ(spec.zero.reduce, ZeroSpec::Reduce::Step);
  EXPECT_EQ(spec.zero.bucketBytes, 65536);
  EXPECT_EQ(spec.zero.persistenceThreshold, 9);
  EXPECT_EQ(spec.zero.prefetch, ZeroSpec::Prefetch::Bytes);
  EXPECT_EQ(spec.zero.prefetchAmount, 1000000);
  EXPECT_EQ(spec.zero.reshardAfterForward, false);
  EXPECT_EQ(spec.deviceMemory, int64_t(3) << 29);
  EXPECT_EQ(spec.threadsPerRank, 3);
}

TEST(Spec, AStateDictLiesBesideTheSpec) {
  Spec spec = parse("init: {from: state/model.safetensors}");
  EXPECT_EQ(spec.init.from, InitSpec::From::StateDict);
  EXPECT_EQ(spec.init.stateDict, "specs/state/model.safetensors");
}

TEST(Spec, DataIsFoundFromTheSpecFile) {
  Spec spec = parse("data: {train: {x: in/x.npy, y: /y.npy}}");
  EXPECT_EQ(spec.data.train.files.at("x"), "specs/in/x.npy");
  EXPECT_EQ(spec.data.train.files.at("y"), "/y.npy");
  EXPECT_EQ(parse("data: {train: folder}").data.train.folder, "specs/folder");
  TokenStreamSpec stream =
      *parse("data: {train: {tokens: [a*.bin, /b.bin], input: x, fill: {m: 1}}}").data.train.stream;
  EXPECT_EQ(stream.files, (std::vector<std::string>{"specs/a*.bin", "/b.bin"}));
  EXPECT_EQ(stream.input, "x");
  EXPECT_EQ(stream.fill.at("m"), 1);
}

TEST(Spec, KnowsWhereKeysStand) {
  Spec spec = parse("zero_stage: 1\noptimizer: {lr: 1}\n");
  EXPECT_EQ(spec.where("optimizer.lr").line, 2);
  EXPECT_EQ(spec.where("optimizer.lr").column, 17);
  EXPECT_EQ(spec.where("dp").line, 0);
}

TEST(Spec, LastPatternThatMatchesDecides) {
  EXPECT_TRUE(matchesPatterns("h.0.bias", {"*.bias"}));
  EXPECT_FALSE(matchesPatterns("h.0.weight", {"*.bias"}));
  EXPECT_FALSE(matchesPatterns("h.0.bias", {"*", "!*.bias"}));
  EXPECT_TRUE(matchesPatterns("h.0.bias", {"*", "!*.bias", "h.0.*"}));
  EXPECT_TRUE(matchesPatterns("abcabd", {"*ab?"}));
  EXPECT_FALSE(matchesPatterns("ab", {"a?b"}));
  EXPECT_FALSE(matchesPatterns("anything", {}));
}

TEST(Bytes, ReadAndPrinted) {
  EXPECT_EQ(parseBytes("25MiB"), 25 << 20);
  EXPECT_EQ(parseBytes("24 GB"), 24000000000);
  EXPECT_EQ(parseBytes("0.5KiB"), 512);
  EXPECT_FALSE(parseBytes("25"));
  EXPECT_FALSE(parseBytes("MiB"));
  EXPECT_FALSE(parseBytes("-1MiB"));
  EXPECT_FALSE(parseBytes("1MiB/s"));
  EXPECT_FALSE(parseBytes("1..5MiB"));
  EXPECT_EQ(formatBytes(25 << 20), "25 MiB");
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatBytes(1536), "1.50 KiB");
}

} // namespace
