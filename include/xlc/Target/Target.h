// What a program is made for, as the compiler sees it: one sort of device with its libraries. Phases ask it and know no
// target by name; each target is a folder beside lib/Target/Cpu and a row of lib/Target/Targets.cpp. What a program does
// on its machine is the runtime's side of the same target (lib/Runtime/Device/Target.h).
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
// Answers follow from the target and its chip alone and are the same whenever they are asked: the plan is made of them.
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

/// An op that a library may do, with the memory of its operands and then of its results.
struct LibraryCall {
  mlir::Operation *op;
  llvm::ArrayRef<mlir::MemRefType> memory;
  runtime::Epilogue epilogue = {}; ///< of a contraction; its matrix beside a, b and y is the memory behind y's
};

/// What a measurement of this machine takes.
struct Measuring {
  int cores; ///< all are at work
  /// The only folder in which a vendor's libraries are looked for; empty: where the linker finds them.
  std::string libraryFolder;
};

/// How much a thread, or those who share a row, sum up at least, where a sum with few results is to be one of partial
/// sums, which many threads make; 0: it stays one.
struct FewestSummed {
  int64_t rows = 0;        ///< of each column, for a sum over columns
  int64_t elements = 0;    ///< for a sum over all elements
  int64_t carriedRows = 0; ///< of each column, by a kernel over rows on its way
};

class Target {
public:
  virtual ~Target() = default;

  /// As in the table of targets: "cpu".
  virtual llvm::StringRef name() const = 0;
  /// Which devices of this sort: "x86-64-v3".
  virtual llvm::StringRef chip() const = 0;
  /// What the chip has and the machine at hand lacks, by name; empty: programs can run here.
  virtual std::vector<std::string> findMissingFeatures() const = 0;

  /// Whether a library does the call on its operands and results as they lie. The op has the trait LibraryKernel.
  virtual bool fits(const LibraryCall &call) const = 0;
  /// Bytes of scratch of a call that fits, with so many threads of a rank; 0: it needs none.
  virtual int64_t workspace(const LibraryCall &call, int threads) const = 0;
  /// Whether its library's attention has the gradient of queries that see no key; else `dout` is 0 there (xlc-normalize-reductions).
  virtual bool seesWithoutKeys() const { return true; }
  /// Where sums over columns and over all elements are cut.
  virtual FewestSummed fewestSummed() const { return {}; }
  /// Whether a kernel over rows of so many elements can sum their columns on the way.
  virtual bool carriesSums(int64_t) const { return false; }
  /// Elements from one row to the next, where rows of so many elements may have gaps behind them.
  virtual int64_t rowPitch(mlir::Type element, int64_t elements) const { return elements; }
  /// Whether values of this type can lie in its memory.
  virtual bool hasElementType(mlir::Type type) const = 0;
  /// How products of narrow operands ("bf16", "f16") are done, in words for a user.
  virtual std::string describeProducts(llvm::StringRef element) const = 0;
  /// Bytes, a power of two: offsets in the arena and its size are multiples of it.
  virtual int64_t arenaAlignment() const = 0;
  /// Bytes, a multiple of arenaAlignment: what the device allocates in. The arena of a plan is not rounded to it.
  virtual int64_t arenaGranularity() const { return arenaAlignment(); }

  /// What a program has beside its arenas, and what more where it has several ranks, where its device does not say. Measured.
  virtual std::vector<OutsideLine> outsideLines() const = 0;
  virtual std::vector<OutsideLine> outsideLinesOfPeers() const { return {}; }
  /// What a rank of this exec.program has besides: what terms of other ranks pass through where it sums them in their order (all
  /// sums are so where it is deterministic), and what a device keeps of a step.
  virtual std::vector<OutsideLine> outsideLinesOf(mlir::Operation *program, bool isDeterministic) const { return {}; }
  /// What a rank of so many has beside its arena, of so many bytes, with the lines of its program.
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
  /// Floating-point operations in the time that moves one byte. Stages are weighed with it.
  virtual int64_t flopsPerByte() const = 0;

  /// Whether a program's kernels can be run by the compiler: `xlc verify --kernels`.
  virtual bool runsInCompiler() const { return true; }

  /// What this machine reaches: `xlc calibrate`.
  virtual Device measure(const Measuring &how) const = 0;

  /// How programs are made for it.
  virtual const Backend &backend() const = 0;
};

} // namespace xlc

#endif
