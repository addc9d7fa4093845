// What xlc makes of a model file, for a person who wants to know before writing a spec: one plain struct, shown as a
// page or as JSON.
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

/// Figures of one class of units, each of an instance and a sample.
struct UnitDescription {
  std::string className;
  int64_t instances = 0, ops = 0;
  Quantity parameters;        ///< elements, of those that no earlier unit has used
  Quantity forward, backward; ///< FLOPs
};

struct Inspection {
  FileDescription file;
  std::map<std::string, int64_t> dims; ///< those that were used
  /// The dimensions were all given; otherwise units were found at sizes that were made up, and have no FLOPs.
  bool hasFigures = false;
  std::vector<UnitDescription> units;        ///< in the order of the model; empty where it cannot be imported
  std::map<std::string, int64_t> recognised; ///< named ops, such as attention, and how many there are
  std::vector<Site> sites;                   ///< nodes that draw, of one row where the batch is open
  Quantity forward, backward;                ///< FLOPs per sample
  std::vector<Message> complaints;           ///< why it cannot be imported, or with what reservations
};

/// Reads `path`, and imports and differentiates it as far as it goes. Complaints about the file go to `errors`; none if
/// it cannot be read at all, or `options.dims` names a dimension that it does not have.
std::optional<Inspection> inspect(llvm::StringRef path, const InspectOptions &options, mlir::MLIRContext &context,
                                  Diagnostics &diagnostics);

/// For people, at most 100 columns. `model` is the file's name.
void printTable(const Inspection &inspection, llvm::StringRef model, llvm::raw_ostream &out);

/// For programs. The keys are stable and described in docs/InspectJson.md.
void printJson(const Inspection &inspection, llvm::StringRef model, llvm::raw_ostream &out);

} // namespace xlc

#endif
