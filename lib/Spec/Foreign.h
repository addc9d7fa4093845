// A file that is no spec but another tool's configuration: one error that says so, and a note for each of its keys that
// a spec has, with what to write here.
#ifndef XLC_LIB_SPEC_FOREIGN_H
#define XLC_LIB_SPEC_FOREIGN_H

#include "Yaml.h"

namespace xlc::spec {

/// Whether the file is another tool's; then `errors` has what is to be said of it.
bool refuseForeign(const YamlNode &root, SpecErrors &errors);

} // namespace xlc::spec

#endif
