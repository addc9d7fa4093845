// Kernels for GPUs on simulated threads: elements have the bits that they have on CPUs; sums of rows those of the order
// that GpuMapping.h states; no order of threads changes a bit. And what the simulator is for: it finds faults.
#include "CompiledKernel.h"
#include "SimulatedKernel.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace xlc;
using namespace xlc::test;

namespace {

Operand f32(std::vector<int64_t> shape, std::vector<int64_t> strides = {}) {
  return {"f32", std::move(shape), std::move(strides)};
}

std::string tensor(const std::vector<int64_t> &shape) { return f32(shape).tensorType(); }

/// One op on f32 of a shape, as a loop.
KernelText loopOf(const std::string &op, size_t operands, const std::vector<int64_t> &shape) {
  KernelText text{"loop", {}, {f32(shape)}, "%y = graph." + op, 0};
  for (size_t i = 0; i < operands; ++i) {
    text.ins.push_back(f32(shape));
    text.body += (i ? ", %" : " %") + std::to_string(i);
  }
  text.body += " : " + tensor(shape) + " => %y";
  return text;
}

KernelText sumOfRows(int64_t rows, int64_t size, const std::string &kind = "sum") {
  return {"rows",
          {f32({rows, size})},
          {f32({rows})},
          "%y = graph.reduce " + kind + " %0 dims [1] : " + tensor({rows, size}) + " -> " + tensor({rows}) + " => %y"};
}

TEST(Gpu, ElementsHaveTheBitsOfTheCpu) {
  for (const std::vector<int64_t> &shape : {std::vector<int64_t>{1}, {2, 1024}, {5, 300}})
    for (const auto &[op, operands] : std::vector<std::pair<std::string, size_t>>{{"add", 2},
                                                                                  {"div", 2},
                                                                                  {"sqrt", 1},
                                                                                  {"exp", 1},
                                                                                  {"tanh", 1},
                                                                                  {"log", 1},
                                                                                  {"erf", 1},
                                                                                  {"gelu tanh", 1},
                                                                                  {"gelu erf", 1},
                                                                                  {"gelu_backward tanh", 2},
                                                                                  {"silu", 1},
                                                                                  {"max", 2},
                                                                                  {"floor", 1},
                                                                                  {"sign", 1}}) {
      SCOPED_TRACE(op + " of " + tensor(shape));
      KernelText text = loopOf(op, operands, shape);
      Tensors ins = makeInputs(text);
      ins[0].values[0] = 1e-40; // no subnormal number is taken for zero
      SimulatedKernel gpu(text);
      ASSERT_TRUE(gpu.hasCode()) << gpu.problem;
      expectSameBits(gpu.run(ins, 1), CompiledKernel(text).run(ins));
      EXPECT_EQ(gpu.problem, "");
    }
}

TEST(Gpu, SharedOperandsAreReadByRowAndColumn) {
  for (int64_t width : {1, 3, 64, 100, 768}) {
    std::vector<int64_t> shape{5, width};
    KernelText text{"loop",
                    {f32(shape), f32({width}), f32({5, 1})},
                    {f32(shape)},
                    "%b = graph.broadcast %1 : " + tensor({width}) + " -> " + tensor(shape) +
                        "\n%c = graph.broadcast %2 : " + tensor({5, 1}) + " -> " + tensor(shape) +
                        "\n%d = graph.add %0, %b : " + tensor(shape) + "\n%y = graph.mul %d, %c : " + tensor(shape) +
                        " => %y"};
    Tensors ins = makeInputs(text);
    SimulatedKernel gpu(text);
    expectSameBits(gpu.run(ins, width), CompiledKernel(text).run(ins));
    EXPECT_EQ(gpu.problem, "") << width;
  }
}

/// Eight lanes, rounded as on CPUs; a remainder has fewer.
TEST(Gpu, SixteenBitsAreRoundedAsOnTheCpu) {
  for (const std::string &type : {"bf16", "f16"})
    for (int64_t size : {8, 12, 27, 4096}) {
      SCOPED_TRACE(type + " " + std::to_string(size));
      Operand narrow{type, {3, size}};
      std::string wide = tensor({3, size}), cast = " : " + narrow.tensorType() + " -> " + wide;
      KernelText text{"loop",
                      {narrow, f32({3, size})},
                      {narrow},
                      "%x = graph.cast %0" + cast + "\n%z = graph.mul %x, %1 : " + wide +
                          "\n%y = graph.cast %z : " + wide + " -> " + narrow.tensorType() + " => %y"};
      Tensors ins{randomTensor({3, size}, 1, 70000), randomTensor({3, size}, 2, 3e-4)};
      ins[1].values[0] = INFINITY, ins[1].values[1] = 1e-45, ins[1].values[2] = 3e38;
      SimulatedKernel gpu(text);
      expectSameBits(gpu.run(ins), CompiledKernel(text).run(ins));
      EXPECT_EQ(gpu.problem, "");
    }
}

/// Strided rows, a result over its operand, and one that is added to.
TEST(Gpu, MemoryIsUsedAsOnTheCpu) {
  std::vector<int64_t> shape{6, 40};
  KernelText strided = loopOf("exp", 1, shape);
  strided.ins[0].strides = {48, 1};
  strided.outs[0].strides = {1, 6};
  KernelText plain = loopOf("exp", 1, shape), adding = plain;
  adding.accumulate = 2;
  Tensors ins = makeInputs(plain), before{randomTensor(shape, 3)};
  SimulatedKernel stridedGpu(strided), plainGpu(plain), addingGpu(adding);
  expectSameBits(stridedGpu.run(ins), CompiledKernel(strided).run(ins));
  expectSameBits(plainGpu.run(ins, 1, {}, false, 0), CompiledKernel(plain).run(ins, {}, 1, false, 0));
  CompiledKernel cpu(adding);
  expectSameBits(addingGpu.run(ins, 1, before, true), cpu.run(ins, before, 1, true));
  expectSameBits(addingGpu.run(ins, 1, before, false), cpu.run(ins, before, 1, false));
  EXPECT_EQ(stridedGpu.problem + plainGpu.problem + addingGpu.problem, "");
}

/// The sum of a row in the order that GpuMapping.h states.
float sumInOrder(const double *row, int64_t size, bool isAligned = false) {
  int64_t width = size % 4 == 0 || isAligned ? 4 : size % 2 == 0 ? 2 : 1, threads = 32;
  while (threads * 32 < size)
    threads *= 2;
  if (threads > 512)
    threads = 256;
  std::vector<float> sums(threads * width);
  int64_t inVectors = size / width * width;
  for (int64_t i = 0; i < inVectors; ++i)
    sums[i % (threads * width)] += (float)row[i];
  for (int64_t i = inVectors; i < size; ++i)
    sums[(i - inVectors) * width] += (float)row[i];
  auto fold = [](std::vector<float> values) { // halves onto halves
    for (size_t half = values.size() / 2; half > 0; half /= 2)
      for (size_t i = 0; i < half; ++i)
        values[i] += values[i + half];
    return values.front();
  };
  std::vector<float> warps;
  for (int64_t warp = 0; warp < threads / 32; ++warp) {
    std::vector<float> lanes;
    for (int64_t t = warp * 32; t < warp * 32 + 32; ++t)
      lanes.push_back(fold({sums.begin() + t * width, sums.begin() + (t + 1) * width}));
    warps.push_back(fold(lanes));
  }
  return fold(warps);
}

TEST(Gpu, RowsAreSummedInTheStatedOrder) {
  for (int64_t size : {1, 3, 31, 32, 100, 128, 500, 768, 1000, 1024, 1025, 1026, 3072, 4100, 17001, 33000})
    for (int64_t rows : {1, size > 4096 ? 2 : 6}) {
      KernelText text = sumOfRows(rows, size);
      Tensors ins{randomTensor({rows, size}, size)};
      SimulatedKernel gpu(text);
      Tensors first = gpu.run(ins, 1);
      ASSERT_EQ(gpu.problem, "") << size;
      for (int64_t r = 0; r < rows; ++r)
        ASSERT_EQ((float)first[0].values[r], sumInOrder(&ins[0].values[r * size], size)) << size << ", row " << r;
      expectSameBits(gpu.run(ins, 2), first);
    }
}

/// In vectors as far as there are, whatever lies in the gaps.
TEST(Gpu, RowsWithGapsAreSummedInTheStatedOrder) {
  for (int64_t size : {2, 5, 33, 127, 1023, 1025, 1030, 4099, 17001, 33003}) {
    KernelText text = sumOfRows(3, size);
    text.ins[0].strides = {(size / 32 + 1) * 32, 1};
    Tensors ins{randomTensor({3, size}, size)};
    SimulatedKernel gpu(text);
    Tensors first = gpu.run(ins, 1);
    ASSERT_EQ(gpu.problem, "") << size;
    for (int64_t r = 0; r < 3; ++r)
      ASSERT_EQ((float)first[0].values[r], sumInOrder(&ins[0].values[r * size], size, true)) << size << ", row " << r;
    expectSameBits(gpu.run(ins, 2), first);
  }
}

TEST(Gpu, RowsWithGapsAreRightInEveryOrder) {
  for (const std::string &type : {"f32", "bf16"})
    for (int64_t size : {9, 100, 1001, 5003, 17003}) {
      SCOPED_TRACE(type + " " + std::to_string(size));
      Operand rows{type, {3, size}, {(size / 64 + 1) * 64, 1}};
      std::string one = tensor({3, size}), cast = " : " + rows.tensorType() + " -> " + one;
      bool isNarrow = type != "f32";
      std::string begin = isNarrow ? "%x = graph.cast %0" + cast + "\n" : "", x = isNarrow ? "%x" : "%0";
      std::string end = isNarrow ? "\n%z = graph.cast %y : " + one + " -> " + rows.tensorType() + " => %z" : " => %y";
      KernelText softmax{"rows", {rows}, {rows}, begin + "%y = graph.softmax " + x + " : " + one + end};
      KernelText negated{"loop", {rows}, {rows}, begin + "%y = graph.neg " + x + " : " + one + end};
      Tensors ins = makeInputs(softmax);
      SimulatedKernel gpu(softmax), loop(negated);
      Tensors first = gpu.run(ins, 1), cpu = CompiledKernel(softmax).run(ins);
      for (size_t i = 0; i < cpu[0].values.size(); ++i)
        ASSERT_NEAR(first[0].values[i], cpu[0].values[i], isNarrow ? 1e-2 * cpu[0].values[i] : 2e-7);
      expectSameBits(gpu.run(ins, 2, {}, false, 0), first);
      expectSameBits(loop.run(ins, 3), CompiledKernel(negated).run(ins));
      expectSameBits(loop.run(ins, 4, {}, false, 0), CompiledKernel(negated).run(ins));
      EXPECT_EQ(gpu.problem + loop.problem, "");
    }
}

TEST(Gpu, MaximaOfRowsHaveTheBitsOfTheCpu) {
  for (int64_t size : {1, 77, 256, 2048, 17001}) {
    KernelText text = sumOfRows(3, size, "max");
    Tensors ins{randomTensor({3, size}, size)};
    SimulatedKernel gpu(text);
    expectSameBits(gpu.run(ins), CompiledKernel(text).run(ins));
    EXPECT_EQ(gpu.problem, "") << size;
  }
}

KernelText layerNorm(int64_t rows, int64_t size) {
  std::string x = tensor({rows, size}), w = tensor({size}), m = tensor({rows});
  return {"rows",
          {f32({rows, size}), f32({size}), f32({size})},
          {f32({rows, size}), f32({rows}), f32({rows})},
          "%y, %m, %r = graph.layer_norm %0, %1, %2 {epsilon = 1.0e-05 : f64} : (" + x + ", " + w + ", " + w +
              ") -> (" + x + ", " + m + ", " + m + ") => %y, %m, %r"};
}

KernelText softmax(int64_t rows, int64_t size) {
  return {
      "rows", {f32({rows, size})}, {f32({rows, size})}, "%y = graph.softmax %0 : " + tensor({rows, size}) + " => %y"};
}

/// Over their operand too, whose row others may still read; in a warp, in a block, and in a loop.
TEST(Gpu, NormsAndSoftmaxAreRightInEveryOrder) {
  for (int64_t size : {1, 5, 100, 768, 1000, 3000, 17000})
    for (const KernelText &text : {layerNorm(3, size), softmax(1, size), softmax(4, size)}) {
      SCOPED_TRACE(text.body);
      Tensors ins = makeInputs(text);
      SimulatedKernel gpu(text);
      ASSERT_TRUE(gpu.hasCode()) << gpu.problem;
      Tensors first = gpu.run(ins, 1), cpu = CompiledKernel(text).run(ins);
      EXPECT_EQ(gpu.problem, "");
      for (size_t k = 0; k < cpu.size(); ++k)
        for (size_t i = 0; i < cpu[k].values.size(); ++i)
          ASSERT_NEAR(first[k].values[i], cpu[k].values[i], 2e-5 * std::max(1.0, std::fabs(cpu[k].values[i])));
      {
        expectSameBits(gpu.run(ins, 2, {}, false, 0), first);
        EXPECT_EQ(gpu.problem, "");
      }
    }
}

/// An operand that is read when the row's maximum is known may be where the result goes: threads without an element of their
/// own read another's, and have done so before it is overwritten. In a warp, in a block, element by element, and in a loop.
/// Rounding keeps LLVM from reading it just where it stores.
TEST(Gpu, AnOperandThatIsReadLateMayBeOverwritten) {
  for (int64_t size : {1, 5, 48, 100, 1000, 1600, 2050, 17004})
    for (int64_t rows : {1, 6}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(size));
      std::string row = tensor({rows, size}), one = tensor({rows}), column = tensor({rows, 1});
      Operand y{"bf16", {rows, size}};
      KernelText text{"rows",
                      {f32({rows, size}), y},
                      {y},
                      "%m = graph.reduce max %0 dims [1] : " + row + " -> " + one + "\n%c = graph.reshape %m : " + one +
                          " -> " + column + "\n%b = graph.broadcast %c : " + column + " -> " + row +
                          "\n%w = graph.cast %1 : " + y.tensorType() + " -> " + row + "\n%p = graph.mul %b, %w : " +
                          row + "\n%y = graph.cast %p : " + row + " -> " + y.tensorType() + " => %y"};
      SimulatedKernel gpu(text);
      Tensors ins = makeInputs(text), expected = CompiledKernel(text).run(ins);
      for (uint64_t seed : {1, 2}) {
        expectSameBits(gpu.run(ins, seed, {}, false, 1), expected);
        EXPECT_EQ(gpu.problem, "");
      }
    }
}

/// What NVPTX would get, without its k-th call of an intrinsic.
auto without(llvm::Intrinsic::ID intrinsic, int which) {
  return [=](llvm::Module &code) {
    int seen = 0;
    for (llvm::Function &function : code)
      for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function)))
        if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
          if (call->getIntrinsicID() == intrinsic && seen++ == which)
            call->eraseFromParent();
  };
}

TEST(SimulatedGrid, FindsAMissingBarrier) {
  auto barrier = llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all;
  KernelText text = layerNorm(2, 2048);
  Tensors ins = makeInputs(text);
  for (int which : {0, 1}) { // those that stand between a warp's store into its slot and the others' reads
    SimulatedKernel gpu(text, without(barrier, which));
    gpu.run(ins, 1);
    bool isEarly = gpu.problem.find("of shared memory that was never written") != std::string::npos;
    bool isUnordered = gpu.problem.find("the two accesses are not ordered") != std::string::npos;
    EXPECT_TRUE(isEarly || isUnordered) << which << ": " << gpu.problem;
  }
}

/// A row's elements may be over an operand that another thread reads at another place.
TEST(SimulatedGrid, FindsAMissingBarrierBeforeAResult) {
  constexpr int64_t size = 2048;
  KernelText text{"rows",
                  {f32({2, size})},
                  {f32({2, size}), f32({2})},
                  "%m = graph.reduce max %0 dims [1] : tensor<2x2048xf32> -> tensor<2xf32>\n"
                  "%s = graph.slice %0 from [0, 5] by [1, 1] : tensor<2x2048xf32> -> tensor<2x1xf32>\n"
                  "%f = graph.reshape %s : tensor<2x1xf32> -> tensor<2xf32>\n"
                  "%r = graph.sub %m, %f : tensor<2xf32>\n"
                  "%y = graph.exp %0 : tensor<2x2048xf32> => %y, %r"};
  Tensors ins = makeInputs(text);
  SimulatedKernel whole(text), broken(text, without(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, 1));
  Tensors expected = CompiledKernel(text).run(ins);
  expectSameBits(whole.run(ins, 1, {}, false, 0), expected);
  EXPECT_EQ(whole.problem, "");
  broken.run(ins, 1, {}, false, 0);
  EXPECT_NE(broken.problem.find("that another thread reads; the two accesses are not ordered"), std::string::npos)
      << broken.problem;
}

TEST(SimulatedGrid, FindsThreadsThatDoNotCome) {
  auto damage = [](llvm::Module &code) { // thread 0 leaves at once
    for (llvm::Function &function : code)
      if (!function.isDeclaration()) {
        llvm::BasicBlock *begin = &function.getEntryBlock();
        auto *first = llvm::BasicBlock::Create(code.getContext(), "", &function, begin);
        auto *leave = llvm::BasicBlock::Create(code.getContext(), "", &function);
        llvm::ReturnInst::Create(code.getContext(), leave);
        auto *thread = llvm::CallInst::Create(
            llvm::Intrinsic::getOrInsertDeclaration(&code, llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x), "", first);
        auto *isFirst =
            new llvm::ICmpInst(first, llvm::CmpInst::ICMP_EQ, thread, llvm::ConstantInt::get(thread->getType(), 0));
        llvm::BranchInst::Create(leave, begin, isFirst, first);
      }
  };
  KernelText text = sumOfRows(4, 64);
  SimulatedKernel gpu(text, damage);
  gpu.run(makeInputs(text));
  EXPECT_NE(gpu.problem.find("waits at a warp shuffle, but thread 0 is finished"), std::string::npos) << gpu.problem;
}

TEST(SimulatedGrid, KnowsWhatItCannotDo) {
  SimulatedKernel gpu(loopOf("neg", 1, {64}), [](llvm::Module &code) {
    llvm::CallInst::Create(llvm::Intrinsic::getOrInsertDeclaration(&code, llvm::Intrinsic::nvvm_read_ptx_sreg_laneid),
                           "", code.getFunction("k")->getEntryBlock().begin());
  });
  EXPECT_FALSE(gpu.hasCode());
  EXPECT_EQ(gpu.problem, "'llvm.nvvm.read.ptx.sreg.laneid' cannot be simulated");
}

/// What it would not see: bytes set otherwise than by stores, and a vote that not all lanes have.
TEST(SimulatedGrid, RefusesWhatItDoesNotSee) {
  SimulatedKernel sets(loopOf("neg", 1, {64}), [](llvm::Module &code) {
    llvm::IRBuilder<> b(&*code.getFunction("k")->getEntryBlock().begin());
    auto *global = llvm::PointerType::get(code.getContext(), 1);
    b.CreateMemSet(llvm::ConstantPointerNull::get(global), b.getInt8(0), 4, llvm::MaybeAlign());
  });
  EXPECT_EQ(sets.problem, "'llvm.memset.p1.i64' cannot be simulated");
  SimulatedKernel votes(loopOf("neg", 1, {64}), [](llvm::Module &code) {
    llvm::IRBuilder<> b(&*code.getFunction("k")->getEntryBlock().begin());
    b.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_ballot_sync, {b.getInt32(3), b.getTrue()});
  });
  EXPECT_EQ(votes.problem, "'llvm.nvvm.vote.ballot.sync' cannot be simulated");
}

TEST(SimulatedGrid, FindsAccessesOutsideOfOperands) {
  KernelText text = loopOf("neg", 1, {2, 1024});
  SimulatedKernel gpu(text);
  gpu.runWithin(makeInputs(text), 4);
  EXPECT_NE(gpu.problem.find("outside of all operands"), std::string::npos) << gpu.problem;
}

} // namespace
