// See NcclBatch.h.
#include "NcclBatch.h"

#include <algorithm>
#include <chrono>
#include <cstring>

using namespace xlc::runtime::nccl;

namespace xlc::simulate {

bool Batch::givesTo(int peer) const {
  return peer != channels().rank() &&
         std::any_of(operations.begin(), operations.end(), [&](const Operation &each) { return each.gives(peer); });
}
bool Batch::takesFrom(int peer) const {
  return peer != channels().rank() &&
         std::any_of(operations.begin(), operations.end(), [&](const Operation &each) { return each.takes(peer); });
}

std::string Batch::describe() const {
  return operations[0].describe() +
         (operations.size() > 1 ? " and " + std::to_string(operations.size() - 1) + " more" : "");
}

void Batch::give() {
  for (int peer = 0; peer < channels().size(); ++peer) {
    bool isOwn = peer == channels().rank();
    if (!isOwn && !givesTo(peer))
      continue;
    std::string packet;
    for (const Operation &each : operations) {
      if (!each.gives(peer) && !isOwn)
        continue;
      bool isScattered = each.kind == Kind::ReduceScatter;
      std::string bytes;
      if (each.gives(peer))
        bytes.assign(each.from + (isScattered ? each.bytes() * (uint64_t)peer : 0), each.bytes());
      if (isOwn)
        own.push_back(std::move(bytes));
      else
        packet += each.describe() + '\0' + bytes;
    }
    if (isOwn)
      continue;
    Channel &channel = channels().to(peer);
    if (packet.size() > sizeof channel.data)
      endWith("an NCCL packet is larger than 32 MiB");
    channel.bytes = packet.size();
    std::memcpy(channel.data, packet.data(), packet.size());
    ++channel.sent;
  }
}

void Batch::take() {
  std::vector<bool> isBegun(operations.size());
  int ranks = channels().size();
  bool isScattered = std::ranges::any_of(operations, [](auto &each) { return each.kind == Kind::ReduceScatter; });
  for (int k = 0; k < ranks; ++k) {
    int peer = isScattered ? (channels().rank() + 1 + k) % ranks : ranks - 1 - k;
    bool isOwn = peer == channels().rank();
    if (!isOwn && !takesFrom(peer))
      continue;
    Channel &channel = channels().from(peer);
    const char *at = channel.data, *end = channel.data + channel.bytes;
    for (size_t i = 0; i < operations.size(); ++i) {
      const Operation &each = operations[i];
      if (!each.takes(peer))
        continue;
      const char *bytes = isOwn ? ownOf(i).data() : nullptr;
      if (!isOwn) {
        std::string came = at < end ? at : "nothing";
        if (came != each.describe())
          endWith("rank " + std::to_string(channels().rank()) + " of a communicator calls " + each.describe() +
                  ", but rank " + std::to_string(peer) + " calls " + came);
        bytes = at + came.size() + 1, at = bytes + each.bytes();
      }
      char *to = each.kind == Kind::AllGather ? each.to + each.bytes() * (uint64_t)peer : each.to;
      bool sums = each.kind == Kind::AllReduce || each.kind == Kind::ReduceScatter;
      if (sums && isBegun[i])
        reduceInto(each, to, bytes);
      else
        std::memcpy(to, bytes, each.bytes());
      isBegun[i] = true;
    }
    if (isOwn)
      continue;
    if (at != end)
      endWith("rank " + std::to_string(peer) + " of a communicator sends more than rank " +
              std::to_string(channels().rank()) + " receives: " + at);
    ++channel.taken;
  }
}

const std::string &Batch::ownOf(size_t i) const {
  if (operations[i].kind != Kind::Receive)
    return own[i];
  auto isOwn = [&](const Operation &each, Kind kind) { return each.kind == kind && each.peer == channels().rank(); };
  auto before = std::count_if(operations.begin(), operations.begin() + (ptrdiff_t)i,
                              [&](const Operation &each) { return isOwn(each, Kind::Receive); });
  for (size_t k = 0; k < operations.size(); ++k)
    if (isOwn(operations[k], Kind::Send) && before-- == 0 && own[k].size() == operations[i].bytes())
      return own[k];
  endWith("rank " + std::to_string(channels().rank()) +
          " of a communicator receives from itself, but does not send to itself, in " + operations[i].describe());
}

bool Phase::isOver() {
  if (batch->communicator->isAborted)
    return true;
  if (which == Which::Give && (batch->communicator->ended != batch->number || !isItsTurn()))
    return false;
  return Phase::findMissing() < 0;
}

void Phase::ask(TimePoint when) {
  int missing = findMissing();
  if (missing < 0)
    return;
  asked = asked.value_or(when);
  if (when - *asked > std::chrono::duration<double>(patience()))
    endWith("rank " + std::to_string(batch->channels().rank()) + " of a communicator waits for rank " +
            std::to_string(missing) + ", which does not arrive at " + batch->describe());
  for (int peer = missing; peer < batch->channels().size(); ++peer)
    if (isMissing(peer))
      batch->channels().ask(peer, when);
}

bool Phase::isMissing(int peer) const {
  if (which == Which::Take)
    return batch->takesFrom(peer) && batch->channels().from(peer).sent == batch->channels().from(peer).taken;
  return batch->givesTo(peer) && batch->channels().to(peer).sent != batch->channels().to(peer).taken;
}
int Phase::findMissing() const {
  for (int peer = 0; peer < batch->channels().size(); ++peer)
    if (isMissing(peer))
      return peer;
  return -1;
}

} // namespace xlc::simulate
