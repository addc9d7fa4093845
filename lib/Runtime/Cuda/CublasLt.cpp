// See CublasLt.h.
#include "CublasLt.h"

#include "Failure.h"

#include <fmt/format.h>

namespace xlc::runtime::cublaslt {

Library::Library(const OpenedLibrary &library) {
  library.find(create, "cublasLtCreate");
  library.find(destroy, "cublasLtDestroy");
  library.find(getVersion, "cublasLtGetVersion");
  library.find(describe, "cublasLtGetStatusString");
  library.find(createMatmul, "cublasLtMatmulDescCreate");
  library.find(destroyMatmul, "cublasLtMatmulDescDestroy");
  library.find(setMatmul, "cublasLtMatmulDescSetAttribute");
  library.find(createLayout, "cublasLtMatrixLayoutCreate");
  library.find(destroyLayout, "cublasLtMatrixLayoutDestroy");
  library.find(setLayout, "cublasLtMatrixLayoutSetAttribute");
  library.find(createPreference, "cublasLtMatmulPreferenceCreate");
  library.find(destroyPreference, "cublasLtMatmulPreferenceDestroy");
  library.find(setPreference, "cublasLtMatmulPreferenceSetAttribute");
  library.find(choose, "cublasLtMatmulAlgoGetHeuristic");
  library.find(checkAlgorithm, "cublasLtMatmulAlgoCheck");
  library.find(multiply, "cublasLtMatmul");
  number = getVersion();
  if (number < oldestVersion)
    throw Rejected(fmt::format("error: cuBLASLt has version {} ({}), but programs need 12.0 or later: {}", version(),
                               library.path(), cublasLtLibrary.howToGet));
}

std::string Library::version() const {
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

void Library::require(Status status, const char *function, const std::string &what) const {
  if (status == Status::Success)
    return;
  const char *words = describe(status);
  throw DeviceFailure(fmt::format("{} failed for {}: status {}{}{}", function, what, (int)status, words ? ", " : "",
                                  words ? words : ""));
}

} // namespace xlc::runtime::cublaslt
