// The phase Emit: from the `exec` program to an executable. The plan becomes a FlatBuffers table, the kernels machine
// code; both go into one object file, which is linked with the runtime.
#ifndef XLC_EMIT_EMIT_H
#define XLC_EMIT_EMIT_H

#include "Plan_generated.h"
#include "mlir/IR/BuiltinOps.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Target/Target.h"
#include "llvm/Support/MemoryBuffer.h"
#include <functional>

namespace xlc::runtime {
class OutputFile; // lib/Runtime/Files/OutputFile.h
} // namespace xlc::runtime

namespace xlc {

/// The files that a program is linked with.
struct LinkFiles {
  std::string runtime; ///< the path of Backend::runtime
  std::string folder;  ///< of the C and C++ libraries and the startup files: lib/xlc
};

/// The link files of the build tree or the installation that `driver` (its path) belongs to. Fails after a diagnostic
/// at `loc`.
mlir::FailureOr<LinkFiles> findLinkFiles(const Target &target, llvm::StringRef driver, mlir::Location loc);

/// The number of a group of ranks in the plan. Adds the group if the plan does not have it.
unsigned groupOf(plan::PlanT &plan, dist::GroupAttr group);

/// A collective, without places.
plan::ExchangeT exchangeOf(plan::PlanT &plan, const exec::Exchange &what);

/// The plan's value for an element type of the `graph` dialect, which has no others.
plan::Element elementOf(mlir::Type type);

/// Fills the information of the IR into `plan`: mesh, micro-batches, kernels, functions, and a program per stage. The
/// caller fills the rest, which only spec and model contain: parameters, buckets, optimizer groups, inputs, threads,
/// seed, traffic, names. Kernels must have been lowered (Lower.h).
mlir::LogicalResult fillPlan(mlir::ModuleOp module, plan::PlanT &plan);
/// Fills only the mesh and the memory of ranks: programs with buffers and states, without actions. The module need not
/// be lowered.
mlir::LogicalResult fillHeldStates(mlir::ModuleOp module, plan::PlanT &plan);

/// The bytes of a plan as the binary embeds them.
std::vector<uint8_t> serializePlan(const plan::PlanT &plan);

/// Fills `plan` from the IR and the target, and returns the object file of a lowered module. Null after a diagnostic.
std::unique_ptr<llvm::MemoryBuffer> makeObject(mlir::ModuleOp module, const Target &target, plan::PlanT &plan);

/// Links an object and writes the program into `program`, which the caller publishes. Reports errors of linking at
/// `loc`; throws runtime::Rejected if a file cannot be written.
mlir::LogicalResult linkProgram(mlir::Location loc, const LinkFiles &files, const llvm::MemoryBuffer &object,
                                runtime::OutputFile &program);

/// The same of a target's code for its simulator, to a shared library.
mlir::LogicalResult linkImage(mlir::Location loc, const llvm::MemoryBuffer &object, runtime::OutputFile &image);

/// A parameter's initial value for train.safetensors. `write` writes all f32 of it, and may fail after a diagnostic.
struct InitialTensor {
  std::string name;
  llvm::SmallVector<int64_t> shape;
  std::function<mlir::LogicalResult(llvm::raw_ostream &)> write;
};

/// Writes tensors in the given order, one at a time, into `file`, which the caller publishes; returns the digest of
/// their values. Throws as linkProgram does.
mlir::FailureOr<std::string> writeSafetensors(runtime::OutputFile &file, llvm::ArrayRef<InitialTensor> tensors,
                                              mlir::Location loc);

} // namespace xlc

#endif
