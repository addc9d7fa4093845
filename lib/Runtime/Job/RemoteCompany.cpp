// See RemoteCompany.h.
#include "RemoteCompany.h"

#include "Files/StandardStreams.h"
#include "Launch/Introduction.h"
#include "Speaker.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace xlc::runtime {
namespace {

constexpr std::chrono::milliseconds mostUntilSaid(2000), mostUntilNotesLeave(500);
/// From a note that tells of a failure to the one that it was said, where both wait to be heard.
constexpr std::chrono::milliseconds mostBetweenNotes(100);
constexpr int64_t nanosecondsBetweenSights = 100'000'000;
constexpr uint64_t mostBytesOfAnswer = 64 << 20;

struct Failure {
  uint32_t exit;
  char text[8192];
};

template <class T> std::span<const char> bytesOfValue(const T &value) { return {(const char *)&value, sizeof value}; }

} // namespace

/// Of the streams of a rank.
struct RemoteCompany::Sight {
  struct Stream {
    uint64_t beats, step, action;
    int64_t call;
    uint32_t state;
  };
  std::array<Stream, pulsesPerRank> streams;
};

RemoteCompany::RemoteCompany(const World &world, Carrier &carrier) : world(world), carrier(carrier) {
  carrier.listen({[this](int from, uint32_t kind, std::span<const char> bytes) { hear(from, kind, bytes); },
                  [this] { tick(); }, [this](const std::string &why) { fail(why); }});
}

/// Perhaps for want of memory, of which the message needs some: then without the place.
void RemoteCompany::fail(const std::string &why) {
  try {
    world.stop().raise(Exit::RankFailed,
                       fmt::format("error: {}: {}", world.whereabouts.describeRank(carrier.rank()), why));
  } catch (const std::bad_alloc &) {
    world.stop().raise(Exit::RankFailed, why);
  }
}

void RemoteCompany::hear(int from, uint32_t kind, std::span<const char> bytes) {
  switch ((Kind)kind) {
  case Failed:
  case Said:
    takeFailure(from, bytes);
    if (kind == Said) {
      isSaid = true;
      carrier.abandon();
    }
    break;
  case Numbers: {
    StepResult result{};
    if (from != findPublisher(world.plan) || bytes.size() != sizeof result)
      break; // of no rank that has them
    std::memcpy((void *)&result, bytes.data(), sizeof result);
    world.publish(result);
    break;
  }
  case Whereabouts:
    takeWhereabouts(from, bytes);
    break;
  }
}

/// Whatever a note says, a job that it ends has failed.
void RemoteCompany::takeFailure(int from, std::span<const char> bytes) {
  Failure failure{};
  std::memcpy(&failure, bytes.data(), std::min(bytes.size(), sizeof failure));
  std::string_view text = boundedText(failure.text);
  hasHeard = true;
  if (text.empty())
    fail(fmt::format("rank {} ended the job without a message", from));
  world.stop().raise(failureOf(failure.exit), text);
  isTold |= !isFirst();
}

void RemoteCompany::tick() {
  if (world.stop().isRaised() && !isTold) {
    isTold = true;
    tellFailure(Failed);
  }
  if (!isTold && now() - toldOfRank > nanosecondsBetweenSights)
    tellWhereabouts();
}

/// Rank 0, which tells all; that it was said, everybody.
void RemoteCompany::tellFailure(Kind kind) {
  Failure failure{(uint32_t)world.stop().code(), {}};
  world.stop().text().copy(failure.text, sizeof failure.text - 1);
  for (int rank = 0; rank < (isFirst() || kind == Said ? carrier.size() : 1); ++rank)
    if (rank != carrier.rank())
      carrier.note(rank, kind, bytesOfValue(failure));
}

/// One that waits for what has come is not shown as waiting.
void RemoteCompany::tellWhereabouts() {
  toldOfRank = now();
  Sight sight;
  for (uint64_t i = 0; i < pulsesPerRank; ++i) {
    const Pulse &pulse = world.pulses()[(uint64_t)carrier.rank() * pulsesPerRank + i];
    uint32_t state = pulse.state;
    if (state == Pulse::WaitsForRanks && !world.whereabouts.isWaiting(carrier.rank(), pulse))
      state = Pulse::Works;
    sight.streams[i] = {pulse.beats, pulse.step, pulse.action, pulse.call, state};
  }
  for (int rank = 0; rank < carrier.size(); ++rank)
    if (world.whereabouts.isWatcher(rank) && rank != carrier.rank())
      carrier.note(rank, Whereabouts, bytesOfValue(sight), Carrier::Behind::IsLeftOut);
}

void RemoteCompany::takeWhereabouts(int from, std::span<const char> bytes) {
  Sight sight{};
  std::memcpy(&sight, bytes.data(), std::min(bytes.size(), sizeof sight));
  for (uint64_t i = 0; i < pulsesPerRank; ++i) {
    Pulse &pulse = world.pulses()[(uint64_t)from * pulsesPerRank + i];
    const Sight::Stream &seen = sight.streams[i];
    pulse.step = seen.step, pulse.action = seen.action, pulse.call = seen.call, pulse.state = seen.state;
    pulse.beats = seen.beats;
  }
  world.whereabouts.lastHeard(from) = now();
}

/// Rank 0 says it. Others wait for that, since launchers end all processes as soon as one has ended with an error; where
/// rank 0 does not answer, the one that noticed says it. A rank 0 that was stopped and goes on hears both at once.
void RemoteCompany::sayFailure() {
  StopSignal &stop = world.stop();
  if (!stop.isRaised())
    return;
  auto begin = std::chrono::steady_clock::now();
  std::chrono::milliseconds most = !isFirst() ? mostUntilSaid
                                   : hasHeard ? mostBetweenNotes
                                              : std::chrono::milliseconds(0);
  while (!isSaid && std::chrono::steady_clock::now() - begin < most)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  if (isSaid.exchange(true))
    return;
  runtime::sayFailure(stop);
  tellFailure(Said);
  carrier.waitForNotes(mostUntilNotesLeave);
  carrier.abandon();
}

void RemoteCompany::publish(const StepResult &result) {
  if (isFirst())
    world.publish(result);
  else
    carrier.note(0, Numbers, bytesOfValue(result));
}

void RemoteCompany::exchange(std::span<const Posting> messages) {
  uint32_t before = exchanged;
  carrier.post(messages, exchanged);
  waitWhile(exchanged, before, world.spins, world.stop());
}

void RemoteCompany::ask(int rank, const Question &question, void *to) {
  Question asked = question;
  const Posting messages[] = {message(Posting::Way::Send, rank, &asked, sizeof asked),
                              message(Posting::Way::Receive, rank, (char *)to, question.bytes)};
  exchange(messages);
}

void RemoteCompany::collect() {
  for (int rank = 1; rank < carrier.size(); ++rank)
    world.collect(rank, [&](void *place, uint64_t bytes) {
      for (uint64_t at = 0; at < bytes; at += mostBytesOfAnswer)
        ask(rank, {Question::Commons, world.numberOf(place) + at, std::min(mostBytesOfAnswer, bytes - at)},
            (char *)place + at);
    });
}

void RemoteCompany::readArena(int rank, uint64_t offset, uint64_t bytes, void *to) {
  for (uint64_t at = 0; at < bytes; at += mostBytesOfAnswer)
    ask(rank, {Question::Arena, offset + at, std::min(mostBytesOfAnswer, bytes - at)}, (char *)to + at);
}

void RemoteCompany::end(Exit exit) {
  Question told{Question::End, (uint64_t)exit, 0};
  std::vector<Posting> messages;
  for (int rank = 1; rank < carrier.size(); ++rank)
    messages.push_back(message(Posting::Way::Send, rank, &told, sizeof told));
  exchange(messages);
}

/// Rank 0 asks for what this rank has, and for no more.
void RemoteCompany::check(const Question &question, const Left &left) const {
  bool isOfArena = question.what == Question::Arena;
  uint64_t most = isOfArena ? trainingProgramOf(world.plan, left.rank).arena : world.commonsBytes();
  if (!isOfArena && question.what != Question::Commons)
    throw ExchangeFailure(
        fmt::format("rank 0 sent request {}, which is not 0 (arena), 1 (commons) or 2 (end)", (uint64_t)question.what));
  if (question.from > most || question.bytes > most - question.from)
    throw ExchangeFailure(fmt::format("rank 0 requested {} bytes at offset {} of {}, which has {} bytes",
                                      question.bytes, question.from, isOfArena ? "an arena" : "the commons", most));
  if (question.bytes > mostBytesOfAnswer)
    throw ExchangeFailure(
        fmt::format("rank 0 requested {} bytes at once; the limit is {} MiB", question.bytes, mostBytesOfAnswer >> 20));
}

Exit RemoteCompany::awaitEnd(const Left &left) {
  std::vector<char> staged; // of another device's memory
  for (;;) {
    Question question{};
    exchange(std::array{message(Posting::Way::Receive, 0, &question, sizeof question)});
    if (question.what == Question::End)
      return question.from == (uint64_t)Exit::Done ? Exit::Done : failureOf(question.from);
    check(question, left);
    const char *from = question.what == Question::Arena ? left.arena + question.from : world.addressOf(question.from);
    if (question.what == Question::Arena && !world.arenas.areOfHost()) {
      staged.resize(question.bytes);
      left.device.read(staged.data(), from, question.bytes);
      from = staged.data();
    }
    exchange(std::array{message(Posting::Way::Send, 0, from, question.bytes)});
  }
}

} // namespace xlc::runtime
