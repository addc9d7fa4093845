// See VendorSettings.h. Settings of the user take precedence, unless the plan leaves no choice.
#include "VendorSettings.h"

#include <fmt/format.h>

#include <cstdlib>

namespace xlc::runtime::cuda {
namespace {

void setUnlessGiven(const char *name, const char *value) { setenv(name, value, /*overwrite=*/0); }

} // namespace

void setLoading(bool isLazy) { setUnlessGiven("CUDA_MODULE_LOADING", isLazy ? "LAZY" : "EAGER"); }

void setNccl(int firstRank, int count, bool sharesGpu) {
  if (sharesGpu) {
    setenv("NCCL_HOSTID", fmt::format("rank-{}", firstRank).c_str(), /*overwrite=*/1);
    setUnlessGiven("NCCL_NET", "Socket");
    setUnlessGiven("NCCL_SOCKET_IFNAME", "lo");
  }
  // Of several communicators on several streams: all ranks' hosts make calls in one order, which the device has to
  // keep.
  setUnlessGiven("NCCL_LAUNCH_ORDER_IMPLICIT", "1");
  // A graph's calls do not register memory by themselves: a program does it once, or not at all
  // (docs/rationale/Gpu.md).
  setUnlessGiven("NCCL_GRAPH_REGISTER", "0");
  if (count > 1) // threads: an arena is mapped for its own GPU alone
    setUnlessGiven("NCCL_P2P_DIRECT_DISABLE", "1");
}

} // namespace xlc::runtime::cuda
