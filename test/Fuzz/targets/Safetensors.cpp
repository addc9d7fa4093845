// Files of tensors: state dicts, initial parameters. Whatever the bytes are: no crash, no hang, no leak, no undefined
// behaviour, less than 1 GiB, and a refusal is Rejected. What is accepted has tensors that tile the file behind its
// header, each as large as its shape says, and each can be read and compared with its seal.
#include "Require.h"

#include "Failure.h"
#include "Files/Safetensors.h"

#include <bit>

using namespace xlc::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const xlc::fuzz::MemoryFile file(data, size);
  try {
    const SafetensorsReader reader(file.path());
    uint64_t length = 0, sum = 0;
    __builtin_memcpy(&length, data, 8); // accepted, so they are there
    for (const auto &[name, tensor] : reader.tensors()) {
      xlc::fuzz::require(tensor.begin >= 8 + length && tensor.begin <= size && tensor.bytes <= size - tensor.begin,
                         "a tensor is within the data");
      const uint64_t elements = xlc::fuzz::countElements(tensor.shape);
      xlc::fuzz::require(elements ? tensor.bytes % elements == 0 && std::has_single_bit(tensor.bytes / elements) &&
                                        tensor.bytes / elements <= 8
                                  : tensor.bytes == 0,
                         "a tensor has its shape's bytes");
      sum += tensor.bytes;
    }
    xlc::fuzz::require(sum == size - 8 - length, "tensors tile the data");
    const std::optional<Seal> seal = reader.seal();
    for (const auto &[name, tensor] : reader.tensors()) {
      std::string bytes(tensor.bytes, '\0');
      reader.read(tensor.begin, tensor.bytes, bytes.data());
      Checksum checksum;
      checksum.add(bytes.data(), bytes.size());
      if (seal)
        (void)seal->findDamage(name, checksum);
    }
  } catch (const Rejected &) {
  }
  return 0;
}
