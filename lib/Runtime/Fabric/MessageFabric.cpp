// See MessageFabric.h.
#include "MessageFabric.h"

#include "Plan/Elements.h"
#include "Plan/Exchanges.h"

#include <stdexcept>

namespace xlc::runtime {
namespace {

constexpr uint32_t transferTag = 0;
constexpr uint32_t streams = (uint32_t)plan::Stream::MAX + 1;

/// Streams do not wait for each other, so their messages are told apart. A plan has at most 1024 groups.
uint32_t tagOf(const Exchange &exchange) { return 1 + exchange.group * streams + (uint32_t)exchange.stream; }

/// Of a collective, by kind.
uint64_t &counterOf(plan::CollectiveKind kind, MovedBytes &moved) {
  switch (kind) {
  case plan::CollectiveKind::all_gather:
    return moved.allGather;
  case plan::CollectiveKind::all_to_all:
    return moved.allToAll;
  case plan::CollectiveKind::reduce_scatter:
    return moved.reduceScatter;
  case plan::CollectiveKind::all_reduce:
  case plan::CollectiveKind::all_reduce_max:
    break;
  }
  return moved.allReduce;
}

} // namespace

MessageFabric::MessageFabric(const Plan &plan, Wire &wire, int spins, Commons &commons, uint64_t bounce)
    : plan(plan), wire(wire), perStage(stageRanks(plan)), waiter(commons, spins), meeting(wire, commons, spins) {
  uint32_t stage = stageOf(plan, wire.rank());
  for (const auto &group : plan.rank_groups)
    members.push_back(takesPart(*group, stage) ? membersOf(*group, plan, wire.rank()) : std::vector<int>());
  for (uint32_t stream = 0; stream < streams; ++stream)
    lanes.emplace_back(new Lane{{wire, waiter}, nullptr, nullptr});
  forEachProgram(plan, stage, [&](const plan::ProgramT &program) {
    for (const auto &step : program.steps) {
      if (const plan::SendT *send = step->action.AsSend())
        sent.try_emplace(peerOf(send->peer), WireBatches{wire, waiter});
      if (const plan::ReceiveT *receive = step->action.AsReceive())
        received.try_emplace(peerOf(receive->peer), WireBatches{wire, waiter});
    }
    findSums(program, bounce);
  });
}

/// Memory for sums, where a program has some: none is taken in a step.
void MessageFabric::findSums(const plan::ProgramT &program, uint64_t bounce) {
  forEachExchange(plan, program, [&](const plan::ExchangeT &exchange, plan::Stream stream) {
    Lane &lane = *lanes[(size_t)stream];
    if (!isSum(exchange.kind) || lane.sums)
      return;
    lane.bounce.reset(new char[bounce]);
    lane.sums = std::make_unique<SliceSums>(lane.bounce.get(), bounce);
  });
}

void MessageFabric::exchange(const Exchange &exchange, const Participant &self) {
  Lane &lane = *lanes[(size_t)exchange.stream];
  const plan::RankGroupT &group = *plan.rank_groups[exchange.group];
  Circle circle{members[exchange.group], indexIn(group, plan, wire.rank()), tagOf(exchange),
                counterOf(exchange.kind, self.moved[group.axis])};
  switch (exchange.kind) {
  case plan::CollectiveKind::all_reduce:
  case plan::CollectiveKind::all_reduce_max:
    return lane.sums->share(exchange, circle, lane.batches, self);
  case plan::CollectiveKind::reduce_scatter:
    return lane.sums->scatter(exchange, circle, lane.batches, self);
  case plan::CollectiveKind::all_gather:
    return allGather(exchange, circle, self);
  case plan::CollectiveKind::all_to_all:
    return allToAll(exchange, circle, self);
  }
}

void MessageFabric::allGather(const Exchange &exchange, const Circle &circle, const Participant &self) {
  Batches &batches = lanes[(size_t)exchange.stream]->batches;
  uint64_t bytes = exchange.chunk * bytesOf(exchange.element), all = circle.size() * bytes;
  auto placeOf = [&](uint64_t index) { return exchange.dst + index * bytes; };
  circle.forEachOther([&](uint64_t peer) {
    circle.send(batches, peer, {const_cast<char *>(exchange.src), bytes, exchange.outer, 1, {.outer = bytes}});
    circle.receive(batches, peer, {placeOf(peer), bytes, exchange.outer, 1, {.outer = all}});
  });
  batches.post(0);
  self.mover.copy({exchange.src, placeOf(circle.index), bytes, exchange.outer, 1, {.outer = bytes}, {.outer = all}});
  batches.wait(0, self.pulse);
}

/// To every peer the chunks for it, as in Collectives::allToAll.
void MessageFabric::allToAll(const Exchange &exchange, const Circle &circle, const Participant &self) {
  Batches &batches = lanes[(size_t)exchange.stream]->batches;
  uint64_t ranks = circle.size(), rows = exchange.rows, bytes = exchange.chunk * bytesOf(exchange.element);
  auto begin = [&](bool ranksFirst, uint64_t rank) { return rank * (ranksFirst ? rows : 1) * bytes; };
  auto steps = [&](bool ranksFirst) { return Copy::Steps{ranks * rows * bytes, (ranksFirst ? 1 : ranks) * bytes}; };
  auto source = [&](uint64_t peer) { return exchange.src + begin(exchange.ranksFirst, peer); };
  auto target = [&](uint64_t peer) { return exchange.dst + begin(!exchange.ranksFirst, peer); };
  circle.forEachOther([&](uint64_t peer) {
    circle.send(batches, peer,
                {const_cast<char *>(source(peer)), bytes, exchange.outer, rows, steps(exchange.ranksFirst)});
    circle.receive(batches, peer, {target(peer), bytes, exchange.outer, rows, steps(!exchange.ranksFirst)});
  });
  batches.post(0);
  self.mover.copy({source(circle.index), target(circle.index), bytes, exchange.outer, rows, steps(exchange.ranksFirst),
                   steps(!exchange.ranksFirst)});
  batches.wait(0, self.pulse);
}

void MessageFabric::send(const Message &message, const char *from, const Participant &self) {
  int peer = peerOf(message.peer);
  Letters &letters = sent.at(peer);
  letters.number = message.number;
  letters.batches.send(peer, transferTag, {(char *)&letters.number, sizeof letters.number});
  letters.batches.send(peer, transferTag, {const_cast<char *>(from), message.bytes});
  letters.batches.post(0);
  letters.batches.wait(0, self.pulse);
}

void MessageFabric::receive(const Message &message, char *to, const Participant &self) {
  int peer = peerOf(message.peer);
  Letters &letters = received.at(peer);
  letters.batches.receive(peer, transferTag, {(char *)&letters.number, sizeof letters.number});
  letters.batches.receive(peer, transferTag, {to, message.bytes});
  letters.batches.post(0);
  letters.batches.wait(0, self.pulse);
  if (letters.number != message.number)
    throw std::runtime_error(wrongMessage(letters.number, message.number));
  self.moved[plan::Axis::pp].transfer += message.bytes;
}

} // namespace xlc::runtime
