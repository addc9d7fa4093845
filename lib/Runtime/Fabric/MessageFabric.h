// The fabric of ranks that send each other messages: one rank of a process, the others on any host.
//
//   all_gather, all_to_all   each piece goes straight from the sender's arena to its place in the receiver's
//   sums                     slice i of every rank goes to rank i, which sums them in the order of the ranks, as where
//                            memory is shared (Collectives.h): the same bits. The others' slices pass through a bounce block,
//                            piece by piece:
//
//       | piece k of ranks 0, 1, ... | piece k + 1 of ranks 0, 1, ... |     one is summed while the next comes
//
//   send, receive            straight from arena to arena, behind the message's number
//
// A bounce block has `bounceBytes` bytes whatever the plan; a rank has one for each stream on which it sums. That is all the
// memory of messages beside the arena, but for what the wire keeps. What crosses in sixteen bits is rounded before it
// is sent. Who receives counts the bytes.
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
  /// Of the rank at this end of `wire`. `spins`: as for waitWhile. It reserves nothing of the commons: ranks differ in
  /// what they wait for, and places there are alike in all processes.
  MessageFabric(const Plan &plan, Wire &wire, int spins, Commons &commons, uint64_t bounce = bounceBytes);

  void exchange(const Exchange &exchange, const Participant &self) override;
  void send(const Message &message, const char *from, const Participant &self) override;
  void receive(const Message &message, char *to, const Participant &self) override;
  void meet(Pulse *pulse) override { meeting.meet(pulse); }

private:
  /// What crosses one way between this rank and another.
  struct Letters {
    WireBatches batches;
    uint64_t number = 0; ///< of the message, which goes before it
  };
  /// On one stream.
  struct Lane {
    WireBatches batches;
    std::unique_ptr<char[]> bounce;  ///< of the sums
    std::unique_ptr<SliceSums> sums; ///< none: nothing is summed there
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
      members; ///< by group of the plan: its ranks, by index; empty where this one takes no part
  std::vector<std::unique_ptr<Lane>> lanes; ///< by stream
  std::map<int, Letters> sent, received;    ///< by the other's rank
  WireMeeting meeting;
};

} // namespace xlc::runtime

#endif
