// Sixteen bits of a float against LLVM's arithmetic: all values, and floats around each of them.
#include "xlc/Runtime/Narrow.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include <gtest/gtest.h>

using llvm::APFloat;
using namespace xlc::runtime;

namespace {

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
