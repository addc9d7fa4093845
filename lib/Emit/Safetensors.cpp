// Writes initial parameters with the runtime's writer, one tensor at a time, so that only one is in memory.
#include "Files/Safetensors.h"
#include "xlc/Emit/Emit.h"

using namespace mlir;
using namespace xlc;

namespace {

/// What is written to it goes into a file.
class TensorStream : public llvm::raw_ostream {
public:
  explicit TensorStream(runtime::SafetensorsWriter &writer) : writer(writer) { SetUnbuffered(); }

private:
  void write_impl(const char *from, size_t count) override { writer.write(from, count), at += count; }
  uint64_t current_pos() const override { return at; }

  runtime::SafetensorsWriter &writer;
  uint64_t at = 0;
};

} // namespace

FailureOr<std::string> xlc::writeSafetensors(runtime::OutputFile &file, ArrayRef<InitialTensor> tensors, Location loc) {
  std::vector<runtime::TensorForm> forms;
  for (const InitialTensor &tensor : tensors)
    forms.push_back({tensor.name, std::vector<uint64_t>(tensor.shape.begin(), tensor.shape.end())});
  runtime::SafetensorsWriter writer(file, forms);
  TensorStream os(writer);
  for (auto [tensor, form] : llvm::zip(tensors, forms)) {
    uint64_t begin = os.tell(), bytes = runtime::countBytes(form);
    if (failed(tensor.write(os)))
      return failure();
    if (os.tell() - begin != bytes)
      return emitError(loc) << "'" << tensor.name << "' has " << bytes << " bytes, but " << os.tell() - begin
                            << " were written";
  }
  writer.finish();
  return writer.digest();
}
