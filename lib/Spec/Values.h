// Reads one scalar or list of the YAML in the form that its row requires.
#ifndef XLC_LIB_SPEC_VALUES_H
#define XLC_LIB_SPEC_VALUES_H

#include "Keys.h"
#include "Yaml.h"

namespace xlc::spec {

/// Reads `node` as `key` requires. Otherwise reports an error ("'dp' must be an integer between 1 and 65536, got
/// 'four'", with a hint if a likely mistake is recognised) under the name `shownPath` and returns none.
std::optional<Value> readValue(const Key &key, llvm::StringRef shownPath, const YamlNode &node, SpecErrors &errors);

/// The node in words, for a message: "'four'", "a list", "nothing".
std::string describe(const YamlNode &node);

} // namespace xlc::spec

#endif
