// See Seal.h.
#include "Seal.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace xlc::runtime {
namespace {

constexpr std::string_view ourKeys = "xlc.", headerKey = "xlc.header", modelKey = "xlc.model", tensorKey = "xlc.xxh3.",
                           blocksKey = "xlc.blocks.", pieceKey = "xlc.piece.", shapeKey = "xlc.shape.";

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

/// Numbers with blanks between them; none where the text is something else.
std::optional<std::vector<uint64_t>> readNumbers(std::string_view text) {
  std::vector<uint64_t> numbers;
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    auto [next, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc() || (next < end && (*next != ' ' || next + 1 == end)))
      return std::nullopt;
    at = next + (next < end);
  }
  return numbers;
}

/// What a header says of a piece; false where that is no such text.
bool readPiece(std::string_view key, const std::string &value, Seal &seal) {
  std::optional<std::vector<uint64_t>> numbers = readNumbers(value);
  if (!numbers)
    return false;
  if (key.starts_with(shapeKey)) {
    seal.pieces[std::string(key.substr(shapeKey.size()))].shape = *numbers;
    return true;
  }
  if (numbers->size() != 6)
    return false;
  const auto &n = *numbers;
  PieceForm &piece = seal.pieces[std::string(key.substr(pieceKey.size()))];
  piece.cut = {n[0], n[1], n[2]}, piece.range = {n[3], n[4], n[5]};
  return true;
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
                      : fmt::format("'{}' is damaged: its elements have checksum {}, but the header records {}; {}",
                                    tensor, is, stored, sealAdvice);
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

std::string makeSealedHeader(const std::vector<TensorForm> &tensors, const Seal &seal, BlockSeals blocks) {
  auto digitsOf = [&](const std::string &name) {
    auto found = seal.checksums.find(name);
    return found == seal.checksums.end() ? noDigits : found->second;
  };
  std::string text = fmt::format(R"({{"{}":{{"format":"pt","{}":"{}","{}":"{}")", metadataName, headerKey, noDigits,
                                 modelKey, seal.model);
  auto put = [&](std::string_view key, const std::string &tensor, std::string_view value) {
    text += fmt::format(R"(,{}:"{}")", quote(std::string(key) + tensor), value);
  };
  for (const TensorForm &tensor : tensors) {
    put(tensorKey, tensor.name, digitsOf(tensor.name));
    if (blocks == BlockSeals::With) {
      auto found = seal.blocks.find(tensor.name);
      uint64_t digits = countBlocks(countBytes(tensor)) * checksumDigits;
      put(blocksKey, tensor.name, found == seal.blocks.end() ? std::string(digits, '0') : found->second);
    }
    if (tensor.piece) {
      const auto &[shape, cut, range] = *tensor.piece;
      put(pieceKey, tensor.name,
          fmt::format("{} {} {} {} {} {}", cut.dim, cut.outer, cut.parts, range.index, range.begin, range.end));
      put(shapeKey, tensor.name, fmt::format("{}", fmt::join(shape, " ")));
    }
  }
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
    else if (key.starts_with(blocksKey))
      seal.blocks.emplace(key.substr(blocksKey.size()), value);
    else if ((key.starts_with(pieceKey) || key.starts_with(shapeKey)) && !readPiece(key, value, seal))
      complaint = fmt::format("'{}' of the header is '{}', which does not describe a piece", key, value);
  }
  if (!isOurs)
    return std::nullopt;
  size_t digits = findHeaderDigits(bytes);
  if (!complaint.empty())
    return seal;
  if (digits == bytes.npos) {
    complaint = "the header does not record its own checksum";
    return seal;
  }
  std::string stored = bytes.substr(digits, checksumDigits);
  bytes.replace(digits, checksumDigits, noDigits);
  if (std::string is = checksumOf(bytes); is != stored)
    complaint = fmt::format("the header has checksum {}, but records {}", is, stored);
  for (const auto &[name, tensor] : header.tensors)
    if (complaint.empty() && !seal.checksums.contains(name))
      complaint = fmt::format("the header lacks the checksum of '{}'", name);
  return seal;
}

} // namespace xlc::runtime
