// From an ONNX file to the `graph` dialect. See docs/Phases.md, phase Import.
#ifndef XLC_IMPORT_IMPORT_H
#define XLC_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "xlc/Spec/Spec.h"
#include <map>
#include <set>

namespace xlc {

/// On the module: the value of the loss when a global batch is cut into dp x micro-batches pieces. "global": that of
/// the global batch. "micro_batch": that of each piece, averaged, as requested by the spec. "whole": the loss is not
/// defined for pieces, and there is only one.
inline constexpr llvm::StringLiteral kLossScope = "graph.loss_scope";

/// On the module: the loss is not defined per row, so an evaluation omits the rows that do not fill a global batch.
inline constexpr llvm::StringLiteral kWholeBatches = "graph.whole_batches";

/// The location of the initial value of a parameter: bytes of float32 in a file, or none.
struct ParameterSource {
  std::string name;              ///< PyTorch's
  std::vector<std::string> ties; ///< its other names in PyTorch
  std::vector<int64_t> shape;
  enum class Kind { Data, Zeros, Ones, Absent } kind = Kind::Absent;
  std::string file; ///< Data: external file, or empty if the bytes are in `bytes`; Absent: the missing file
  uint64_t offset = 0;
  std::string bytes;                        ///< Data: raw float32, row-major; already transposed if necessary
  bool isNormScale = false, isBias = false; ///< used by `init: random`
};

struct ImportOptions {
  bool raise = true; ///< match attention, layer norm, GELU, cross-entropy
  /// Output of `plan -v`: one line for each transformation that was reverted or raised.
  llvm::raw_ostream *notes = nullptr;
  /// Shapes of input rows, by input: the open dimensions of the input except the first have these sizes. Overrides the
  /// spec's `dims`.
  std::map<std::string, std::vector<int64_t>> shapes;
};

/// A constant with only its shape, because its external file is missing: sufficient to plan, not to compile.
struct AbsentConstant {
  std::string name, file;
};

/// A node that draws random numbers in each step. Its number is its position in the list.
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
  std::set<std::string> files; ///< external data, in addition to the model's own file
};

/// Reads `path` and imports it for one micro-batch of one data-parallel rank. Errors are reported to `errors` (`file:
/// error: ...`, all of them in one run); returns none if there was any.
std::optional<ImportedModel> importModel(llvm::StringRef path, const Spec &spec, const ImportOptions &options,
                                         mlir::MLIRContext &context, Diagnostics &diagnostics);

/// The rows of the import table as Markdown, for docs/Operators.md: ONNX operator, graph ops.
void printOperators(llvm::raw_ostream &out);

} // namespace xlc

#endif
