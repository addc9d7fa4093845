// Creates the program of a planned module for a target: the passes of Lower, the target's part of the plan, object
// files.
#ifndef XLC_TARGET_BACKEND_H
#define XLC_TARGET_BACKEND_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>
#include <vector>

namespace xlc::plan {
struct PlanT; // Plan_generated.h
} // namespace xlc::plan

namespace xlc {

class Backend {
public:
  virtual ~Backend() = default;

  /// Adds the passes of Lower. Afterwards the module has @kernels (xlc/Lower/Lower.h), a function for each generated
  /// kernel and memory layout.
  virtual void addLowering(mlir::OpPassManager &passes) const = 0;
  /// Writes the properties of the target that the runtime requires into the plan, which has its kernels: alignment, the
  /// chip.
  virtual void describe(plan::PlanT &plan) const = 0;
  /// The object file of a lowered module: the code of @kernels and the plan's bytes in the form that the runtime reads.
  /// Null after a diagnostic.
  virtual std::unique_ptr<llvm::MemoryBuffer> makeObject(mlir::ModuleOp module, llvm::ArrayRef<uint8_t> plan) const = 0;
  /// The name of the archive with the target's runtime, which object files are linked with.
  virtual llvm::StringRef runtime() const = 0;
  /// The shared libraries that programs open and that may be copied next to them; none if their vendor installs them.
  virtual std::vector<std::string> findLibraries() const { return {}; }
  /// The code of @kernels for a device that is simulated on this machine, as an object file. Null if the target has no
  /// simulator, or after a diagnostic.
  virtual std::unique_ptr<llvm::MemoryBuffer> makeSimulatorObject(mlir::ModuleOp, const plan::PlanT &) const {
    return nullptr;
  }
  virtual bool hasSimulator() const { return false; }
};

} // namespace xlc

#endif
