// The simulated grid by itself: kernels are functions that call it as compiled code does.
#include "xlc/Simulate/Grid.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <string_view>

using namespace xlc::simulate;

namespace {

template <class Function> Function *find(std::string_view name) {
  std::vector<Symbol> symbols = getSymbols();
  return (Function *)std::find_if(symbols.begin(), symbols.end(), [&](const Symbol &s) { return s.name == name; })
      ->address;
}

int thread() { return (int)find<uint32_t()>("xlc_simulated_thread")(); }
int block() { return (int)find<uint32_t()>("xlc_simulated_block")(); }
int exchange(int word, int distance) {
  return (int)find<uint32_t(uint32_t, uint32_t)>("xlc_simulated_exchange")(word, distance);
}
int vote(bool holds) { return (int)find<uint32_t(uint32_t)>("xlc_simulated_vote")(holds); }
void barrier() { find<void()>("xlc_simulated_barrier")(); }
void syncWarp() { find<void()>("xlc_simulated_warp_sync")(); }
void touch(int *at, bool writes) {
  find<void(const char *, uint32_t, uint32_t, uint32_t, uint32_t)>("xlc_simulated_access")((const char *)at, 4, 4,
                                                                                           writes, 0);
}
void write(int *at, int value) {
  touch(at, true);
  *at = value;
}
int read(const int *at) {
  touch(const_cast<int *>(at), false);
  return *at;
}

int memory[128];

std::string runGrid(Kernel kernel, int blocks, int threads, uint64_t seed = 0) {
  return run({kernel, blocks, threads, {}, {{(const char *)memory, sizeof(memory)}}, seed});
}

/// Each thread of a warp gets the word of its partner, whatever the order.
TEST(Grid, Exchanges) {
  for (uint64_t seed : {0, 1, 2}) {
    Kernel kernel = [](void *const *) { write(&memory[block() * 64 + thread()], exchange(100 + thread(), 4)); };
    ASSERT_EQ(runGrid(kernel, 2, 64, seed), "");
    for (int i = 0; i < 128; ++i)
      ASSERT_EQ(memory[i], 100 + (i % 64 ^ 4));
  }
}

/// A bit for each lane; those of the block's last warp may be few.
TEST(Grid, Votes) {
  Kernel kernel = [](void *const *) { write(&memory[thread()], vote(thread() % 3 == 0)); };
  ASSERT_EQ(runGrid(kernel, 1, 40), "");
  for (int i = 0; i < 40; ++i) {
    int expected = 0;
    for (int lane = i / 32 * 32; lane < 40 && lane < i / 32 * 32 + 32; ++lane)
      expected |= int(unsigned(lane % 3 == 0) << lane % 32);
    ASSERT_EQ(memory[i], expected) << i;
  }
  Kernel mixed = [](void *const *) { thread() < 16 ? vote(true) : exchange(0, 1); };
  EXPECT_EQ(runGrid(mixed, 1, 32), "thread 0 of block 0 waits at a warp vote, but thread 16 is at a warp shuffle");
}

TEST(Grid, ATrapEndsIt) {
  Kernel kernel = [](void *const *) {
    if (thread() == 5)
      find<void()>("xlc_simulated_trap")();
  };
  EXPECT_EQ(runGrid(kernel, 1, 32), "thread 5 of block 0 is trapped");
}

TEST(Grid, ABarrierOrdersABlock) {
  Kernel ordered = [](void *const *) {
    write(&memory[thread()], thread());
    barrier();
    write(&memory[64 + thread()], read(&memory[63 - thread()]));
  };
  ASSERT_EQ(runGrid(ordered, 1, 64), "");
  for (int i = 0; i < 64; ++i)
    ASSERT_EQ(memory[64 + i], 63 - i);
  // Another block's barrier does not.
  EXPECT_NE(runGrid(ordered, 2, 64).find("the two accesses are not ordered"), std::string::npos);
}

/// Of a write only a synchronisation makes sure that others see it; a value that went into an exchange has been read.
TEST(Grid, AMeetingOfAWarpOrdersTheWarp) {
  Kernel synchronised = [](void *const *) {
    write(&memory[thread()], 1);
    syncWarp();
    read(&memory[thread() ^ 1]);
  };
  Kernel exchanged = [](void *const *) {
    write(&memory[thread()], 1);
    exchange(0, 1);
    read(&memory[thread() ^ 1]);
  };
  Kernel readBefore = [](void *const *) {
    exchange(read(&memory[thread() ^ 1]), 1);
    write(&memory[thread()], 1);
  };
  EXPECT_EQ(runGrid(synchronised, 1, 32), "");
  EXPECT_NE(runGrid(exchanged, 1, 32).find("writes; the two accesses are not ordered"), std::string::npos);
  EXPECT_EQ(runGrid(readBefore, 1, 32), "");
}

TEST(Grid, NamesThreadsThatTouchAByte) {
  Kernel kernel = [](void *const *) { write(&memory[0], thread()); };
  std::string problem = runGrid(kernel, 1, 2);
  EXPECT_NE(problem.find("writes 4 bytes that thread"), std::string::npos) << problem;
  EXPECT_EQ(runGrid(kernel, 1, 1), "");
}

TEST(Grid, NamesWhatThreadsWaitFor) {
  Kernel kernel = [](void *const *) { thread() < 16 ? syncWarp() : barrier(); };
  EXPECT_EQ(runGrid(kernel, 1, 32),
            "thread 0 of block 0 waits at a warp synchronisation, but thread 16 is at a barrier");
}

} // namespace
