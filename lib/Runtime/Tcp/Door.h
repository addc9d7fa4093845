// Admits the other ranks to rank 0. A guest is a connection whose process has not yet proved that it has the job's
// secret (Proof.h):
//
//   a guest     Hello ..................... Proof ................. (is admitted)
//   rank 0               Challenge, or Refusal      Welcome, or Refusal
//
// Until then a guest may send only a Hello and a Proof. The number of guests is limited: a silent guest is dropped for
// others, and a dropped rank connects again.
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

/// The data of a job that its ranks share.
struct Job {
  uint32_t tag; ///< equal in all its processes
  int ranks;
  std::string secret; ///< may be empty, which disables the protection
};

/// Requires that the environment contains the address of rank 0.
Job jobOf(const Launch &launch);

/// The first frame of a rank: `own` is a number that it has drawn.
Frame makeHello(const Job &job, int rank, const Nonce &own);

class Door {
public:
  /// Creates a closed door.
  Door() = default;
  Door(std::vector<OwnedFile> sockets, const Job &job) : sockets(std::move(sockets)), job(&job) {}

  bool isOpen() const { return !sockets.empty(); }
  /// Drops all guests.
  void close();

  struct Host {
    std::function<bool(int rank)> isThere;
    std::function<void(int rank, Line line)> letIn;
  };
  /// Accepts connections and receives frames of guests.
  void look(const Host &host);
  /// Adds the sockets to wait for.
  void addTo(std::vector<pollfd> &asked) const;
  /// The reason why a guest was last dropped, or nothing.
  const std::string &trouble() const { return lastTrouble; }
  /// Whether a guest could not be accepted for lack of a descriptor, and no other guest could be dropped for it.
  bool lacksRoom() const { return hasNoRoom; }

private:
  struct Guest {
    Line line;
    int rank = -1;   ///< as claimed by the guest; -1: not yet claimed
    Nonce own = {};  ///< the number of the guest
    Nonce ours = {}; ///< the number drawn for it
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
  std::chrono::steady_clock::time_point shutUntil; ///< after a lack of descriptors
};

} // namespace xlc::runtime::tcp

#endif
