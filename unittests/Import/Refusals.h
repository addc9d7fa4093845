// Models that Import must refuse, as a table: what is given, and what has to be said. Each is a row here rather than a lit test, which
// starts two processes for it; lit tests of test/Import have what takes files, and a few that teach.
#ifndef XLC_UNITTESTS_IMPORT_REFUSALS_H
#define XLC_UNITTESTS_IMPORT_REFUSALS_H

#include "llvm/ADT/ArrayRef.h"
#include <ostream>

namespace xlc {

struct Refusal {
  const char *name;  ///< of the row
  const char *spec;  ///< YAML
  const char *model; ///< protobuf text of an onnx.ModelProto
  /// A line for each error, and for those of its notes that matter: words of the message, in the order in which they are said. A note
  /// stands right below what it is about. There are no other errors.
  const char *said;
};

inline std::ostream &operator<<(std::ostream &out, const Refusal &row) { return out << row.name; }

llvm::ArrayRef<Refusal> listRefusedNodes();
llvm::ArrayRef<Refusal> listRefusedOperators();
llvm::ArrayRef<Refusal> listRefusedModels();
llvm::ArrayRef<Refusal> listRefusedLosses();

} // namespace xlc

#endif
