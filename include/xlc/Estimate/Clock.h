// The time that a rank takes on a device: for the calls of a function, for an exchange, for a transfer.
//
// A call takes the time of its arithmetic or of its bytes, whichever is larger, and at least the device's time of a
// call. If a rank has several threads, the time in which they meet is added. A product packs its operands before it
// computes (on a GPU only a part of them) and takes the sum of both: bytes over arithmetic is 1/m + 1/n + 1/k, as in
// the half-performance length of Hockney and Jesshope (Parallel Computers 2, 1988).
//
// A message takes its latency, plus the bytes that a rank reads (Traffic.h) at the rate of the slowest link of its
// group (the alpha-beta model; Hockney 1994). This is the link within a machine or, if the group spans several, the
// network; each member of the group in a machine contributes an adapter. If more ranks meet than a CPU has cores,
// waiting ranks sleep and must be woken, which takes longer.
#ifndef XLC_ESTIMATE_CLOCK_H
#define XLC_ESTIMATE_CLOCK_H

#include "xlc/Cluster/Device.h"
#include "xlc/Estimate/Cost.h"
#include <numeric>

namespace xlc {

class Clock {
public:
  /// `threads`: threads of a rank. A CPU's cores are shared by the ranks of its machine.
  Clock(mlir::ModuleOp module, const Device &device, int64_t threads);

  /// Seconds of a run of a function: its computations, and its exchanges with tensor-parallel ranks between them.
  struct RunTime {
    std::array<double, kKernelWorks> kernels = {}; ///< by KernelWork
    double tensor = 0;
    double compute() const { return std::accumulate(kernels.begin(), kernels.end(), 0.0); }
    double total() const { return compute() + tensor; }
  };
  const RunTime &ofRun(exec::RunOp run);
  double ofExchange(exec::ExchangeOp exchange);
  /// A transfer from one stage to another.
  double ofTransfer(int64_t stage, int64_t peer, int64_t bytes) const;

private:
  RunTime measure(mlir::func::FuncOp function, int64_t stage);
  struct KernelTime {
    KernelWork work = KernelWork::ElementWise;
    double seconds = 0;
  };
  KernelTime ofKernel(mlir::func::FuncOp kernel) const;
  double ofMessage(const exec::Exchange &exchange, int64_t stage) const;

  Device device; ///< with the rates per rank
  dist::MeshAttr mesh;
  mlir::SymbolTable symbols;
  llvm::StringMap<KernelTime> kernels;
  llvm::DenseMap<std::pair<mlir::Attribute, int64_t>, RunTime> functions; ///< by name and stage
};

} // namespace xlc

#endif
