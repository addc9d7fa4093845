// Runs one call of a function on the threads of a rank: generated code by rows, library calls by their own parts.
#ifndef XLC_LIB_RUNTIME_CPU_KERNELS_H
#define XLC_LIB_RUNTIME_CPU_KERNELS_H

#include "Attention.h"
#include "Contract.h"
#include "Convolution.h"
#include "Device/Device.h"
#include "MaxPool.h"
#include "Plan/Plan.h"
#include "ScatterAdd.h"
#include "ScatterInto.h"
#include "ThreadPool.h"

#include "xlc/Runtime/Kernel.h"

#include <optional>

namespace xlc::runtime {

/// The plan's kernels, prepared to run on one rank. After calls are prepared, nothing is allocated except small objects
/// of oneDNN.
class Kernels {
public:
  Kernels(const Plan &plan, const XlcKernel *codes, ThreadPool &pool)
      : plan(plan), codes(codes), pool(pool), prepared(plan.kernels.size()) {}

  /// Throws Rejected if the plan has less workspace than a call requires on this machine.
  void prepare(const plan::CallT &call);

  void run(const plan::CallT &call, const CallOperands &operands);

private:
  struct Prepared {
    XlcKernel code = nullptr;
    uint64_t extent = 0, grain = 1;
    std::optional<Contraction> write, add;
    std::optional<AttentionShape> attention;
    std::optional<ScatterAddShape> scatter;
    std::optional<ScatterIntoShape> into;
    std::optional<ConvolutionShape> convolution;
    std::optional<MaxPoolShape> pool;
  };
  void runCode(const Prepared &kernel, const plan::CallT &call, const CallOperands &operands);
  void runContraction(const Contraction &contraction, const plan::CallT &call, char *const *operands, char *workspace);
  void runConvolutionCall(const ConvolutionShape &shape, char *const *operands, bool add, char *workspace);
  void runPool(const MaxPoolShape &shape, char *const *operands, bool add);
  void runAttentionCall(const AttentionShape &shape, char *const *operands, char *workspace);

  const Plan &plan;
  const XlcKernel *codes;
  ThreadPool &pool;
  std::vector<Prepared> prepared; ///< indexed as plan.kernels
};

} // namespace xlc::runtime

#endif
