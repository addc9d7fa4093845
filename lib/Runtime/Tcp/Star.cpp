// See Star.h.
#include "Star.h"

#include "Fabric/Waiting.h"
#include "Failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace xlc::runtime::tcp {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr char magic[8] = "xlc 2";
constexpr auto tickTime = 20ms, pause = 100ms;
constexpr int mostToConnect = 1000;          // milliseconds, of one address
constexpr uint64_t mostBytes = 128ULL << 20; // of a frame
constexpr int mostSilence = 5000;            // milliseconds until a host that says nothing is taken for lost

void setOption(const OwnedFile &socket, int level, int option, int value) {
  setsockopt(socket.get(), level, option, &value, sizeof value); // without it all works, later
}

void configure(const OwnedFile &socket) {
  setOption(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  setOption(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  setOption(socket, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  setOption(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  setOption(socket, IPPROTO_TCP, TCP_KEEPCNT, mostSilence / 1000 - 1);
  setOption(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, mostSilence);
}

/// The addresses of a name, or nothing.
class Addresses {
public:
  Addresses(const std::string &host, const std::string &port) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host.c_str(), port.c_str(), &hints, &first) != 0)
      first = nullptr;
  }
  ~Addresses() {
    if (first)
      freeaddrinfo(first);
  }
  Addresses(const Addresses &) = delete;

  addrinfo *first = nullptr;
};

OwnedFile makeSocket(int family) {
  return OwnedFile(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
}

bool isReady(const OwnedFile &socket, short events, int most) {
  pollfd asked{socket.get(), events, 0};
  return ::poll(&asked, 1, most) == 1;
}

OwnedFile tryConnect(const addrinfo &to) {
  OwnedFile made = makeSocket(to.ai_family);
  int problem = 0;
  socklen_t size = sizeof problem;
  bool isThere = made && (connect(made.get(), to.ai_addr, to.ai_addrlen) == 0 ||
                          (errno == EINPROGRESS && isReady(made, POLLOUT, mostToConnect) &&
                           getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &problem, &size) == 0 && problem == 0));
  return isThere ? std::move(made) : OwnedFile();
}

/// Listens at a port of all addresses of this host, or says in errno why not.
OwnedFile tryListen(int family, uint16_t port) {
  OwnedFile made = makeSocket(family);
  if (!made)
    return made;
  setOption(made, SOL_SOCKET, SO_REUSEADDR, 1);
  sockaddr_in6 any6 = {};
  sockaddr_in any4 = {};
  any6.sin6_family = AF_INET6, any6.sin6_port = htons(port);
  any4.sin_family = AF_INET, any4.sin_port = htons(port);
  if (family == AF_INET6)
    setOption(made, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  const auto *address = family == AF_INET6 ? (const sockaddr *)&any6 : (const sockaddr *)&any4;
  bool isOpen = bind(made.get(), address, family == AF_INET6 ? sizeof any6 : sizeof any4) == 0 &&
                listen(made.get(), SOMAXCONN) == 0;
  return isOpen ? std::move(made) : OwnedFile();
}

template <class T> std::span<const char> bytesOf(std::span<const T> values) {
  return {(const char *)values.data(), values.size_bytes()};
}

} // namespace

Star::Star(const Launch &launch)
    : ownRank((int)launch.rank), ranks((int)launch.world), onHost(launch.onHost), host(launch.meeting->host),
      port(std::to_string(launch.meeting->port + 1)), wakes(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      lines(ownRank == 0 ? launch.world : 1), thread([this] { run(); }) {}

Star::~Star() {
  abandon();
  if (thread.joinable())
    thread.join();
}

void Star::run() {
  wakePromptly();
  try {
    OwnedFile socket = ownRank == 0 ? listenForOthers() : connectToRankZero();
    std::lock_guard lock(mutex);
    if (isAbandoned)
      return;
    if (ownRank == 0) {
      door = std::move(socket);
    } else {
      lines[0].socket = std::move(socket);
      say(Kind::Hello, 0, (uint32_t)ranks, {});
    }
  } catch (const Rejected &failed) {
    std::lock_guard lock(mutex);
    problem = failed.what();
    answers.notify_all();
    return;
  }
  serve();
}

OwnedFile Star::listenForOthers() {
  auto number = (uint16_t)std::stoi(port);
  OwnedFile made = tryListen(AF_INET6, number);
  if (!made)
    made = tryListen(AF_INET, number);
  if (!made)
    throw Rejected(fmt::format("error: rank 0 cannot listen at port {}, the one behind MASTER_PORT: {}", port,
                               std::strerror(errno)));
  return made;
}

/// Rank 0 may come later, and so may its name.
OwnedFile Star::connectToRankZero() {
  for (;;) {
    Addresses all(host, port);
    for (const addrinfo *each = all.first; each; each = each->ai_next)
      if (OwnedFile made = tryConnect(*each)) {
        configure(made);
        return made;
      }
    std::this_thread::sleep_for(pause);
    std::lock_guard lock(mutex);
    if (isAbandoned)
      return {};
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
      send(line);
    answers.notify_all();
    if (isAbandoned || (isEnding && hasLeft(true)))
      return;
    wait(lock);
    acceptGuests();
    for (size_t i = 0; i < lines.size(); ++i)
      read(lines[i], ownRank == 0 ? (int)i : 0);
    tell(lock);
  }
}

void Star::wait(std::unique_lock<std::mutex> &lock) {
  std::vector<pollfd> asked = {{wakes.get(), POLLIN, 0}, {door.get(), POLLIN, 0}};
  for (const std::vector<Line> *some : {&lines, &guests})
    for (const Line &line : *some)
      asked.push_back({line.socket.get(), (short)(line.leaving.empty() ? POLLIN : POLLIN | POLLOUT), 0});
  lock.unlock();
  ::poll(asked.data(), asked.size(), (int)std::chrono::milliseconds(tickTime).count());
  lock.lock();
  uint64_t count;
  while (::read(wakes.get(), &count, sizeof count) > 0)
    ;
}

void Star::acceptGuests() {
  if (!door)
    return;
  for (;;) {
    OwnedFile made(accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!made)
      break;
    configure(made);
    guests.push_back({std::move(made), {}, {}});
  }
  for (Line &guest : guests)
    if (guest.isOpen() && receive(guest))
      takeHello(guest);
  std::erase_if(guests, [](const Line &guest) { return !guest.isOpen(); });
  if (std::count_if(lines.begin(), lines.end(), [](const Line &line) { return line.isOpen(); }) + 1 < ranks)
    return;
  door.reset(), guests.clear();
  sayToAll(Kind::Start, {});
  isStarted = true;
}

/// Who is no rank of this job is closed.
void Star::takeHello(Line &guest) {
  const Header &said = guest.coming.header;
  bool isOurs = said.kind == Kind::Hello && said.tag == (uint32_t)ranks && said.from > 0 && said.from < ranks &&
                !lines[(size_t)said.from].isOpen();
  Line &line = lines[isOurs ? (size_t)said.from : 0];
  if (isOurs)
    line.socket = std::move(guest.socket);
  guest.socket.reset();
}

bool Star::receive(Line &line) const {
  Frame &frame = line.coming;
  while (line.isOpen()) {
    bool isHeader = frame.done < sizeof(Header);
    char *to = isHeader ? (char *)&frame.header + frame.done : frame.bytes.data() + (frame.done - sizeof(Header));
    size_t most = isHeader ? sizeof(Header) - frame.done : frame.bytes.size() + sizeof(Header) - frame.done;
    ssize_t got = most ? recv(line.socket.get(), to, most, 0) : 0;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
      return false;
    if (most && got <= 0)
      break;
    frame.done += (size_t)got;
    if (isHeader && frame.done == sizeof(Header)) {
      const Header &header = frame.header;
      if (std::memcmp(header.begin, magic, sizeof magic) != 0 || header.bytes > mostBytes || header.to < 0 ||
          header.to >= ranks)
        break;
      frame.bytes.resize(header.bytes);
    }
    if (frame.done >= sizeof(Header) && frame.done == sizeof(Header) + frame.bytes.size())
      return true;
  }
  line.socket.reset();
  return false;
}

void Star::read(Line &line, int rank) {
  if (!line.isOpen())
    return;
  while (receive(line)) {
    Frame frame = std::exchange(line.coming, {});
    if (ownRank == 0)
      frame.header.from = rank;
    handle(std::move(frame));
  }
  if (!line.isOpen())
    lose(rank);
}

void Star::send(Line &line) {
  while (line.isOpen() && !line.leaving.empty()) {
    Frame &frame = line.leaving.front();
    iovec parts[] = {{&frame.header, sizeof(Header)}, {frame.bytes.data(), frame.bytes.size()}};
    size_t done = frame.done;
    for (iovec &part : parts) {
      size_t skipped = std::min(done, part.iov_len);
      part.iov_base = (char *)part.iov_base + skipped, part.iov_len -= skipped, done -= skipped;
    }
    msghdr message = {};
    message.msg_iov = parts, message.msg_iovlen = std::size(parts);
    ssize_t went = sendmsg(line.socket.get(), &message, MSG_NOSIGNAL);
    if (went < 0)
      return; // what is wrong with it, reading finds
    frame.done += (size_t)went;
    if (frame.done == sizeof(Header) + frame.bytes.size())
      line.leaving.pop_front();
  }
}

void Star::handle(Frame frame) {
  const Header &header = frame.header;
  if (header.to != ownRank)
    return ownRank == 0 ? enqueue(std::move(frame)) : void();
  switch (header.kind) {
  case Kind::Hello:
    break;
  case Kind::Start:
    isStarted = true;
    break;
  case Kind::Message: {
    auto waits = std::ranges::find_if(
        receivers, [&](const Receiver &each) { return each.from == header.from && each.tag == header.tag; });
    if (waits == receivers.end()) {
      unread.push_back(std::move(frame));
      break;
    }
    std::copy_n(frame.bytes.begin(), std::min(frame.bytes.size(), waits->memory.size()), waits->memory.begin());
    endOne(*waits->batch);
    receivers.erase(waits);
    break;
  }
  case Kind::Note:
  case Kind::LatestNote:
    unheard.push_back(std::move(frame));
    break;
  case Kind::Meet:
    joinMeeting({(const uint64_t *)frame.bytes.data(), frame.bytes.size() / sizeof(uint64_t)});
    break;
  case Kind::Met:
    endMeeting({(const uint64_t *)frame.bytes.data(), frame.bytes.size() / sizeof(uint64_t)});
    break;
  case Kind::Gather:
    joinGathering(header.from, frame.bytes);
    break;
  case Kind::Gathered:
    gathering.all = std::move(frame.bytes), gathering.isWhole = true;
    break;
  }
}

void Star::lose(int rank) {
  Line &line = lineTo(rank);
  line.leaving.clear();
  if (isEnding)
    return;
  if (!isStarted)
    problem = fmt::format("error: rank 0 at {}:{} does not take rank {}: it has one, or is another job's", host, port,
                          ownRank);
  isBroken = true;
  lost.push_back(rank);
}

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

void Star::enqueue(Frame frame) {
  frame.done = 0;
  std::deque<Frame> &leaving = lineTo(frame.header.to).leaving;
  const Header &next = frame.header;
  auto isLike = [&](const Frame &other) {
    return other.header.kind == next.kind && other.header.from == next.from && other.header.tag == next.tag;
  };
  bool isLeftOut = next.kind == Kind::LatestNote && std::ranges::any_of(leaving, isLike);
  if (!isLeftOut && lineTo(next.to).isOpen())
    leaving.push_back(std::move(frame));
}

void Star::say(Kind kind, int to, uint32_t tag, std::span<const char> bytes) {
  Frame frame{{{}, kind, ownRank, to, tag, bytes.size()}, {bytes.begin(), bytes.end()}};
  std::memcpy(frame.header.begin, magic, sizeof magic);
  enqueue(std::move(frame));
  wake();
}

void Star::sayToAll(Kind kind, std::span<const char> bytes) {
  for (int rank = 1; rank < ranks; ++rank)
    say(kind, rank, 0, bytes);
}

void Star::wake() const {
  uint64_t one = 1;
  (void)!write(wakes.get(), &one, sizeof one);
}

bool Star::hasLeft(bool isAnything) const {
  auto isNote = [](const Frame &frame) {
    return frame.header.kind == Kind::Note || frame.header.kind == Kind::LatestNote;
  };
  return std::ranges::none_of(lines, [&](const Line &line) {
    return isAnything ? !line.leaving.empty() : std::ranges::any_of(line.leaving, isNote);
  });
}

void Star::endOne(Batch &batch) {
  if (--batch.left > 0)
    return;
  batch.ended->fetch_add(1, std::memory_order_release);
  wakeAll(*batch.ended);
}

void Star::post(std::span<const Posting> messages, std::atomic<uint32_t> &ended) {
  std::lock_guard lock(mutex);
  auto batch = std::make_shared<Batch>(Batch{messages.size() + 1, &ended});
  for (const Posting &message : messages) {
    std::span<char> memory(message.memory.begin, message.memory.bytes * message.memory.outer * message.memory.rows);
    auto isIt = [&](const Frame &frame) {
      return frame.header.from == message.peer && frame.header.tag == message.tag;
    };
    if (message.way == Posting::Way::Send) {
      say(Kind::Message, message.peer, message.tag, memory);
      endOne(*batch);
    } else if (auto come = std::ranges::find_if(unread, isIt); come != unread.end()) {
      std::copy_n(come->bytes.begin(), std::min(come->bytes.size(), memory.size()), memory.begin());
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
    joinMeeting(words);
  else
    say(Kind::Meet, 0, 0, bytesOf(std::span<const uint64_t>(words)));
}

void Star::joinMeeting(std::span<const uint64_t> words) {
  meeting.largest.resize(words.size());
  for (size_t i = 0; i < words.size(); ++i)
    meeting.largest[i] = std::max(meeting.largest[i], words[i]);
  if (++meeting.come < ranks)
    return;
  std::vector<uint64_t> largest = std::exchange(meeting.largest, {});
  meeting.come = 0;
  sayToAll(Kind::Met, bytesOf(std::span<const uint64_t>(largest)));
  endMeeting(largest);
}

void Star::endMeeting(std::span<const uint64_t> largest) {
  std::copy_n(largest.begin(), std::min(largest.size(), meeting.words.size()), meeting.words.begin());
  isEnding |= isQuiet; // the last one: from now on nobody is missed
  std::atomic<uint32_t> *ended = std::exchange(meeting.ended, nullptr);
  if (!ended)
    return;
  ended->fetch_add(1, std::memory_order_release);
  wakeAll(*ended);
}

std::vector<char> Star::gather(std::span<const char> own) {
  std::unique_lock lock(mutex);
  if (ownRank == 0)
    joinGathering(0, own);
  else
    say(Kind::Gather, 0, 0, own);
  answers.wait(lock, [&] { return gathering.isWhole || isBroken; });
  if (!gathering.isWhole)
    throw Rejected("error: a process has gone before all ranks had met");
  return gathering.all;
}

void Star::joinGathering(int rank, std::span<const char> bytes) {
  gathering.parts[rank].assign(bytes.begin(), bytes.end());
  if (gathering.parts.size() < (size_t)ranks)
    return;
  for (const auto &[from, part] : gathering.parts)
    gathering.all.insert(gathering.all.end(), part.begin(), part.end());
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
  return answers.wait_for(lock, most, [&] { return hasLeft(false); });
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
  std::atomic<uint32_t> met{0};
  uint64_t word = 0;
  meet({&word, 1}, met);
  {
    std::unique_lock lock(mutex);
    answers.wait(lock, [&] { return met != 0 || isBroken; });
    isEnding = true;
    wake();
  }
  thread.join();
}

} // namespace xlc::runtime::tcp
