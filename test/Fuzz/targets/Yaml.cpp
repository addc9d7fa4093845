// Specs. Whatever the bytes are: no crash, no hang, no leak, no undefined behaviour, less than 1 GiB, and nothing is
// thrown. A spec that is accepted has no complaint and values within their bounds; one that is refused has an error
// with its line.
#include "Require.h"

#include "xlc/Spec/Spec.h"

using namespace xlc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Diagnostics diagnostics(out);
  std::optional<Spec> spec = parseSpec(llvm::StringRef((const char *)data, size), "spec.yaml", diagnostics);
  if (!spec) {
    fuzz::require(llvm::StringRef(text).starts_with("spec.yaml:") && llvm::StringRef(text).contains(": error: "),
                  "what is refused has an error with its place");
    return 0;
  }
  fuzz::require(text.empty(), "what is accepted has no complaint");
  fuzz::require(spec->dp >= 1 && spec->pp >= 1 && spec->tp >= 1 && spec->ranks() >= 1, "there are ranks");
  fuzz::require(spec->microBatch >= 1 && spec->microBatches() >= 1, "there are micro-batches");
  fuzz::require(spec->dpShardOrAll() >= 1 && spec->dp % spec->dpShardOrAll() == 0, "dp_shard divides dp");
  fuzz::require(spec->chunksPerRank() >= 1 && spec->threadsPerRankOrDefault() >= 1, "there are stages and threads");
  return 0;
}
