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
  /// Words of each message, a line each, in the order of the output: all errors, and notes ("note: ...") that follow their error
  /// directly. An error without a line fails the test.
  const char *said;
};

inline std::ostream &operator<<(std::ostream &out, const Refusal &row) { return out << row.name; }

llvm::ArrayRef<Refusal> listRefusedNodes();
llvm::ArrayRef<Refusal> listRefusedOperators();
llvm::ArrayRef<Refusal> listRefusedModels();
llvm::ArrayRef<Refusal> listRefusedLosses();

} // namespace xlc

#endif
