// The header of a safetensors file, understood and checked as the format demands:
//
//     {"__metadata__": {"key": "text", ...},
//      "0.weight": {"dtype": "F32", "shape": [64, 20], "data_offsets": [0, 5120]}, ...}
//
// Tensors tile the data: no hole, no overlap, no two at one place. It is read event by event into plain structs, since
// a header may have a hundred thousand entries: time is n log n in their number.
#ifndef XLC_LIB_RUNTIME_FILES_SAFETENSORSHEADER_H
#define XLC_LIB_RUNTIME_FILES_SAFETENSORSHEADER_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace xlc::runtime {

/// The name that no tensor can have.
inline constexpr std::string_view metadataName = "__metadata__";

struct StoredTensor {
  std::string dtype; ///< as the file spells it: "F32"
  std::vector<uint64_t> shape;
  uint64_t begin, bytes; ///< of its elements, in the file
};

struct SafetensorsHeader {
  std::map<std::string, StoredTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Of an element of this type, as a file spells it; 0: no such type.
uint64_t dtypeBytes(std::string_view dtype);

/// Reads `text`, the header of a file whose data are the `dataBytes` bytes from `dataBegin` on. Returns what is wrong
/// with it, or nothing.
std::string parseSafetensorsHeader(std::string_view text, uint64_t dataBegin, uint64_t dataBytes,
                                   SafetensorsHeader &header);

} // namespace xlc::runtime

#endif
