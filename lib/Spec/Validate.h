// The two halves of checking: every key against its row, then keys against each other.
#ifndef XLC_LIB_SPEC_VALIDATE_H
#define XLC_LIB_SPEC_VALIDATE_H

#include <set>

#include "Yaml.h"

namespace xlc::spec {

/// The result of the first half, for the second.
struct Checked {
  Spec spec;
  /// Keys whose value was rejected; `spec` has a default in their place, from which nothing must be concluded.
  std::set<std::string> refused;
};

/// Walks the tree along the key table: unknown and unsupported keys, types, ranges.
Checked validate(const YamlNode &root, llvm::StringRef path, SpecErrors &errors);

/// The same along the keys below `cluster.device`, of a file that describes a device.
Checked validateDevice(const YamlNode &root, llvm::StringRef path, SpecErrors &errors);

/// Checks that involve several keys, and fills the defaults that depend on another key.
void crossCheck(Checked &checked, SpecErrors &errors);

} // namespace xlc::spec

#endif
