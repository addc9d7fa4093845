// See Door.h.
#include "Door.h"

#include "Files/Checksum.h"
#include "Sockets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace xlc::runtime::tcp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t mostStrangers = 64; // beyond as many guests as there are ranks
constexpr size_t descriptorsAtOnce = 8;
constexpr auto untilRoomIsLookedFor = std::chrono::milliseconds(100);

} // namespace

Job jobOf(const Launch &launch) {
  Checksum digest;
  digest.addText(launch.job);
  digest.addText(std::to_string(launch.world));
  auto tag = (uint32_t)std::stoul(digest.digits().substr(0, 8), nullptr, 16);
  return {tag, (int)launch.world, launch.meeting->secret};
}

Frame makeHello(const Job &job, int rank, const Nonce &own) {
  return {Kind::Hello, rank, 0, job.tag, bytesOfValue(own)};
}

void Door::close() { sockets.clear(), guests.clear(); }

void Door::look(const Host &host) {
  if (!isOpen())
    return;
  for (Guest &guest : guests)
    hear(guest, host);
  if (Clock::now() >= shutUntil)
    accept(host);
  std::erase_if(guests, [](const Guest &guest) { return !guest.line.isOpen(); });
}

/// Each is heard as it comes, so that a rank that has said Hello does not make room for those behind it. No more of them than
/// there is room for, lest what others say waits for ever.
void Door::accept(const Host &host) {
  hasNoRoom = false;
  size_t most = (size_t)job->ranks + mostStrangers;
  for (const OwnedFile &socket : sockets)
    for (size_t taken = 0; taken < most; ++taken) {
      OwnedFile made = acceptAt(socket);
      if (!made && isWithoutRoom(errno))
        return makeDescriptors(std::strerror(errno));
      if (!made)
        break;
      if (guests.size() >= most)
        makeRoom();
      guests.push_back({Line(std::move(made), Kind::Proof)});
      hear(guests.back(), host);
    }
}

/// For some, since the process opens files beside these. Without a guest to put off, connections wait.
void Door::makeDescriptors(const std::string &why) {
  lastTrouble = fmt::format("a connection could not be accepted: {}", why);
  hasNoRoom = !makeRoom();
  for (size_t i = 1; i < descriptorsAtOnce && makeRoom(); ++i)
    ;
  if (hasNoRoom)
    shutUntil = Clock::now() + untilRoomIsLookedFor;
}

/// Puts off one that has said nothing, else one that has not shown what it says. Whether there was one.
bool Door::makeRoom() {
  std::erase_if(guests, [](const Guest &guest) { return !guest.line.isOpen(); });
  auto silent = std::ranges::find_if(guests, [](const Guest &guest) { return guest.rank < 0; });
  auto put = silent != guests.end() ? silent : guests.begin();
  if (put == guests.end())
    return false;
  guests.erase(put);
  return true;
}

/// A guest for which there is no memory is put off.
void Door::hear(Guest &guest, const Host &host) {
  try {
    takeFrames(guest, host);
  } catch (const std::bad_alloc &) {
    guest.line.close();
  }
}

void Door::takeFrames(Guest &guest, const Host &host) {
  while (guest.line.receive())
    switch (guest.line.received.header.kind) {
    case Kind::Hello:
      takeHello(guest, host);
      break;
    case Kind::Proof:
      takeProof(guest, host);
      break;
    default:
      guest.line.close();
    }
  guest.line.send();
}

/// A process of no rank of this job is refused, and so is a second one of a rank.
void Door::takeHello(Guest &guest, const Host &host) {
  const Frame &frame = guest.line.received;
  const Header &said = frame.header;
  if (guest.rank < 0 && said.tag != job->tag)
    return refuse(guest, Reason::OtherJob, fmt::format("rank {} of another job was refused", said.from));
  if (guest.rank >= 0 || said.from <= 0 || said.from >= job->ranks || !frame.readTo(guest.own))
    return guest.line.close();
  if (host.isThere(said.from))
    return refuse(guest, Reason::Twin, fmt::format("a second process with rank {} was refused", said.from));
  guest.rank = said.from, guest.ours = drawNonce();
  guest.line.enqueue(Frame(Kind::Challenge, 0, guest.rank, 0, bytesOfValue(guest.ours)));
}

/// Of two that say the same the first that shows it is let in.
void Door::takeProof(Guest &guest, const Host &host) {
  Digest shown;
  if (guest.rank < 0 || !guest.line.received.readTo(shown))
    return guest.line.close();
  Encounter encounter{job->tag, guest.rank, guest.own, guest.ours};
  if (!areEqual(shown, proofOf(Side::Rank, encounter, job->secret)))
    return refuse(guest, Reason::OtherSecret,
                  fmt::format("rank {} was refused: its XLC_JOB_SECRET differs from that of rank 0; the text must be "
                              "the same on all hosts",
                              guest.rank));
  if (host.isThere(guest.rank))
    return refuse(guest, Reason::Twin, fmt::format("a second process with rank {} was refused", guest.rank));
  Digest own = proofOf(Side::Zero, encounter, job->secret);
  guest.line.enqueue(Frame(Kind::Welcome, 0, guest.rank, 0, bytesOfValue(own)));
  guest.line.send();
  guest.line.admit();
  host.letIn(guest.rank, std::move(guest.line));
  guest.line = Line();
}

/// One that has gone hears nothing, and needs not.
void Door::refuse(Guest &guest, Reason reason, const std::string &why) {
  lastTrouble = why;
  guest.line.enqueue(Frame(Kind::Refusal, 0, guest.line.received.header.from, (uint32_t)reason, {}));
  guest.line.send();
  guest.line.close();
}

void Door::addTo(std::vector<pollfd> &asked) const {
  if (Clock::now() >= shutUntil)
    for (const OwnedFile &socket : sockets)
      asked.push_back({socket.get(), POLLIN, 0});
  for (const Guest &guest : guests)
    asked.push_back({guest.line.file(), (short)(guest.line.leaving().empty() ? POLLIN : POLLIN | POLLOUT), 0});
}

} // namespace xlc::runtime::tcp
