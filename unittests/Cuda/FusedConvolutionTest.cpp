// Graphs of convolutions, finalised by cuDNN as FusedAttentionTest.cpp does: an engine that multiplies numbers as they are needs no more
// workspace than the plan has; of sixteen bits most use tensor cores.
#include "Cuda/FusedConvolution.h"
#include "Chips.h"
#include "xlc/Runtime/FusedConvolution.h"

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

using Kind = ConvolutionShape::Kind;

struct Case {
  const char *layer;
  int64_t batch, groups, inputs, outputs;
  WindowDim dim;                ///< of both dimensions
  bool isOnTensorCores = false; ///< on all devices, of sixteen bits; of the others it depends on device, type and kind
};
constexpr Case cases[] = {
    {"ResNet's first", 64, 1, 3, 64, {224, 112, 7, 2, 1, 3}},
    {"ResNet's 3 x 3", 64, 1, 128, 128, {28, 28, 3, 1, 1, 1}, true},
    {"ResNet's 1 x 1", 64, 1, 256, 512, {56, 28, 1, 2, 1, 0}},
    {"depthwise", 64, 32, 1, 1, {112, 112, 3, 1, 1, 1}},
    {"ResNeXt's groups", 32, 32, 4, 4, {56, 56, 3, 1, 1, 1}},
    {"dilated", 8, 1, 16, 16, {32, 32, 3, 1, 2, 2}},
    {"padded behind", 16, 1, 16, 16, {32, 16, 3, 2, 1, 0}},
    {"ViT's patches", 64, 1, 3, 768, {224, 14, 16, 16, 1, 0}},
};
constexpr int64_t ofProduct = 4 << 20;

using FusedConvolutionTest = CudnnTest;

/// Of all calls of a chip in bfloat16 so many use tensor cores, of 24 (cuDNN 9.28). With a product's workspace it were few.
constexpr int64_t fewestOnTensorCores = 16;

/// Sixteen bits are not added to.
TEST_F(FusedConvolutionTest, HasEngines) {
  for (const Chip &chip : chips) {
    int64_t onTensorCores = 0;
    for (const Case &c : cases)
      for (Kind kind : {Kind::Forward, Kind::Transpose, Kind::WeightBackward})
        for (auto [type, adds] : {std::pair(FloatType::F32, false),
                                  {FloatType::F32, true},
                                  {FloatType::BF16, false},
                                  {FloatType::F16, false}}) {
          cudnn::OwnedDescriptor properties = describe(chip);
          ConvolutionShape shape{kind, c.batch, c.groups, c.inputs, c.outputs, {c.dim, c.dim}, type};
          bool isNarrow = type != FloatType::F32;
          int64_t bytes = isNarrow ? std::max(ofProduct, fusedConvolutionBytes<int64_t>(shape)) : ofProduct;
          auto made =
              cudnn::FusedConvolution::tryMake(library, {nullptr, properties.get()}, c.layer, shape, adds, bytes);
          SCOPED_TRACE(fmt::format("{} on sm_{}, kind {}, type {}{}", c.layer, chip.capability, (int)kind, (int)type,
                                   adds ? ", added" : ""));
          ASSERT_NE(made, nullptr);
          if (c.isOnTensorCores || !isNarrow)
            EXPECT_EQ(made->usesTensorCores(), isNarrow);
          onTensorCores += type == FloatType::BF16 && made->usesTensorCores();
        }
    EXPECT_GE(onTensorCores, fewestOnTensorCores) << "sm_" << chip.capability;
  }
}

} // namespace
