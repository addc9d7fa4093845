// One scalar or list of the YAML, read as what its row asks for.
#ifndef XLC_LIB_SPEC_VALUES_H
#define XLC_LIB_SPEC_VALUES_H

#include "Keys.h"
#include "Yaml.h"

namespace xlc::spec {

/// Reads `node` as `key` requires. Otherwise complains ("'dp' must be an integer between 1 and 65536, got
/// 'four'", with a hint where a likely mistake is recognised) under the name `shownPath` and returns none.
std::optional<Value> readValue(const Key &key, llvm::StringRef shownPath, const YamlNode &node, SpecErrors &errors);

/// What stands there, for a message: "'four'", "a list", "nothing".
std::string describe(const YamlNode &node);

} // namespace xlc::spec

#endif
