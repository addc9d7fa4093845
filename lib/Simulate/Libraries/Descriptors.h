// The handles and descriptors of a simulated cuBLASLt: attributes by number, with the sizes of the real library.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_DESCRIPTORS_H
#define XLC_LIB_SIMULATE_LIBRARIES_DESCRIPTORS_H

#include "Cuda/CublasLt.h"

#include <cstdint>
#include <map>
#include <vector>

namespace xlc::simulate {

enum class Kind : uint8_t { Handle, Matmul, Layout, Preference };

struct Attribute {
  int number;
  size_t bytes;
  uint64_t initial;
};
/// The attributes that version 13.1 of the real library accepts, tested by attribute and size; versions 12 have the
/// same.
const std::vector<Attribute> &attributesOf(Kind kind);

/// The content of a descriptor, by the number of the attribute.
using Attributes = std::map<int, uint64_t>;

/// Creates a descriptor with the initial values. Like the real library, rejects nothing but a null address.
runtime::cublaslt::Status make(Kind kind, void **to);

/// The attributes of a live descriptor; ends the process if it is of another kind, or was destroyed.
Attributes &get(Kind kind, void *address, const char *function);

/// Rejects null, unknown numbers, and sizes other than the attribute's.
runtime::cublaslt::Status set(Kind kind, void *address, int number, const void *value, size_t bytes,
                              const char *function);

/// Like the real library, succeeds for null.
runtime::cublaslt::Status destroy(Kind kind, void *address, const char *function);

/// The number of live descriptors.
size_t countObjects();

} // namespace xlc::simulate

#endif
