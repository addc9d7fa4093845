// What a file of parameters says of itself in its `__metadata__`, so that one flipped bit is found at start:
//
//     xlc.header       of every byte before the data, these 16 digits taken as zeros
//     xlc.model        of names, types and shapes in the order of names: which model, whatever its layout
//     xlc.xxh3.NAME    of the elements of tensor NAME
//
// Each is a Checksum. One over all of them names the values: a program knows that of the file that was made with it.
#ifndef XLC_LIB_RUNTIME_FILES_SEAL_H
#define XLC_LIB_RUNTIME_FILES_SEAL_H

#include "Checksum.h"
#include "SafetensorsHeader.h"

#include <optional>

namespace xlc::runtime {

/// The name, type and shape of a tensor.
struct TensorForm {
  std::string name;
  std::vector<uint64_t> shape;
  std::string dtype = "F32";
};

struct Seal {
  std::string model;
  std::map<std::string, std::string> checksums; ///< by tensor

  /// Why the elements of `tensor`, of which `checksum` is one, are not those that were written, or nothing.
  std::string findDamage(const std::string &tensor, const Checksum &checksum) const;

  /// The name of the values.
  std::string digest() const;
  bool operator==(const Seal &) const = default;
};

/// What helps where a seal is wrong.
inline constexpr char sealAdvice[] =
    "a file that was edited on purpose must be written without the keys of '__metadata__' that begin with 'xlc.'";

/// Of its elements, in the file.
uint64_t countBytes(const TensorForm &tensor);

/// Which model it is.
std::string fingerprintOf(std::vector<TensorForm> tensors);

/// The length and the header of a file with these tensors, one behind the other; checksums that are missing are zeros.
std::string makeSealedHeader(const std::vector<TensorForm> &tensors, const Seal &seal);

/// The seal of a header; none where it has no key of ours. `bytes`: all before the data. What is wrong with it goes to
/// `complaint`.
std::optional<Seal> readSeal(std::string bytes, const SafetensorsHeader &header, std::string &complaint);

} // namespace xlc::runtime

#endif
