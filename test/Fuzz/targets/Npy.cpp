// Data files. Whatever the bytes are: no crash, no hang, no leak, no undefined behaviour, less than 1 GiB, and a
// refusal is Rejected. What is accepted has exactly the elements that its shape says, and they can be read.
#include "Require.h"

#include "Failure.h"
#include "Files/Npy.h"

using namespace xlc::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const xlc::fuzz::MemoryFile file(data, size);
  try {
    const NpyFile npy(file.path());
    const uint64_t elements = xlc::fuzz::countElements(npy.shape);
    xlc::fuzz::require(elements <= size / bytesOf(npy.type), "all elements are in the file");
    std::string bytes(elements * bytesOf(npy.type), '\0');
    xlc::fuzz::require(npy.bytes().tryRead(npy.begin(), bytes.size(), bytes.data()).empty(),
                       "the elements can be read");
    xlc::fuzz::require(std::string_view((const char *)data, size).ends_with(bytes), "the elements end the file");
  } catch (const Rejected &) {
  }
  return 0;
}
