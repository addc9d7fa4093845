// Graphs of attention, finalised by cuDNN for devices that this machine need not have, where scripts/setup --cuda has brought it:
// it has an engine for each, which asks for no more workspace than plans have.
#include "Cuda/FusedAttention.h"
#include "Chips.h"

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

struct Case {
  const char *model;
  int64_t batch, positions, heads, groups, features, window;
  bool causal, isPadded = false;
};
constexpr Case cases[] = {
    {"GPT-2 124M", 64, 1024, 12, 12, 64, 0, true},   {"Llama-3 8B", 1, 8192, 32, 8, 128, 0, true},
    {"Mistral 7B", 1, 8192, 32, 8, 128, 4096, true}, {"ViT", 8, 256, 12, 12, 64, 0, false},
    {"BERT", 32, 512, 12, 12, 64, 0, false, true},   {"GPT-2, padded", 16, 1024, 12, 12, 64, 0, true, true},
};
AttentionShape shapeOf(const Case &c, bool backward) {
  HeadStrides q{c.positions * c.heads * c.features, c.heads * c.features, c.features};
  HeadStrides k{c.positions * c.groups * c.features, c.groups * c.features, c.features};
  return {backward,
          c.causal,
          0.125,
          c.batch,
          c.positions,
          c.positions,
          c.heads,
          c.groups,
          c.features,
          c.features,
          q,
          k,
          k,
          q,
          q,
          q,
          k,
          k,
          c.window,
          c.isPadded,
          c.isPadded ? AttentionBias::Allow : AttentionBias::None,
          {c.isPadded ? c.positions : 0, 0, 0},
          FloatType::BF16};
}

using FusedAttentionTest = CudnnTest;

TEST_F(FusedAttentionTest, HasEngines) {
  for (const Chip &chip : chips)
    for (const Case &each : cases)
      for (bool backward : {false, true}) {
        cudnn::OwnedDescriptor properties = describe(chip);
        AttentionShape shape = shapeOf(each, backward);
        ASSERT_TRUE(isFusedAttention(shape));
        std::string name =
            fmt::format("{} on sm_{}, {}", each.model, chip.capability, backward ? "backward" : "forward");
        try {
          cudnn::FusedAttention made(library, {nullptr, properties.get()}, name, shape,
                                     FusedAttentionWorkspace::bytes(shape, chip.capability));
        } catch (const std::exception &problem) {
          ADD_FAILURE() << problem.what();
        }
      }
}

} // namespace
