// Parses the header of a safetensors file and checks it against the requirements of the format:
//
//     {"__metadata__": {"key": "text", ...},
//      "0.weight": {"dtype": "F32", "shape": [64, 20], "data_offsets": [0, 5120]}, ...}
//
// Tensors tile the data: no hole, no overlap, no two at one place. The header is parsed event by event into plain
// structs, since it may have a hundred thousand entries: time is n log n in their number.
#ifndef XLC_LIB_RUNTIME_FILES_SAFETENSORSHEADER_H
#define XLC_LIB_RUNTIME_FILES_SAFETENSORSHEADER_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace xlc::runtime {

/// A name that a tensor cannot have.
inline constexpr std::string_view metadataName = "__metadata__";

struct StoredTensor {
  std::string dtype; ///< as spelled in the file: "F32"
  std::vector<uint64_t> shape;
  uint64_t begin, bytes; ///< of its elements, relative to the file
};

struct SafetensorsHeader {
  std::map<std::string, StoredTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// The bytes of an element of this type, given as spelled in a file; 0 if the type is unknown.
uint64_t dtypeBytes(std::string_view dtype);

/// Parses `text`, the header of a file whose data are the `dataBytes` bytes from `dataBegin` on. Returns an error, or
/// nothing.
std::string parseSafetensorsHeader(std::string_view text, uint64_t dataBegin, uint64_t dataBytes,
                                   SafetensorsHeader &header);

} // namespace xlc::runtime

#endif
