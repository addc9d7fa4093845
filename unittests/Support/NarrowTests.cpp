// Sixteen bits of a float against LLVM's arithmetic: all values, and floats around each of them.
#include "xlc/Runtime/Narrow.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <map>

using llvm::APFloat;
using namespace xlc::runtime;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

uint16_t narrow(float value, const llvm::fltSemantics &type) {
  APFloat number(value);
  bool isInexact = false;
  number.convert(type, APFloat::rmNearestTiesToEven, &isInexact);
  return (uint16_t)number.bitcastToAPInt().getZExtValue();
}

float widen(uint16_t bits, const llvm::fltSemantics &type) {
  return APFloat(type, llvm::APInt(16, bits)).convertToFloat();
}

/// The same number, or both none.
void expectSame(float a, float b) {
  EXPECT_TRUE(a != a ? b != b : llvm::bit_cast<uint32_t>(a) == llvm::bit_cast<uint32_t>(b)) << a << " and " << b;
}

} // namespace

TEST(Narrow, EverySixteenBitsAreAFloat) {
  for (uint32_t bits = 0; bits < 1 << 16; ++bits) {
    expectSame(fromBf16((uint16_t)bits), widen((uint16_t)bits, APFloat::BFloat()));
    expectSame(fromHalf((uint16_t)bits), widen((uint16_t)bits, APFloat::IEEEhalf()));
  }
}

// Each value of a type, what is halfway to the next one, and the floats beside these.
TEST(Narrow, RoundsToNearestEven) {
  for (uint32_t upper = 0; upper < 1 << 16; ++upper)
    for (uint32_t lower : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x2000u, 0x3000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      auto value = llvm::bit_cast<float>(upper << 16 | lower);
      expectSame(fromBf16(toBf16(value)), widen(narrow(value, APFloat::BFloat()), APFloat::BFloat()));
      expectSame(fromHalf(toHalf(value)), widen(narrow(value, APFloat::IEEEhalf()), APFloat::IEEEhalf()));
    }
}

TEST(Narrow, NaNStaysOne) {
  auto payload = llvm::bit_cast<float>(0x7f800001u); // its upper half alone would be infinite
  EXPECT_EQ(toBf16(payload) & 0x7fff, 0x7fc0);
  EXPECT_EQ(toHalf(payload) & 0x7fff, 0x7e00);
}

namespace {

/// How many of all draws round `value` up, that is to the neighbour above; the others round it to the one below.
template <class Round, class Type> double countUps(float value, Round round, const Type &isHeld) {
  double ups = 0;
  float below = -infinity, above = infinity;
  for (uint32_t draw = 0; draw < 1 << 16; ++draw) {
    float y = round(value, draw);
    EXPECT_TRUE(isHeld(y)) << value << " " << y;
    (y <= value ? below : above) = y;
    ups += y > value;
  }
  if (ups > 0 && ups < 1 << 16) { // nothing lies between the two
    EXPECT_TRUE(isHeld(above) && isHeld(below));
    float middle = below + (above - below) / 2;
    EXPECT_TRUE(middle == below || middle == above || !isHeld(middle)) << value;
    EXPECT_NEAR(ups / (1 << 16), (value - below) / (above - below), 0x1p-13) << value;
  }
  return ups;
}

bool isBf16(float value) { return fromBf16(toBf16(value)) == value; }
bool isHalf(float value) { return fromHalf(toHalf(value)) == value; }

} // namespace

// The chance of the upper neighbour is how near it is: exactly so in bf16, to 2^-13 in a half, which takes thirteen bits.
TEST(StochasticRounding, TheMeanOfAllDrawsIsTheNumber) {
  for (float value : {1.0F, 1.001F, -1.001F, 3.14159F, -0.1F, 1e-20F, -1e-38F, 1e-41F, 65000.0F, 1e30F})
    countUps(value, toBf16Neighbour, isBf16);
  EXPECT_EQ(countUps(1 + 0x1p-9F, toBf16Neighbour, isBf16), 1 << 14);
  EXPECT_EQ(countUps(-1 - 0x1p-9F, toBf16Neighbour, isBf16), 3 << 14);
  for (float value : {1.0F, 1.0001F, -1.0001F, 3.14159F, -0.1F, 6.2e-5F, 6.0e-5F, -3.3e-7F, 1e-8F, 65000.0F})
    countUps(value, toHalfNeighbour, isHalf);
  EXPECT_EQ(countUps(0x1p-24F * 2.25F, toHalfNeighbour, isHalf), 1 << 14); // subnormal
}

TEST(StochasticRounding, WhatSixteenBitsHoldStays) {
  for (uint32_t bits = 0; bits < 1 << 16; ++bits)
    for (uint32_t draw : {0u, 1u, 0x7fffu, 0x8000u, 0xffffu}) {
      expectSame(toBf16Neighbour(fromBf16((uint16_t)bits), draw), fromBf16((uint16_t)bits));
      expectSame(toHalfNeighbour(fromHalf((uint16_t)bits), draw), fromHalf((uint16_t)bits));
    }
  float payload = llvm::bit_cast<float>(0x7fffffffu); // a carry would make it zero
  EXPECT_TRUE(std::isnan(toBf16Neighbour(payload, 0xffff)) && std::isnan(toHalfNeighbour(payload, 0xffff)));
}

// Counted over two bits of each half, which stand for the others: exclusive or works on each alone.
TEST(StochasticRounding, AnyTwoDrawsAreIndependent) {
  std::array<std::map<std::pair<uint32_t, uint32_t>, int>, 3> pairs;
  for (uint32_t high = 0; high < 4; ++high)
    for (uint32_t low = 0; low < 4; ++low) {
      uint32_t bits = high << 30 | low << 14;
      for (unsigned first = 0, i = 0; first < kDraws; ++first)
        for (unsigned second = first + 1; second < kDraws; ++second, ++i)
          ++pairs[i][{drawOf(bits, first), drawOf(bits, second)}];
    }
  for (const auto &pair : pairs) {
    EXPECT_EQ(pair.size(), 16u);
    for (const auto &[draws, times] : pair)
      EXPECT_EQ(times, 1);
  }
  for (unsigned draw = 0; draw < kDraws; ++draw)
    EXPECT_EQ(drawOf(kNearestBits, draw), 0x8000u);
}
