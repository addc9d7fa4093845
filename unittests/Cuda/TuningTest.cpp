// Files of tuned products: what they say is what products take, and what they do not say is refused. Times are taken in
// test/Device/tuning.test.
#include "Cuda/Tuning.h"
#include "Failure.h"
#include "Said.h"
#include "SimulatedCublasLt.h"
#include "StandInDevice.h"

#include <gtest/gtest.h>

using namespace xlc::runtime;
using namespace xlc::runtime::cuda;
using namespace xlc::test;

namespace {

const ContractShape shape{64, 32, 16, 16, 1, 32, 1, 32, 1, {}};
constexpr uint64_t scratch = 1 << 16;

class TuningFiles : public testing::Test {
protected:
  void SetUp() override { standInDevice().reset(); }

  Product prepare(uint64_t workspace = scratch) const {
    return products.prepare("layer", shape, workspace, {256, 256, 1, 1, 256});
  }
  /// Of one product, which takes the number-th of its algorithms.
  Tuning make(size_t number) const {
    Product product = prepare();
    return make(product.description(), product.algorithms()[number].algorithm);
  }
  Tuning make(const std::string &description, const cublaslt::Algorithm &algorithm) const {
    Tuning tuning("a device", products.version());
    std::string record;
    for (uint64_t word : algorithm.data)
      for (int shift = 60; shift >= 0; shift -= 4)
        record += "0123456789abcdef"[word >> shift & 15];
    tuning.products[description] = {record, 1.5F, 2};
    return tuning;
  }

  Products products{simulatedCublasLt()};
};

TEST_F(TuningFiles, ProductsTakeWhatIsWritten) {
  for (size_t number : {0, 1, 2}) {
    Tuning read = Tuning::read("a file", make(number).write());
    Product product = prepare();
    ASSERT_EQ(product.algorithms().size(), 3U);
    read.check("a device", products.version());
    read.apply("layer", product);
    EXPECT_EQ(product.workspace(), number == 0 ? uint64_t(64 * 32 * 4) : 0);
    std::vector<float> memory(3 * 64 * 32 + 64);
    auto *at = (char *)(((uintptr_t)memory.data() + 255) / 256 * 256);
    // The last one alone takes addresses of any kind.
    auto run = [&] { product.run({at + 4, at + 4, nullptr, nullptr, at + 4}, false, at, nullptr); };
    if (number == 2)
      run();
    else
      EXPECT_THROW(run(), DeviceFailure);
  }
}

TEST_F(TuningFiles, EqualProductsHaveEqualDescriptions) {
  EXPECT_EQ(prepare().description(), prepare().description());
  EXPECT_NE(prepare().description(), prepare(scratch / 2).description());
  EXPECT_EQ(prepare().description(),
            "64 x 32 x 16, f32, a 16:1, b 32:1, y 32:1, aligned 256:256:1:1:256, workspace 65536");
}

TEST_F(TuningFiles, SpansReachFromTheFirstElementToTheLast) {
  ContractShape batched = shape;
  batched.batch = {{3, 1024, 0, 4096}};
  batched.operands = FloatType::BF16;
  Product product = products.prepare("layer", batched, scratch, {256, 256, 1, 1, 256});
  EXPECT_EQ(product.spans().a, (2 * 1024 + 64 * 16) * 2);
  EXPECT_EQ(product.spans().b, 16 * 32 * 2);
  EXPECT_EQ(product.spans().bias, 0);
  EXPECT_EQ(product.spans().y, (2 * 4096 + 64 * 32) * 4);
}

TEST_F(TuningFiles, OtherFilesAreRefused) {
  auto saidOf = [&](const std::string &text) { return messageOf<Rejected>([&] { Tuning::read("a file", text); }); };
  const std::string none = "not a tuning file: it must have 'gpu', 'cublaslt' and 'products'";
  for (const char *text : {"", "[]", "{", "{\"gpu\": 1, \"cublaslt\": \"12\", \"products\": []}",
                           "{\"gpu\": \"a\", \"cublaslt\": \"12\", \"products\": {}}"})
    EXPECT_NE(saidOf(text).find(none), std::string::npos) << text << ": " << saidOf(text);
  EXPECT_NE(saidOf(R"({"gpu": "a", "cublaslt": "12", "products": [{"product": "p"}]})")
                .find("entry 1 of 'products' must have 'product' and 'algorithm'"),
            std::string::npos);
  std::string twice = R"({"product": "p", "algorithm": "0"})";
  EXPECT_NE(saidOf(R"({"gpu": "a", "cublaslt": "12", "products": [)" + twice + "," + twice + "]}")
                .find("'products' has the product p twice"),
            std::string::npos);
}

TEST_F(TuningFiles, OtherDevicesProgramsAndLibrariesAreRefused) {
  Tuning tuning = make(1);
  EXPECT_NE(messageOf<Rejected>([&] {
              tuning.check("another", products.version());
            }).find("it is for a device and cuBLASLt 12.9.1, but this machine has another and cuBLASLt 12.9.1"),
            std::string::npos);
  EXPECT_THROW(tuning.check("a device", "13.0.0"), Rejected);
  Product other = prepare(scratch / 2);
  EXPECT_NE(messageOf<Rejected>([&] {
              tuning.apply("layer", other);
            }).find("it has no entry for the product of call 'layer', 64 x 32 x 16, f32"),
            std::string::npos);
  std::string &record = tuning.products.begin()->second.algorithm;
  for (std::string wrong : {record.substr(1), "x" + record.substr(1), "0000000000ffffff" + record.substr(16)}) {
    Product product = prepare();
    record = wrong;
    EXPECT_NE(messageOf<Rejected>([&] {
                tuning.apply("layer", product);
              }).find("cuBLASLt 12.9.1 does not accept the recorded algorithm for call 'layer'"),
              std::string::npos)
        << wrong;
  }
}

/// The library may propose others today. It says whether one runs, and with how much memory.
TEST_F(TuningFiles, AnAlgorithmThatIsNoLongerProposedIsAskedFor) {
  Product all = prepare(), few = prepare(0);
  ASSERT_EQ(few.algorithms().size(), 2U); // one wants workspace
  EXPECT_FALSE(few.restore(all.algorithms()[0].algorithm));
  EXPECT_TRUE(few.restore(all.algorithms()[1].algorithm));
  EXPECT_EQ(few.algorithms().size(), 3U);
  EXPECT_EQ(few.workspace(), 0U);
  Product unaligned = products.prepare("layer", shape, 0, {4, 4, 1, 1, 4});
  ASSERT_EQ(unaligned.algorithms().size(), 1U);
  make(unaligned.description(), all.algorithms()[1].algorithm).apply("layer", unaligned);
  EXPECT_EQ(unaligned.algorithms().size(), 2U);
}

} // namespace
