// The handles and descriptors of a simulated cuBLASLt: attributes by number, of the sizes that the real library takes.
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
/// What version 13.1 of the real library takes, asked attribute by attribute and size by size; versions 12 have the same.
const std::vector<Attribute> &attributesOf(Kind kind);

/// What a descriptor holds, by the number of the attribute.
using Attributes = std::map<int, uint64_t>;

/// Makes one with the initial values. As the real library, refuses nothing but a null address.
runtime::cublaslt::Status make(Kind kind, void **to);

/// The attributes of one that lives; ends the process where it is another kind, or was destroyed.
Attributes &get(Kind kind, void *address, const char *function);

/// Refuses null, numbers that there are not, and another size than the attribute's.
runtime::cublaslt::Status set(Kind kind, void *address, int number, const void *value, size_t bytes,
                              const char *function);

/// As the real library, of null it is a success.
runtime::cublaslt::Status destroy(Kind kind, void *address, const char *function);

/// Those that live.
size_t countObjects();

} // namespace xlc::simulate

#endif
