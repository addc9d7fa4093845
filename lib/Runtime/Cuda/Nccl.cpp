// See Nccl.h.
#include "Nccl.h"

#include "Failure.h"

#include <fmt/format.h>

namespace xlc::runtime::nccl {

Library::Library(const OpenedLibrary &library) {
  library.find(getVersion, "ncclGetVersion");
  check(getVersion(&number), "ncclGetVersion");
  if (number < oldestVersion)
    throw Rejected(fmt::format("error: NCCL has version {} ({}), but programs of several GPUs need 2.26 or later: {}",
                               version(), library.path(), ncclLibrary.howToGet));
  library.find(describe, "ncclGetErrorString");
  library.find(lastError, "ncclGetLastError");
  library.find(makeId, "ncclGetUniqueId");
  library.find(join, "ncclCommInitRankConfig");
  library.find(split, "ncclCommSplit");
  library.find(destroy, "ncclCommDestroy");
  library.find(abort, "ncclCommAbort");
  library.find(getAsyncError, "ncclCommGetAsyncError");
  library.find(registerMemory, "ncclCommRegister");
  library.find(deregister, "ncclCommDeregister");
  library.find(beginGroup, "ncclGroupStart");
  library.find(endGroup, "ncclGroupEnd");
  library.find(allReduce, "ncclAllReduce");
  library.find(allGather, "ncclAllGather");
  library.find(reduceScatter, "ncclReduceScatter");
  library.find(send, "ncclSend");
  library.find(receive, "ncclRecv");
}

/// Until 2.8 a version was MNPP, since then MNNPP.
std::string Library::version() const {
  int major = number < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", number / major, number % major / 100, number % 100);
}

void Library::check(Status status, const char *function) const {
  if (status == Status::Success)
    return;
  const char *words = describe ? describe(status) : nullptr, *last = lastError ? lastError(nullptr) : nullptr;
  throw ExchangeFailure(fmt::format("{}: {}{}{}", function, words ? words : fmt::format("status {}", (int)status),
                                    last && *last ? ": " : "", last ? last : ""));
}

} // namespace xlc::runtime::nccl
