// How long a rank takes on a device: for the calls of a function, for an exchange, for a transfer.
//
// A call takes as long as its arithmetic or its bytes, whichever is more, and at least the device's time of a call, with that in
// which a rank's threads meet where it has several. A product packs its operands before it computes, on a GPU a part of them,
// and takes the sum of both: bytes over arithmetic is 1/m + 1/n + 1/k, as in the half-performance length of Hockney and Jesshope
// (Parallel Computers 2, 1988). A message takes its latency, and the bytes that a rank reads (Traffic.h) at the rate of the
// slowest link among its group: within a machine, or, where the group stands in several, that of the network, of which each of
// its members in a machine brings an adapter (the alpha-beta model; Hockney 1994). Where more ranks meet than a CPU has cores,
// those that wait sleep and are woken, which takes longer.
#ifndef XLC_ESTIMATE_CLOCK_H
#define XLC_ESTIMATE_CLOCK_H

#include "xlc/Cluster/Device.h"
#include "xlc/Estimate/Cost.h"
#include <numeric>

namespace xlc {

class Clock {
public:
  /// `threads` are those of a rank. A CPU's cores are shared by the ranks of its machine.
  Clock(mlir::ModuleOp module, const Device &device, int64_t threads);

  /// A run of a function: what it computes, and what it exchanges in the middle with tensor-parallel ranks; in seconds.
  struct RunTime {
    std::array<double, kKernelWorks> kernels = {}; ///< by KernelWork
    double tensor = 0;
    double compute() const { return std::accumulate(kernels.begin(), kernels.end(), 0.0); }
    double total() const { return compute() + tensor; }
  };
  const RunTime &ofRun(exec::RunOp run);
  double ofExchange(exec::ExchangeOp exchange);
  /// Between a stage and another.
  double ofTransfer(int64_t stage, int64_t peer, int64_t bytes) const;

private:
  RunTime measure(mlir::func::FuncOp function, int64_t stage);
  struct KernelTime {
    KernelWork work = KernelWork::ElementWise;
    double seconds = 0;
  };
  KernelTime ofKernel(mlir::func::FuncOp kernel) const;
  double ofMessage(const exec::Exchange &exchange, int64_t stage) const;

  Device device; ///< with the rates of one rank
  dist::MeshAttr mesh;
  mlir::SymbolTable symbols;
  llvm::StringMap<KernelTime> kernels;
  llvm::DenseMap<std::pair<mlir::Attribute, int64_t>, RunTime> functions; ///< by name and stage
};

} // namespace xlc

#endif
