// The properties of a model file, for users who have not yet written a spec: one plain struct, printed as a page or as
// JSON.
#ifndef XLC_INSPECT_INSPECT_H
#define XLC_INSPECT_INSPECT_H

#include "mlir/IR/MLIRContext.h"
#include "xlc/Import/Describe.h"
#include "xlc/Import/Import.h"
#include "xlc/Support/Quantity.h"
#include <map>

namespace xlc {

struct InspectOptions {
  std::map<std::string, int64_t> dims; ///< sizes of symbolic dimensions; the batch is one sample
  InitSpec init;                       ///< a state dict, or nothing
};

/// Figures of one class of units, for one instance and one sample.
struct UnitDescription {
  std::string className;
  int64_t instances = 0, ops = 0;
  Quantity parameters;        ///< elements; only of parameters that no earlier unit uses
  Quantity forward, backward; ///< FLOPs
};

struct Inspection {
  FileDescription file;
  std::map<std::string, int64_t> dims; ///< the dimensions that were used
  /// Whether all dimensions were given; otherwise units were found with placeholder sizes, and have no FLOPs.
  bool hasFigures = false;
  std::vector<UnitDescription> units;        ///< in the order of the model; empty if it cannot be imported
  std::map<std::string, int64_t> recognised; ///< named ops, such as attention, with their counts
  std::vector<Site> sites;                   ///< nodes that draw random numbers; of one row if the batch is open
  Quantity forward, backward;                ///< FLOPs per sample
  std::vector<Message> complaints;           ///< why it cannot be imported, or the warnings of its import
};

/// Reads `path`, and imports and differentiates it as far as possible. Errors in the file are reported to `errors`;
/// none if it cannot be read at all, or `options.dims` names a dimension that it does not have.
std::optional<Inspection> inspect(llvm::StringRef path, const InspectOptions &options, mlir::MLIRContext &context,
                                  Diagnostics &diagnostics);

/// Prints a table for people, at most 100 columns wide. `model` is the file's name.
void printTable(const Inspection &inspection, llvm::StringRef model, llvm::raw_ostream &out);

/// Prints JSON. The keys are stable and described in docs/InspectJson.md.
void printJson(const Inspection &inspection, llvm::StringRef model, llvm::raw_ostream &out);

} // namespace xlc

#endif
