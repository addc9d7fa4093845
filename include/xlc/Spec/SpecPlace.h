// Where in the spec an error belongs that only later phases can make, which know the model.
#ifndef XLC_SPEC_SPECPLACE_H
#define XLC_SPEC_SPECPLACE_H

#include "xlc/Spec/Spec.h"

namespace xlc {

/// "zero3.yaml:7:11": where `key` ("dims.sequence") stands, or the section that it belongs to; none where the spec has
/// neither and what it means is a default.
std::optional<std::string> findPlace(const Spec &spec, llvm::StringRef key);

/// The same of a place; the spec's path where it is nowhere.
std::string formatPlace(const Spec &spec, SpecLocation at);

} // namespace xlc

#endif
