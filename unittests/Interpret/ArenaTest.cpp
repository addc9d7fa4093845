// A rank's memory: what begins where, what a write forgets, what a copy takes along. Against a map that is written to be
// read, at random, for both grains.
#include "Interpret/Ranks/Arena.h"
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace xlc::interpret;

namespace {

using Doubles = Arena<double>;

/// The element of `bytes` bytes at an address; NaN: none.
double at(const Doubles &arena, int64_t address, int64_t bytes) {
  return arena.read<double>(address, bytes).value_or(NAN);
}

TEST(Arena, TwoHalvesStandSideBySide) {
  Doubles arena(16, Grain::TwoBytes);
  arena.write(4, 2, 1.0);
  arena.write(6, 2, 2.0);
  EXPECT_EQ(at(arena, 4, 2), 1);
  EXPECT_EQ(at(arena, 6, 2), 2);
  arena.write(4, 2, 3.0); // the neighbour stays
  EXPECT_EQ(at(arena, 4, 2), 3);
  EXPECT_EQ(at(arena, 6, 2), 2);
  EXPECT_TRUE(std::isnan(at(arena, 4, 4))); // two halves are no float
  EXPECT_TRUE(std::isnan(at(arena, 8, 2)));
}

TEST(Arena, AFloatTakesThePlaceOfTwoHalves) {
  Doubles arena(16, Grain::TwoBytes);
  for (int64_t address : {2, 4, 6, 8})
    arena.write(address, 2, double(address));
  arena.write(4, 4, 10.0);
  EXPECT_EQ(at(arena, 4, 4), 10);
  EXPECT_TRUE(std::isnan(at(arena, 4, 2)));
  EXPECT_TRUE(std::isnan(at(arena, 6, 2)));
  EXPECT_EQ(at(arena, 2, 2), 2);
  EXPECT_EQ(at(arena, 8, 2), 8);
  arena.write(6, 2, 5.0); // over the float's second half
  EXPECT_TRUE(std::isnan(at(arena, 4, 4)));
  EXPECT_TRUE(std::isnan(at(arena, 4, 2)));
  EXPECT_EQ(at(arena, 6, 2), 5);
}

TEST(Arena, BooleansBesideAHalf) {
  Doubles arena(8, Grain::TwoBytes);
  arena.write(0, 1, int64_t(1));
  arena.write(1, 1, int64_t(0));
  arena.write(2, 2, 7.0);
  arena.write(4, 1, int64_t(1));
  EXPECT_EQ(arena.read<int64_t>(0, 1), 1);
  EXPECT_EQ(arena.read<int64_t>(1, 1), 0);
  EXPECT_EQ(at(arena, 2, 2), 7);
  EXPECT_EQ(arena.read<int64_t>(4, 1), 1);
  arena.write(3, 1, int64_t(1));
  EXPECT_TRUE(std::isnan(at(arena, 2, 2)));
  EXPECT_FALSE(arena.read<int64_t>(2, 1));
  arena.write(4, 2, 7.0);
  EXPECT_FALSE(arena.read<int64_t>(4, 1));
  EXPECT_EQ(arena.read<int64_t>(3, 1), 1);
}

/// The same in bytes: what begins at an address, and how long it is.
class Bytes {
public:
  explicit Bytes(int64_t size) : size(size) {}
  void forget(int64_t address, int64_t bytes) {
    for (auto it = cells.begin(); bytes > 0 && it != cells.end();)
      it = it->first < address + bytes && address < it->first + it->second.bytes ? cells.erase(it) : std::next(it);
  }
  void write(int64_t address, int64_t bytes, double value) {
    forget(address, bytes);
    cells[address] = {bytes, value};
  }
  void copyFrom(const Bytes &other, int64_t from, int64_t to, int64_t bytes) {
    forget(to, bytes);
    for (auto [address, cell] : other.cells)
      if (address >= from && address + cell.bytes <= from + bytes)
        cells[to + address - from] = cell;
  }
  void expectSame(const Doubles &arena, int64_t grain) const {
    for (int64_t address = 0; address < size; ++address)
      for (int64_t bytes : {1, 2, 4, 8}) {
        if (bytes > 1 && (bytes < grain || address % std::min<int64_t>(bytes, 4) != 0))
          continue;
        auto it = cells.find(address);
        bool isThere = it != cells.end() && it->second.bytes == bytes;
        std::optional<double> found;
        if (bytes > 1)
          found = arena.read<double>(address, bytes);
        else if (auto boolean = arena.read<int64_t>(address, 1))
          found = double(*boolean);
        ASSERT_EQ(found, isThere ? std::optional(it->second.value) : std::nullopt) << address << " " << bytes;
      }
  }

private:
  struct Cell {
    int64_t bytes;
    double value;
  };
  int64_t size;
  std::map<int64_t, Cell> cells;
};

TEST(Arena, IsAMapOfElements) {
  for (int64_t grain : {2, 4}) {
    constexpr int64_t size = 46;
    std::mt19937 random(grain);
    auto below = [&](int64_t end) { return int64_t(random() % end); };
    Grain kind = grain == 2 ? Grain::TwoBytes : Grain::FourBytes;
    Doubles arenas[] = {Doubles(size, kind), Doubles(size, kind)};
    Bytes maps[] = {Bytes(size), Bytes(size)};
    for (int i = 0; i < 20000; ++i) {
      int which = below(2);
      int64_t sizes[] = {1, 4, 8, 2}, bytes = sizes[below(grain == 2 ? 4 : 3)], step = std::min<int64_t>(bytes, 4);
      int64_t count = 1 + below(4), address = below(size / step) * step;
      bool isRun = bytes == 2 || bytes == 4;
      double value = bytes == 1 ? double(below(2)) : i;
      if (int what = below(8); what == 0) {
        int64_t length = below(size / grain) * grain, from = below((size - length) / grain + 1) * grain;
        int64_t to = below((size - length) / grain + 1) * grain, rest = from + length < size && to + length < size;
        arenas[which].copyFrom(arenas[1 - which], from, to, length + rest);
        maps[which].copyFrom(maps[1 - which], from, to, length + rest);
      } else if (what == 1 && address + bytes <= size) {
        arenas[which].forget(address, bytes);
        maps[which].forget(address, bytes);
      } else if (isRun && what < 5 && address + count * bytes <= size) {
        std::vector<double> run(count, value), back(count);
        arenas[which].writeRun(address, bytes, count, run.data());
        for (int64_t k = 0; k < count; ++k)
          maps[which].write(address + k * bytes, bytes, value);
        ASSERT_TRUE(arenas[which].readRun(address, bytes, count, back.data()));
        ASSERT_EQ(back, run);
        arenas[which].forget(address + below(count) * bytes + bytes - 1, 1);
        ASSERT_FALSE(arenas[which].readRun(address, bytes, count, back.data()));
        arenas[which].writeRun(address, bytes, count, run.data());
      } else if (address + bytes <= size) {
        bytes == 1 ? arenas[which].write(address, 1, int64_t(value)) : arenas[which].write(address, bytes, value);
        maps[which].write(address, bytes, value);
      }
      maps[which].expectSame(arenas[which], grain);
      ASSERT_FALSE(HasFailure()) << "grain " << grain << " after " << i;
    }
  }
}

} // namespace
