// The target of a program, as seen by the compiler: a type of device with its libraries. Phases query it and do not
// depend on the target's name. Each target is a folder beside lib/Target/Cpu and a row of lib/Target/Targets.cpp. The
// runtime has the other side of the target, which runs programs (lib/Runtime/Device/Target.h).
//
//   Shard       fits                       Lower, Emit  backend (Backend.h)
//   Stage       flopsPerByte
//   Kernels     fits, fewestSummed,        plan         outsideOf, flopsPerByte
//               carriesSums,
//               seesWithoutKeys
//   Memory      fits, workspace,
//               hasElementType, rowPitch,  calibrate    measure
//               arenaAlignment             verify       runsInCompiler
//
// Results depend only on the target and its chip, and are the same for every call, because the plan is made from them.
#ifndef XLC_TARGET_TARGET_H
#define XLC_TARGET_TARGET_H

#include "mlir/IR/BuiltinTypes.h"
#include "xlc/Cluster/Device.h"
#include "xlc/Runtime/LibraryShapes.h"
#include "xlc/Target/Backend.h"
#include "llvm/Support/MathExtras.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace xlc {

/// An op that a library may execute, with the memory of its operands and then of its results.
struct LibraryCall {
  mlir::Operation *op;
  llvm::ArrayRef<mlir::MemRefType> memory;
  runtime::Epilogue epilogue = {}; ///< of a contraction; the memory of its matrix beside a, b and y follows that of y
};

/// Options of a measurement of this machine.
struct Measuring {
  int cores; ///< all of them are busy
  /// The only folder to search for a vendor's libraries; empty: the linker's search path.
  std::string libraryFolder;
};

/// The minimum number of summands for a thread, or for the threads that share a row, when a sum with few results is
/// split into partial sums over many threads; 0: not split.
struct FewestSummed {
  int64_t rows = 0;        ///< for a sum over columns: of each column
  int64_t elements = 0;    ///< for a sum over all elements
  int64_t carriedRows = 0; ///< for a kernel over rows that also sums columns: of each column
};

class Target {
public:
  virtual ~Target() = default;

  /// The name in the table of targets: "cpu".
  virtual llvm::StringRef name() const = 0;
  /// The type of device: "x86-64-v3".
  virtual llvm::StringRef chip() const = 0;
  /// The features of the chip that this machine lacks, by name; empty: programs can run here.
  virtual std::vector<std::string> findMissingFeatures() const = 0;

  /// Whether a library supports the call with the layout of its operands and results. The op has the trait
  /// LibraryKernel.
  virtual bool fits(const LibraryCall &call) const = 0;
  /// Bytes of scratch memory of a supported call, with `threads` threads of a rank; 0: none.
  virtual int64_t workspace(const LibraryCall &call, int threads) const = 0;
  /// Whether its library's attention has the gradient of queries whose keys are all masked; else `dout` is 0 there
  /// (xlc-normalize-reductions).
  virtual bool seesWithoutKeys() const { return true; }
  /// The thresholds for splitting sums over columns and over all elements.
  virtual FewestSummed fewestSummed() const { return {}; }
  /// Whether a kernel over rows of this number of elements can also sum their columns.
  virtual bool carriesSums(int64_t) const { return false; }
  /// Elements from one row to the next, if rows of `elements` elements may be followed by gaps.
  virtual int64_t rowPitch(mlir::Type element, int64_t elements) const { return elements; }
  /// Whether its memory can store values of this type.
  virtual bool hasElementType(mlir::Type type) const = 0;
  /// How products of narrow operands ("bf16", "f16") are computed, in words for a user.
  virtual std::string describeProducts(llvm::StringRef element) const = 0;
  /// Bytes, a power of two: offsets in the arena and its size are multiples of it.
  virtual int64_t arenaAlignment() const = 0;
  /// Bytes, a multiple of arenaAlignment: the granularity of the device's allocations. The arena of a plan is not
  /// rounded to it.
  virtual int64_t arenaGranularity() const { return arenaAlignment(); }

  /// Memory of a program outside its arenas, and the additional memory if it has several ranks, for devices without
  /// figures of their own. Measured.
  virtual std::vector<OutsideLine> outsideLines() const = 0;
  virtual std::vector<OutsideLine> outsideLinesOfPeers() const { return {}; }
  /// Further memory of a rank of this exec.program: buffers for the terms of other ranks if it sums them in the order
  /// of the ranks (if it is deterministic, all sums are), and memory that a device keeps of a step.
  virtual std::vector<OutsideLine> outsideLinesOf(mlir::Operation *program, bool isDeterministic) const { return {}; }
  /// Memory of a rank outside its arena of `arena` bytes, in a job of `ranks`, including the lines of its program.
  std::vector<OutsideLine> outsideOf(const std::optional<Device> &device, int64_t arena, int64_t ranks,
                                     llvm::ArrayRef<OutsideLine> ofProgram = {}) const {
    std::vector<OutsideLine> lines = device && !device->outside.empty() ? device->outside : outsideLines();
    if (ranks > 1)
      llvm::append_range(lines,
                         device && !device->outsideOfPeers.empty() ? device->outsideOfPeers : outsideLinesOfPeers());
    llvm::append_range(lines, ofProgram);
    if (int64_t rounding = int64_t(llvm::alignTo(arena, arenaGranularity())) - arena)
      lines.push_back({"rounding", rounding});
    return lines;
  }
  /// Floating-point operations in the time of moving one byte. Used to weigh stages.
  virtual int64_t flopsPerByte() const = 0;

  /// Whether the compiler can run a program's kernels: `xlc verify --kernels`.
  virtual bool runsInCompiler() const { return true; }

  /// The rates that this machine reaches: `xlc calibrate`.
  virtual Device measure(const Measuring &how) const = 0;

  /// Creates programs for the target.
  virtual const Backend &backend() const = 0;
};

} // namespace xlc

#endif
