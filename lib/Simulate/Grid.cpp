// See Grid.h. Blocks run one after the other, in a random order. A thread of a block runs until a synchronisation or
// its end; then a random runnable thread continues. If all wait and none can continue, some wait for a thread that will
// never arrive.
#include "xlc/Simulate/Grid.h"
#include "Shadow.h"
#include <algorithm>
#include <numeric>
#include <random>
#include <setjmp.h>
#include <span>
#include <sys/mman.h>
#include <ucontext.h>
#include <utility>

using namespace xlc::simulate;

namespace {

constexpr int64_t kWarp = 32;
constexpr size_t kStackBytes = 64 << 10;

enum class State { Ready, Exchanges, Votes, SyncsWarp, AtBarrier, Done };

const char *describe(State state) {
  switch (state) {
  case State::Exchanges:
    return "at a warp shuffle";
  case State::Votes:
    return "at a warp vote";
  case State::SyncsWarp:
    return "at a warp synchronisation";
  case State::AtBarrier:
    return "at a barrier";
  case State::Ready:
  case State::Done:
    break;
  }
  return "finished";
}

/// A place to go on from. swapcontext would ask the kernel for a signal mask each time; jumps need a context only to begin.
class Context {
public:
  /// Begins at `function` when it is first switched to, on this stack.
  void prepare(char *stack, size_t bytes, void (*function)()) {
    getcontext(&first);
    first.uc_stack.ss_sp = stack, first.uc_stack.ss_size = bytes, first.uc_link = nullptr;
    makecontext(&first, function, 0);
    isNew = true;
  }
  /// Goes on at `other`; returns when somebody switches here.
  void switchTo(Context &other) {
#if __has_feature(address_sanitizer) // which follows swapcontext alone
    swapcontext(&first, &other.first);
#else
    if (_setjmp(here) != 0)
      return;
    if (!std::exchange(other.isNew, false))
      _longjmp(other.here, 1);
    setcontext(&other.first);
#endif
  }

private:
  ucontext_t first;
  bool isNew = false;
  [[maybe_unused]] jmp_buf here;
};

struct Fiber {
  Context context;
  State state = State::Ready;
  uint32_t word = 0, distance = 0; ///< of an exchange; a vote has a word
};

/// Memory for the stacks of a grid's threads. The next grid takes it over, with the pages that have been touched: to have them anew would
/// take longer than most kernels.
class Stacks {
public:
  explicit Stacks(size_t bytes) : memory(std::exchange(spare, {})) {
    if (memory.size() >= bytes)
      return;
    release(std::exchange(memory, {}));
    void *made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made != MAP_FAILED)
      memory = {(char *)made, bytes};
  }
  ~Stacks() { release(std::exchange(spare, memory)); }
  Stacks(const Stacks &) = delete;
  Stacks &operator=(const Stacks &) = delete;

  bool isThere() const { return !memory.empty(); }
  char *of(int64_t thread) const { return memory.data() + thread * kStackBytes; }

private:
  using Memory = std::span<char>;
  static void release(Memory memory) {
    if (!memory.empty())
      munmap(memory.data(), memory.size());
  }
  static inline Memory spare; ///< of the last grid
  Memory memory;
};

class Grid {
public:
  explicit Grid(const Launch &launch)
      : launch(launch), random(launch.seed), fibers(launch.threads), stacks(launch.threads * kStackBytes) {
    if (!stacks.isThere())
      problem = "cannot allocate the threads' stacks";
  }
  Grid(const Grid &) = delete;
  Grid &operator=(const Grid &) = delete;

  std::string run();

  // What threads call.
  int64_t thread() const { return running; }
  int64_t block() const { return blockNumber; }
  void wait(State state) {
    fibers[running].state = state;
    fibers[running].context.switchTo(scheduler);
  }
  uint32_t exchange(uint32_t word, uint32_t distance) {
    Fiber &mine = fibers[running];
    mine.word = word, mine.distance = distance;
    wait(State::Exchanges);
    return mine.word;
  }
  uint32_t vote(uint32_t word) {
    Fiber &mine = fibers[running];
    mine.word = word;
    wait(State::Votes);
    return mine.word;
  }
  void trap() { fail(name(running) + " is trapped"); }
  void access(const char *at, uint64_t bytes, uint64_t alignment, bool writes, bool isShared);
  /// A fiber is a thread of one block after the other.
  [[noreturn]] void runThreads() {
    for (;;) {
      launch.kernel(launch.parameters.data());
      wait(State::Done);
    }
  }

private:
  void runBlock();
  void meet(int64_t warp);
  void exchangeWords(int64_t first, int64_t lanes);
  void countVotes(int64_t first, int64_t lanes);
  bool isAll(State state, int64_t first, int64_t count) const {
    return std::all_of(fibers.begin() + first, fibers.begin() + first + count,
                       [&](const Fiber &fiber) { return fiber.state == state; });
  }
  void release(int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; ++i) {
      fibers[i].state = State::Ready;
      ready.push_back(i);
    }
  }
  int64_t draw(size_t count) { return int64_t(random() % count); }
  std::string name(int64_t threadNumber) const {
    return "thread " + std::to_string(threadNumber) + " of block " + std::to_string(blockNumber);
  }
  /// Ends the simulation: the thread does not go on.
  void fail(std::string what) {
    problem = std::move(what);
    wait(State::Done);
  }
  bool isInMemory(const char *at, uint64_t bytes) const {
    return std::any_of(launch.memory.begin(), launch.memory.end(), [&](const Operand &operand) {
      return at >= operand.begin && at + bytes <= operand.begin + operand.bytes;
    });
  }
  void describeStall();

  const Launch &launch;
  std::mt19937_64 random;
  std::vector<Fiber> fibers;
  const Stacks stacks;
  Context scheduler;
  int64_t running = 0, blockNumber = 0;
  std::vector<int64_t> ready;
  std::vector<Moment> warps; ///< how far each warp is; block and thread do not count here
  ShadowMemory global, shared;
  std::string problem;
};

Grid *current = nullptr;

void enterThread() { current->runThreads(); }

std::string Grid::run() {
  std::vector<int64_t> order(launch.blocks);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  Grid *before = current;
  current = this;
  for (int64_t i = 0; i < launch.threads && problem.empty(); ++i)
    fibers[i].context.prepare(stacks.of(i), kStackBytes, enterThread);
  for (int64_t next : order) {
    if (!problem.empty())
      break;
    blockNumber = next;
    runBlock();
  }
  current = before;
  return problem;
}

void Grid::runBlock() {
  shared.clear();
  ready.clear();
  warps.assign((launch.threads + kWarp - 1) / kWarp, {});
  release(0, launch.threads);
  while (!ready.empty() && problem.empty()) {
    std::swap(ready[draw(ready.size())], ready.back());
    running = ready.back();
    ready.pop_back();
    scheduler.switchTo(fibers[running].context);
    meet(running / kWarp);
  }
  if (problem.empty() && !isAll(State::Done, 0, launch.threads))
    describeStall();
}

void Grid::exchangeWords(int64_t first, int64_t lanes) {
  std::vector<uint32_t> words(kWarp);
  for (int64_t i = 0; i < lanes; ++i)
    words[i] = fibers[first + (i ^ fibers[first + i].distance)].word;
  for (int64_t i = 0; i < lanes; ++i)
    fibers[first + i].word = words[i];
}

/// A bit for each lane whose word is not 0.
void Grid::countVotes(int64_t first, int64_t lanes) {
  uint32_t votes = 0;
  for (int64_t i = 0; i < lanes; ++i)
    votes |= uint32_t(fibers[first + i].word != 0) << i;
  for (int64_t i = 0; i < lanes; ++i)
    fibers[first + i].word = votes;
}

/// Lets those go on who have all come.
void Grid::meet(int64_t warp) {
  int64_t first = warp * kWarp, lanes = std::min(kWarp, launch.threads - first);
  bool exchanges = isAll(State::Exchanges, first, lanes);
  if (exchanges || isAll(State::Votes, first, lanes)) {
    exchanges ? exchangeWords(first, lanes) : countVotes(first, lanes);
    ++warps[warp].meetings;
    release(first, lanes);
  } else if (isAll(State::SyncsWarp, first, lanes)) {
    ++warps[warp].meetings, ++warps[warp].syncs;
    release(first, lanes);
  } else if (fibers[running].state == State::AtBarrier && isAll(State::AtBarrier, 0, launch.threads)) {
    for (Moment &moment : warps)
      ++moment.barriers;
    release(0, launch.threads);
  }
}

void Grid::describeStall() {
  auto waits = std::find_if(fibers.begin(), fibers.end(), [](const Fiber &f) { return f.state != State::Done; });
  auto other = std::find_if(fibers.begin(), fibers.end(), [&](const Fiber &f) { return f.state != waits->state; });
  problem = name(waits - fibers.begin()) + " waits " + describe(waits->state);
  if (other != fibers.end())
    problem += ", but thread " + std::to_string(other - fibers.begin()) + " is " + describe(other->state);
}

void Grid::access(const char *at, uint64_t bytes, uint64_t alignment, bool writes, bool isShared) {
  auto what = [&] { return name(running) + (writes ? " writes " : " reads ") + std::to_string(bytes) + " bytes"; };
  if ((uintptr_t)at % alignment != 0)
    return fail(what() + " that are not aligned to " + std::to_string(alignment));
  if (!isShared && !isInMemory(at, bytes))
    return fail(what() + " outside of all operands");
  if (!isShared && launch.observe)
    if (std::string problem = launch.observe(at, bytes, writes); !problem.empty())
      return fail(what() + problem);
  Moment now = warps[running / kWarp];
  now.block = int32_t(blockNumber), now.warp = int32_t(running / kWarp), now.thread = int32_t(running);
  for (uint64_t i = 0; i < bytes; ++i) {
    Shadow &shadow = (isShared ? shared : global).at(at + i);
    if (isShared && !writes && shadow.write.block == Moment::kNever)
      return fail(what() + " of shared memory that was never written");
    if (!shadow.write.isBefore(now, false))
      return fail(what() + " that thread " + std::to_string(shadow.write.thread) + " of block " +
                  std::to_string(shadow.write.block) + " writes; the two accesses are not ordered");
    if (writes && !shadow.read.isBefore(now, true))
      return fail(what() + " that another thread reads; the two accesses are not ordered");
    writes ? void(shadow.write = now) : shadow.noteRead(now);
  }
}

} // namespace

// Images that are shared libraries find these by their names.
#define XLC_FOR_KERNELS extern "C" __attribute__((visibility("default")))

XLC_FOR_KERNELS uint32_t xlc_simulated_thread() { return uint32_t(current->thread()); }
XLC_FOR_KERNELS uint32_t xlc_simulated_block() { return uint32_t(current->block()); }
XLC_FOR_KERNELS uint32_t xlc_simulated_exchange(uint32_t word, uint32_t distance) {
  return current->exchange(word, distance);
}
XLC_FOR_KERNELS uint32_t xlc_simulated_vote(uint32_t word) { return current->vote(word); }
XLC_FOR_KERNELS void xlc_simulated_trap() { current->trap(); }
XLC_FOR_KERNELS void xlc_simulated_warp_sync() { current->wait(State::SyncsWarp); }
XLC_FOR_KERNELS void xlc_simulated_barrier() { current->wait(State::AtBarrier); }
XLC_FOR_KERNELS void xlc_simulated_access(const char *at, uint32_t bytes, uint32_t alignment, uint32_t writes,
                                          uint32_t shared) {
  current->access(at, bytes, alignment, writes != 0, shared != 0);
}

std::string xlc::simulate::run(const Launch &launch) { return Grid(launch).run(); }

std::vector<Symbol> xlc::simulate::getSymbols() {
  return {{"xlc_simulated_thread", (void *)xlc_simulated_thread},
          {"xlc_simulated_block", (void *)xlc_simulated_block},
          {"xlc_simulated_exchange", (void *)xlc_simulated_exchange},
          {"xlc_simulated_vote", (void *)xlc_simulated_vote},
          {"xlc_simulated_trap", (void *)xlc_simulated_trap},
          {"xlc_simulated_warp_sync", (void *)xlc_simulated_warp_sync},
          {"xlc_simulated_barrier", (void *)xlc_simulated_barrier},
          {"xlc_simulated_access", (void *)xlc_simulated_access}};
}
