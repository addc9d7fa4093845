// The compiler as a table: its phases in order, each with its passes and its gate.
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

/// What a compilation is given, but for its spec, which the phase Spec reads. Copied as a whole where another spec is
/// tried or a failure is repeated.
struct CompilationInputs {
  /// What Lower and Emit are asked for beside the plan.
  struct Request {
    std::string compiler;       ///< names this xlc, in the program
    std::string output;         ///< the program's file, and its parameters' beside it; empty: only the object is wanted
    std::string driver;         ///< this program's path, beside which the runtime lies
    bool bundles = false;       ///< the libraries that the program opens are put beside it
    std::string simulatorImage; ///< the file of the kernels for the target's simulator; empty: none is wanted
  };

  std::string targetName; ///< in place of the spec's; empty: that
  std::string modelPath, specPath;
  ImportOptions importing;
  Request request;
  /// Whether nothing reads `unpartitioned` but Forks. Each copy of a module takes a good part of a phase's time.
  bool isPlanAlone = false;
  bool isTrial = false; ///< only bytes are asked for: what Forks plans

  /// The same for a compilation beside the user's own: without notes and files, and with all results for others.
  CompilationInputs quiet() const {
    CompilationInputs inputs = *this;
    inputs.importing.notes = nullptr;
    inputs.request.output.clear();
    inputs.request.simulatorImage.clear();
    inputs.isPlanAlone = false;
    return inputs;
  }
};

/// What the phases have made so far. Never copied: another compilation begins with none of it.
struct CompilationResults {
  /// The module after a phase, for Forks: where the spec limits memory and RunOptions::keeps, those up to Stage but for
  /// `unpartitioned`.
  struct Kept {
    llvm::StringRef phase;
    mlir::OwningOpRef<mlir::ModuleOp> module;
  };

  Spec spec;
  std::vector<ParameterSource> parameters;
  std::vector<AbsentConstant> absentConstants; ///< see ImportedModel
  std::set<std::string> externalData;          ///< files
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The program of one rank that has the whole batch, as Differentiate left it: what `verify` compares with, and Forks
  /// begin from.
  mlir::OwningOpRef<mlir::ModuleOp> unpartitioned;
  bool dropsAttention = false;                ///< an attention of the model drops probabilities
  ChunkChoice chunk;                          ///< since Shard
  ZeroChoice zero;                            ///< since DataParallel
  std::string fingerprint;                    ///< of the plan, since Lower, which changes its module
  std::unique_ptr<llvm::MemoryBuffer> object; ///< of the program, since Emit
  std::vector<Kept> kept;
  llvm::StringRef phase; ///< the one that runs, or failed; else empty
};

/// One compilation: what the user gave, what the phases made of it, and where they report.
struct Compilation : CompilationInputs, CompilationResults {
  /// Finds what a spec asks for; null after a diagnostic.
  using ChooseTarget = std::function<const Target *(const Spec &)>;

  Compilation(mlir::MLIRContext &context, const Target &target, Diagnostics &diagnostics, CompilationInputs inputs = {})
      : CompilationInputs(std::move(inputs)), context(context), diagnostics(diagnostics), target(&target) {}
  Compilation(mlir::MLIRContext &context, ChooseTarget chooseTarget, Diagnostics &diagnostics)
      : context(context), diagnostics(diagnostics), chooseTarget(std::move(chooseTarget)) {}
  /// Beside another one, as quiet as `quiet` says, for another spec: begins after the phase Spec.
  Compilation(const Compilation &beside, Spec given, Diagnostics &diagnostics)
      : Compilation(beside.context, beside.getTarget(), diagnostics, beside.quiet()) {
    spec = std::move(given);
  }

  /// What the program is made for. Since Spec.
  const Target &getTarget() const { return *target; }

  mlir::MLIRContext &context;
  Diagnostics &diagnostics;
  const Target *target = nullptr;
  ChooseTarget chooseTarget; ///< the phase Spec calls it where no target is given
};

struct Phase {
  llvm::StringRef name; ///< as in --stop-after
  llvm::StringRef input, output;
  llvm::StringRef
      reads; ///< of the spec, by its keys or what follows from them; what differs elsewhere is nothing to it
  llvm::StringRef decides; ///< one sentence
  llvm::StringRef gate;    ///< what holds afterwards, one sentence
  /// Whose fault an error of a pass is, unless the error says otherwise. What is wrong with model or spec is said to
  /// Compilation::diagnostics.
  Fault fault;
  mlir::LogicalResult (*run)(Compilation &);
  /// What it refuses of a spec beyond `reads`, which makes no difference to what it does: asked of a module as it takes
  /// it, where a fork skips the phase. May be null.
  mlir::LogicalResult (*check)(mlir::ModuleOp, const Spec &, Diagnostics &) = nullptr;
};

/// All phases, in order.
llvm::ArrayRef<Phase> getPhases();

/// After this phase the plan is complete; those behind it make a program.
inline constexpr llvm::StringLiteral kPlanPhase = "Memory";

/// The last phase whose module is one micro-batch, and so worth keeping: later ones grow with the micro-batches.
inline constexpr llvm::StringLiteral kLastKeptPhase = "Stage";

/// The phase whose module stays as Compilation::unpartitioned.
inline constexpr llvm::StringLiteral kUnpartitionedPhase = "Differentiate";

struct RunOptions {
  std::string startAfter;    ///< a phase's name: it and those before it are done already; empty: none is
  std::string stopAfter;     ///< a phase's name; empty: all
  std::string dumpDirectory; ///< where each phase's IR is written, as NN-Name.mlir, and the object; empty: nowhere
  bool keeps = false;        ///< whether Compilation::kept is wanted
};

/// Runs the phases in order. An error has been reported when it fails.
mlir::LogicalResult runPhases(Compilation &compilation, const RunOptions &options);

/// Writes on a module which ranks it is planned for: once it is imported, and where a fork takes it for another spec.
void setMesh(mlir::ModuleOp module, const Spec &spec);

/// The first half of Memory: programs whose buffers have no offsets yet.
mlir::LogicalResult lowerToPrograms(Compilation &compilation);

/// No output may replace what it was made from: the model and its external data, the spec and its data files. Files are
/// compared, not names. The phases have run; nothing has been written.
mlir::LogicalResult checkOutputs(const Compilation &compilation, llvm::ArrayRef<std::string> outputs);

/// docs/Phases.md's table, from the phase table.
void printPhases(llvm::raw_ostream &out);

/// Every dialect that a phase's IR may hold.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace xlc

#endif
