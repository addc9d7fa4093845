// Our declarations of NCCL against its header and library where they are installed. A library needs no GPU to be asked its version.
#include "Cuda/Nccl.h"
#include "Failure.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>

using namespace xlc::runtime;
using namespace xlc::runtime::nccl;

namespace {

TEST(RealNccl, HasTheFunctionsAndSaysItsVersion) {
  std::unique_ptr<OpenedLibrary> opened;
  try {
    opened = std::make_unique<OpenedLibrary>(ncclLibrary);
  } catch (const Rejected &problem) {
    GTEST_SKIP() << problem.what();
  }
  Library library(*opened);
  EXPECT_EQ(library.version().substr(0, 2), "2.");
  EXPECT_NE(std::string(library.describe(Status::InvalidUsage)), "");
}

} // namespace

#if __has_include(<nccl.h>)
#include <nccl.h>

static_assert(ncclSuccess == (int)Status::Success && ncclUnhandledCudaError == (int)Status::UnhandledCudaError);
static_assert(ncclSystemError == (int)Status::SystemError && ncclInternalError == (int)Status::InternalError);
static_assert(ncclInvalidArgument == (int)Status::InvalidArgument && ncclInvalidUsage == (int)Status::InvalidUsage);
static_assert(ncclRemoteError == (int)Status::RemoteError && ncclInProgress == (int)Status::InProgress);
static_assert(ncclInt8 == (int)DataType::I8 && ncclInt32 == (int)DataType::I32 && ncclInt64 == (int)DataType::I64);
static_assert(ncclFloat16 == (int)DataType::F16 && ncclFloat32 == (int)DataType::F32);
static_assert(ncclFloat64 == (int)DataType::F64 && ncclBfloat16 == (int)DataType::BF16);
static_assert(ncclSum == (int)Reduction::Sum && ncclMax == (int)Reduction::Max);
static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId) && noColour == NCCL_SPLIT_NOCOLOR);
static_assert(Config().isBlocking == NCCL_CONFIG_UNDEF_INT);

/// Later versions have more behind it.
static_assert(sizeof(Config) <= sizeof(ncclConfig_t) && offsetof(Config, magic) == offsetof(ncclConfig_t, magic) &&
              offsetof(Config, version) == offsetof(ncclConfig_t, version) &&
              offsetof(Config, isBlocking) == offsetof(ncclConfig_t, blocking) &&
              offsetof(Config, clusterSize) == offsetof(ncclConfig_t, cgaClusterSize) &&
              offsetof(Config, leastBlocks) == offsetof(ncclConfig_t, minCTAs) &&
              offsetof(Config, mostBlocks) == offsetof(ncclConfig_t, maxCTAs) &&
              offsetof(Config, network) == offsetof(ncclConfig_t, netName) &&
              offsetof(Config, sharesWithParent) == offsetof(ncclConfig_t, splitShare) &&
              offsetof(Config, trafficClass) == offsetof(ncclConfig_t, trafficClass));

namespace {

/// As the header's macro sets a configuration.
TEST(RealNccl, ConfigurationsBeginAsTheHeaderSays) {
  ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  Config ours;
  EXPECT_EQ(ours.magic, theirs.magic);
  EXPECT_LE(ours.version, theirs.version);
  EXPECT_EQ(ours.sharesWithParent, theirs.splitShare);
}

template <class Ours, class Theirs> constexpr bool haveAsMany(Ours, Theirs) { return false; }
template <class R, class... A, class S, class... B> constexpr bool haveAsMany(R (*)(A...), S (*)(B...)) {
  return sizeof...(A) == sizeof...(B) && ((sizeof(A) == sizeof(B)) && ...);
}
template <class Member> constexpr Member typeOf(Member Library::*) { return nullptr; }

static_assert(haveAsMany(typeOf(&Library::getVersion), &ncclGetVersion));
static_assert(haveAsMany(typeOf(&Library::makeId), &ncclGetUniqueId));
static_assert(haveAsMany(typeOf(&Library::join), &ncclCommInitRankConfig));
static_assert(haveAsMany(typeOf(&Library::split), &ncclCommSplit));
static_assert(haveAsMany(typeOf(&Library::getAsyncError), &ncclCommGetAsyncError));
static_assert(haveAsMany(typeOf(&Library::registerMemory), &ncclCommRegister));
static_assert(haveAsMany(typeOf(&Library::deregister), &ncclCommDeregister));
static_assert(haveAsMany(typeOf(&Library::allReduce), &ncclAllReduce));
static_assert(haveAsMany(typeOf(&Library::allGather), &ncclAllGather));
static_assert(haveAsMany(typeOf(&Library::reduceScatter), &ncclReduceScatter));
static_assert(haveAsMany(typeOf(&Library::send), &ncclSend) && haveAsMany(typeOf(&Library::receive), &ncclRecv));

} // namespace
#endif
