// See Engine.h.
#include "Engine.h"

#include "Fabric/Waiting.h"
#include "Parts.h"

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
    : onHost(ranksOfHost), otherwise(std::move(otherwise)), heard(mostNoteBytes), thread([this] { run(); }) {}

void Engine::check(int result) const {
  if (result != success)
    throw std::runtime_error(fmt::format("MPI: {}", library->describe(result)));
}

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
    throw Rejected(fmt::format("error: MPI does not start: {}", library->describe(result)));
  check(library->setErrorHandler(library->world, library->returnErrors));
  check(library->getRank(library->world, &ownRank));
  check(library->getSize(library->world, &ranks));
  check(library->duplicate(library->world, &messages));
  check(library->duplicate(library->world, &notes));
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
        check(library->gatherAll(given->data(), bytes, library->byte, all->data(), bytes, library->byte, messages));
      },
      look);
  return *all;
}

void Engine::listen(Listener given) {
  call([&] {
    listener = std::move(given);
    hear();
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
    if (hearing) {
      check(library->cancel(&*hearing));
      check(library->wait(&*hearing, nullptr));
    }
    check(library->finalize());
  });
  thread.join();
}

Engine::Batch &Engine::takeBatch() {
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
      if (!isBroken && testMessages())
        looks = 0;
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
  if (requests.empty() && leaving.empty())
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
      begin(*batch);
  return isAny;
}

void Engine::takeNotes() {
  for (; !said.empty(); said.pop_front()) {
    Note &next = said.front();
    auto isLike = [&](const Note &other) { return other.to == next.to && other.kind == next.kind; };
    if (isBroken || (next.behind == Behind::IsLeftOut && std::any_of(leaving.begin(), leaving.end(), isLike))) {
      --notesLeft;
      continue;
    }
    Note &note = leaving.emplace_back(std::move(next));
    check(library->startSend(note.bytes.data(), (int)note.bytes.size(), library->byte, note.to, (int)note.kind, notes,
                             &note.request)); // one that ends has been heard
  }
}

void Engine::begin(Batch &batch) {
  batch.left = 1; // until all have begun
  if (!batch.words.empty()) {
    ++batch.left;
    Request &request = requests.emplace_back();
    owners.push_back(&batch);
    void *const inPlace = (void *)1;
    check(library->startReduceAll(inPlace, batch.words.data(), (int)batch.words.size(), library->whole64,
                                  library->largest, messages, &request));
  }
  for (const Posting &message : batch.messages)
    forEachPart(message.memory, mostBytesOfPart, [&](const Runs &part) { beginPart(batch, message, part); });
  endOne(batch);
}

void Engine::beginPart(Batch &batch, const Posting &message, const Runs &memory) {
  Datatype type = library->byte;
  auto count = (int)memory.bytes;
  auto wrap = [&](uint64_t runs, uint64_t step) {
    Datatype inner = type;
    check(library->makeVector((int)runs, count, (ptrdiff_t)step, inner, &type));
    if (inner != library->byte)
      check(library->freeType(&inner));
    count = 1;
  };
  if (memory.rows > 1)
    wrap(memory.rows, memory.steps.row);
  if (memory.outer > 1)
    wrap(memory.outer, memory.steps.outer);
  if (type != library->byte)
    check(library->commitType(&type));
  ++batch.left;
  Request &request = requests.emplace_back();
  owners.push_back(&batch);
  if (message.way == Posting::Way::Send)
    check(library->startSend(memory.begin, count, type, message.peer, (int)message.tag, messages, &request));
  else
    check(library->startReceive(memory.begin, count, type, message.peer, (int)message.tag, messages, &request));
  if (type != library->byte)
    check(library->freeType(&type)); // once the message has ended
}

void Engine::endOne(Batch &batch) {
  if (--batch.left > 0)
    return;
  batch.ended->fetch_add(1, std::memory_order_release);
  wakeAll(*batch.ended);
  std::lock_guard lock(mutex);
  free.push_back(&batch);
}

/// Whether some have ended.
bool Engine::testMessages() {
  if (requests.empty())
    return false;
  ended.resize(requests.size());
  int count = 0;
  check(library->testSome((int)requests.size(), requests.data(), &count, ended.data(), nullptr));
  if (count <= 0) // none, or none that could
    return false;
  for (int i = 0; i < count; ++i)
    endOne(*owners[(size_t)ended[(size_t)i]]);
  size_t kept = 0;
  for (size_t i = 0; i < requests.size(); ++i)
    if (requests[i] != library->none)
      requests[kept] = requests[i], owners[kept++] = owners[i];
  requests.resize(kept), owners.resize(kept);
  return true;
}

void Engine::hear() {
  check(library->startReceive(heard.data(), (int)heard.size(), library->byte, anySource, anyTag, notes,
                              &hearing.emplace()));
}

bool Engine::testNotes() {
  bool isAny = false;
  Status status = {};
  int isDone = 0;
  for (; hearing; isAny = true) {
    check(library->test(&*hearing, &isDone, &status));
    if (!isDone)
      break;
    listener.hear(status.source, (uint32_t)status.tag, {heard.data(), status.bytes});
    hear();
  }
  for (size_t i = 0; i < leaving.size();) {
    check(library->test(&leaving[i].request, &isDone, nullptr));
    if (!isDone) {
      ++i;
      continue;
    }
    leaving.erase(leaving.begin() + (ptrdiff_t)i);
    std::lock_guard lock(mutex);
    --notesLeft;
    answers.notify_all();
  }
  return isAny;
}

} // namespace xlc::runtime::mpi
