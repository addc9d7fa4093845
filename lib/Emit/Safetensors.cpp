// train.safetensors: eight bytes of header length, a JSON header (padded to a multiple of 8), then the tensors' bytes
// in the same order. Nothing is held in memory but one tensor's writer.
#include "Core/OutputFile.h"
#include "xlc/Emit/Emit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace xlc;

static uint64_t bytesOf(const InitialTensor &tensor) {
  uint64_t bytes = sizeof(float);
  for (int64_t size : tensor.shape)
    bytes *= size;
  return bytes;
}

static std::string makeHeader(ArrayRef<InitialTensor> tensors) {
  std::string header;
  llvm::raw_string_ostream os(header);
  llvm::json::OStream json(os);
  uint64_t at = 0;
  json.object([&] {
    for (const InitialTensor &tensor : tensors)
      json.attributeObject(tensor.name, [&] {
        json.attribute("dtype", "F32");
        json.attributeArray("shape", [&] { llvm::for_each(tensor.shape, [&](int64_t size) { json.value(size); }); });
        json.attributeArray("data_offsets", [&] {
          json.value(at);
          json.value(at += bytesOf(tensor));
        });
      });
  });
  header.resize(llvm::alignTo(header.size(), 8), ' ');
  return header;
}

/// What is written to it goes into a file.
class FileStream : public llvm::raw_ostream {
public:
  explicit FileStream(runtime::OutputFile &file) : file(file) { SetUnbuffered(); }

private:
  void write_impl(const char *from, size_t count) override { file.write(from, count), at += count; }
  uint64_t current_pos() const override { return at; }

  runtime::OutputFile &file;
  uint64_t at = 0;
};

LogicalResult xlc::writeSafetensors(runtime::OutputFile &file, ArrayRef<InitialTensor> tensors, Location loc) {
  FileStream os(file);
  std::string header = makeHeader(tensors);
  char length[8];
  llvm::support::endian::write64le(length, header.size());
  os.write(length, 8);
  os << header;
  for (const InitialTensor &tensor : tensors) {
    uint64_t begin = os.tell();
    if (failed(tensor.write(os)))
      return failure();
    if (os.tell() - begin != bytesOf(tensor))
      return emitError(loc) << "internal error: '" << tensor.name << "' has " << bytesOf(tensor) << " bytes, "
                            << os.tell() - begin << " were written";
  }
  return success();
}
