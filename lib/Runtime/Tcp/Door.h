// How rank 0 lets the other ranks in. A guest is a connection whose process has not yet proved that it has the job's secret (Proof.h):
//
//   a guest     Hello ..................... Proof ................. (is let in)
//   rank 0               Challenge, or Refusal      Welcome, or Refusal
//
// Until then a guest may send a Hello and a Proof, and nothing else. Guests have limited room: a silent one makes room for others, and
// a rank that was put off connects again.
#ifndef XLC_LIB_RUNTIME_TCP_DOOR_H
#define XLC_LIB_RUNTIME_TCP_DOOR_H

#include "Launch/Environment.h"
#include "Line.h"
#include "Proof.h"

#include <chrono>
#include <functional>
#include <poll.h>
#include <string>

namespace xlc::runtime::tcp {

/// What the ranks of a job know of it.
struct Job {
  uint32_t tag; ///< alike in all its processes
  int ranks;
  std::string secret; ///< may be empty, in which case everybody has it
};

/// Where the environment says where rank 0 is.
Job jobOf(const Launch &launch);

/// What a rank says first: `own` is a number that it has drawn.
Frame makeHello(const Job &job, int rank, const Nonce &own);

class Door {
public:
  /// Closed.
  Door() = default;
  Door(std::vector<OwnedFile> sockets, const Job &job) : sockets(std::move(sockets)), job(&job) {}

  bool isOpen() const { return !sockets.empty(); }
  /// Puts off all guests.
  void close();

  struct Host {
    std::function<bool(int rank)> isThere;
    std::function<void(int rank, Line line)> letIn;
  };
  /// Accepts connections, and hears what guests say.
  void look(const Host &host);
  /// What is to be waited for.
  void addTo(std::vector<pollfd> &asked) const;
  /// Why somebody was put off last, or nothing.
  const std::string &trouble() const { return lastTrouble; }
  /// Whether a guest could not be taken, for want of a descriptor, and none could be put off for it.
  bool lacksRoom() const { return hasNoRoom; }

private:
  struct Guest {
    Line line;
    int rank = -1;   ///< as it says; -1: nothing yet
    Nonce own = {};  ///< of the guest
    Nonce ours = {}; ///< drawn for it
  };
  void accept(const Host &host);
  void makeDescriptors(const std::string &why);
  bool makeRoom();
  void hear(Guest &guest, const Host &host);
  void takeFrames(Guest &guest, const Host &host);
  void takeHello(Guest &guest, const Host &host);
  void takeProof(Guest &guest, const Host &host);
  void refuse(Guest &guest, Reason reason, const std::string &why);

  std::vector<OwnedFile> sockets;
  const Job *job = nullptr;
  std::vector<Guest> guests; ///< in the order of their connections
  std::string lastTrouble;
  bool hasNoRoom = false;
  std::chrono::steady_clock::time_point shutUntil; ///< where there is no room
};

} // namespace xlc::runtime::tcp

#endif
