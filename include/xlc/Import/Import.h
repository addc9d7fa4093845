// From an ONNX file to the `graph` dialect. See docs/Phases.md, phase Import.
#ifndef XLC_IMPORT_IMPORT_H
#define XLC_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "xlc/Spec/Spec.h"
#include <map>
#include <set>

namespace xlc {

/// On the module, what becomes of the loss when a global batch is cut into pieces, dp x micro-batches of them: "global",
/// it stays that of the global batch; "micro_batch", it is that of each piece, averaged, as the spec wants it; "whole",
/// it has no value for pieces, and there is one.
inline constexpr llvm::StringLiteral kLossScope = "graph.loss_scope";

/// On the module: its loss is not one of rows, so that an evaluation leaves out those that fill no global batch.
inline constexpr llvm::StringLiteral kWholeBatches = "graph.whole_batches";

/// Where the initial value of a parameter stands: bytes of float32 in a file, or nowhere.
struct ParameterSource {
  std::string name;              ///< PyTorch's
  std::vector<std::string> ties; ///< what else PyTorch calls it
  std::vector<int64_t> shape;
  enum class Kind { Data, Zeros, Ones, Absent } kind = Kind::Absent;
  std::string file; ///< Data: external file, or empty when the bytes are in `bytes`; Absent: the file that is not there
  uint64_t offset = 0;
  std::string bytes;                        ///< Data: raw float32, row-major; already transposed where needed
  bool isNormScale = false, isBias = false; ///< what `init: random` needs to know
};

struct ImportOptions {
  bool raise = true; ///< recognise attention, layer norm, GELU, cross-entropy
  /// Chatter of `plan -v`: one line for each thing that was undone or raised.
  llvm::raw_ostream *notes = nullptr;
  /// Shapes of rows that are to be fed, by input: the open dimensions of the input, but for the first, have these sizes, whatever
  /// the spec's `dims` say.
  std::map<std::string, std::vector<int64_t>> shapes;
};

/// A constant of which only the shape is known, as its external file is not there: enough to plan, not to compile.
struct AbsentConstant {
  std::string name, file;
};

/// A node that draws random numbers in each step; its number is its place in the list.
struct Site {
  std::string node, op;
  std::optional<double> ratio; ///< of a Dropout
  std::vector<int64_t> shape;  ///< of a micro-batch
};

struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< one `func.func @forward`, see docs/rationale/Graph.md
  std::vector<ParameterSource> parameters;  ///< in the order of @forward's parameter arguments
  std::vector<AbsentConstant> absentConstants;
  std::vector<Site> sites;
  std::set<std::string> files; ///< beside the model's own: external data
};

/// Reads `path` and imports it for one micro-batch of one data-parallel rank. Complaints go to
/// `errors` (`file: error: ...`, all of them in one run); returns none if there was any.
std::optional<ImportedModel> importModel(llvm::StringRef path, const Spec &spec, const ImportOptions &options,
                                         mlir::MLIRContext &context, Diagnostics &diagnostics);

/// The rows of the import table as Markdown, for docs/Operators.md: ONNX operator, graph ops.
void printOperators(llvm::raw_ostream &out);

} // namespace xlc

#endif
