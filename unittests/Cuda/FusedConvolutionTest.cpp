// Graphs of convolutions, finalised by cuDNN as FusedAttentionTest.cpp does: an engine that multiplies numbers as they are needs no more
// workspace than the plan has for a product.
#include "Cuda/FusedConvolution.h"
#include "Chips.h"

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

using Kind = ConvolutionShape::Kind;

struct Case {
  const char *layer;
  int64_t batch, groups, inputs, outputs;
  WindowDim dim; ///< of both dimensions
};
constexpr Case cases[] = {
    {"ResNet's first", 64, 1, 3, 64, {224, 112, 7, 2, 1, 3}},
    {"ResNet's 3 x 3", 64, 1, 128, 128, {28, 28, 3, 1, 1, 1}},
    {"ResNet's 1 x 1", 64, 1, 256, 512, {56, 28, 1, 2, 1, 0}},
    {"depthwise", 64, 32, 1, 1, {112, 112, 3, 1, 1, 1}},
    {"ResNeXt's groups", 32, 32, 4, 4, {56, 56, 3, 1, 1, 1}},
    {"dilated", 8, 1, 16, 16, {32, 32, 3, 1, 2, 2}},
    {"padded behind", 16, 1, 16, 16, {32, 16, 3, 2, 1, 0}},
    {"ViT's patches", 64, 1, 3, 768, {224, 14, 16, 16, 1, 0}},
};
constexpr int64_t workspace = 4 << 20;

using FusedConvolutionTest = CudnnTest;

/// Sixteen bits are not added to.
TEST_F(FusedConvolutionTest, HasEngines) {
  for (const Chip &chip : chips)
    for (const Case &c : cases)
      for (Kind kind : {Kind::Forward, Kind::Transpose, Kind::WeightBackward})
        for (auto [type, adds] : {std::pair(FloatType::F32, false),
                                  {FloatType::F32, true},
                                  {FloatType::BF16, false},
                                  {FloatType::F16, false}}) {
          cudnn::OwnedDescriptor properties = describe(chip);
          ConvolutionShape shape{kind, c.batch, c.groups, c.inputs, c.outputs, {c.dim, c.dim}, type};
          EXPECT_NE(
              cudnn::FusedConvolution::tryMake(library, {nullptr, properties.get()}, c.layer, shape, adds, workspace),
              nullptr)
              << c.layer << " on sm_" << chip.capability << ", kind " << (int)kind << ", type " << (int)type
              << (adds ? ", added" : "");
        }
}

} // namespace
