// The simulated cuBLASLt refuses what the real one refuses, says which bytes a product touches, and ends the process where
// the real one would do anything.
#include "SimulatedCublasLt.h"
#include "StandInDevice.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace xlc::runtime::cublaslt;
using namespace xlc::test;

namespace {

/// A product of 4 x 8 x 16 in f32, all plain; each test spoils one thing.
class Calls : public testing::Test {
protected:
  Calls() : library(simulatedCublasLt()) {
    standInDevice().reset();
    library.create(&handle);
    library.createMatmul(&matmul, ComputeType::F32, DataType::F32);
    library.createLayout(&a, DataType::F32, 4, 16, 4);
    library.createLayout(&b, DataType::F32, 16, 8, 16);
    library.createLayout(&d, DataType::F32, 4, 8, 4);
    library.createPreference(&preference);
  }
  ~Calls() override {
    library.destroyPreference(preference);
    for (MatrixLayout layout : {a, b, d})
      library.destroyLayout(layout);
    library.destroyMatmul(matmul);
    library.destroy(handle);
  }

  Status choose() { return library.choose(handle, matmul, a, b, d, d, preference, 8, choices, &count); }
  Status multiply(size_t bytes = 1 << 20) {
    return library.multiply(handle, matmul, &one, memory, a, memory + 256, b, &zero, memory + 512, d, memory + 512, d,
                            &choices[0].algorithm, workspace, bytes, nullptr);
  }
  template <class Value> Status allow(PreferenceAttribute attribute, Value value) {
    return library.setPreference(preference, attribute, &value, sizeof value);
  }
  void replace(MatrixLayout &layout, DataType type, uint64_t rows, uint64_t columns, int64_t leading) {
    library.destroyLayout(layout);
    library.createLayout(&layout, type, rows, columns, leading);
  }

  Library library;
  Handle handle = nullptr;
  MatmulDesc matmul = nullptr;
  MatrixLayout a = nullptr, b = nullptr, d = nullptr;
  Preference preference = nullptr;
  Choice choices[8] = {};
  int count = 0;
  float one = 1, zero = 0;
  alignas(256) float memory[1024] = {};
  alignas(256) float workspace[128] = {};
};

TEST_F(Calls, APlainProductHasAlgorithmsWithinTheWorkspace) {
  ASSERT_EQ(choose(), Status::Success);
  EXPECT_EQ(count, 2) << "none is allowed yet";
  allow(PreferenceAttribute::MostWorkspace, uint64_t(256));
  choose();
  ASSERT_EQ(count, 3);
  EXPECT_EQ(choices[0].workspace, 256u);
  EXPECT_EQ(choices[1].workspace, 0u);
  allow(PreferenceAttribute::Reductions, Reductions::None);
  choose();
  EXPECT_EQ(count, 2) << "the first adds parts up";
}

TEST_F(Calls, AlignmentDecidesWhichAlgorithmsThereAre) {
  allow(PreferenceAttribute::AlignmentB, uint32_t(4));
  choose();
  EXPECT_EQ(count, 1);
  ASSERT_EQ(multiply(), Status::Success);
  allow(PreferenceAttribute::AlignmentB, uint32_t(2));
  EXPECT_EQ(choose(), Status::NotSupported) << "no element is so aligned";
}

TEST_F(Calls, ColumnsWhoseAddressesAreOddCountToo) {
  replace(a, DataType::F32, 4, 16, 5);
  choose();
  EXPECT_EQ(count, 1);
}

TEST_F(Calls, SizesThatDoNotFitAreRefused) {
  replace(b, DataType::F32, 15, 8, 16);
  EXPECT_EQ(choose(), Status::InvalidValue);
  replace(b, DataType::F32, 16, 8, 15);
  EXPECT_EQ(choose(), Status::InvalidValue) << "columns lie over each other";
  replace(b, DataType::F32, 16, 8, 16);
  ASSERT_EQ(choose(), Status::Success);
  int32_t two = 2;
  library.setLayout(d, LayoutAttribute::BatchCount, &two, sizeof two);
  EXPECT_EQ(choose(), Status::InvalidValue) << "the others are no batch";
}

TEST_F(Calls, TypesThatTheLibraryDoesNotMultiplyAreRefused) {
  replace(b, DataType::BF16, 16, 8, 16);
  EXPECT_EQ(choose(), Status::NotSupported) << "f32 by bf16";
  replace(a, DataType::BF16, 4, 16, 4);
  EXPECT_EQ(choose(), Status::Success) << "bf16, to f32";
  replace(d, DataType::F16, 4, 8, 4);
  EXPECT_EQ(choose(), Status::NotSupported) << "bf16, to f16";
}

TEST_F(Calls, WhatTheAlgorithmWasNotToldIsRefused) {
  allow(PreferenceAttribute::MostWorkspace, uint64_t(256));
  choose();
  ASSERT_EQ(multiply(256), Status::Success);
  EXPECT_EQ(multiply(255), Status::InvalidValue);
  EXPECT_EQ(library.multiply(handle, matmul, &one, memory + 1, a, memory, b, &zero, memory + 512, d, memory + 512, d,
                             &choices[0].algorithm, workspace, 256, nullptr),
            Status::InvalidValue)
      << "a is not aligned";
  EXPECT_EQ(library.multiply(handle, matmul, &one, nullptr, a, memory, b, &zero, memory + 512, d, memory + 512, d,
                             &choices[0].algorithm, workspace, 256, nullptr),
            Status::InvalidValue);
  EXPECT_EQ(library.multiply(handle, matmul, &one, memory, a, memory, b, &zero, memory + 512, d, memory + 512, d,
                             &choices[0].algorithm, workspace + 1, 256, nullptr),
            Status::InvalidValue);
  EXPECT_EQ(standInDevice().queue.size(), 1u) << "what is refused is not queued";
}

TEST_F(Calls, ABiasWithoutAnAddressIsRefused) {
  Epilogue bias = Epilogue::Bias;
  library.setMatmul(matmul, MatmulAttribute::Epilogue, &bias, sizeof bias);
  ASSERT_EQ(choose(), Status::Success);
  EXPECT_EQ(multiply(), Status::InvalidValue);
}

TEST_F(Calls, SettingsThatNothingHereUsesAreNotSupported) {
  int32_t deviceVector = 2, rowMajor = 1;
  library.setLayout(a, (LayoutAttribute)1, &rowMajor, sizeof rowMajor);
  EXPECT_EQ(choose(), Status::NotSupported);
  replace(a, DataType::F32, 4, 16, 4);
  library.setMatmul(matmul, (MatmulAttribute)2, &deviceVector, sizeof deviceVector);
  EXPECT_EQ(choose(), Status::NotSupported);
}

TEST_F(Calls, NothingInTheWorkspaceCanBeUsedAfterwards) {
  allow(PreferenceAttribute::MostWorkspace, uint64_t(256));
  choose();
  multiply();
  EXPECT_EQ(workspace[0], 0) << "it runs later";
  standInDevice().finish();
  EXPECT_TRUE(std::isnan(workspace[0]) && std::isnan(workspace[63]));
  EXPECT_EQ(workspace[64], 0);
}

TEST_F(Calls, SayWhichBytesTheyTouch) {
  replace(b, DataType::F32, 16, 8, 20);
  replace(d, DataType::F32, 4, 8, 8);
  choose();
  multiply();
  const xlc::simulate::Work &work = standInDevice().queue.at(0);
  EXPECT_EQ(work.name, "cublasLtMatmul 4 x 8 x 16");
  ASSERT_EQ(work.reads.size(), 1u + 8) << "a is dense, b has gaps, and c is not read";
  EXPECT_EQ(work.reads[0].begin, memory);
  EXPECT_EQ(work.reads[0].bytes, 4u * 16 * 4);
  EXPECT_EQ(work.reads[2].begin, memory + 256 + 20);
  EXPECT_EQ(work.reads[2].bytes, 16u * 4);
  ASSERT_EQ(work.writes.size(), 8u);
  EXPECT_EQ(work.writes[7].begin, memory + 512 + 7 * 8);
  EXPECT_EQ(work.writes[7].bytes, 4u * 4);
  zero = 1;
  multiply();
  EXPECT_EQ(standInDevice().queue.at(1).reads.size(), 1u + 8 + 8) << "c is read";
}

using EndedCalls = Calls;

TEST_F(EndedCalls, AnAlgorithmOfAnotherProduct) {
  choose();
  replace(b, DataType::F32, 16, 7, 16);
  replace(d, DataType::F32, 4, 7, 4);
  EXPECT_EXIT(multiply(), testing::ExitedWithCode(70),
              "simulated device: cublasLtMatmul received an algorithm that was chosen for another product");
}

TEST_F(EndedCalls, ADescriptorThatWasDestroyed) {
  choose();
  MatrixLayout gone = nullptr;
  library.createLayout(&gone, DataType::F32, 4, 16, 4);
  library.destroyLayout(gone);
  std::swap(a, gone);
  EXPECT_EXIT(multiply(), testing::ExitedWithCode(70),
              "simulated device: cublasLtMatmul received an invalid handle or descriptor");
  std::swap(a, gone);
}

} // namespace
