// See Checkpoint.h.
#include "Checkpoint.h"

#include "xlc/Runtime/States.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime {
namespace {

/// A larger one is of no program: that of 405 B parameters on 8,192 ranks has half of it.
constexpr uint64_t largestManifest = 24 << 20;
constexpr size_t mostBlocks = 16;

/// What `work` throws of a file is damage of the checkpoint.
template <class Work> auto asDamage(Work work) {
  try {
    return work();
  } catch (const Damaged &) {
    throw;
  } catch (const Rejected &problem) {
    throw Damaged(problem.what());
  }
}

Manifest openManifest(const std::string &folder) {
  return asDamage([&] {
    InputFile file(folder + "/" + manifestName);
    if (file.size() > largestManifest)
      file.reject(fmt::format("has {} bytes, a manifest at most {}", file.size(), largestManifest));
    std::string text(file.size(), '\0'), complaint;
    file.read(0, text.size(), text.data());
    Manifest manifest = readManifest(std::move(text), complaint);
    if (!complaint.empty())
      file.reject("is damaged: " + complaint);
    return manifest;
  });
}

PieceShape shapeOf(const SavedTensor &tensor) {
  CutGeometry geometry = *geometryOf(tensor.shape, tensor.cut);
  return {geometry.run, geometry.block, geometry.rest};
}

} // namespace

Checkpoint::Checkpoint(const std::string &folder) : folder(folder), said(openManifest(folder)) {
  for (const SavedTensor &tensor : said.tensors)
    tensors.emplace(tensor.key(), &tensor);
  asDamage([&] { openFiles(), checkEntries(); });
}

void Checkpoint::reject(const SavedFile &file, const std::string &why) const {
  throw Damaged(fmt::format("{}/{}: error: {}", folder, file.name, why));
}

void Checkpoint::openFiles() {
  for (const SavedFile &file : said.files) {
    auto opened = std::make_unique<File>(folder + "/" + file.name);
    if (opened->reader.size() != file.bytes)
      reject(file,
             fmt::format("is damaged: it has {} bytes, {} says {}", opened->reader.size(), manifestName, file.bytes));
    if (std::string is = opened->reader.headerDigits(); is != file.header)
      reject(file, fmt::format("is damaged: its header has checksum {}, {} says {}", is, manifestName, file.header));
    std::optional<Seal> seal = opened->reader.seal();
    if (!seal)
      reject(file, "has no checksums");
    opened->seal = std::move(*seal);
    files.push_back(std::move(opened));
  }
}

/// Each piece of the manifest is an entry of its file, as large as it says.
void Checkpoint::checkEntries() const {
  for (const SavedTensor &tensor : said.tensors)
    for (const SavedPiece &piece : tensor.pieces) {
      const File &file = *files[piece.file];
      auto complain = [&](std::string_view why) {
        reject(said.files[piece.file], fmt::format("'{}' {}", tensor.key(), why));
      };
      auto entry = file.reader.tensors().find(tensor.key());
      if (entry == file.reader.tensors().end())
        complain(fmt::format("is missing, which {} has there", manifestName));
      uint64_t bytes = (piece.range.end - piece.range.begin) * dtypeBytes(tensor.dtype);
      if (entry->second.dtype != tensor.dtype || entry->second.bytes != bytes)
        complain(fmt::format("has {} bytes of {}, {} says {} of {}", entry->second.bytes, entry->second.dtype,
                             manifestName, bytes, tensor.dtype));
      auto form = file.seal.pieces.find(tensor.key());
      PieceForm whole{entry->second.shape, {}, {0, 0, piece.range.end}};
      const PieceForm &is = form == file.seal.pieces.end() ? whole : form->second;
      if (is != PieceForm{tensor.shape, tensor.cut, piece.range})
        complain(fmt::format("is another piece of the tensor than {} says", manifestName));
      auto digits = file.seal.blocks.find(tensor.key());
      if (digits == file.seal.blocks.end() || digits->second.size() != countBlocks(bytes) * checksumDigits)
        complain("has no checksums of its blocks");
    }
}

const SavedTensor *Checkpoint::find(std::string_view kind, const std::string &name) const {
  SavedTensor wanted;
  wanted.kind = kind, wanted.name = name;
  auto found = tensors.find(wanted.key());
  return found == tensors.end() || found->second->kind != kind ? nullptr : found->second;
}

const SavedTensor *Checkpoint::findOfModel(const std::string &name) const {
  const SavedTensor *parameter = find(kParameterKind, name);
  return parameter ? parameter : find(kBufferKind, name);
}

const CheckpointReader::Block &CheckpointReader::load(const SavedTensor &tensor, const SavedPiece &piece,
                                                      uint64_t number) {
  const Checkpoint::File &file = *checkpoint.files[piece.file];
  const StoredTensor &entry = file.reader.tensors().at(tensor.key());
  uint64_t begin = entry.begin + number * sealedBlock;
  for (Block &block : blocks)
    if (block.file == piece.file && block.begin == begin) {
      block.lastUse = ++uses;
      return block;
    }
  Block &block =
      blocks.size() < mostBlocks ? blocks.emplace_back() : *std::ranges::min_element(blocks, {}, &Block::lastUse);
  block.file = UINT64_MAX; // until it is verified
  block.bytes.resize(std::min(sealedBlock, entry.bytes - number * sealedBlock));
  asDamage([&] { file.reader.read(begin, block.bytes.size(), block.bytes.data()); });
  readBytes += block.bytes.size();
  Checksum checksum;
  checksum.add(block.bytes.data(), block.bytes.size());
  std::string is = checksum.digits();
  std::string says = file.seal.blocks.at(tensor.key()).substr(number * checksumDigits, checksumDigits);
  if (is != says) {
    uint64_t size = dtypeBytes(tensor.dtype), first = piece.range.begin + number * sealedBlock / size;
    checkpoint.reject(checkpoint.said.files[piece.file],
                      fmt::format("'{}' is damaged: elements {} to {} of piece {} have checksum {}, the header says {}",
                                  tensor.key(), first, first + block.bytes.size() / size, piece.range.index, is, says));
  }
  block.file = piece.file, block.begin = begin, block.lastUse = ++uses;
  return block;
}

/// Bytes [from, from + count) of an entry.
void CheckpointReader::readPiece(const SavedTensor &tensor, const SavedPiece &piece, uint64_t from, uint64_t count,
                                 const Take &take) {
  while (count > 0) {
    const Block &block = load(tensor, piece, from / sealedBlock);
    uint64_t at = from % sealedBlock, some = std::min(count, block.bytes.size() - at);
    take(block.bytes.data() + at, some);
    from += some, count -= some;
  }
}

void CheckpointReader::read(const SavedTensor &tensor, uint64_t begin, uint64_t count, const Take &take) {
  PieceShape shape = shapeOf(tensor);
  uint64_t size = dtypeBytes(tensor.dtype);
  for (uint64_t at = begin, end = begin + count; at < end;) {
    PieceShape::Found found = shape.find(at);
    auto place = [](const SavedPiece &piece) { return std::pair(piece.range.index, piece.range.begin); };
    // They tile the tensor: the last that begins no later has the element.
    const SavedPiece &piece =
        *std::prev(std::ranges::upper_bound(tensor.pieces, std::pair(found.index, found.inPiece), {}, place));
    uint64_t some = std::min({end - at, found.count, piece.range.end - found.inPiece});
    readPiece(tensor, piece, (found.inPiece - piece.range.begin) * size, some * size, take);
    at += some;
  }
}

uint64_t CheckpointReader::blocksOf(const SavedTensor &tensor, const SavedPiece &piece) {
  return countBlocks((piece.range.end - piece.range.begin) * dtypeBytes(tensor.dtype));
}

} // namespace xlc::runtime
