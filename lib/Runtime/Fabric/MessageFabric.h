// The fabric of ranks that exchange messages: one rank per process, the others on any host.
//
//   all_gather, all_to_all   each piece goes straight from the sender's arena to its place in the receiver's
//   sums                     slice i of every rank goes to rank i, which sums them in the order of the ranks, as where
//                            memory is shared (Collectives.h): the same bits. The others' slices pass through a bounce
//                            block, piece by piece:
//
//       | piece k of ranks 0, 1, ... | piece k + 1 of ranks 0, 1, ... |     one is summed while the next comes
//
//   send, receive            straight from arena to arena, behind the message's number
//
// A bounce block has `bounceBytes` bytes whatever the plan. A rank has one for each stream on which it sums. Apart from
// buffers of the wire, messages use no other memory outside the arena. Elements that are transmitted in sixteen bits
// are rounded before they are sent. The receiving rank counts the bytes.
#ifndef XLC_LIB_RUNTIME_FABRIC_MESSAGEFABRIC_H
#define XLC_LIB_RUNTIME_FABRIC_MESSAGEFABRIC_H

#include "Batches.h"
#include "Plan/Exchanges.h"
#include "Plan/Ranks.h"
#include "SliceSums.h"
#include "WireMeeting.h"

#include <map>

namespace xlc::runtime {

class MessageFabric final : public Fabric {
public:
  /// The fabric of the rank at this end of `wire`. `spins`: as for waitWhile. It reserves nothing in the commons: ranks
  /// wait for different objects, but places in the commons are equal in all processes.
  MessageFabric(const Plan &plan, Wire &wire, int spins, Commons &commons, uint64_t bounce = bounceBytes);

  void exchange(const Exchange &exchange, const Participant &self) override;
  void send(const Message &message, const char *from, const Participant &self) override;
  void receive(const Message &message, char *to, const Participant &self) override;
  void meet(Pulse *pulse) override { meeting.meet(pulse); }

private:
  /// The messages in one direction between this rank and another.
  struct Letters {
    WireBatches batches;
    uint64_t number = 0; ///< the number of the message, sent before it
  };
  /// The state of one stream.
  struct Lane {
    WireBatches batches;
    std::unique_ptr<char[]> bounce;  ///< the bounce block of sums
    std::unique_ptr<SliceSums> sums; ///< null: no sums on this stream
  };
  void findSums(const plan::ProgramT &program, uint64_t bounce);
  void allGather(const Exchange &exchange, const Circle &circle, const Participant &self);
  void allToAll(const Exchange &exchange, const Circle &circle, const Participant &self);
  int peerOf(uint32_t stage) const { return (int)(stage * perStage + (uint32_t)wire.rank() % perStage); }

  const Plan &plan;
  Wire &wire;
  const uint32_t perStage;
  const Waiter waiter;
  std::vector<std::vector<int>>
      members; ///< by group of the plan: its ranks, by index; empty if this rank is not a member
  std::vector<std::unique_ptr<Lane>> lanes; ///< by stream
  std::map<int, Letters> sent, received;    ///< by the rank of the peer
  WireMeeting meeting;
};

} // namespace xlc::runtime

#endif
