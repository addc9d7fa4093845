// See Star.h.
#include "Star.h"

#include "Fabric/Waiting.h"
#include "Failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>

namespace xlc::runtime::tcp {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto tickTime = 20ms, mostPerLook = 200ms; // more passed while this process did not run
constexpr int mostFramesAtOnce = 256;                // of one line, before others have their turn
constexpr auto beatTime = 1s, mostUntilAllEnd = 10s;
constexpr auto mostUntilNotesLeave = 1s; // before all meet, behind which none is heard

std::span<const char> bytesOf(std::span<const uint64_t> words) {
  return {(const char *)words.data(), words.size_bytes()};
}

} // namespace

Star::Star(const Launch &launch, std::chrono::seconds silence)
    : ownRank((int)launch.rank), ranks((int)launch.world), onHost(launch.onHost), job(jobOf(launch)), silence(silence),
      host(launch.meeting->host), port(launch.meeting->port + 1),
      noMemory("out of memory for the messages of other ranks"), wakes(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      lines(ownRank == 0 ? launch.world : 1), encounter{job.tag, ownRank, {}, {}} {
  fault.reserve(noMemory.size());
  thread = std::thread([this] { run(); });
}

Star::~Star() {
  abandon();
  if (thread.joinable())
    thread.join();
}

void Star::run() {
  wakePromptly();
  for (bool isOpen = ownRank != 0;; isOpen = true)
    try {
      if (!isOpen)
        open();
      return serve();
    } catch (const std::bad_alloc &) {
      giveUp(noMemory);
    } catch (const std::exception &failed) {
      giveUp(failed.what());
    }
}

/// What goes on is only to tell others; it may fail again, and again.
void Star::giveUp(const std::string &why) {
  std::unique_lock lock(mutex);
  inbox.close();
  unheard.clear(), unheardBytes = 0;
  if (!isBroken)
    isBroken = true, fault = why;
  bool isHeard = isListening;
  lock.unlock();
  answers.notify_all();
  if (isHeard)
    listener.fail(why);
  std::this_thread::sleep_for(tickTime);
}

void Star::serve() {
  std::unique_lock lock(mutex);
  for (;;) {
    for (Line &line : lines)
      line.send();
    answers.notify_all();
    if (isAbandoned || (isEnding && hasLeft([](const Frame &) { return true; })))
      return;
    if (ownRank != 0 && !isStarted && !lines[0].isOpen()) {
      knock(lock);
      continue;
    }
    wait(lock);
    for (size_t i = 0; i < lines.size(); ++i)
      read(lines[i], (int)i);
    letGuestsIn(); // behind the ends of connections: a rank that comes again is no second one
    beat();
    tell(lock);
  }
}

void Star::wait(std::unique_lock<std::mutex> &lock) {
  std::vector<pollfd> asked = {{wakes.get(), POLLIN, 0}};
  door.addTo(asked);
  for (const Line &line : lines)
    if (line.isOpen())
      asked.push_back({line.file(), (short)(line.leaving().empty() ? POLLIN : POLLIN | POLLOUT), 0});
  lock.unlock();
  if (::poll(asked.data(), asked.size(), (int)std::chrono::milliseconds(tickTime).count()) < 0)
    std::this_thread::sleep_for(tickTime);
  eventfd_t count;
  eventfd_read(wakes.get(), &count);
  lock.lock();
}

/// Rank 0 knows the sender by its line, whatever a frame says.
void Star::read(Line &line, int rank) {
  if (!line.isOpen())
    return;
  try {
    uint64_t most = mostBytesPerLook;
    for (int i = 0; i < mostFramesAtOnce && line.receive(most); ++i) {
      Frame frame = std::exchange(line.received, {});
      unheardFor = {};
      if (ownRank == 0)
        frame.header.from = rank;
      handle(std::move(frame));
    }
  } catch (const std::bad_alloc &) { // what has come of its frame goes
    line.close();
    breakOff(rank, noMemory);
    isMemoryOut = true;
  }
  if (!line.isOpen())
    lose(rank);
}

void Star::handle(Frame frame) {
  const Header header = frame.header;
  bool isPassedOn = header.kind == Kind::Message || frame.isNote();
  bool isOfZero = header.kind == Kind::Start || header.kind == Kind::Met || header.kind == Kind::Gathered;
  if (header.kind < Kind::Start && ownRank != 0 && !isWelcome)
    return takeAnswer(frame);
  if (header.kind < Kind::Start || (ownRank != 0 && !isWelcome))
    return; // not yet, before a Welcome
  if (header.from < 0 || header.from >= ranks || (ownRank == 0 ? isOfZero : !isPassedOn && header.from != 0))
    return; // of no rank of ours
  if (header.to == ownRank)
    return deliver(std::move(frame));
  if (ownRank == 0 && isPassedOn && header.to > 0 && header.to < ranks)
    passOn(std::move(frame));
}

void Star::passOn(Frame frame) {
  Line &line = lineTo(frame.header.to);
  if (line.leavingBytes() + frame.size() > mostMessageBytes)
    return complain(frame.header.from,
                    fmt::format("rank {} has sent {} MiB that rank {} has not read; the limit is {} MiB",
                                frame.header.from, inMebibytes(line.leavingBytes() + frame.size()), frame.header.to,
                                inMebibytes(mostMessageBytes)));
  line.enqueue(std::move(frame));
}

void Star::deliver(Frame frame) {
  const Header header = frame.header;
  switch (header.kind) {
  case Kind::Start:
    isStarted = true;
    break;
  case Kind::Message:
    if (std::string wrong = inbox.take(std::move(frame)); !wrong.empty())
      complain(header.from, wrong);
    break;
  case Kind::Note:
  case Kind::LatestNote:
    keepNote(std::move(frame));
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
  default:
    break;
  }
}

/// Until there is a listener.
void Star::keepNote(Frame frame) {
  if (unheardBytes + frame.size() > mostMessageBytes)
    return complain(frame.header.from,
                    fmt::format("rank {} has sent {} MiB of control messages before the job began; the limit is {} MiB",
                                frame.header.from, inMebibytes(unheardBytes + frame.size()),
                                inMebibytes(mostMessageBytes)));
  unheardBytes += frame.size();
  unheard.push_back(std::move(frame));
}

/// Of rank 0's silence only time counts in which this process runs: a job that was stopped and goes on is none that hangs.
void Star::beat() {
  Clock::time_point now = Clock::now();
  unheardFor += std::min<Clock::duration>(now - looked, mostPerLook);
  looked = now;
  if (ownRank == 0 && isStarted && now - beaten > beatTime) {
    sayToAll(Kind::Beat, {});
    beaten = now;
  }
  if (ownRank != 0 && isStarted && lines[0].isOpen() && unheardFor > silence)
    lose(0);
}

/// Before all have come a rank may come again. One that rank 0 has put off, for want of room, does.
void Star::lose(int rank) {
  lineTo(rank).close();
  if (isEnding || isAbandoned)
    return;
  if (!isStarted) {
    isWelcome = false;
    absence = ownRank == 0 ? "" : fmt::format("rank 0 at {}:{} has closed the connection", host, port);
    return;
  }
  isBroken = true;
  lost.push_back(fmt::format("the connection to rank {} has ended", rank));
}

/// Of rank 0's line the others need the rest.
void Star::complain(int rank, const std::string &why) {
  breakOff(rank, why);
  lost.push_back(why);
}

void Star::breakOff(int rank, const std::string &why) {
  if (ownRank == 0)
    lineTo(rank).close();
  inbox.close();
  unheard.clear(), unheardBytes = 0;
  if (!isBroken)
    fault = why;
  isBroken = true;
}

void Star::tell(std::unique_lock<std::mutex> &lock) {
  if (!isListening)
    return;
  if (std::exchange(isMemoryOut, false)) {
    lock.unlock();
    listener.fail(noMemory);
    lock.lock();
  }
  std::deque<Frame> notes = std::exchange(unheard, {});
  unheardBytes = 0;
  std::vector<std::string> gone = std::exchange(lost, {});
  lock.unlock();
  for (const Frame &note : notes)
    listener.hear(note.header.from, note.header.tag, note.bytes);
  for (const std::string &why : gone)
    listener.fail(why);
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

void Star::post(std::span<const Posting> messages, std::atomic<uint32_t> &ended) {
  std::lock_guard lock(mutex);
  auto batch = std::make_shared<Batch>(messages.size() + 1, ended);
  for (const Posting &message : messages)
    if (message.way == Posting::Way::Send) {
      say(Kind::Message, message.peer, message.tag, {message.memory.begin, (size_t)message.memory.bytes});
      batch->endOne();
    } else if (std::string wrong = inbox.await(message, batch); !wrong.empty()) {
      complain(message.peer, wrong);
    }
  batch->endOne();
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

/// Rank 0 says that all have met before it goes; a rank that has heard it misses nobody.
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
