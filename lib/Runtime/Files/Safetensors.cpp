// See Safetensors.h. The checksums of the elements precede them in the file, but are known only after them. The header
// is therefore written twice, first with zeros in place of the checksums.
#include "Safetensors.h"

#include "Failure.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime {
namespace {

constexpr uint64_t longestSafetensorsHeader = 100 << 20; // as the format's own library

} // namespace

SafetensorsReader::SafetensorsReader(const std::string &path) : file(path) {
  uint64_t length = 0, size = file.size();
  if (size < 8)
    file.reject("not a safetensors file: shorter than 8 bytes");
  file.read(0, 8, &length);
  if (length > longestSafetensorsHeader || length > size - 8)
    file.reject(
        fmt::format("not a safetensors file: its header would have {} bytes, but the file has {}", length, size));
  std::string text(length, '\0');
  file.read(8, length, text.data());
  dataBegin = 8 + length;
  if (std::string why = parseSafetensorsHeader(text, dataBegin, size - dataBegin, header); !why.empty())
    file.reject(why);
}

std::string SafetensorsReader::headerDigits() const {
  std::string bytes(dataBegin, '\0');
  file.read(0, dataBegin, bytes.data());
  Checksum checksum;
  checksum.add(bytes.data(), bytes.size());
  return checksum.digits();
}

std::optional<Seal> SafetensorsReader::seal() const {
  std::string bytes(dataBegin, '\0'), complaint;
  file.read(0, dataBegin, bytes.data());
  std::optional<Seal> seal = readSeal(std::move(bytes), header, complaint);
  if (!complaint.empty())
    file.reject(fmt::format("{}; {}", complaint, sealAdvice));
  return seal;
}

SafetensorsWriter::SafetensorsWriter(OutputFile &file, std::vector<TensorForm> forms, BlockSeals blocks)
    : file(file), tensors(std::move(forms)), blocks(blocks) {
  seal.model = fingerprintOf(tensors);
  file.write(makeSealedHeader(tensors, seal, blocks));
  left = tensors.empty() ? 0 : countBytes(tensors[0]);
  endTensors();
}

/// Goes on to the next tensor that lacks bytes.
void SafetensorsWriter::endTensors() {
  while (left == 0 && tensor < tensors.size()) {
    seal.checksums.emplace(tensors[tensor].name, checksum.digits());
    checksum.clear();
    if (blocks == BlockSeals::With) {
      endBlock();
      seal.blocks.emplace(tensors[tensor].name, std::exchange(ofBlocks, {}));
    }
    if (++tensor < tensors.size())
      left = countBytes(tensors[tensor]);
  }
}

void SafetensorsWriter::endBlock() {
  if (inBlock == 0)
    return;
  ofBlocks += block.digits();
  block.clear();
  inBlock = 0;
}

void SafetensorsWriter::addToBlocks(const char *from, uint64_t count) {
  while (count > 0) {
    uint64_t some = std::min(count, sealedBlock - inBlock);
    block.add(from, some);
    from += some, count -= some, inBlock += some;
    if (inBlock == sealedBlock)
      endBlock();
  }
}

void SafetensorsWriter::write(const void *from, uint64_t count) {
  file.write(from, count);
  for (const char *at = (const char *)from; count > 0; endTensors()) {
    if (tensor == tensors.size())
      throw std::logic_error(fmt::format("{}: more bytes are written than its tensors have", file.path));
    uint64_t some = std::min(count, left);
    checksum.add(at, some);
    if (blocks == BlockSeals::With)
      addToBlocks(at, some);
    at += some, count -= some, left -= some;
  }
}

std::string SafetensorsWriter::finish() {
  if (tensor < tensors.size())
    throw std::logic_error(fmt::format("{}: '{}' is not completely written", file.path, tensors[tensor].name));
  std::string header = makeSealedHeader(tensors, seal, blocks);
  file.rewrite(0, header);
  return header;
}

void writeSafetensors(const std::string &path, const std::vector<TensorToStore> &tensors, BlockSeals blocks) {
  OutputFile file(path);
  std::vector<TensorForm> forms;
  forms.reserve(tensors.size());
  for (const TensorToStore &tensor : tensors)
    forms.push_back(tensor.form);
  SafetensorsWriter writer(file, forms, blocks);
  std::vector<char> block(1 << 20);
  for (size_t i = 0; i < tensors.size(); ++i) {
    uint64_t size = dtypeBytes(forms[i].dtype), count = countBytes(forms[i]) / size, most = block.size() / size;
    for (uint64_t at = 0; at < count; at += most) {
      uint64_t some = std::min(most, count - at);
      tensors[i].fill(at, some, block.data());
      writer.write(block.data(), some * size);
    }
  }
  writer.finish();
  file.publish();
}

} // namespace xlc::runtime
