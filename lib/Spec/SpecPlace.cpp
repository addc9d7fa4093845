// See SpecPlace.h.
#include "xlc/Spec/SpecPlace.h"
#include "llvm/Support/FormatVariadic.h"

std::optional<std::string> xlc::findPlace(const Spec &spec, llvm::StringRef key) {
  for (; !key.empty(); key = key.rsplit('.').first == key ? "" : key.rsplit('.').first)
    if (SpecLocation at = spec.where(key); at.line > 0)
      return llvm::formatv("{0}:{1}:{2}", spec.path, at.line, at.column).str();
  return std::nullopt;
}
