// See Star.h.
#include "Star.h"

#include "Fabric/Waiting.h"
#include "Failure.h"
#include "Files/Checksum.h"
#include "Sockets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>

namespace xlc::runtime::tcp {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto tickTime = 20ms, pause = 100ms;
constexpr size_t mostGuests = 64; // beyond as many as there are ranks
constexpr auto beatTime = 1s, mostUntilAllEnd = 10s;
constexpr auto mostUntilNotesLeave = 1s; // before all meet, behind which none is heard

std::span<const char> bytesOf(std::span<const uint64_t> words) {
  return {(const char *)words.data(), words.size_bytes()};
}

void countUp(std::atomic<uint32_t> &ended) {
  ended.fetch_add(1, std::memory_order_release);
  wakeAll(ended);
}

/// Alike in all processes of a job.
uint32_t tagOf(const Launch &launch) {
  Checksum digest;
  digest.addText(launch.job);
  digest.addText(std::to_string(launch.world));
  return (uint32_t)std::stoul(digest.digits().substr(0, 8), nullptr, 16);
}

} // namespace

Star::Star(const Launch &launch, std::chrono::seconds silence)
    : ownRank((int)launch.rank), ranks((int)launch.world), onHost(launch.onHost), job(tagOf(launch)), silence(silence),
      host(launch.meeting->host), port(launch.meeting->port + 1), wakes(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      lines(ownRank == 0 ? launch.world : 1), thread([this] { run(); }) {}

Star::~Star() {
  abandon();
  if (thread.joinable())
    thread.join();
}

void Star::run() {
  wakePromptly();
  begin();
  serve();
}

/// Rank 0 opens its door. Others look for it: it may come later, and so may its name.
void Star::begin() {
  if (ownRank == 0) {
    OwnedFile made = listenAt(port);
    std::string why = std::strerror(errno);
    std::lock_guard lock(mutex);
    door = std::move(made);
    return door ? void()
                : end(fmt::format("error: rank 0 cannot listen at port {}, the one behind MASTER_PORT: {}", port, why));
  }
  for (;; std::this_thread::sleep_for(pause)) {
    OwnedFile made = connectTo(host, port);
    std::lock_guard lock(mutex);
    if (isAbandoned)
      return;
    if (!made)
      continue;
    lines[0] = Line(std::move(made));
    heard = Clock::now();
    return say(Kind::Hello, 0, job, {});
  }
}

bool Star::waitForStart(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex);
  answers.wait_for(lock, most, [&] { return isStarted || !problem.empty(); });
  if (!problem.empty())
    throw Rejected(problem);
  return isStarted;
}

void Star::serve() {
  std::unique_lock lock(mutex);
  for (;;) {
    for (Line &line : lines)
      line.send();
    answers.notify_all();
    if (isAbandoned || (isEnding && hasLeft([](const Frame &) { return true; })))
      return;
    wait(lock);
    acceptGuests();
    for (size_t i = 0; i < lines.size(); ++i)
      read(lines[i], (int)i);
    beat();
    tell(lock);
  }
}

void Star::wait(std::unique_lock<std::mutex> &lock) {
  std::vector<pollfd> asked = {{wakes.get(), POLLIN, 0}, {door.get(), POLLIN, 0}};
  for (const std::vector<Line> *some : {&lines, &guests})
    for (const Line &line : *some)
      asked.push_back({line.file(), (short)(line.leaving().empty() ? POLLIN : POLLIN | POLLOUT), 0});
  lock.unlock();
  ::poll(asked.data(), asked.size(), (int)std::chrono::milliseconds(tickTime).count());
  eventfd_t count;
  eventfd_read(wakes.get(), &count);
  lock.lock();
}

void Star::acceptGuests() {
  if (!door)
    return;
  while (OwnedFile made = acceptAt(door)) {
    if (guests.size() == (size_t)ranks + mostGuests) // who says nothing makes room for others
      guests.erase(guests.begin());
    guests.emplace_back(std::move(made), /*most=*/0);
  }
  for (Line &guest : guests)
    if (guest.receive())
      takeHello(guest);
  std::erase_if(guests, [](const Line &guest) { return !guest.isOpen(); });
  if (std::ranges::count_if(lines, &Line::isOpen) + 1 < ranks)
    return;
  door.reset(), guests.clear();
  sayToAll(Kind::Start, {});
  isStarted = true;
}

/// Who is no rank of this job is closed, and so is one that has come before.
void Star::takeHello(Line &guest) {
  const Header said = guest.received.header;
  bool isOurs = said.kind == Kind::Hello && said.tag == job && said.from > 0 && said.from < ranks &&
                !lines[(size_t)said.from].isOpen();
  if (isOurs) {
    lines[(size_t)said.from] = std::move(guest);
    lines[(size_t)said.from].allow(Line::mostBytes);
  }
  guest = Line();
}

/// Rank 0 knows who says something, whatever a frame says.
void Star::read(Line &line, int rank) {
  if (!line.isOpen())
    return;
  while (line.receive()) {
    Frame frame = std::exchange(line.received, {});
    heard = Clock::now();
    if (ownRank == 0)
      frame.header.from = rank;
    handle(std::move(frame));
  }
  if (!line.isOpen())
    lose(rank);
}

void Star::handle(Frame frame) {
  const Header header = frame.header;
  bool isPassedOn = header.kind == Kind::Message || frame.isNote();
  bool isOfZero = header.kind == Kind::Start || header.kind == Kind::Met || header.kind == Kind::Gathered;
  if (header.from < 0 || header.from >= ranks || (ownRank == 0 ? isOfZero : !isPassedOn && header.from != 0))
    return; // of no rank of ours
  if (header.to == ownRank)
    return deliver(std::move(frame));
  if (ownRank == 0 && isPassedOn && header.to > 0 && header.to < ranks)
    lineTo(header.to).enqueue(std::move(frame));
}

void Star::deliver(Frame frame) {
  const Header header = frame.header;
  switch (header.kind) {
  case Kind::Hello:
  case Kind::Beat:
    break;
  case Kind::Start:
    isStarted = true;
    break;
  case Kind::Message: {
    auto isFor = [&](const Receiver &each) { return each.from == header.from && each.tag == header.tag; };
    auto waits = std::ranges::find_if(receivers, isFor);
    if (waits == receivers.end())
      return unread.push_back(std::move(frame));
    frame.copyTo(waits->memory);
    endOne(*waits->batch);
    receivers.erase(waits);
    break;
  }
  case Kind::Note:
  case Kind::LatestNote:
    unheard.push_back(std::move(frame));
    break;
  case Kind::Meet:
    joinMeeting(header.from, frame.words());
    break;
  case Kind::Met:
    endMeeting(frame.words());
    break;
  case Kind::Gather:
    joinGathering(header.from, frame.bytes);
    break;
  case Kind::Gathered:
    gathering.all = std::move(frame.bytes), gathering.isWhole = true;
    break;
  }
}

void Star::beat() {
  Clock::time_point now = Clock::now();
  if (ownRank == 0 && isStarted && now - beaten > beatTime) {
    sayToAll(Kind::Beat, {});
    beaten = now;
  }
  if (ownRank != 0 && isStarted && lines[0].isOpen() && now - heard > silence)
    lose(0);
}

/// Before all have come a rank may come again.
void Star::lose(int rank) {
  lineTo(rank).close();
  if (isEnding || (!isStarted && ownRank == 0))
    return;
  if (!isStarted)
    return end(fmt::format("error: rank 0 at {}:{} does not take rank {}: it has one, is another job's, or has ended",
                           host, port, ownRank));
  isBroken = true;
  lost.push_back(rank);
}

void Star::end(const std::string &why) { problem = why, isAbandoned = true; }

void Star::tell(std::unique_lock<std::mutex> &lock) {
  if (!isListening)
    return;
  std::deque<Frame> notes = std::exchange(unheard, {});
  std::vector<int> gone = std::exchange(lost, {});
  lock.unlock();
  for (const Frame &note : notes)
    listener.hear(note.header.from, note.header.tag, note.bytes);
  for (int rank : gone)
    listener.fail(fmt::format("the connection to rank {} has ended", rank));
  if (Clock::now() - ticked > tickTime) {
    listener.tick();
    ticked = Clock::now();
  }
  lock.lock();
}

void Star::say(Kind kind, int to, uint32_t tag, std::span<const char> bytes) {
  lineTo(to).enqueue(Frame(kind, ownRank, to, tag, bytes));
  wake();
}

void Star::sayToAll(Kind kind, std::span<const char> bytes) {
  for (int rank = 1; rank < ranks; ++rank)
    say(kind, rank, 0, bytes);
}

void Star::wake() const { eventfd_write(wakes.get(), 1); }

bool Star::hasLeft(bool (*isMeant)(const Frame &)) const {
  return std::ranges::none_of(lines, [&](const Line &line) { return std::ranges::any_of(line.leaving(), isMeant); });
}

void Star::endOne(Batch &batch) {
  if (--batch.left == 0)
    countUp(*batch.ended);
}

void Star::post(std::span<const Posting> messages, std::atomic<uint32_t> &ended) {
  std::lock_guard lock(mutex);
  auto batch = std::make_shared<Batch>(Batch{messages.size() + 1, &ended});
  for (const Posting &message : messages) {
    std::span<char> memory(message.memory.begin, message.memory.bytes);
    auto isIt = [&](const Frame &frame) {
      return frame.header.from == message.peer && frame.header.tag == message.tag;
    };
    if (message.way == Posting::Way::Send) {
      say(Kind::Message, message.peer, message.tag, memory);
      endOne(*batch);
    } else if (auto come = std::ranges::find_if(unread, isIt); come != unread.end()) {
      come->copyTo(memory);
      unread.erase(come);
      endOne(*batch);
    } else {
      receivers.push_back({message.peer, message.tag, memory, batch});
    }
  }
  endOne(*batch);
}

void Star::meet(std::span<uint64_t> words, std::atomic<uint32_t> &ended) {
  std::lock_guard lock(mutex);
  meeting.words = words, meeting.ended = &ended;
  if (ownRank == 0)
    joinMeeting(0, {words.begin(), words.end()});
  else
    say(Kind::Meet, 0, 0, bytesOf(words));
}

void Star::joinMeeting(int rank, std::vector<uint64_t> words) {
  meeting.come[rank] = std::move(words);
  if (meeting.come.size() < (size_t)ranks)
    return;
  std::vector<uint64_t> largest(meeting.words.begin(), meeting.words.end());
  for (const auto &[from, given] : std::exchange(meeting.come, {}))
    for (size_t i = 0; i < std::min(given.size(), largest.size()); ++i)
      largest[i] = std::max(largest[i], given[i]);
  sayToAll(Kind::Met, bytesOf(largest));
  endMeeting(largest);
}

void Star::endMeeting(std::span<const uint64_t> largest) {
  std::atomic<uint32_t> *ended = std::exchange(meeting.ended, nullptr);
  if (!ended)
    return;
  std::copy_n(largest.begin(), std::min(largest.size(), meeting.words.size()), meeting.words.begin());
  isEnding |= isQuiet; // the last one: from now on nobody is missed
  countUp(*ended);
}

std::vector<char> Star::gather(std::span<const char> own) {
  std::unique_lock lock(mutex);
  if (ownRank == 0)
    joinGathering(0, own);
  else
    say(Kind::Gather, 0, 0, own);
  answers.wait_for(lock, silence, [&] { return gathering.isWhole || isBroken || isAbandoned; });
  if (!gathering.isWhole)
    throw Rejected("error: a process has gone, or says nothing, before all ranks had met");
  if (gathering.all.size() != own.size() * (size_t)ranks)
    throw Rejected("error: ranks are processes of different programs");
  return gathering.all;
}

void Star::joinGathering(int rank, std::span<const char> bytes) {
  gathering.come[rank].assign(bytes.begin(), bytes.end());
  if (gathering.come.size() < (size_t)ranks)
    return;
  for (const auto &[from, given] : std::exchange(gathering.come, {}))
    gathering.all.insert(gathering.all.end(), given.begin(), given.end());
  gathering.isWhole = true;
  sayToAll(Kind::Gathered, gathering.all);
}

void Star::listen(Listener given) {
  std::lock_guard lock(mutex);
  listener = std::move(given);
  isListening = true;
}

void Star::note(int to, uint32_t kind, std::span<const char> bytes, Behind behind) {
  std::lock_guard lock(mutex);
  if (!isQuiet)
    say(behind == Behind::Follows ? Kind::Note : Kind::LatestNote, to, kind, bytes);
}

bool Star::waitForNotes(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex);
  return answers.wait_for(lock, most, [&] { return hasLeft([](const Frame &frame) { return frame.isNote(); }); });
}

void Star::abandon() {
  std::lock_guard lock(mutex);
  isAbandoned = true;
  wake();
}

/// Rank 0 says that all have met before it goes; who has heard it misses nobody.
void Star::finish() {
  {
    std::lock_guard lock(mutex);
    isQuiet = true;
  }
  waitForNotes(mostUntilNotesLeave);
  std::atomic<uint32_t> met{0};
  uint64_t word = 0;
  meet({&word, 1}, met);
  {
    std::unique_lock lock(mutex);
    answers.wait_for(lock, mostUntilAllEnd, [&] { return met != 0 || isBroken || isAbandoned; });
    meeting = {}, isEnding = true;
    wake();
  }
  thread.join();
}

} // namespace xlc::runtime::tcp
