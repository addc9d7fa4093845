// Kernels and messages of floats of sixteen bits: right ones are accepted, and one that rounds otherwise is found, since
// what a kernel is sure of before it rounds must have the same bits afterwards.
#include "Judged.h"
#include "Verify/Lockstep.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Interpret/Bounded.h"
#include "xlc/Interpret/Interpret.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace mlir;
using namespace xlc;
using namespace xlc::test;
using interpret::Bounded;
using interpret::Datum;
using interpret::Tensor;

namespace {

/// `text` with one of the narrow types in the place of "half".
std::string in(const char *type, std::string text) {
  for (size_t at; (at = text.find("half")) != std::string::npos;)
    text.replace(at, 4, type);
  return text;
}

/// h = x w, in sixteen bits; y = w + h; a row of h, turned around.
Judged storeAndLoad(const char *type) {
  return {{{"8x40xf32"},
           {"8x40xf32"},
           {in(type, "8x40xhalf"), Slot::Scratch},
           {"8x40xf32", Slot::Scratch},
           {in(type, "40x8xhalf"), Slot::Scratch}},
          in(type, R"(func.func private @store(%x: tensor<8x40xf32>, %w: tensor<8x40xf32>) -> tensor<8x40xhalf>
                            attributes {exec.kind = #exec.kernel<loop>} {
                            %p = graph.mul %x, %w : tensor<8x40xf32>
                            %h = graph.cast %p : tensor<8x40xf32> -> tensor<8x40xhalf>
                            return %h : tensor<8x40xhalf>
                          }
                          func.func private @load(%w: tensor<8x40xf32>, %h: tensor<8x40xhalf>) -> tensor<8x40xf32>
                            attributes {exec.kind = #exec.kernel<loop>} {
                            %p = graph.cast %h : tensor<8x40xhalf> -> tensor<8x40xf32>
                            %y = graph.add %w, %p : tensor<8x40xf32>
                            return %y : tensor<8x40xf32>
                          }
                          func.func private @turn(%h: tensor<8x40xhalf>) -> tensor<40x8xhalf>
                            attributes {exec.kind = #exec.kernel<loop>} {
                            %y = graph.transpose %h [1, 0] : tensor<8x40xhalf> -> tensor<40x8xhalf>
                            return %y : tensor<40x8xhalf>
                          })"),
          in(type, R"(exec.call @store ins(%0, %1 : memref<8x40xf32>, memref<8x40xf32>)
                            outs(%2 : memref<8x40xhalf>) accumulate [0]
                          exec.call @load ins(%1, %2 : memref<8x40xf32>, memref<8x40xhalf>)
                            outs(%3 : memref<8x40xf32>) accumulate [0]
                          exec.call @turn ins(%2 : memref<8x40xhalf>) outs(%4 : memref<40x8xhalf>) accumulate [0])")};
}

TEST(NarrowKernel, StoresAndLoads) {
  for (const char *type : {"bf16", "f16"}) {
    verify::KernelReport report = storeAndLoad(type).run();
    EXPECT_TRUE(report.isEqual()) << report.summary();
    EXPECT_EQ(report.elements, 3 * 8 * 40);
  }
}

/// Off by a quarter of what sixteen bits tell apart: some elements are rounded to a neighbour.
TEST(NarrowKernel, IsFoundWhereItRoundsFromAnotherNumber) {
  for (const char *type : {"bf16", "f16"}) {
    verify::KernelReport report = storeAndLoad(type).run([&](ModuleOp module) {
      module.walk([&](graph::MulOp mul) {
        OpBuilder builder(mul.getContext());
        builder.setInsertionPointAfter(mul);
        int64_t parts = std::string(type) == "bf16" ? 1 << 10 : 1 << 13;
        auto scale = graph::ScaleOp::create(builder, mul.getLoc(), mul.getResult(), parts + 1, parts);
        mul.getResult().replaceAllUsesExcept(scale.getResult(), scale);
      });
    });
    EXPECT_GT(report.differing, 8 * 40 / 8) << report.summary();
    EXPECT_LT(report.differing, 8 * 40) << report.summary();
    ASSERT_FALSE(report.differences.empty());
    EXPECT_NE(report.differences[0].find("call 'store': element"), std::string::npos) << report.differences[0];
  }
}

TEST(NarrowKernel, IsRoundedAsTheInterpreterRoundsIt) {
  for (const char *type : {"bf16", "f16"}) {
    verify::NarrowCounts counts = storeAndLoad(type).run().narrow;
    EXPECT_EQ(counts.generated.elements, 2 * 8 * 40); // what "load" makes is a float
    EXPECT_EQ(counts.generated.differing, 0);
    EXPECT_EQ(counts.products.elements, 0);
  }
}

/// y = a b, in sixteen bits.
Judged product(const char *type) {
  return {{{in(type, "32x256xf32")},
           {in(type, "256x64xf32")},
           {in(type, "32x256xhalf"), Slot::Scratch},
           {in(type, "256x64xhalf"), Slot::Scratch},
           {in(type, "32x64xhalf"), Slot::Scratch},
           {"1048576xi1", Slot::Scratch}},
          in(type, R"(func.func private @a(%x: tensor<32x256xf32>) -> tensor<32x256xhalf>
                            attributes {exec.kind = #exec.kernel<loop>} {
                            %y = graph.cast %x : tensor<32x256xf32> -> tensor<32x256xhalf>
                            return %y : tensor<32x256xhalf>
                          }
                          func.func private @b(%x: tensor<256x64xf32>) -> tensor<256x64xhalf>
                            attributes {exec.kind = #exec.kernel<loop>} {
                            %y = graph.cast %x : tensor<256x64xf32> -> tensor<256x64xhalf>
                            return %y : tensor<256x64xhalf>
                          }
                          func.func private @k(%a: tensor<32x256xhalf>, %b: tensor<256x64xhalf>) -> tensor<32x64xhalf>
                            attributes {exec.kind = #exec.kernel<library>} {
                            %y = graph.contract "ik,kj->ij" %a, %b
                                : (tensor<32x256xhalf>, tensor<256x64xhalf>) -> tensor<32x64xhalf>
                            return %y : tensor<32x64xhalf>
                          })"),
          in(type, R"(exec.call @a ins(%0 : memref<32x256xf32>) outs(%2 : memref<32x256xhalf>) accumulate [0]
                      exec.call @b ins(%1 : memref<256x64xf32>) outs(%3 : memref<256x64xhalf>) accumulate [0]
                      exec.call @k ins(%2, %3 : memref<32x256xhalf>, memref<256x64xhalf>) outs(%4 : memref<32x64xhalf>)
                        workspace(%5 : memref<1048576xi1>) accumulate [0])")};
}

/// Its sums have another order, so some of them, but few, fall to the other side of what they are rounded between.
TEST(NarrowKernel, ProductsAreCounted) {
  for (const char *type : {"bf16", "f16"}) {
    verify::KernelReport report = product(type).run();
    EXPECT_TRUE(report.isEqual()) << report.summary();
    EXPECT_EQ(report.narrow.products.elements, 32 * 64);
    EXPECT_LE(report.narrow.products.differing, 32 * 64 / 100) << report.summary();
  }
}

/// A kernel that rounds to bf16 on the way to f16.
TEST(NarrowKernel, WhatIsRoundedTwiceIsCounted) {
  verify::NarrowCounts counts =
      product("f16")
          .run([](ModuleOp module) {
            module.walk([](graph::CastOp cast) {
              OpBuilder builder(cast);
              Value x = cast.getX();
              for (Type type : {Type(builder.getBF16Type()), Type(builder.getF32Type())})
                x = graph::CastOp::create(builder, cast.getLoc(), graph::typeOf(x).clone(type), x);
              cast.setOperand(x);
            });
          })
          .narrow;
  EXPECT_GT(counts.generated.differing, counts.generated.elements / 2);
  EXPECT_GT(counts.generated.apart, counts.generated.elements / 4);
  EXPECT_LE(counts.generated.farthest, 4); // bf16 has three bits less
}

TEST(NarrowKernel, UlpsAreThoseOfTheType) {
  using verify::countUlps;
  constexpr auto bf16 = interpret::Narrow::BF16, f16 = interpret::Narrow::F16;
  EXPECT_EQ(countUlps(0x3f80, 0x3f81, bf16), 1); // 1 and what comes next
  EXPECT_EQ(countUlps(0x3f80, 0x3f7f, bf16), 1);
  EXPECT_EQ(countUlps(0xbf80, 0xbf82, bf16), 2);
  EXPECT_EQ(countUlps(0x0000, 0x8000, bf16), 0); // zeros of both signs
  EXPECT_EQ(countUlps(0x0001, 0x8001, f16), 2);  // across zero
  EXPECT_EQ(countUlps(0x0001, 0x0000, bf16), 0); // what a product may take for zero
  EXPECT_EQ(countUlps(0x0090, 0x0000, bf16), 0x90);
  EXPECT_EQ(countUlps(0x7bff, 0x7c00, f16), 1); // the largest and infinity
  EXPECT_EQ(countUlps(0x7fc0, 0xffc1, bf16), 0);
  EXPECT_GT(countUlps(0x7fc0, 0x7f80, bf16), 0x7f80);
}

/// Two ranks draw rows of their own, keep their squares in sixteen bits and sum them over dp.
Judged sumOverRanks(const char *type) {
  return {{{"64xf32"}, {in(type, "64xhalf"), Slot::Scratch}},
          "",
          "",
          in(type, R"(module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 1>} {
func.func private @k(%x: tensor<64xf32>) -> tensor<64xhalf> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.mul %x, %x : tensor<64xf32>
  %h = graph.cast %y : tensor<64xf32> -> tensor<64xhalf>
  return %h : tensor<64xhalf>
}
func.func @f(%x: memref<64xf32>, %y: memref<64xhalf>) {
  exec.call @k ins(%x : memref<64xf32>) outs(%y : memref<64xhalf>) accumulate [0]
  return
}
exec.program @train stage 0 micro_batches 1 arena 512 lower_bound 512 {
  exec.buffer 0 workspace "x" size 256 offset 0 live 0 to 3
  exec.buffer 1 workspace "y" size 128 offset 256 live 0 to 3
  exec.buffer 2 workspace "sum" size 64 offset 384 live 0 to 3
)" + numbersAt(3, 448, 3) +
                       R"(
  exec.load micro 0 ["in0"] to [#exec.place<0 + 0 + 0>]
  exec.run @f "layer F" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>] role <F>
  exec.exchange all_reduce "all_reduce y" over <dp, [2, 1], []> #exec.place<1 + 0 + 0> to #exec.place<1 + 0 + 0> count 64 half
  exec.exchange reduce_scatter "scatter y" over <dp, [2, 1], []> #exec.place<1 + 0 + 0> to #exec.place<2 + 0 + 0> count 32 half accumulate
}
})")};
}

TEST(NarrowKernel, SumsOverRanks) {
  for (const char *type : {"bf16", "f16"}) {
    verify::KernelReport report = sumOverRanks(type).run();
    EXPECT_TRUE(report.isEqual()) << report.summary();
    EXPECT_EQ(report.elements, 2 * (64 + 64 + 32));
  }
}

TEST(NarrowKernel, IsFoundWhereASumStopsShort) {
  verify::KernelReport report = sumOverRanks("bf16").run([](ModuleOp module) {
    module.walk([](exec::ExchangeOp exchange) {
      if (exchange.getCount() == 64)
        exchange.setCount(63);
    });
  });
  EXPECT_EQ(report.differing, 2) << report.summary();
  ASSERT_FALSE(report.differences.empty());
  EXPECT_NE(report.differences[0].find("action 'all_reduce y', all_reduce: element 63 is"), std::string::npos)
      << report.differences[0];
}

/// dq of one query, whose row of scores' gradients is p (dp - mean): with the mean of dout and an output that was rounded.
std::vector<float> gradientOfQuery(ArrayRef<float> q, ArrayRef<float> k, ArrayRef<float> v, ArrayRef<float> out,
                                   ArrayRef<float> dout) {
  size_t d = q.size(), keys = k.size() / d;
  auto dot = [&](const float *a, const float *b) { return std::inner_product(a, a + d, b, 0.0f); };
  std::vector<float> p(keys), dq(d);
  for (size_t j = 0; j < keys; ++j)
    p[j] = std::exp(dot(q.data(), &k[j * d]));
  float total = std::accumulate(p.begin(), p.end(), 0.0f), mean = dot(dout.data(), out.data());
  for (size_t j = 0; j < keys; ++j)
    for (size_t i = 0; i < d; ++i)
      dq[i] += p[j] / total * (dot(dout.data(), &v[j * d]) - mean) * k[j * d + i];
  return dq;
}

/// Which a kernel may do that has the whole output and a part of the keys at a time.
TEST(NarrowKernel, AttentionMayReadItsRoundedOutput) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, graph::GraphDialect>();
  auto module = parseSourceString<ModuleOp>(
      R"(!q = tensor<1x1x1x4xbf16>
         !k = tensor<1x6x1x4xbf16>
         !lse = tensor<1x1x1xf64>
         func.func @forward(%q: !q, %k: !k, %v: !k) -> (!q, !lse) {
           %out, %lse = graph.attention none %q, %k, %v scale 1.0 : (!q, !k, !k) -> (!q, !lse)
           return %out, %lse : !q, !lse
         }
         func.func @backward(%q: !q, %k: !k, %v: !k, %out: !q, %lse: !lse, %dout: !q) -> (!q, !k, !k) {
           %dq, %dk, %dv = graph.attention_backward none %q, %k, %v, %out, %lse, %dout scale 1.0
               : (!q, !k, !k, !q, !lse, !q) -> (!q, !k, !k)
           return %dq, %dk, %dv : !q, !k, !k
         })",
      &context);
  auto forward = module->lookupSymbol<func::FuncOp>("forward"),
       backward = module->lookupSymbol<func::FuncOp>("backward");
  Type bf16 = BFloat16Type::get(&context);
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SmallVector<Datum<float>> floats, saved; // q, k, v; out, lse
    SmallVector<Datum<Bounded>> bounded, expected;
    auto draw = [&](const char *name, int64_t rows) {
      floats.push_back(interpret::randomTensor<float>({1, rows, 1, 4}, name, seed));
      interpret::roundTo(bf16, floats.back());
    };
    auto elementsOf = [](const Datum<float> &value) -> const std::vector<float> & {
      return std::get<Tensor<float>>(value).elements;
    };
    draw("q", 1), draw("k", 6), draw("v", 6);
    ASSERT_TRUE(succeeded(interpret::evaluate<float>(forward, floats, {}, saved)));
    llvm::append_range(floats, saved);
    draw("dout", 1);
    for (const Datum<float> &value : floats) {
      Tensor<Bounded> exact(std::get<Tensor<float>>(value).shape);
      llvm::transform(elementsOf(value), exact.elements.begin(), [](float x) { return Bounded(x); });
      bounded.push_back(std::move(exact));
    }
    ASSERT_TRUE(succeeded(interpret::evaluate<Bounded>(backward, bounded, {}, expected)));
    std::vector<float> dq = gradientOfQuery(elementsOf(floats[0]), elementsOf(floats[1]), elementsOf(floats[2]),
                                            elementsOf(floats[3]), elementsOf(floats[5]));
    interpret::roundTo<float>(bf16, dq);
    for (auto [is, wanted] : llvm::zip(dq, std::get<Tensor<Bounded>>(expected[0]).elements)) {
      EXPECT_LE(std::abs(is - wanted.get()), wanted.error());
      EXPECT_LE(wanted.error(), 0.02); // some places of bf16 on numbers below 1
    }
  }
}

} // namespace
