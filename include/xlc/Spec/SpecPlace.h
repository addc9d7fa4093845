// Places in the spec for errors that only later phases can detect, because these have the model.
#ifndef XLC_SPEC_SPECPLACE_H
#define XLC_SPEC_SPECPLACE_H

#include "xlc/Spec/Spec.h"

namespace xlc {

/// "zero3.yaml:7:11": the place of `key` ("dims.sequence"), or of the section that it belongs to; none if the spec has
/// neither and the value is a default.
std::optional<std::string> findPlace(const Spec &spec, llvm::StringRef key);

/// The same for a place; the path of the spec if `at` has no place.
std::string formatPlace(const Spec &spec, SpecLocation at);

} // namespace xlc

#endif
