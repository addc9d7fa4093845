// See Engine.h.
#include "Engine.h"

#include "Fabric/Waiting.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace xlc::runtime::mpi {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto tickTime = 20ms, restWithoutWork = 5ms;
constexpr int mostLooks = 50; // before a rest; each asks the kernel
constexpr auto shortestRest = 20us, longestRest = 200us;

} // namespace

Engine::Engine(uint64_t ranksOfHost, std::string otherwise)
    : onHost(ranksOfHost), otherwise(std::move(otherwise)), thread([this] { run(); }) {}

void Engine::run() {
  wakePromptly();
  try {
    start();
    std::lock_guard lock(mutex);
    isStarted = true;
  } catch (const Rejected &failed) {
    std::lock_guard lock(mutex);
    problem = failed.what();
  } catch (const std::exception &failed) {
    std::lock_guard lock(mutex);
    problem = fmt::format("error: {}", failed.what());
  }
  answers.notify_all();
  if (isStarted)
    serve();
}

void Engine::start() {
  try {
    library = std::make_unique<Library>();
  } catch (const Rejected &missing) {
    throw Rejected(missing.what() + otherwise);
  }
  int provided = 0;
  if (int result = library->initialize(nullptr, nullptr, onlyOneThreadCalls, &provided); result != success)
    throw Rejected(fmt::format("error: MPI cannot start: {}", library->describe(result)));
  library->check(library->setErrorHandler(library->world, library->returnErrors));
  library->check(library->getRank(library->world, &ownRank));
  library->check(library->getSize(library->world, &ranks));
  Comm ofNotes = nullptr;
  library->check(library->duplicate(library->world, &comm));
  library->check(library->duplicate(library->world, &ofNotes));
  messages.emplace(*library, comm);
  notes.emplace(*library, ofNotes);
}

bool Engine::waitForStart(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex);
  answers.wait_for(lock, most, [&] { return isStarted || !problem.empty(); });
  if (!problem.empty())
    throw Rejected(problem);
  return isStarted;
}

void Engine::call(const std::function<void()> &work, const std::function<void()> &look) {
  struct Outcome {
    std::string failed;
    std::atomic<bool> isDone{false};
  };
  auto outcome = std::make_shared<Outcome>();
  std::unique_lock lock(mutex);
  asked = [outcome, work] {
    try {
      work();
    } catch (const std::exception &problem) {
      outcome->failed = problem.what();
    }
    outcome->isDone = true;
  };
  wakes.notify_one();
  while (!answers.wait_for(lock, tickTime, [&] { return outcome->isDone.load(); })) {
    lock.unlock();
    look();
    lock.lock();
  }
  if (!outcome->failed.empty())
    throw std::runtime_error(outcome->failed);
}

std::vector<char> Engine::gather(std::span<const char> own, const std::function<void()> &look) {
  auto all = std::make_shared<std::vector<char>>(own.size() * (size_t)ranks);
  auto given = std::make_shared<std::vector<char>>(own.begin(), own.end());
  call(
      [this, all, given] {
        auto bytes = (int)given->size();
        library->check(
            library->gatherAll(given->data(), bytes, library->byte, all->data(), bytes, library->byte, comm));
      },
      look);
  return *all;
}

void Engine::listen(Listener given) {
  call([&] {
    listener = std::move(given);
    notes->hear();
  });
}

/// All notes are heard before anyone ceases to listen: who has none left goes on hearing until all have met.
void Engine::finish() {
  {
    std::lock_guard lock(mutex);
    isQuiet = true;
  }
  waitForNotes(1s);
  std::atomic<uint32_t> met{0};
  uint64_t word = 0;
  for (meet({&word, 1}, met); met == 0 && !isBroken;)
    std::this_thread::sleep_for(shortestRest);
  call([&] {
    isEnding = true;
    notes->cease();
    library->check(library->finalize());
  });
  thread.join();
}

Batch &Engine::takeBatch() {
  if (free.empty())
    free.push_back(&batches.emplace_back());
  Batch &batch = *free.back();
  free.pop_back();
  return batch;
}

void Engine::post(std::span<const Posting> given, std::atomic<uint32_t> &ended) {
  std::lock_guard lock(mutex);
  Batch &batch = takeBatch();
  batch.messages.assign(given.begin(), given.end()), batch.words = {}, batch.ended = &ended;
  posted.push_back(&batch);
  wakes.notify_one();
}

void Engine::meet(std::span<uint64_t> words, std::atomic<uint32_t> &ended) {
  std::lock_guard lock(mutex);
  Batch &batch = takeBatch();
  batch.messages.clear(), batch.words = words, batch.ended = &ended;
  posted.push_back(&batch);
  wakes.notify_one();
}

void Engine::note(int to, uint32_t kind, std::span<const char> bytes, Behind behind) {
  std::lock_guard lock(mutex);
  if (isQuiet)
    return;
  said.push_back({to, kind, {bytes.begin(), bytes.end()}, behind, nullptr});
  ++notesLeft;
  wakes.notify_one();
}

bool Engine::waitForNotes(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex);
  return answers.wait_for(lock, most, [&] { return notesLeft == 0; });
}

void Engine::serve() {
  Clock::time_point ticked;
  for (int looks = 0;; ++looks) {
    try {
      if (takeNew())
        looks = 0;
      if (isEnding || isAbandoned)
        return;
      if (!isBroken && messages->test())
        looks = 0;
      freeEnded();
      if (testNotes())
        looks = 0;
    } catch (const std::exception &failed) {
      isBroken = true;
      if (listener.fail)
        listener.fail(failed.what());
    }
    if (Clock::now() - ticked > tickTime) {
      if (listener.tick)
        listener.tick();
      ticked = Clock::now();
    }
    rest(looks);
  }
}

/// Where nothing is under way, until something is posted; otherwise ever longer, so that computing threads have the cores.
void Engine::rest(int looks) {
  std::unique_lock lock(mutex);
  auto isAsked = [&] { return !posted.empty() || !said.empty() || asked; };
  if (messages->isEmpty() && notes->isEmpty())
    wakes.wait_for(lock, restWithoutWork, isAsked);
  else if (looks > mostLooks)
    wakes.wait_for(lock, std::min<std::chrono::microseconds>(longestRest, shortestRest * (1 + (looks - mostLooks) / 4)),
                   isAsked);
}

/// Whether there was something.
bool Engine::takeNew() {
  std::unique_lock lock(mutex);
  bool isAny = !posted.empty() || !said.empty() || asked;
  if (asked) {
    std::function<void()> work = std::exchange(asked, nullptr);
    lock.unlock(); // it may take long, and who asks looks whether it still waits
    work();
    lock.lock();
    answers.notify_all();
    if (isEnding)
      return true;
  }
  takeNotes();
  taken.clear();
  std::swap(taken, posted);
  lock.unlock();
  for (Batch *batch : taken)
    if (!isBroken)
      messages->begin(*batch);
  return isAny;
}

void Engine::takeNotes() {
  for (; !said.empty(); said.pop_front()) {
    Note &next = said.front();
    if (isBroken || (next.behind == Behind::IsLeftOut && notes->hasLike(next)))
      --notesLeft;
    else
      notes->send(std::move(next));
  }
}

bool Engine::testNotes() {
  bool isAny = notes->testHeard(listener.hear);
  while (notes->takeSent()) {
    std::lock_guard lock(mutex);
    --notesLeft;
    answers.notify_all();
  }
  return isAny;
}

/// They can be taken again.
void Engine::freeEnded() {
  std::vector<Batch *> ended = messages->takeEnded();
  if (ended.empty())
    return;
  std::lock_guard lock(mutex);
  free.insert(free.end(), ended.begin(), ended.end());
}

} // namespace xlc::runtime::mpi
