// Products that cuBLASLt does not do are refused before the first step, by the name of the call; what fails says which function
// it was; and whatever happens, nothing stays behind.
#include "Cuda/Products.h"
#include "Failure.h"
#include "Said.h"
#include "SimulatedCublasLt.h"
#include "StandInDevice.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

constexpr ProductAlignment most = {256, 256, 256, 256, 256};

/// Row-major and dense.
ContractShape dense(int64_t m, int64_t n, int64_t k) { return {m, n, k, k, 1, n, 1, n, 1, {}}; }

std::string refusalOf(const ContractShape &shape, uint64_t budget = 1 << 20) {
  standInDevice().reset();
  Products products(simulatedCublasLt());
  return messageOf<Rejected>([&] { products.prepare("layer[3]", shape, budget, most); });
}

TEST(ProductRefusals, AMatrixWithoutAStrideOfOne) {
  ContractShape shape = dense(4, 5, 6);
  shape.aK = 2, shape.aM = 12;
  EXPECT_EQ(refusalOf(shape), "error: call 'layer[3]', a product of 4 x 5 x 6 in f32: cuBLASLt requires a dimension "
                              "with stride 1, but 'a' has none");
  shape = dense(4, 5, 6);
  shape.bK = 3;
  EXPECT_NE(refusalOf(shape).find("'b' has none"), std::string::npos) << "its rows lie over each other";
  shape = dense(4, 5, 6);
  shape.yN = 2, shape.yM = 10;
  EXPECT_NE(refusalOf(shape).find("'y' has none"), std::string::npos);
}

TEST(ProductRefusals, ABiasAlongTheColumnsOfCublasLt) {
  ContractShape shape = dense(4, 5, 6);
  shape.yM = 1, shape.yN = 4, shape.epilogue.bias = true;
  EXPECT_EQ(refusalOf(shape), "error: call 'layer[3]', a product of 4 x 5 x 6 in f32: cuBLASLt supports epilogues only "
                              "for row-major results, but this result is column-major");
}

TEST(ProductRefusals, AnEmptyProduct) {
  EXPECT_EQ(refusalOf(dense(4, 5, 0)), "error: call 'layer[3]', a product of 4 x 5 x 0 in f32: the product is empty");
}

TEST(ProductRefusals, WhatTheLibraryHasNoAlgorithmFor) {
  ContractShape shape = dense(int64_t(3) << 30, 1, 1);
  shape.operands = FloatType::BF16;
  EXPECT_EQ(refusalOf(shape, 4096),
            "error: call 'layer[3]', a product of 3221225472 x 1 x 1 in bf16 to f32: cuBLASLt 12.9.1 "
            "has no algorithm for this product within 4096 bytes of workspace");
}

TEST(ProductRefusals, ABatchOfMoreThanTheLibraryCounts) {
  ContractShape shape = dense(1, 1, 1);
  shape.batch = {{int64_t(3) << 30, 1, 1, 1}};
  EXPECT_NE(refusalOf(shape).find("a batch of 3221225472 is too large for cuBLASLt"), std::string::npos);
}

TEST(Products, TakeTheQuickestAlgorithmWhoseWorkspaceFits) {
  standInDevice().reset();
  Products products(simulatedCublasLt());
  ContractShape shape = dense(64, 32, 16);
  constexpr uint64_t sums = 4UL * 64 * 32;
  EXPECT_EQ(products.prepare("it", shape, sums, most).workspace(), sums);
  EXPECT_EQ(products.prepare("it", shape, sums - 1, most).workspace(), 0u);
}

/// Of a batch of [8, 4] heads, those dimensions that lie evenly are one; the others are a call for each.
TEST(Products, LoopOverWhatIsNoStridedBatch) {
  standInDevice().reset();
  Products products(simulatedCublasLt());
  auto callsOf = [&](std::vector<ContractShape::Batch> batch) {
    ContractShape shape = dense(2, 2, 2);
    shape.batch = std::move(batch);
    Product product = products.prepare("it", shape, 0, most);
    std::vector<float> memory(1000);
    product.run({memory.data(), memory.data(), nullptr, nullptr, memory.data()}, false, nullptr, nullptr);
    size_t calls = standInDevice().queue.size();
    standInDevice().queue.clear();
    return calls;
  };
  EXPECT_EQ(callsOf({}), 1u);
  EXPECT_EQ(callsOf({{8, 16, 16, 16}, {4, 4, 4, 4}}), 1u);
  EXPECT_EQ(callsOf({{8, 16, 0, 16}, {4, 4, 4, 4}}), 4u);
  EXPECT_EQ(callsOf({{3, 0, 0, 4}, {1, 5, 5, 5}, {8, 8, 8, 16}}), 3u);
}

/// Opens, prepares with all that there is to set, and runs.
void doAll() {
  Products products(simulatedCublasLt());
  ContractShape shape = dense(3, 4, 5);
  shape.epilogue.bias = true, shape.batch = {{2, 15, 20, 12}};
  Product biased = products.prepare("layer[3]", shape, 0, most);
  shape.epilogue.bias = false, shape.operands = shape.result = FloatType::F16;
  Product narrow = products.prepare("layer[3]", shape, 0, most);
  alignas(256) float memory[100] = {};
  biased.run({memory, memory, memory, nullptr, memory}, false, nullptr, nullptr);
  narrow.run({memory, memory, nullptr, nullptr, memory}, false, nullptr, nullptr);
}

TEST(ProductFailures, EachNamesItsFunctionAndLeavesNothingBehind) {
  std::set<std::string> seen;
  for (int64_t call = 1;; ++call) {
    standInDevice().reset(call);
    std::string said;
    try {
      doAll();
    } catch (const std::runtime_error &problem) {
      said = problem.what();
    }
    const std::string &failed = standInDevice().failed;
    EXPECT_EQ(countObjects(), 0u) << failed;
    if (failed.empty())
      break;
    seen.insert(failed);
    bool isEnd = failed.find("Destroy") != std::string::npos; // nobody to tell
    if (failed == "cublasLtGetVersion")
      EXPECT_NE(said.find("error: cuBLASLt has version 0.0.0 ("), std::string::npos) << said;
    else
      EXPECT_EQ(said.find(failed + " failed for "), isEnd ? std::string::npos : 0) << said;
  }
  EXPECT_EQ(seen.size(), 14u) << "all functions but cublasLtGetStatusString, which only failures call";
}

TEST(ProductFailures, SayTheStatusInTheLibrarysWords) {
  standInDevice().reset(2); // the first asks for the version
  EXPECT_EQ(messageOf<std::runtime_error>([] { Products products(simulatedCublasLt()); }),
            "cublasLtCreate failed for this device: status 1, simulated failure");
}

TEST(ProductFailures, AnOldLibraryIsRefused) {
  standInDevice().reset(1);
  std::string said = messageOf<Rejected>([] { Products products(simulatedCublasLt()); });
  EXPECT_NE(said.find(", but programs need 12.0 or later: install the CUDA toolkit"), std::string::npos) << said;
}

} // namespace
