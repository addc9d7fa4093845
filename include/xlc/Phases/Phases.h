// The compiler as a table: the phases in order, each with its passes and its gate.
#ifndef XLC_PHASES_PHASES_H
#define XLC_PHASES_PHASES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "xlc/Import/Import.h"
#include "xlc/Search/ChunkChoice.h"
#include "xlc/Search/ZeroChoice.h"
#include "xlc/Spec/Spec.h"
#include "xlc/Support/Diagnostics.h"
#include "xlc/Target/Target.h"
#include "llvm/Support/MemoryBuffer.h"

namespace xlc {

/// The inputs of a compilation, except the spec, which the phase Spec reads. Copied as a whole to try another spec or
/// to repeat a failure.
struct CompilationInputs {
  /// Options of Lower and Emit.
  struct Request {
    std::string compiler;       ///< identifies this xlc in the program
    std::string output;         ///< the program's file, next to that of its parameters; empty: only the object is made
    std::string driver;         ///< the path of this executable; the runtime is in the same folder
    bool bundles = false;       ///< copies the libraries that the program opens next to it
    std::string simulatorImage; ///< file for the kernels for the target's simulator; empty: not written
  };

  std::string targetName; ///< overrides the spec's target; empty: the spec's target
  std::string modelPath, specPath;
  ImportOptions importing;
  Request request;
  /// Whether only Forks reads `unpartitioned`. Copying a module takes a large part of a phase's time.
  bool isPlanAlone = false;
  bool isTrial = false; ///< only the bytes of the plan are needed, as in Forks

  /// The inputs of a secondary compilation: without notes and files, and with all results for other users.
  CompilationInputs quiet() const {
    CompilationInputs inputs = *this;
    inputs.importing.notes = nullptr;
    inputs.request.output.clear();
    inputs.request.simulatorImage.clear();
    inputs.isPlanAlone = false;
    return inputs;
  }
};

/// The results of the phases so far. Never copied: another compilation starts without results.
struct CompilationResults {
  /// The module after a phase, for Forks. If the spec limits memory and RunOptions::keeps is set: those of the phases
  /// up to Stage, except `unpartitioned`.
  struct Kept {
    llvm::StringRef phase;
    mlir::OwningOpRef<mlir::ModuleOp> module;
  };

  Spec spec;
  std::vector<ParameterSource> parameters;
  std::vector<AbsentConstant> absentConstants; ///< see ImportedModel
  std::set<std::string> externalData;          ///< files
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The program of one rank with the whole batch, as Differentiate left it. `verify` compares with it, and Forks start
  /// from it.
  mlir::OwningOpRef<mlir::ModuleOp> unpartitioned;
  bool dropsAttention = false;                ///< the model has an attention with dropout
  ChunkChoice chunk;                          ///< set by Shard
  ZeroChoice zero;                            ///< set by DataParallel
  std::string fingerprint;                    ///< of the plan; set by Lower, which changes the plan's module
  std::unique_ptr<llvm::MemoryBuffer> object; ///< of the program; set by Emit
  std::vector<Kept> kept;
  llvm::StringRef phase; ///< the phase that runs or has failed; otherwise empty
};

/// One compilation: its inputs, its results, and the receiver of its diagnostics.
struct Compilation : CompilationInputs, CompilationResults {
  /// Returns the target that a spec selects; null after a diagnostic.
  using ChooseTarget = std::function<const Target *(const Spec &)>;

  Compilation(mlir::MLIRContext &context, const Target &target, Diagnostics &diagnostics, CompilationInputs inputs = {})
      : CompilationInputs(std::move(inputs)), context(context), diagnostics(diagnostics), target(&target) {}
  Compilation(mlir::MLIRContext &context, ChooseTarget chooseTarget, Diagnostics &diagnostics)
      : context(context), diagnostics(diagnostics), chooseTarget(std::move(chooseTarget)) {}
  /// A secondary compilation for another spec, with the inputs of `quiet`. Starts after the phase Spec.
  Compilation(const Compilation &beside, Spec given, Diagnostics &diagnostics)
      : Compilation(beside.context, beside.getTarget(), diagnostics, beside.quiet()) {
    spec = std::move(given);
  }

  /// The target of the program. Available after the phase Spec.
  const Target &getTarget() const { return *target; }

  mlir::MLIRContext &context;
  Diagnostics &diagnostics;
  const Target *target = nullptr;
  ChooseTarget chooseTarget; ///< called by the phase Spec if no target is given
};

struct Phase {
  llvm::StringRef name; ///< as used by --stop-after
  llvm::StringRef input, output;
  llvm::StringRef reads;   ///< keys of the spec, or values derived from them, that the phase depends on
  llvm::StringRef decides; ///< one sentence
  llvm::StringRef gate;    ///< the invariant after the phase, one sentence
  /// The party responsible for an error of a pass, unless the error states another. Errors in the model or the spec are
  /// reported to Compilation::diagnostics.
  Fault fault;
  mlir::LogicalResult (*run)(Compilation &);
  /// Rejects specs for reasons outside `reads`, which do not affect the result of the phase. If a fork skips the phase,
  /// the check runs on the module that would have been its input. May be null.
  mlir::LogicalResult (*check)(mlir::ModuleOp, const Spec &, Diagnostics &) = nullptr;
};

/// All phases, in order.
llvm::ArrayRef<Phase> getPhases();

/// The plan is complete after this phase; later phases make a program.
inline constexpr llvm::StringLiteral kPlanPhase = "Memory";

/// The last phase whose module contains a single micro-batch and is therefore kept. Later modules grow with the number
/// of micro-batches.
inline constexpr llvm::StringLiteral kLastKeptPhase = "Stage";

/// The phase whose module is kept as Compilation::unpartitioned.
inline constexpr llvm::StringLiteral kUnpartitionedPhase = "Differentiate";

struct RunOptions {
  /// name of a phase; this phase and those before it are skipped as already done; empty: start from the beginning
  std::string startAfter;
  std::string stopAfter;     ///< name of a phase; empty: run all
  std::string dumpDirectory; ///< folder for the IR of each phase, as NN-Name.mlir, and the object; empty: not written
  bool keeps = false;        ///< whether to fill Compilation::kept
};

/// Runs the phases in order. If it fails, an error has been reported.
mlir::LogicalResult runPhases(Compilation &compilation, const RunOptions &options);

/// Sets the mesh of a module. Called after import, and when a fork uses the module for another spec.
void setMesh(mlir::ModuleOp module, const Spec &spec);

/// The first half of Memory: creates programs whose buffers have no offsets yet.
mlir::LogicalResult lowerToPrograms(Compilation &compilation);

/// Reports an error if an output would overwrite an input: the model and its external data, the spec or its data files.
/// Compares files, not names. Called after the phases and before anything is written.
mlir::LogicalResult checkOutputs(const Compilation &compilation, llvm::ArrayRef<std::string> outputs);

/// Prints the table of docs/Phases.md from the phase table.
void printPhases(llvm::raw_ostream &out);

/// Registers every dialect that the IR of a phase may contain.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace xlc

#endif
