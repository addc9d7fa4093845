// See Gather.h.
#include "Gather.h"

#include "Failure.h"
#include "Files/Checksum.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace xlc::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto gatherTick = std::chrono::milliseconds(20);
constexpr double secondsForAnswer = 2;                   // of rank 0, once it has waited long enough
constexpr auto graceForOthers = std::chrono::seconds(1); // to hear that it is off

struct Answer {
  char begin[8];
  uint32_t isOn;
};

/// "\0xlc-1000-0123456789abcdef-gather".
struct Name {
  Name(const std::string &job, const char *purpose) {
    Checksum digest;
    digest.addText(job.empty() ? fmt::format("started by {}", getppid()) : job);
    std::string text = fmt::format("xlc-{}-{}-{}", getuid(), digest.digits(), purpose);
    address.sun_family = AF_UNIX;
    length =
        (socklen_t)(offsetof(sockaddr_un, sun_path) + 1 + text.copy(address.sun_path + 1, sizeof address.sun_path - 1));
  }
  sockaddr_un address = {};
  socklen_t length;
};

[[noreturn]] void failToMeet() {
  throw Rejected(fmt::format("error: cannot connect the processes of the job: {}", std::strerror(errno)));
}

OwnedFile tryMakeSocket() { return OwnedFile(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

OwnedFile makeSocket() {
  OwnedFile made = tryMakeSocket();
  if (!made)
    failToMeet();
  return made;
}

/// False where another process has the name.
bool bindTo(const OwnedFile &socket, const Name &name) {
  if (bind(socket.get(), (const sockaddr *)&name.address, name.length) == 0)
    return true;
  if (errno != EADDRINUSE)
    failToMeet();
  return false;
}

class Deadline {
public:
  explicit Deadline(const Patience &patience) : patience(patience) {}
  /// Throws Rejected where a signal came.
  bool isOver() const {
    if (patience.signal != 0)
      throw Rejected(fmt::format("error: stopped by signal {} before all ranks had joined", patience.signal.load()));
    return patience.seconds > 0 && Clock::now() - begin > std::chrono::duration<double>(patience.seconds);
  }

private:
  const Patience &patience;
  const Clock::time_point begin = Clock::now();
};

bool isOfThisUser(const OwnedFile &line) {
  ucred peer = {};
  socklen_t size = sizeof peer;
  return getsockopt(line.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}

bool isReadable(const OwnedFile &line, std::chrono::milliseconds most) {
  pollfd asked{line.get(), POLLIN, 0};
  return poll(&asked, 1, (int)most.count()) == 1;
}

/// Sends the answer, with a file where it is on.
void sendAnswer(const OwnedFile &line, bool isOn, int file) {
  Answer answer{{}, isOn};
  std::memcpy(answer.begin, kLaunchMark, sizeof kLaunchMark);
  iovec part{&answer, sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part, message.msg_iovlen = 1;
  if (isOn) {
    message.msg_control = control, message.msg_controllen = sizeof control;
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
  }
  sendmsg(line.get(), &message, MSG_NOSIGNAL); // that a rank has gone is noticed otherwise
}

constexpr const char *zeroHasGone = "error: rank 0 ended before all ranks had joined";

/// The file, or one that is none where it is off. Nothing where the line has ended without an answer.
std::optional<OwnedFile> receiveAnswer(const OwnedFile &line) {
  Answer answer = {};
  iovec part{&answer, sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  ssize_t size = recvmsg(line.get(), &message, MSG_CMSG_CLOEXEC);
  if (size <= 0)
    return std::nullopt;
  if (size != sizeof answer || std::memcmp(answer.begin, kLaunchMark, sizeof kLaunchMark) != 0)
    throw Rejected("error: rank 0 runs a different program");
  if (message.msg_flags & MSG_CTRUNC)
    throw Rejected("error: no file descriptor is available for the shared memory (ulimit -n)");
  int file = -1;
  cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (answer.isOn && header && header->cmsg_type == SCM_RIGHTS)
    std::memcpy(&file, CMSG_DATA(header), sizeof file);
  return OwnedFile(file);
}

/// Rank 0 while the others come.
class Reception {
public:
  Reception(const Introduction &self, OwnedFile listener)
      : self(self), listener(std::move(listener)), seats(self.world) {}

  /// Accepts a connection that comes within a moment, and hears all.
  void hear() {
    if (isReadable(listener, gatherTick))
      accept();
    for (OwnedFile &line : unheard) {
      Hello hello;
      ssize_t size = recv(line.get(), &hello, sizeof hello, 0);
      if (size < 0 && (errno == EAGAIN || errno == EINTR))
        continue;
      OwnedFile heard = std::move(line); // which is closed then, and leaves the list
      if (size == sizeof hello && hello.isWhole())
        take(hello, std::move(heard));
    }
    std::erase_if(unheard, [](const OwnedFile &line) { return !line; });
    for (uint64_t rank = 1; rank < seats.size() && problem.empty(); ++rank)
      if (pollfd asked{seats[rank].get(), POLLRDHUP, 0}; seats[rank] && poll(&asked, 1, 0) == 1)
        problem = fmt::format("error: rank {} ended before all ranks had joined", rank);
  }
  bool isFull() const { return came + 1 == seats.size(); }
  std::string listMissing() const {
    std::vector<uint64_t> missing;
    for (uint64_t rank = 1; rank < seats.size(); ++rank)
      if (!seats[rank])
        missing.push_back(rank);
    return fmt::format("rank{} {}", missing.size() == 1 ? "" : "s", fmt::join(missing, ", "));
  }
  void giveMemory(int file) const {
    for (const OwnedFile &line : seats)
      if (line)
        sendAnswer(line, true, file);
  }
  void sendAway() const {
    for (const auto *lines : {&seats, &refused, &unheard})
      for (const OwnedFile &line : *lines)
        if (line)
          sendAnswer(line, false, -1);
  }
  Peers takeLines() {
    Peers lines;
    for (uint64_t rank = 1; rank < seats.size(); ++rank)
      lines.add((int)rank, std::move(seats[rank]));
    return lines;
  }
  std::string problem; ///< the first

private:
  void accept() {
    OwnedFile line(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    int error = line ? 0 : errno;
    if (line && isOfThisUser(line))
      unheard.push_back(std::move(line));
    if (!isWithoutRoom(error))
      return;
    if (!unheard.empty()) { // a silent connection makes room, and a rank connects again
      unheard.erase(unheard.begin());
      return;
    }
    std::this_thread::sleep_for(gatherTick); // it is still there
    if (problem.empty())
      problem = fmt::format("error: rank 0 cannot accept the connections of {} ranks: {} (ulimit -n)", self.world,
                            std::strerror(error));
  }
  void take(const Hello &hello, OwnedFile line) {
    std::string found = compare(hello);
    if (found.empty()) {
      seats[hello.rank] = std::move(line), ++came;
      return;
    }
    refused.push_back(std::move(line));
    if (problem.empty())
      problem = found;
  }
  std::string compare(const Hello &hello) const {
    if (std::string different = findDifference(hello, Hello(self)); !different.empty())
      return different;
    if (hello.rank == 0 || seats[hello.rank])
      return describeTwins(hello.rank);
    return "";
  }

  const Introduction &self;
  const OwnedFile listener;
  std::vector<OwnedFile> seats; ///< by rank; none of rank 0
  std::vector<OwnedFile> unheard, refused;
  uint64_t came = 0;
};

} // namespace

std::optional<Peers> gatherRanks(const Launch &launch, const Introduction &self, const Patience &patience, int memory) {
  OwnedFile listener = makeSocket();
  if (!bindTo(listener, {launch.job, "gather"})) { // the other one says it
    if (!joinRankZero(launch, self, patience))
      return std::nullopt;
    throw Rejected(describeTwins(0));
  }
  if (listen(listener.get(), SOMAXCONN) != 0)
    throw Rejected(fmt::format("error: rank 0 cannot listen for connections: {}", std::strerror(errno)));
  Reception reception(self, std::move(listener));
  Deadline deadline(patience);
  while (!reception.isFull() && reception.problem.empty()) {
    reception.hear();
    if (deadline.isOver() && reception.problem.empty())
      reception.problem =
          fmt::format("error: {} did not join within {:.3g} s (--timeout)", reception.listMissing(), patience.seconds);
  }
  if (reception.problem.empty()) {
    reception.giveMemory(memory);
    return reception.takeLines();
  }
  for (auto end = Clock::now() + graceForOthers; Clock::now() < end && !deadline.isOver() && !reception.isFull();)
    reception.hear();
  reception.sendAway();
  throw Rejected(reception.problem);
}

/// Waits until rank 0 listens, unless it has done so before.
static OwnedFile connectToZero(const Launch &launch, const Patience &patience, const Deadline &deadline,
                               bool hasListened) {
  Name name(launch.job, "gather");
  OwnedFile line = makeSocket();
  while (connect(line.get(), (const sockaddr *)&name.address, name.length) != 0) {
    if (hasListened && (errno == ECONNREFUSED || deadline.isOver()))
      throw Rejected(zeroHasGone);
    if (deadline.isOver())
      throw Rejected(fmt::format("error: rank 0 did not join within {:.3g} s (--timeout): all ranks must run on one "
                                 "host and be started by {} directly",
                                 patience.seconds, launch.launcher));
    std::this_thread::sleep_for(gatherTick);
    line = makeSocket();
  }
  return line;
}

/// What rank 0 answers to this rank, as `receiveAnswer` says.
static std::optional<OwnedFile> introduceTo(const OwnedFile &line, const Introduction &self, const Patience &patience) {
  Hello hello(self);
  if (!isOfThisUser(line) || send(line.get(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello)
    return std::nullopt;
  Patience longer{patience.seconds > 0 ? patience.seconds + secondsForAnswer : 0, patience.signal};
  for (Deadline answer(longer); !isReadable(line, gatherTick);)
    if (answer.isOver())
      throw Rejected("error: rank 0 does not respond");
  return receiveAnswer(line);
}

/// Rank 0 closes connections where it has no descriptors: as long as it listens, this rank connects again.
std::optional<Joined> joinRankZero(const Launch &launch, const Introduction &self, const Patience &patience) {
  Deadline deadline(patience);
  for (bool hasListened = false;; hasListened = true) {
    OwnedFile line = connectToZero(launch, patience, deadline, hasListened);
    std::optional<OwnedFile> memory = introduceTo(line, self, patience);
    if (memory && !*memory)
      return std::nullopt;
    if (memory) {
      Joined joined{std::move(*memory), {}};
      joined.line.add(0, std::move(line));
      return joined;
    }
    if (deadline.isOver())
      throw Rejected(zeroHasGone);
    std::this_thread::sleep_for(gatherTick);
  }
}

std::optional<OwnedFile> claimVoice(const std::string &job) {
  OwnedFile made = tryMakeSocket();
  Name name(job, "voice");
  bool isTaken = made && bind(made.get(), (const sockaddr *)&name.address, name.length) != 0 && errno == EADDRINUSE;
  return isTaken ? std::nullopt : std::optional(std::move(made));
}

} // namespace xlc::runtime
