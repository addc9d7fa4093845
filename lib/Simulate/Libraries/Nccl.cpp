// libnccl.so.2 of the simulated devices, under the real names. The calls on one stream between ncclGroupStart and the
// end of the group are one operation of its communicator, as is a call outside of a group; a communicator runs one
// operation after the other:
//
//   give    what others are to get from this rank leaves its memory, a packet for each of them
//   take    when all packets for this rank are there: they are compared with what is due, sums are made, memory is written
//   end     when others have taken what this rank gave
//
// Operations of several communicators of a device have no order, in which they could wait for each other forever,
// unless NCCL_LAUNCH_ORDER_IMPLICIT requests the host's order. If all work is late, each then waits for its
// predecessors to end, as with older drivers.
//
// Reductions run from the last rank to the first, scattered ones from the next rank around, and round after each step:
// not in the order of ranks, nor all in one order, as in the real library. Ranks whose calls do not match end with a
// message; so do those that wait for longer than XLC_SIMULATE_PATIENCE.
#include "Device.h"
#include "NcclBatch.h"
#include "NcclCommunicators.h"
#include "NcclOperation.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <unistd.h>
#include <utility>

using namespace xlc::runtime;
using namespace xlc::runtime::nccl;
using namespace xlc::simulate;

namespace {

// Groups ---------------------------------------------------------------------------------------------------------------

struct Pending {
  std::shared_ptr<Communicator> communicator;
  void *stream;
  std::vector<Operation> operations;
};
thread_local int depth = 0;
thread_local bool isSpoiled = false; ///< a call of the group has failed: so does its end
thread_local std::vector<Pending> pending;
thread_local std::vector<Handle> aborted; ///< when the group ends

/// Of a call, whose group does nothing where it has failed.
nccl::Status failed(nccl::Status status) {
  isSpoiled = depth > 0;
  return status;
}

std::vector<Work> makeWork(const std::shared_ptr<Communicator> &communicator,
                           const std::vector<Operation> &operations) {
  communicator->noteLaunch();
  auto batch = std::make_shared<Batch>(communicator, communicator->asked++, communicator->launches.asked++, operations);
  int ranks = batch->channels().size();
  Work give{batch->describe(), {}, {}, nullptr}, take = give, end = give;
  for (const Operation &each : batch->operations) {
    if (each.from && each.given(ranks))
      give.reads.push_back({each.from, each.given(ranks)});
    if (each.to && each.written(ranks))
      take.writes.push_back({each.to, each.written(ranks)});
  }
  auto isGood = [batch] { return !batch->communicator->isAborted; };
  give.run = [=] { isGood() ? batch->give() : void(); };
  take.run = [=] { isGood() ? batch->take() : void(); };
  end.run = [=] { ++batch->communicator->ended, ++batch->communicator->launches.ended; };
  give.meeting = std::make_shared<Phase>(batch, Phase::Which::Give);
  take.meeting = std::make_shared<Phase>(batch, Phase::Which::Take);
  end.meeting = std::make_shared<Phase>(batch, Phase::Which::End);
  return {give, take, end};
}

void putIntoStream(const Pending &all) {
  enqueueMade(all.stream, [communicator = all.communicator, operations = all.operations] {
    return makeWork(communicator, operations);
  });
}

/// The documentation leaves undefined what calls do of whose memory only some is registered, of one rank or of several.
void noteRegistration(const Communicator &communicator, Operation &operation) {
  if (communicator.registered.empty())
    return;
  int ranks = communicator.channels.size();
  auto isRegistered = [&](const char *at, uint64_t bytes) { return !at || communicator.isRegistered(at, bytes); };
  operation.isRegistered =
      isRegistered(operation.from, operation.given(ranks)) && isRegistered(operation.to, operation.written(ranks));
  if (!operation.isRegistered)
    endWith(operation.describe() + " uses memory that is not registered, but its communicator has registered memory");
}

nccl::Status put(const char *function, Handle handle, void *stream, Operation operation) {
  if (isToFail(function))
    return failed(nccl::Status::InternalError);
  std::shared_ptr<Communicator> communicator = Living::get().find(handle);
  bool hasPeer = operation.kind == Kind::Send || operation.kind == Kind::Receive;
  if (hasPeer && (operation.peer < 0 || operation.peer >= communicator->channels.size()))
    return failed(nccl::Status::InvalidArgument);
  noteRegistration(*communicator, operation);
  auto same = std::find_if(pending.begin(), pending.end(), [&](const Pending &each) {
    return each.communicator == communicator && each.stream == stream;
  });
  if (same == pending.end())
    same = pending.insert(same, {std::move(communicator), stream, {}});
  same->operations.push_back(operation);
  if (depth == 0)
    putIntoStream(std::exchange(pending, {})[0]);
  return nccl::Status::Success;
}

} // namespace

#define NCCL_FUNCTION extern "C" XLC_SIMULATED nccl::Status

NCCL_FUNCTION ncclGetVersion(int *number) {
  const char *given = getenv("XLC_SIMULATE_NCCL");
  *number = given ? (int)std::strtol(given, nullptr, 10) : 22809;
  return isToFail("ncclGetVersion") ? nccl::Status::InternalError : nccl::Status::Success;
}
extern "C" XLC_SIMULATED const char *ncclGetErrorString(nccl::Status status) {
  thread_local std::string text;
  text = "simulated status " + std::to_string((int)status);
  return text.c_str();
}
extern "C" XLC_SIMULATED const char *ncclGetLastError(Handle) { return ""; }
NCCL_FUNCTION ncclGetUniqueId(UniqueId *id) {
  int file; // until the process ends
  std::string path = makeSharedFile(file);
  std::memcpy(id->bytes, path.c_str(), path.size() + 1);
  return isToFail("ncclGetUniqueId") ? nccl::Status::SystemError : nccl::Status::Success;
}
NCCL_FUNCTION ncclCommInitRankConfig(Handle *made, int ranks, UniqueId id, int rank, Config *config) {
  if (isToFail("ncclCommInitRankConfig"))
    return nccl::Status::SystemError;
  if (rank < 0 || rank >= ranks || config->magic != 0xcafebeef || config->size != sizeof(Config))
    return nccl::Status::InvalidArgument;
  *made = Living::get().add(id.bytes, ranks, rank);
  return nccl::Status::Success;
}
NCCL_FUNCTION ncclCommSplit(Handle parent, int colour, int key, Handle *made, Config *) {
  if (isToFail("ncclCommSplit"))
    return nccl::Status::InternalError;
  Channels::Part part = Living::get().find(parent)->channels.split(colour, key);
  *made = part.path.empty() ? nullptr : Living::get().add(part.path, part.ranks, part.rank);
  if (part.file >= 0)
    close(part.file);
  return nccl::Status::Success;
}
static void giveUp(Handle handle, bool aborts) {
  std::shared_ptr<Communicator> communicator = Living::get().find(handle);
  if (aborts)
    communicator->isAborted = true;
  else if (communicator->ended != communicator->asked)
    endWith("a communicator is destroyed before its operations have ended");
  else if (!communicator->registered.empty())
    endWith("a communicator is destroyed while memory is registered with it");
  else if (communicator.use_count() > 2) // beside the list of those that live, and this
    endWith("a communicator is destroyed before the graphs that contain its operations");
  communicator->held.reset(), communicator->registered.clear();
  std::lock_guard lock(Living::get().mutex);
  Living::get().all.erase(communicator.get());
}
NCCL_FUNCTION ncclCommDestroy(Handle handle) {
  bool fails = isToFail("ncclCommDestroy");
  if (depth > 0) // NCCL puts it off until the group ends
    endWith("a communicator is aborted in an open group");
  giveUp(handle, fails);
  return fails ? nccl::Status::InternalError : nccl::Status::Success;
}
NCCL_FUNCTION ncclCommAbort(Handle handle) {
  bool fails = isToFail("ncclCommAbort");
  if (depth > 0)
    aborted.push_back(handle);
  else if (Living::get().isAnyBusy(*Living::get().find(handle)))
    endWith("a communicator is aborted before another one whose operations it may wait for; abort both in one group");
  else
    giveUp(handle, true);
  return fails ? nccl::Status::InternalError : nccl::Status::Success;
}
/// How often it is called depends on time, so it is not counted. XLC_SIMULATE_ASYNC=RANK: a peer of this rank has gone.
NCCL_FUNCTION ncclCommGetAsyncError(Handle handle, nccl::Status *status) {
  const char *broken = getenv("XLC_SIMULATE_ASYNC");
  bool isBroken = broken && (int)std::strtol(broken, nullptr, 10) == Living::get().find(handle)->channels.rank();
  *status = isBroken ? nccl::Status::RemoteError : nccl::Status::Success;
  return nccl::Status::Success;
}
NCCL_FUNCTION ncclCommRegister(Handle handle, void *begin, size_t bytes, void **registration) {
  if (isToFail("ncclCommRegister"))
    return nccl::Status::UnhandledCudaError;
  std::shared_ptr<void> held = holdMemory(begin, bytes);
  if (!held) // the real one leaves it at that, and copies
    endWith("registered memory cannot be mapped by other ranks");
  *registration = &Living::get().find(handle)->registered.emplace_back((const char *)begin, bytes, held);
  return nccl::Status::Success;
}
NCCL_FUNCTION ncclCommDeregister(Handle handle, void *registration) {
  bool fails = isToFail("ncclCommDeregister");
  std::shared_ptr<Communicator> communicator = Living::get().find(handle);
  if (communicator->ended != communicator->asked)
    endWith("memory is deregistered before its communicator's operations have ended");
  size_t count = communicator->registered.remove_if([&](auto &each) { return &each == registration; });
  return fails ? nccl::Status::InternalError : count ? nccl::Status::Success : nccl::Status::InvalidUsage;
}
NCCL_FUNCTION ncclGroupStart() {
  if (isToFail("ncclGroupStart"))
    return nccl::Status::InternalError;
  ++depth;
  return nccl::Status::Success;
}
NCCL_FUNCTION ncclGroupEnd() {
  if (depth == 0)
    return nccl::Status::InvalidUsage;
  if (--depth > 0)
    return nccl::Status::Success;
  for (Handle each : aborted)
    Living::get().find(each)->isAborted = true;
  for (Handle each : std::exchange(aborted, {}))
    giveUp(each, true);
  std::vector<Pending> all = std::exchange(pending, {});
  if (std::exchange(isSpoiled, false) || isToFail("ncclGroupEnd"))
    return nccl::Status::InternalError;
  for (const Pending &each : all)
    putIntoStream(each);
  return nccl::Status::Success;
}
NCCL_FUNCTION ncclAllReduce(const void *from, void *to, size_t count, DataType type, Reduction how, Handle handle,
                            void *stream) {
  return put("ncclAllReduce", handle, stream, {Kind::AllReduce, (const char *)from, (char *)to, count, type, how});
}
NCCL_FUNCTION ncclAllGather(const void *from, void *to, size_t count, DataType type, Handle handle, void *stream) {
  return put("ncclAllGather", handle, stream, {Kind::AllGather, (const char *)from, (char *)to, count, type});
}
NCCL_FUNCTION ncclReduceScatter(const void *from, void *to, size_t count, DataType type, Reduction how, Handle handle,
                                void *stream) {
  return put("ncclReduceScatter", handle, stream,
             {Kind::ReduceScatter, (const char *)from, (char *)to, count, type, how});
}
NCCL_FUNCTION ncclSend(const void *from, size_t count, DataType type, int peer, Handle handle, void *stream) {
  return put("ncclSend", handle, stream, {Kind::Send, (const char *)from, nullptr, count, type, Reduction::Sum, peer});
}
NCCL_FUNCTION ncclRecv(void *to, size_t count, DataType type, int peer, Handle handle, void *stream) {
  return put("ncclRecv", handle, stream, {Kind::Receive, nullptr, (char *)to, count, type, Reduction::Sum, peer});
}
