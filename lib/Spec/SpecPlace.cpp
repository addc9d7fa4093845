// See SpecPlace.h.
#include "xlc/Spec/SpecPlace.h"
#include "llvm/Support/FormatVariadic.h"

using namespace xlc;

std::optional<std::string> xlc::findPlace(const Spec &spec, llvm::StringRef key) {
  for (; !key.empty(); key = key.rsplit('.').first == key ? "" : key.rsplit('.').first)
    if (SpecLocation at = spec.where(key); at.line > 0)
      return formatPlace(spec, at);
  return std::nullopt;
}

std::string xlc::formatPlace(const Spec &spec, SpecLocation at) {
  return at.line > 0 ? llvm::formatv("{0}:{1}:{2}", spec.path, at.line, at.column).str() : spec.path;
}
