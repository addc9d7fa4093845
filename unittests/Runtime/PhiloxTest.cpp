// Philox against the authors' known answers, and normal numbers that do not depend on the cut of the requests.
#include "Plan/Philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace xlc::runtime;
using xlc::plan::Element;

TEST(Philox, GivesTheKnownAnswersOfRandom123) {
  using Four = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

/// The words that the sites of a model draw in step 1 under seed 7, as sites.json of test/Inputs/models/dropout-* have
/// them.
TEST(Philox, SitesDrawTheWordsOfTheDefinition) {
  const uint32_t expected[8][8] = {
      {2311184228, 1236672016, 3976094848, 1689519094, 3544889349, 1034828281, 620587141, 706302364},
      {1534674674, 1910169023, 1244947274, 663102086, 397662066, 6907862, 1312754504, 3039075991},
      {2192470756, 904329971, 4110385616, 1901490634, 1863399405, 2397687461, 1438812254, 128686752},
      {3092051254, 2115974701, 1560913363, 1684880793, 1428774024, 2537916290, 607642477, 1584430614},
      {4145590046, 2360932485, 1617446849, 2871109873, 2438736647, 1945626718, 2742472125, 4166418704},
      {2387970430, 3303731855, 4288232352, 1270065131, 134985525, 283725095, 3426798337, 850010551},
      {2557303942, 3893148527, 2280035938, 4005665385, 1977085876, 648502345, 2388970684, 1886527488},
      {102002685, 831182559, 754025929, 3583135108, 3176047559, 1577796183, 2974153559, 866397387}};
  for (uint64_t site = 0; site < 8; ++site)
    for (uint64_t element = 0; element < 8; ++element)
      EXPECT_EQ(drawWord(element, subsequenceOfSite(site), keyOfStep(7, 1)), expected[site][element]);
}

TEST(Philox, AnElementHasOneValueHoweverTheTensorIsCut) {
  std::vector<float> whole(1000), pieces(1000);
  fillNormal(3, "h.0.attn.weight", 0.02, 0, 1000, Element::F32, whole.data());
  for (uint64_t at = 0, some = 1; at < 1000; at += some, some = some % 7 + 1)
    fillNormal(3, "h.0.attn.weight", 0.02, at, std::min<uint64_t>(some, 1000 - at), Element::F32, pieces.data() + at);
  EXPECT_EQ(whole, pieces);
}

TEST(Philox, AStepHasAKeyOfItsOwn) {
  EXPECT_NE(keyOfStep(3, 2), keyOfStep(3, 1));
  EXPECT_NE(keyOfStep(4, 1), keyOfStep(3, 1));
}

TEST(Philox, NumbersAreNormal) {
  std::vector<float> values(200000);
  fillNormal(0, "w", 0.5, 12345, values.size(), Element::F32, values.data());
  double sum = 0, squares = 0, fourth = 0;
  for (double value : values)
    sum += value, squares += value * value, fourth += value * value * value * value;
  double n = (double)values.size(), variance = squares / n;
  EXPECT_NEAR(sum / n, 0, 0.005);
  EXPECT_NEAR(std::sqrt(variance), 0.5, 0.005);
  EXPECT_NEAR(fourth / n / (variance * variance), 3, 0.05);
}
