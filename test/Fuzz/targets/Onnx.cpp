// Models: as `xlc inspect` and the phase Import read them. Whatever the bytes are: no crash, no
// hang, no leak, no undefined behaviour, less than 1 GiB, and nothing is thrown. What is refused has an error with the
// file's name; what is accepted is IR that verifies. A folder of its own has the model and a file of external data.
#include "Require.h"
#include "Wire.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "xlc/Import/Describe.h"
#include "xlc/Import/Import.h"
#include <filesystem>
#include <fstream>

using namespace xlc;

namespace {

struct Folder {
  std::string path = "/dev/shm/xlc-fuzz-" + std::to_string(getpid()); // removed at the end
  std::string model = path + "/model.onnx";
  Folder() {
    std::filesystem::create_directory(path);
    std::ofstream(path + "/model.onnx.data") << std::string(4096, 'x');
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

/// What a user would write who has looked at the model: values of its dimensions, a loss where it has logits.
Spec makeSpec(const FileDescription &model) {
  Spec spec;
  spec.path = "spec.yaml";
  spec.microBatch = 2;
  for (const std::string &dim : model.dims)
    spec.dims[dim] = 8;
  if (llvm::is_contained(model.outputs, "logits")) {
    spec.loss.type = LossSpec::Type::CrossEntropy;
    spec.loss.logits = "logits", spec.loss.labels = "y";
  }
  return spec;
}

} // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed) {
  size_t changed = seed % 8 ? fuzz::mutateWire(data, size, capacity, seed) : 0;
  return changed ? changed : LLVMFuzzerMutate(data, size, capacity);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Folder folder;
  std::ofstream(folder.model, std::ios::binary).write((const char *)data, (std::streamsize)size);
  std::string text;
  llvm::raw_string_ostream out(text);
  Diagnostics diagnostics(out);
  std::optional<FileDescription> description = describeFile(folder.model, InitSpec(), diagnostics);
  fuzz::require(description || llvm::StringRef(text).starts_with(folder.model + ": error: "), "inspect says why not");
  text.clear();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::optional<ImportedModel> model =
      importModel(folder.model, makeSpec(description.value_or(FileDescription())), {}, context, diagnostics);
  fuzz::require(model || llvm::StringRef(text).contains(": error: "), "what is refused has an error");
  fuzz::require(!model || succeeded(mlir::verify(*model->module)), "what is accepted verifies");
  return 0;
}
