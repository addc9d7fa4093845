// Sums over columns by the threads of a GPU, in the order that GpuMapping.h states: where several share a column, and where a kernel
// over rows sums columns on its way.
#include "SimulatedKernel.h"
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

Operand f32(std::vector<int64_t> shape) { return {"f32", std::move(shape)}; }

std::string tensor(const std::vector<int64_t> &shape) { return f32(shape).tensorType(); }

/// "%s<i> = the sum over dimension `dimension` of `x`".
std::string sumOf(size_t i, const std::string &x, const std::vector<int64_t> &shape, int64_t dimension) {
  std::vector<int64_t> left = shape;
  left.erase(left.begin() + dimension);
  return "%s" + std::to_string(i) + " = graph.reduce sum " + x + " dims [" + std::to_string(dimension) +
         "] : " + tensor(shape) + " -> " + tensor(left) + "\n";
}

/// Sums over columns of matrices.
KernelText sumsOfColumns(const std::vector<std::vector<int64_t>> &shapes) {
  KernelText text{"columns", {}, {}, ""};
  std::string results;
  for (size_t i = 0; i < shapes.size(); ++i) {
    text.ins.push_back(f32(shapes[i]));
    text.outs.push_back(f32({shapes[i][1]}));
    text.body += sumOf(i, "%" + std::to_string(i), shapes[i], 0);
    results += (i ? ", %s" : "%s") + std::to_string(i);
  }
  text.body += "=> " + results;
  return text;
}

/// Row r is summed by share r % shares, then the shares one after the other.
float sumOfShares(const Tensor &x, int64_t column, int64_t shares) {
  std::vector<float> sums(shares);
  for (int64_t row = 0; row < x.shape[0]; ++row)
    sums[row % shares] += (float)x.values[row * x.shape[1] + column];
  float sum = sums[0];
  for (int64_t share = 1; share < shares; ++share)
    sum += sums[share];
  return sum;
}

struct Shared {
  std::vector<std::vector<int64_t>> shapes;
  int64_t shares, blocks;
};

TEST(GpuSums, ColumnsAreSharedInTheStatedOrder) {
  for (const Shared &each : {Shared{{{15, 33}}, 1, 1},
                             {{{16, 33}}, 2, 2},
                             {{{129, 2}}, 16, 1},
                             {{{1024, 100}}, 16, 4},
                             {{{1000, 64}, {1000, 64}}, 16, 2},
                             {{{256, 96}, {5, 40}, {1024, 32}, {77, 1}}, 16, 7}}) {
    KernelText text = sumsOfColumns(each.shapes);
    SCOPED_TRACE(text.body);
    Tensors ins;
    for (size_t i = 0; i < each.shapes.size(); ++i)
      ins.push_back(randomTensor(each.shapes[i], i + 1));
    SimulatedKernel gpu(text);
    ASSERT_TRUE(gpu.hasCode()) << gpu.problem;
    Tensors first = gpu.run(ins, 1);
    ASSERT_EQ(gpu.problem, "");
    EXPECT_EQ(gpu.blocks, each.blocks);
    for (size_t k = 0; k < ins.size(); ++k)
      for (int64_t column = 0; column < each.shapes[k][1]; ++column)
        ASSERT_EQ((float)first[k].values[column], sumOfShares(ins[k], column, each.shares)) << k << ", " << column;
    expectSameBits(gpu.run(ins, 2), first);
    EXPECT_EQ(gpu.problem, "");
  }
}

TEST(GpuSums, MayBeAddedToWhatIsThere) {
  KernelText text = sumsOfColumns({{64, 40}, {32, 7}});
  text.accumulate = 2;
  Tensors ins = makeInputs(text), before{randomTensor({40}, 5), randomTensor({7}, 6)};
  SimulatedKernel gpu(text);
  Tensors sums = gpu.run(ins, 1, before, false), added = gpu.run(ins, 1, before, true);
  ASSERT_EQ(gpu.problem, "");
  for (size_t k = 0; k < sums.size(); ++k)
    for (size_t i = 0; i < sums[k].values.size(); ++i)
      ASSERT_EQ((float)added[k].values[i], (float)sums[k].values[i] + (float)before[k].values[i]);
}

/// What a column's sum is used for, and a sum of each row in the sum of columns, whose loop is no shared one.
TEST(GpuSums, StandAmongOtherOps) {
  std::string x = tensor({64, 48}), rows = tensor({64}), columns = tensor({48});
  KernelText text{"columns", {f32({64, 48})}, {f32({48})}, ""};
  text.body = "%r = graph.reduce sum %0 dims [1] : " + x + " -> " + rows + "\n%l = graph.reshape %r : " + rows +
              " -> " + tensor({64, 1}) + "\n%b = graph.broadcast %l : " + tensor({64, 1}) + " -> " + x +
              "\n%p = graph.mul %0, %b : " + x + "\n%s = graph.reduce sum %p dims [0] : " + x + " -> " + columns +
              "\n%y = graph.neg %s : " + columns + "\n=> %y";
  Tensors ins = makeInputs(text), wanted = evaluate(text, ins);
  SimulatedKernel gpu(text);
  Tensors found = gpu.run(ins, 3);
  ASSERT_EQ(gpu.problem, "");
  for (size_t i = 0; i < wanted[0].values.size(); ++i)
    ASSERT_NEAR(found[0].values[i], wanted[0].values[i], 1e-4 * std::max(1.0, std::fabs(wanted[0].values[i])));
}

/// A norm's gradient with the sums of its weight's, and of its own columns, for each of `chunks` of rows.
KernelText normBackward(int64_t rows, int64_t size, int64_t chunks, bool sums = true) {
  std::string x = tensor({rows, size}), w = tensor({size}), m = tensor({rows}), column = tensor({rows, 1});
  std::vector<int64_t> cut{chunks, rows / chunks, size};
  KernelText text{"rows", {f32({rows, size}), f32({size}), f32({rows}), f32({rows}), f32({rows, size})}, {}, ""};
  text.outs.push_back(f32({rows, size}));
  text.body = "%dx = graph.layer_norm_backward %0, %1, %2, %3, %4 : (" + x + ", " + w + ", " + m + ", " + m + ", " + x +
              ") -> " + x + "\n";
  std::string results = "%dx";
  auto repeat = [&](const std::string &name, const std::string &value) {
    text.body += "%" + name + "c = graph.reshape " + value + " : " + m + " -> " + column + "\n%" + name +
                 " = graph.broadcast %" + name + "c : " + column + " -> " + x + "\n";
  };
  if (sums) {
    repeat("mean", "%2");
    repeat("rstd", "%3");
    text.body += "%d = graph.sub %0, %mean : " + x + "\n%n = graph.mul %d, %rstd : " + x +
                 "\n%g = graph.mul %4, %n : " + x + "\n";
    for (const std::string &value : {"%g", "%4", "%dx"}) {
      size_t i = text.outs.size();
      std::string chunked = "%c" + std::to_string(i);
      text.body +=
          chunked + " = graph.reshape " + value + " : " + x + " -> " + tensor(cut) + "\n" + sumOf(i, chunked, cut, 1);
      text.outs.push_back(f32({chunks, size}));
      results += ", %s" + std::to_string(i);
    }
  }
  text.body += "=> " + results;
  return text;
}

float sumOfChunk(const std::vector<float> &values, int64_t size, int64_t perChunk, int64_t chunk, int64_t column) {
  float sum = 0;
  for (int64_t row = chunk * perChunk; row < (chunk + 1) * perChunk; ++row)
    sum += values[row * size + column];
  return sum;
}

/// In warps and in blocks, of which some are not full; chunks of one row and of all of them.
TEST(GpuSums, RowsSumColumnsOnTheirWay) {
  struct Shape {
    int64_t rows, size, chunks;
  };
  for (auto [rows, size, chunks] :
       {Shape{12, 8, 3}, {12, 768, 6}, {10, 1000, 5}, {6, 1600, 2}, {6, 4096, 1}, {5, 1024, 5}, {4, 40, 4}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(size) + " in " + std::to_string(chunks));
    KernelText text = normBackward(rows, size, chunks);
    Tensors ins = makeInputs(text);
    SimulatedKernel gpu(text), alone(normBackward(rows, size, chunks, false));
    ASSERT_TRUE(gpu.hasCode()) << gpu.problem;
    Tensors first = gpu.run(ins, 1);
    ASSERT_EQ(gpu.problem, "");
    expectSameBits({first[0]}, alone.run(ins, 1));
    std::vector<float> terms[3];
    for (int64_t i = 0; i < rows * size; ++i) {
      float normal = ((float)ins[0].values[i] - (float)ins[2].values[i / size]) * (float)ins[3].values[i / size];
      terms[0].push_back((float)ins[4].values[i] * normal);
      terms[1].push_back((float)ins[4].values[i]);
      terms[2].push_back((float)first[0].values[i]);
    }
    for (size_t k = 0; k < 3; ++k)
      for (int64_t i = 0; i < chunks * size; ++i)
        ASSERT_EQ((float)first[k + 1].values[i], sumOfChunk(terms[k], size, rows / chunks, i / size, i % size))
            << "sum " << k << ", element " << i;
    expectSameBits(gpu.run(ins, 2), first);
    expectSameBits(gpu.run(ins, 3, {}, false, 4), first); // over dy, as a program has it
    EXPECT_EQ(gpu.problem, "");
  }
}

/// A row need not have values of its own: what made them was read by nobody.
TEST(GpuSums, OfElementsAlone) {
  std::string x = tensor({6, 40}), cut = tensor({2, 3, 40});
  KernelText text{"rows", {f32({6, 40})}, {f32({2, 40}), f32({6, 40})}, ""};
  text.body = "%c = graph.reshape %0 : " + x + " -> " + cut + "\n" + sumOf(0, "%c", {2, 3, 40}, 1) +
              "%y = graph.neg %0 : " + x + "\n=> %s0, %y";
  Tensors ins = makeInputs(text), wanted = evaluate(text, ins);
  SimulatedKernel gpu(text);
  ASSERT_TRUE(gpu.hasCode()) << gpu.problem;
  Tensors found = gpu.run(ins, 1);
  ASSERT_EQ(gpu.problem, "");
  for (size_t i = 0; i < wanted[0].values.size(); ++i)
    ASSERT_NEAR(found[0].values[i], wanted[0].values[i], 1e-6);
  expectSameBits({found[1]}, {wanted[1]});
}

/// Rows of a block with a value each, of which nothing but the columns' sums is stored: a warp that is ahead in the next row does not
/// overwrite what another one still reads of this row's value.
TEST(GpuSums, OfProductsWithTheRowsLargest) {
  constexpr int64_t rows = 8, size = 2048;
  std::string x = tensor({rows, size}), m = tensor({rows}), column = tensor({rows, 1}), cut = tensor({1, rows, size});
  KernelText text{"rows", {f32({rows, size})}, {f32({1, size})}, ""};
  text.body = "%m = graph.reduce max %0 dims [1] : " + x + " -> " + m + "\n%l = graph.reshape %m : " + m + " -> " +
              column + "\n%b = graph.broadcast %l : " + column + " -> " + x + "\n%p = graph.mul %0, %b : " + x +
              "\n%c = graph.reshape %p : " + x + " -> " + cut + "\n" + sumOf(0, "%c", {1, rows, size}, 1) + "=> %s0";
  Tensors ins = makeInputs(text), wanted = evaluate(text, ins);
  SimulatedKernel gpu(text);
  ASSERT_TRUE(gpu.hasCode()) << gpu.problem;
  for (uint64_t seed : {1, 2, 3}) {
    Tensors found = gpu.run(ins, seed);
    ASSERT_EQ(gpu.problem, "");
    for (size_t i = 0; i < wanted[0].values.size(); ++i)
      ASSERT_NEAR(found[0].values[i], wanted[0].values[i], 1e-4 * std::max(1.0, std::fabs(wanted[0].values[i])));
  }
}

TEST(GpuSums, RowsThatNobodyKeepsAreRefused) {
  SimulatedKernel gpu(normBackward(4, 33000, 2));
  EXPECT_FALSE(gpu.hasCode());
  EXPECT_NE(gpu.problem.find("column sums over rows of 33000 elements"), std::string::npos) << gpu.problem;
}

/// Takes the first barrier of a block away.
void removeBarrier(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
          call && call->getIntrinsicID() == llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all) {
        call->eraseFromParent();
        return;
      }
}

TEST(GpuSums, AMissingBarrierIsFound) {
  for (const KernelText &text : {sumsOfColumns({{64, 40}}), normBackward(6, 1600, 2)}) {
    SCOPED_TRACE(text.body);
    Tensors ins = makeInputs(text);
    SimulatedKernel damaged(text, removeBarrier);
    ASSERT_TRUE(damaged.hasCode()) << damaged.problem;
    damaged.run(ins, 1);
    bool isEarly = damaged.problem.find("of shared memory that was never written") != std::string::npos;
    EXPECT_TRUE(isEarly || damaged.problem.find("the two accesses are not ordered") != std::string::npos)
        << damaged.problem;
  }
}

} // namespace
