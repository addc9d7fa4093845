// Units from a sequence of structures: letters stand for atoms, upper case for atoms with parameters.
#include "RepeatedRuns.h"

#include <cctype>
#include <gtest/gtest.h>

using namespace xlc;

namespace {

/// The units of "xABABz" as words, one per atom: "embed0 layer0 layer0 layer1 layer1 head0".
std::string name(const std::string &atoms) {
  std::vector<RunElement> elements;
  for (char atom : atoms)
    elements.push_back({atom, 1, std::isupper(atom) != 0});
  std::string text;
  for (const UnitName &unit : nameUnits(elements))
    text += (text.empty() ? "" : " ") + unit.className + std::to_string(unit.instance);
  return text;
}

TEST(RepeatedRuns, PeriodOfTwo) { EXPECT_EQ(name("xABABz"), "embed0 layer0 layer0 layer1 layer1 head0"); }

TEST(RepeatedRuns, ShortestPeriodWins) { EXPECT_EQ(name("AAAA"), "layer0 layer1 layer2 layer3"); }

TEST(RepeatedRuns, EarliestWinsAmongEqual) { EXPECT_EQ(name("ABABA"), "layer0 layer0 layer1 layer1 head0"); }

TEST(RepeatedRuns, NothingRepeats) { EXPECT_EQ(name("ABC"), "model0 model0 model0"); }

TEST(RepeatedRuns, RepetitionWithoutParametersIsNoLayer) { EXPECT_EQ(name("Aaab"), "model0 model0 model0 model0"); }

TEST(RepeatedRuns, SecondRunIsAnotherClass) {
  EXPECT_EQ(name("xAAAyBBz"), "embed0 layer0 layer1 layer2 middle0 layer20 layer21 head0");
}

TEST(RepeatedRuns, AnInstanceMayStandApart) {
  EXPECT_EQ(name("xABcABABz"), "embed0 layer0 layer0 middle0 layer1 layer1 layer2 layer2 head0");
}

TEST(RepeatedRuns, TheHeavierRunTakesItsAtomsFirst) {
  EXPECT_EQ(name("AAxABABAB"), "layer0 layer1 middle0 layer20 layer20 layer21 layer21 layer22 layer22");
}

TEST(RepeatedRuns, ALongSequenceTakesNoLongerThanASecond) {
  std::vector<RunElement> elements;
  for (int i = 0; i < 200'000; ++i)
    elements.push_back({i % 1000, 1, true});
  EXPECT_EQ(nameUnits(elements).size(), elements.size());
}

TEST(RepeatedRuns, BlocksBeginWithParameters) {
  auto nameOf = [](const std::string &atoms) {
    std::vector<RunElement> elements;
    for (char atom : atoms)
      elements.push_back({atom, 1, std::isupper(atom) != 0});
    return nameBlocks(elements);
  };
  std::string text;
  for (const UnitName &unit : nameOf("xAyBCz"))
    text += unit.className + " ";
  EXPECT_EQ(text, "block block block block2 block3 block3 ");
  EXPECT_EQ(nameOf(std::string(1000, 'A')).back().className, "block63"); // sixteen each
  EXPECT_EQ(nameOf("x").back().className, "block");
}

TEST(RepeatedRuns, Nothing) { EXPECT_EQ(name(""), ""); }

} // namespace
