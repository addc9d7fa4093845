// The start of a star (Star.h): all ranks connect, prove that they have the secret, and exchange their introductions.
#include "Failure.h"
#include "Sockets.h"
#include "Star.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime::tcp {
namespace {

using namespace std::chrono_literals;

constexpr const char *otherJob = "it belongs to another job; all ranks of a job must have the same MASTER_ADDR, "
                                 "MASTER_PORT, TORCHELASTIC_RUN_ID and number of ranks";
constexpr const char *sameText = "the text must be the same on all hosts";
constexpr auto betweenConnections = 100ms; // to rank 0
constexpr auto gatheringTick = 20ms;       // between looks

} // namespace

/// The door of rank 0.
void Star::open() {
  Listening made = listenAt(host, port);
  std::lock_guard lock(mutex);
  if (made.sockets.empty())
    return end(fmt::format("error: rank 0 cannot listen on port {} (MASTER_PORT + 1): {}", port, made.why));
  if (!made.why.empty())
    remark(fmt::format("note: rank 0 listens on port {} of all addresses of this host: '{}' (MASTER_ADDR) {}{}", port,
                       host, made.why, job.secret.empty() ? "; set XLC_JOB_SECRET to keep other processes out" : ""));
  door = Door(std::move(made.sockets), job);
}

/// Others look for rank 0: it may come later, and so may its name.
void Star::knock(std::unique_lock<std::mutex> &lock) {
  bool isFirst = absence.empty();
  lock.unlock();
  if (!isFirst)
    std::this_thread::sleep_for(betweenConnections);
  Connection made = connectTo(host, port);
  lock.lock();
  absence =
      fmt::format("rank 0 at {}:{}: {}", host, port, made.socket ? "connected, but has sent nothing since" : made.why);
  if (made.hasNoAddress)
    remark(fmt::format("note: rank {} cannot find rank 0 yet: '{}' (MASTER_ADDR) cannot be resolved: {}", ownRank, host,
                       made.why));
  if (!made.socket)
    return refusal.clear();
  lines[0] = Line(std::move(made.socket), Kind::Refusal);
  encounter.ofRank = drawNonce();
  lines[0].enqueue(makeHello(job, ownRank, encounter.ofRank));
}

bool Star::waitForStart(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex);
  answers.wait_for(lock, most, [&] { return isStarted || !problem.empty() || !fault.empty(); });
  if (!problem.empty())
    throw Rejected(problem);
  if (!fault.empty())
    throw NotStarted(fmt::format("error: rank {}, before all ranks had joined: {}", ownRank, fault));
  return isStarted;
}

std::string Star::takeRemark() {
  std::lock_guard lock(mutex);
  return remarked < remarks.size() ? remarks[remarked++] : "";
}

void Star::remark(const std::string &text) {
  if (std::ranges::find(remarks, text) == remarks.end())
    remarks.push_back(text);
}

std::string Star::describeAbsence() {
  std::lock_guard lock(mutex);
  if (ownRank != 0)
    return isStarted         ? fmt::format("rank 0 at {}:{} is connected, but sends nothing", host, port)
           : refusal.empty() ? absence
                             : refusal;
  std::vector<int> missing;
  for (int rank = 1; rank < ranks; ++rank)
    if (isStarted ? !gathering.come.contains(rank) : !lines[(size_t)rank].isOpen())
      missing.push_back(rank);
  return fmt::format("{} {} {}{}{}", missing.size() == 1 ? "rank" : "ranks", fmt::join(missing, ", "),
                     isStarted             ? "connected, but sent nothing"
                     : missing.size() == 1 ? "is missing"
                                           : "are missing",
                     isStarted || door.trouble().empty() ? "" : "; ", isStarted ? "" : door.trouble());
}

void Star::letGuestsIn() {
  if (!door.isOpen())
    return;
  door.look({[&](int rank) { return lines[(size_t)rank].isOpen(); },
             [&](int rank, Line line) { lines[(size_t)rank] = std::move(line); }});
  if (door.lacksRoom())
    remark(fmt::format("note: rank 0 has too few file descriptors for the connections of {} ranks: {} (ulimit -n)",
                       ranks, door.trouble()));
  if (std::ranges::count_if(lines, &Line::isOpen) + 1 < ranks)
    return;
  door.close();
  sayToAll(Kind::Start, {});
  isStarted = true;
}

/// What rank 0 answers to a Hello. A rank that was refused for another one's sake connects again: that one may go.
void Star::takeAnswer(const Frame &frame) {
  std::string zero = fmt::format("rank 0 at {}:{}", host, port);
  switch (frame.header.kind) {
  case Kind::Challenge: {
    if (!frame.readTo(encounter.ofZero) || !lines[0].leaving().empty()) // or it does not read
      return lines[0].close();
    Digest own = proofOf(Side::Rank, encounter, job.secret);
    return say(Kind::Proof, 0, 0, bytesOfValue(own));
  }
  case Kind::Welcome: {
    Digest shown;
    isWelcome = frame.readTo(shown) && areEqual(shown, proofOf(Side::Zero, encounter, job.secret));
    if (!isWelcome)
      return end(fmt::format("error: {} was rejected: its XLC_JOB_SECRET differs from that of rank {}; {}", zero,
                             ownRank, sameText));
    lines[0].admit();
    refusal.clear();
    absence = zero + " accepted this rank, but has sent nothing since";
    return;
  }
  case Kind::Refusal:
    if (frame.header.tag == (uint32_t)Reason::OtherSecret)
      return end(fmt::format("error: rank {} was refused: its XLC_JOB_SECRET differs from that of rank 0; {}", ownRank,
                             sameText));
    refusal = fmt::format("{} refused rank {}: {}", zero, ownRank,
                          frame.header.tag == (uint32_t)Reason::Twin ? "another process has this rank" : otherJob);
    return lines[0].close();
  default:
    return;
  }
}

void Star::end(const std::string &why) { problem = why, isAbandoned = true; }

std::vector<char> Star::gather(std::span<const char> own, const std::function<void()> &look) {
  std::unique_lock lock(mutex);
  if (ownRank == 0)
    joinGathering(0, own);
  else
    say(Kind::Gather, 0, 0, own);
  while (!gathering.isWhole && !isBroken && !isAbandoned) {
    answers.wait_for(lock, gatheringTick);
    lock.unlock();
    look();
    lock.lock();
  }
  if (!fault.empty())
    throw NotStarted(fmt::format("error: rank {}, before the first step: {}", ownRank, fault));
  if (!gathering.isWhole)
    throw Rejected(lost.empty() ? "error: this rank was stopped before all ranks had joined"
                                : fmt::format("error: before all ranks had joined: {}", lost[0]));
  if (gathering.all.size() != own.size() * (size_t)ranks)
    throw Rejected("error: ranks run different programs");
  return gathering.all;
}

/// What is not of one size from all is nothing.
void Star::joinGathering(int rank, std::span<const char> bytes) {
  gathering.come[rank].assign(bytes.begin(), bytes.end());
  if (gathering.come.size() < (size_t)ranks || gathering.isWhole)
    return;
  const std::vector<char> &first = gathering.come[0];
  if (std::ranges::all_of(gathering.come, [&](const auto &each) { return each.second.size() == first.size(); }))
    for (const auto &[from, given] : gathering.come)
      gathering.all.insert(gathering.all.end(), given.begin(), given.end());
  gathering.isWhole = true;
  sayToAll(Kind::Gathered, gathering.all);
}

} // namespace xlc::runtime::tcp
