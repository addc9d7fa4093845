// Sums over ranks of floats of sixteen bits: the runtime and the interpreter give the same bits, those of the float sum in
// the order of the ranks, rounded once.
#include "Cpu/ElementOperations.h"
#include "Interpret/Ranks/BucketActions.h"
#include "Interpret/Ranks/Exchange.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Dialect/Dist/Dist.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Interpret/Interpret.h"
#include "xlc/Runtime/Narrow.h"
#include "llvm/Support/FormatVariadic.h"
#include <bit>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Type {
  const char *name;
  plan::Element element;
  Narrow narrow;
  uint16_t (*to)(float);
  float (*from)(uint16_t);
};
const Type types[] = {{"bf16", plan::Element::BF16, Narrow::BF16, runtime::toBf16, runtime::fromBf16},
                      {"f16", plan::Element::F16, Narrow::F16, runtime::toHalf, runtime::fromHalf}};

/// What ranks hold, by rank: bits drawn at random, of all magnitudes, with infinities, NaN and zeros of both signs among
/// them.
std::vector<std::vector<uint16_t>> draw(int ranks, int count) {
  std::mt19937 generator(ranks);
  std::vector<std::vector<uint16_t>> held(ranks, std::vector<uint16_t>(count));
  for (auto &own : held)
    for (uint16_t &bits : own)
      bits = (uint16_t)generator();
  for (int i = 0; i + 1 < count; i += 2) // numbers of one magnitude, of which every sum rounds
    for (auto &own : held)
      own[i] = (own[i] & 0x83ff) | 0x3c00;
  return held;
}

/// As ranks that run a function in lockstep, in floats.
std::vector<std::vector<float>> interpretSums(const Type &type, ArrayRef<std::vector<uint16_t>> held,
                                              const std::string &op, int results) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, graph::GraphDialect, dist::DistDialect>();
  std::string from = llvm::formatv("tensor<{0}x{1}>", held[0].size(), type.name),
              to = llvm::formatv("tensor<{0}x{1}>", results, type.name);
  auto module = parseSourceString<ModuleOp>("func.func @f(%x: " + from + ") -> " + to + " {\n%y = " + op + " : " +
                                                from + (op.find("scatter") == std::string::npos ? "" : " -> " + to) +
                                                "\nreturn %y : " + to + "\n}",
                                            &context);
  std::vector<SmallVector<Datum<float>>> arguments(held.size()), found;
  for (auto [own, given] : llvm::zip(held, arguments)) {
    Tensor<float> x({int64_t(own.size())});
    llvm::transform(own, x.elements.begin(), type.from);
    given.push_back(std::move(x));
  }
  if (!module || failed(evaluateRanks<float>(*module->getOps<func::FuncOp>().begin(), arguments, {}, found)))
    llvm::report_fatal_error("the ranks have no sum");
  std::vector<std::vector<float>> sums;
  sums.reserve(found.size());
  for (auto &own : found)
    sums.push_back(std::get<Tensor<float>>(own[0]).elements);
  return sums;
}

/// As the CPU sums the elements of `held` from `first` on.
std::vector<uint16_t> runSums(const Type &type, ArrayRef<std::vector<uint16_t>> held, int first, int count,
                              std::vector<uint16_t> to, bool add) {
  std::vector<const char *> sources;
  for (const auto &own : held)
    sources.push_back((const char *)own.data());
  runtime::findCombination(runtime::Combine::Sum, type.element, type.element)(sources, first, count, (char *)to.data(),
                                                                              add);
  return to;
}

/// `wanted` is a number that the type has.
void expectSame(const Type &type, uint16_t is, float wanted, int i) {
  float found = type.from(is);
  bool isSame = found != found ? wanted != wanted : std::bit_cast<uint32_t>(found) == std::bit_cast<uint32_t>(wanted);
  EXPECT_TRUE(isSame) << type.name << " element " << i << " is " << found << ", not " << wanted;
}

TEST(NarrowSums, AreFloatSumsRoundedOnce) {
  constexpr int count = 5040;
  for (const Type &type : types)
    for (int ranks : {2, 3, 8}) {
      auto held = draw(ranks, count);
      std::string group = " over <tp, [" + std::to_string(ranks) + ", 1], []>";
      auto reduced = interpretSums(type, held, "dist.all_reduce sum %x" + group, count);
      auto scattered = interpretSums(type, held, "dist.reduce_scatter %x dim 0 outer 1" + group, count / ranks);
      std::vector<uint16_t> run = runSums(type, held, 0, count, std::vector<uint16_t>(count), false);
      std::vector<uint16_t> added = runSums(type, held, 0, count, held[0], true);
      for (int i = 0; i < count; ++i) {
        float sum = type.from(held[0][i]);
        for (int rank = 1; rank < ranks; ++rank)
          sum += type.from(held[rank][i]);
        expectSame(type, run[i], toNarrow(sum, type.narrow), i);
        expectSame(type, run[i], reduced[i % ranks][i], i);
        expectSame(type, run[i], scattered[i / (count / ranks)][i % (count / ranks)], i);
        expectSame(type, added[i], toNarrow(type.from(held[0][i]) + sum, type.narrow), i);
      }
    }
}

/// Floats that cross in sixteen bits: every term is rounded, and so is their sum, before it is added to what is there.
TEST(NarrowSums, RoundFloatsThatCross) {
  constexpr int count = 1000, ranks = 3;
  for (const Type &type : types) {
    std::mt19937 generator(5);
    std::vector<std::vector<float>> held(ranks, std::vector<float>(count));
    std::vector<const char *> sources;
    for (auto &own : held) {
      for (float &x : own)
        x = std::ldexp(float(generator()) - 2e9F, int(generator() % 60) - 60);
      sources.push_back((const char *)own.data());
    }
    for (bool add : {false, true}) {
      std::vector<float> sums(count, 0.7F);
      runtime::findCombination(runtime::Combine::Sum, plan::Element::F32, type.element)(sources, 0, count,
                                                                                        (char *)sums.data(), add);
      for (int i = 0; i < count; ++i) {
        float sum = toNarrow(held[0][i], type.narrow);
        for (int rank = 1; rank < ranks; ++rank)
          sum += toNarrow(held[rank][i], type.narrow);
        sum = toNarrow(sum, type.narrow);
        sum = add ? 0.7F + sum : sum;
        EXPECT_TRUE(sums[i] == sum || (sum != sum && sums[i] != sums[i])) << type.name << " element " << i; // inf - inf
      }
    }
  }
}

/// As ranks do between places of their arenas: their sums are added to what is there, the first elements of each rank's own.
std::vector<float> exchangeAndAdd(const Type &type, ArrayRef<std::vector<uint16_t>> held, int index) {
  MLIRContext context;
  context.loadDialect<exec::ExecDialect, graph::GraphDialect, dist::DistDialect>();
  int64_t ranks = held.size(), count = held[0].size(), each = count / ranks;
  auto module = parseSourceString<ModuleOp>(
      llvm::formatv(R"(module attributes {{dist.mesh = #dist.mesh<pp = 1, dp = {0}, tp = 1, shards = {0}>} {{
        exec.program @train stage 0 micro_batches 1 arena {2} lower_bound {2} {{
          exec.buffer 0 gradients "whole" size {1} offset 0 live 0 to 0
          exec.buffer 1 gradients "shard" size {1} offset {1} live 0 to 0
          exec.exchange reduce_scatter "w" over <dp, [{0}, 1], []> <0 + 0 + 0> to <1 + 0 + 0> count {3} {4} accumulate
        } })",
                    ranks, 2 * count, 4 * count, each, type.name)
          .str(),
      &context);
  auto program = *module->getOps<exec::ProgramOp>().begin();
  auto op = *program.getOps<exec::ExchangeOp>().begin();
  Memory<float> memory(program);
  std::vector<Participant<float>> group;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    Access access{op, "w", rank};
    Span src = memory.spanAt(op.getSrc(), rank, count, op.getType()),
         dst = memory.spanAt(op.getDst(), rank, each, op.getType());
    Tensor<float> x({count}), y({each});
    llvm::transform(held[rank], x.elements.begin(), type.from);
    std::copy_n(x.elements.begin(), each, y.elements.begin());
    EXPECT_TRUE(succeeded(memory.write(access, src, x, false)) && succeeded(memory.write(access, dst, y, false)));
    group.push_back({&memory, access, src, dst});
  }
  Datum<float> sums;
  EXPECT_TRUE(succeeded(exchange<float>(op.getExchange(), group)) &&
              succeeded(memory.read(group[index].access, group[index].dst, sums)));
  return std::get<Tensor<float>>(sums).elements;
}

/// As ranks do to the gradients of a bucket before there are bytes: likewise.
std::vector<float> scatterAndAdd(const Type &type, ArrayRef<std::vector<uint16_t>> held, int index) {
  MLIRContext context;
  context.loadDialect<sched::SchedDialect, graph::GraphDialect, dist::DistDialect>();
  int64_t ranks = held.size(), count = held[0].size();
  auto module = parseSourceString<ModuleOp>(
      llvm::formatv(R"(module attributes {{dist.mesh = #dist.mesh<pp = 1, dp = {0}, tp = 1, shards = {0}>} {{
        sched.bucket @b ["w"] at [0] sizes [{1}] elements {1} group 0 params whole grads shard states shard
            {{element_type = {2}, gradient_type = {2}}
        sched.timeline @train stage 0 micro_batches 1 {{ sched.collective reduce_scatter @b accumulate } })",
                    ranks, count, type.name)
          .str(),
      &context);
  auto bucket = *module->getOps<sched::BucketOp>().begin();
  auto timeline = *module->getOps<sched::TimelineOp>().begin();
  World<float> world{timeline.getMesh(), std::vector<Rank<float>>(ranks)};
  for (auto [r, rank] : llvm::enumerate(world.ranks)) {
    Bucket<float> own(bucket, r, world.mesh, 0);
    for (int64_t i = 0; i < count; ++i)
      own.grads.set(i, type.from(held[r][i]));
    for (int64_t i = 0; i < count / ranks; ++i)
      own.gradShard.set(i, type.from(held[r][i]));
    rank.index = r;
    rank.buckets.insert({bucket.getSymNameAttr(), std::move(own)});
  }
  auto scatter = *timeline.getBody().getOps<sched::CollectiveOp>().begin();
  EXPECT_TRUE(succeeded(act(world, ArrayRef(scatter))));
  return world.ranks[index].buckets.front().second.gradShard.elements;
}

TEST(NarrowSums, AreTheSameBetweenPlacesAndOfBuckets) {
  constexpr int count = 240;
  for (const Type &type : types)
    for (int ranks : {2, 3, 8}) {
      auto held = draw(ranks, count);
      for (int index : {0, ranks - 1}) {
        std::vector<float> places = exchangeAndAdd(type, held, index), buckets = scatterAndAdd(type, held, index);
        auto run = runSums(type, held, index * count / ranks, count / ranks, held[index], true);
        for (int i = 0; i < count / ranks; ++i) {
          expectSame(type, run[i], places[i], i);
          expectSame(type, run[i], buckets[i], i);
        }
      }
    }
}

TEST(NarrowSums, AreNotRoundedAtEveryRank) {
  for (const Type &type : types) {
    float one = 1, half = type.narrow == Narrow::BF16 ? 0x1p-8f : 0x1p-11f; // half an ulp of 1
    std::vector<std::vector<uint16_t>> held{{type.to(one)}, {type.to(half)}, {type.to(half)}};
    EXPECT_EQ(type.from(runSums(type, held, 0, 1, {0}, false)[0]), 1 + 2 * half);
    held.pop_back();
    EXPECT_EQ(type.from(runSums(type, held, 0, 1, {type.to(half)}, true)[0]), 1 + 2 * half); // with what is there
    EXPECT_EQ(type.from(runSums(type, held, 0, 1, {0}, false)[0]), 1);                       // to even
  }
}

TEST(NarrowSums, KeepInfinitiesAndWhatIsNoNumber) {
  for (const Type &type : types) {
    std::vector<std::vector<uint16_t>> held{{type.to(infinity), type.to(infinity), type.to(NAN), type.to(1)},
                                            {type.to(1), type.to(-infinity), type.to(1), type.to(-infinity)}};
    std::vector<uint16_t> sums = runSums(type, held, 0, 4, std::vector<uint16_t>(4), false);
    EXPECT_EQ(type.from(sums[0]), infinity);
    EXPECT_TRUE(std::isnan(type.from(sums[1])));
    EXPECT_TRUE(std::isnan(type.from(sums[2])));
    EXPECT_EQ(type.from(sums[3]), -infinity);
    std::vector<uint16_t> largest(4);
    const char *sources[] = {(const char *)held[0].data(), (const char *)held[1].data()};
    runtime::findCombination(runtime::Combine::Largest, type.element, type.element)(sources, 0, 4,
                                                                                    (char *)largest.data(), false);
    EXPECT_EQ(type.from(largest[1]), infinity);
    EXPECT_TRUE(std::isnan(type.from(largest[2])));
    EXPECT_EQ(type.from(largest[3]), 1);
  }
}

} // namespace
