// Calls on the threads of a rank: every kind of kernel gives the same result on 1 to 4 threads.
#include "Cpu/Kernels.h"
#include "Elements.h"
#include "Plan/Shapes.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

using namespace xlc::runtime;
using namespace xlc::test;
namespace plan = xlc::plan;

namespace {

/// One kernel and one call of it, on memory of floats.
struct OneCall {
  Plan plan;
  std::vector<std::vector<float>> ins, outs;
  std::vector<uint8_t> accumulate;

  OneCall(std::vector<std::vector<float>> ins, std::vector<std::vector<float>> outs)
      : ins(std::move(ins)), outs(std::move(outs)) {
    plan.kernels.push_back(std::make_unique<plan::KernelT>());
    plan.functions.push_back(std::make_unique<plan::FunctionT>());
    auto call = std::make_unique<plan::CallT>();
    call->name = "call";
    for (const auto &in : this->ins)
      call->ins.emplace_back(0, 0), call->in_bytes.push_back(in.size() * 4);
    for (const auto &out : this->outs)
      call->outs.emplace_back(0, 0), call->out_bytes.push_back(out.size() * 4),
          call->accumulate.push_back(plan::Accumulate::Later);
    accumulate.resize(this->outs.size());
    plan.functions[0]->calls.push_back(std::move(call));
  }
  plan::KernelT &kernel() { return *plan.kernels[0]; }
  plan::CallT &call() { return *plan.functions[0]->calls[0]; }

  std::vector<std::vector<float>> run(int threads, int64_t workspaceBytes, const XlcKernel *codes = nullptr) {
    std::vector<std::vector<float>> results = outs;
    std::vector<char> memory(workspaceBytes + 64);
    char *workspace = (char *)(((uintptr_t)memory.data() + 63) / 64 * 64);
    call().workspace_bytes = workspaceBytes;
    call().workspace.clear();
    if (workspaceBytes)
      call().workspace.emplace_back(0, 0);
    std::vector<char *> operands;
    for (auto &in : ins)
      operands.push_back((char *)in.data());
    for (auto &result : results)
      operands.push_back((char *)result.data());
    ThreadPool pool(threads, 50);
    Kernels kernels(plan, codes, pool);
    kernels.prepare(call());
    kernels.run(call(), {operands.data(), accumulate.data(), workspace});
    return results;
  }
};

std::vector<float> waves(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = std::sin((float)i * 0.7f);
  return values;
}

TEST(Kernels, ContractionsAgreeOnAnyNumberOfThreads) {
  OneCall one({waves(150 * 90), waves(90 * 130), waves(130)}, {waves(150 * 130)});
  plan::ContractT contract;
  contract.m = 150, contract.n = 130, contract.k = 90, contract.bias = true;
  contract.a_m = 1, contract.a_k = 150, contract.b_k = 130, contract.b_n = 1, contract.y_m = 130, contract.y_n = 1;
  one.kernel().library.Set(std::move(contract));
  for (uint8_t add : {0, 1}) {
    one.accumulate = {add};
    auto expected = one.run(1, 1 << 20);
    for (int threads : {2, 3, 4}) {
      auto actual = one.run(threads, 4 << 20);
      for (size_t i = 0; i < expected[0].size(); ++i)
        ASSERT_NEAR(actual[0][i], expected[0][i], 2e-5) << threads;
    }
  }
}

/// Threads pack parts of one operand before they multiply, within the planned workspace.
TEST(Kernels, ProductsOfBf16HaveTheSameBitsOnAnyNumberOfThreads) {
  int64_t m = 300, n = 200, k = 300;
  auto numbers = [](int64_t elements) {
    Elements narrow(FloatType::BF16, waves(elements));
    std::vector<float> pairs(elements / 2);
    std::memcpy(pairs.data(), narrow.data(), elements * 2);
    return pairs;
  };
  OneCall one({numbers(m * k), numbers(k * n)}, {std::vector<float>(m * n)});
  plan::ContractT contract;
  contract.m = m, contract.n = n, contract.k = k, contract.operands = plan::Element::BF16;
  contract.a_m = 1, contract.a_k = m, contract.b_k = n, contract.b_n = 1, contract.y_m = n, contract.y_n = 1;
  one.kernel().library.Set(contract);
  auto workspace = [&](int threads) { return contractWorkspace(shapeOf(contract), threads); };
  auto expected = one.run(1, workspace(1));
  for (int threads : {2, 3, 4})
    EXPECT_EQ(one.run(threads, workspace(threads)), expected) << threads;
}

TEST(Kernels, AttentionHasTheSameBitsOnAnyNumberOfThreads) {
  uint64_t batch = 2, positions = 300, heads = 3, d = 8;
  std::vector<float> tensor = waves(batch * positions * heads * d);
  OneCall one({tensor, tensor, tensor}, {tensor, waves(2 * batch * heads * positions)}); // the second is of doubles
  plan::AttentionT attention;
  attention.causal = true, attention.scale = 0.3, attention.batch = batch,
  attention.queries = attention.keys = positions;
  attention.heads = attention.groups = heads, attention.d = attention.e = d;
  for (auto *strides : {&attention.q, &attention.k, &attention.v, &attention.out})
    *strides = std::make_unique<plan::HeadStrides>((int64_t)(positions * heads * d), (int64_t)(heads * d), (int64_t)d);
  one.kernel().library.Set(std::move(attention));
  auto expected = one.run(1, 1 << 20);
  for (int threads : {2, 3, 4}) {
    auto results = one.run(threads, 4 << 20);
    for (size_t i = 0; i < results.size(); ++i) // halves of doubles may be no numbers
      EXPECT_EQ(std::memcmp(results[i].data(), expected[i].data(), results[i].size() * 4), 0) << i;
  }
}

/// Ones, two of them in the place of a float: their products are known without rounding.
TEST(Kernels, TypesOfThePlanAreThoseOfTheCalls) {
  for (auto [element, one] : {std::pair{plan::Element::BF16, 0x3f80u}, {plan::Element::F16, 0x3c00u}}) {
    std::vector<float> ones(20 * 10, std::bit_cast<float>(one << 16 | one));
    OneCall call({ones, ones}, {std::vector<float>(400)});
    plan::ContractT contract;
    contract.m = contract.n = contract.k = 20;
    contract.a_m = contract.b_k = contract.y_m = 20, contract.a_k = contract.b_n = contract.y_n = 1;
    contract.operands = element;
    call.kernel().library.Set(contract);
    EXPECT_EQ(call.run(1, 1 << 20)[0], std::vector<float>(400, 20.0f));
    call.kernel().library.AsContract()->result = element;
    uint32_t twenty = element == plan::Element::BF16 ? 0x41a0 : 0x4d00;
    std::vector<float> results = call.run(1, 1 << 20)[0];
    EXPECT_EQ(results[199], std::bit_cast<float>(twenty << 16 | twenty));
    EXPECT_EQ(results[200], 0) << "behind the end";
  }
}

/// A query of ones sees two keys alike: the value of both is what it gets.
TEST(Kernels, AttentionIsOfThePlansType) {
  for (auto [element, one] : {std::pair{plan::Element::BF16, 0x3f80u}, {plan::Element::F16, 0x3c00u}}) {
    std::vector<float> ones(8, std::bit_cast<float>(one << 16 | one));
    OneCall call({ones, ones, ones}, {std::vector<float>(8), std::vector<float>(4)});
    plan::AttentionT attention;
    attention.scale = 1, attention.batch = 1, attention.queries = attention.keys = 2;
    attention.heads = attention.groups = 1, attention.d = attention.e = 8, attention.element = element;
    for (auto *strides : {&attention.q, &attention.k, &attention.v, &attention.out})
      *strides = std::make_unique<plan::HeadStrides>(16, 8, 8);
    call.kernel().library.Set(std::move(attention));
    EXPECT_EQ(call.run(1, 1 << 20)[0], ones);
  }
}

void addOne(char *const *operands, int64_t begin, int64_t end, const uint8_t *) {
  for (int64_t i = begin; i < end; ++i)
    ((float *)operands[1])[i] = ((const float *)operands[0])[i] + 1;
}

TEST(Kernels, GeneratedCodeIsCutAtMultiplesOfItsGrain) {
  OneCall one({waves(100003)}, {std::vector<float>(100003)});
  one.kernel().code = 0, one.kernel().extent = 100003, one.kernel().grain = 16;
  const XlcKernel codes[] = {addOne};
  auto expected = one.run(1, 0, codes);
  EXPECT_EQ(expected[0][100002], one.ins[0][100002] + 1);
  for (int threads : {2, 3, 4})
    EXPECT_EQ(one.run(threads, 0, codes), expected);
}

TEST(Kernels, APlanWithTooLittleWorkspaceIsRefused) {
  OneCall one({waves(150 * 90), waves(90 * 130)}, {waves(150 * 130)});
  plan::ContractT contract;
  contract.m = 150, contract.n = 130, contract.k = 90;
  contract.a_m = 1, contract.a_k = 150, contract.b_k = 130, contract.b_n = 1, contract.y_m = 130, contract.y_n = 1;
  one.kernel().library.Set(std::move(contract));
  try {
    one.run(1, 64);
    FAIL();
  } catch (const Rejected &problem) {
    EXPECT_NE(
        std::string(problem.what())
            .find("bytes of workspace with this machine's libraries, but the plan reserves 64: compile the program "
                  "with these libraries"),
        std::string::npos);
  }
}

TEST(Kernels, ProductsWithWhatOnlyGpusDoAreRefused) {
  OneCall one({waves(16), waves(16), waves(16)}, {waves(16)});
  plan::ContractT contract;
  contract.m = contract.n = contract.k = contract.a_m = contract.b_k = contract.y_m = 4;
  contract.a_k = contract.b_n = contract.y_n = 1, contract.residual = true;
  one.kernel().library.Set(std::move(contract));
  try {
    one.run(1, 1 << 20);
    FAIL();
  } catch (const Rejected &problem) {
    EXPECT_NE(std::string(problem.what()).find("for CPUs, the only supported epilogue of a product is a bias"),
              std::string::npos);
  }
}

} // namespace
