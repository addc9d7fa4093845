// See Seal.h.
#include "Seal.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace xlc::runtime {
namespace {

constexpr std::string_view ourKeys = "xlc.", headerKey = "xlc.header", modelKey = "xlc.model", tensorKey = "xlc.xxh3.";

const char *const noDigits = "0000000000000000";

/// Text as JSON has it; a name is text, which Import has checked.
std::string quote(std::string_view text) { return nlohmann::json(text).dump(); }

std::string checksumOf(std::string_view bytes) {
  Checksum checksum;
  checksum.add(bytes.data(), bytes.size());
  return checksum.digits();
}

/// Where the digits of the header's own checksum are. Within a name every quotation mark has a backslash before it, so
/// that this text is nowhere but in front of them.
size_t findHeaderDigits(std::string_view bytes) {
  std::string text = fmt::format("\"{}\":\"", headerKey);
  size_t found = bytes.find(text);
  return found == bytes.npos || bytes.size() - found < text.size() + checksumDigits ? bytes.npos : found + text.size();
}

} // namespace

uint64_t countBytes(const TensorForm &tensor) {
  uint64_t bytes = dtypeBytes(tensor.dtype);
  for (uint64_t dim : tensor.shape)
    bytes *= dim;
  return bytes;
}

std::string Seal::findDamage(const std::string &tensor, const Checksum &checksum) const {
  std::string is = checksum.digits();
  const std::string &stored = checksums.at(tensor);
  return is == stored ? ""
                      : fmt::format("'{}' is damaged: its elements have checksum {}, the header says {}; {}", tensor,
                                    is, stored, sealAdvice);
}

std::string Seal::digest() const {
  Checksum checksum;
  checksum.addText(model);
  for (const auto &[name, digits] : checksums)
    checksum.addText(digits);
  return checksum.digits();
}

std::string fingerprintOf(std::vector<TensorForm> tensors) {
  std::ranges::sort(tensors, {}, &TensorForm::name);
  Checksum checksum;
  for (const TensorForm &tensor : tensors) {
    checksum.addText(tensor.name);
    checksum.addText(tensor.dtype);
    checksum.addNumber(tensor.shape.size());
    for (uint64_t dim : tensor.shape)
      checksum.addNumber(dim);
  }
  return checksum.digits();
}

std::string makeSealedHeader(const std::vector<TensorForm> &tensors, const Seal &seal) {
  auto digitsOf = [&](const std::string &name) {
    auto found = seal.checksums.find(name);
    return found == seal.checksums.end() ? noDigits : found->second;
  };
  std::string text =
      fmt::format(R"({{"{}":{{"{}":"{}","{}":"{}")", metadataName, headerKey, noDigits, modelKey, seal.model);
  for (const TensorForm &tensor : tensors)
    text += fmt::format(R"(,{}:"{}")", quote(std::string(tensorKey) + tensor.name), digitsOf(tensor.name));
  text += '}';
  uint64_t at = 0;
  for (const TensorForm &tensor : tensors) {
    uint64_t end = at + countBytes(tensor);
    text += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", quote(tensor.name), tensor.dtype,
                        fmt::join(tensor.shape, ","), at, end);
    at = end;
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  uint64_t length = text.size();
  text.insert(0, (const char *)&length, sizeof length);
  text.replace(findHeaderDigits(text), checksumDigits, checksumOf(text));
  return text;
}

std::optional<Seal> readSeal(std::string bytes, const SafetensorsHeader &header, std::string &complaint) {
  Seal seal;
  bool isOurs = false;
  for (const auto &[key, value] : header.metadata) {
    isOurs |= key.starts_with(ourKeys);
    if (key == modelKey)
      seal.model = value;
    else if (key.starts_with(tensorKey))
      seal.checksums.emplace(key.substr(tensorKey.size()), value);
  }
  if (!isOurs)
    return std::nullopt;
  size_t digits = findHeaderDigits(bytes);
  if (digits == bytes.npos) {
    complaint = "the header has no checksum of its own";
    return seal;
  }
  std::string stored = bytes.substr(digits, checksumDigits);
  bytes.replace(digits, checksumDigits, noDigits);
  if (std::string is = checksumOf(bytes); is != stored)
    complaint = fmt::format("the header has checksum {}, and says {}", is, stored);
  for (const auto &[name, tensor] : header.tensors)
    if (complaint.empty() && !seal.checksums.contains(name))
      complaint = fmt::format("the header has no checksum of '{}'", name);
  return seal;
}

} // namespace xlc::runtime
