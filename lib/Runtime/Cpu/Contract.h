// Contractions: how a call is cut between threads, and which code does each part.
//
// The output is cut, never the summed dimension, so no thread waits for another. A part of a large
// product whose operands are dense goes to oneDNN's blocked kernel (its other kernels allocate, so they are not used);
// everything else to Product.h, small products for their accuracy: oneDNN adds all terms one after the other. Who does
// what is decided here once, for the plan's workspace and for the run alike.
#ifndef XLC_LIB_RUNTIME_CPU_CONTRACT_H
#define XLC_LIB_RUNTIME_CPU_CONTRACT_H

#include "xlc/Runtime/Workspace.h"

#include <memory>

namespace xlc::runtime {

struct LibraryProduct;

/// A contraction prepared for a number of threads. Not to be run by two calls at once.
class Contraction {
public:
  /// With `run` false only the workspace is worked out. What needs more than `room` bytes of it is done by Product.h.
  Contraction(const ContractShape &shape, int threads, bool accumulate, bool run = true, int64_t room = INT64_MAX);
  ~Contraction();
  Contraction(Contraction &&) noexcept;

  /// Scratch of one thread, a multiple of 64.
  int64_t scratch() const { return scratchBytes; }
  int parts() const { return (int)cuts.size(); }

  /// Does part `part` of y = a b (+ bias) (+ y where it accumulates); `bias` may be null. Operands and y are of the
  /// shape's types; narrow ones take no bias, and nothing is added to a narrow y.
  void run(int part, const void *a, const void *b, const float *bias, void *y, char *scratch) const;

private:
  struct Cut {
    int64_t batchBegin, batchEnd, mBegin, mEnd, nBegin, nEnd;
    std::unique_ptr<LibraryProduct> library; ///< none: Product.h
  };
  void addCut(Cut cut, int64_t room, bool run);
  void runOne(const Cut &cut, const void *a, const void *b, const float *bias, void *y, char *scratch) const;

  ContractShape shape;
  bool accumulate;
  std::vector<Cut> cuts;
  int64_t scratchBytes = 0;
};

} // namespace xlc::runtime

#endif
