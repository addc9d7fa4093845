// A file that is not a spec but another tool's configuration: one error that reports this, and a note for each of its
// keys that exists in a spec, with the equivalent text.
#ifndef XLC_LIB_SPEC_FOREIGN_H
#define XLC_LIB_SPEC_FOREIGN_H

#include "Yaml.h"

namespace xlc::spec {

/// Whether the file is another tool's; if so, adds the messages to `errors`.
bool refuseForeign(const YamlNode &root, SpecErrors &errors);

} // namespace xlc::spec

#endif
