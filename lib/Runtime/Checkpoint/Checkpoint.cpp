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
      file.reject(fmt::format("has {} bytes, but a manifest has at most {}", file.size(), largestManifest));
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
      reject(file, fmt::format("is damaged: it has {} bytes, but {} records {}", opened->reader.size(), manifestName,
                               file.bytes));
    if (std::string is = opened->reader.headerDigits(); is != file.header)
      reject(file,
             fmt::format("is damaged: its header has checksum {}, but {} records {}", is, manifestName, file.header));
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
        complain(fmt::format("is missing, but {} lists it", manifestName));
      uint64_t bytes = (piece.range.end - piece.range.begin) * dtypeBytes(tensor.dtype);
      if (entry->second.dtype != tensor.dtype || entry->second.bytes != bytes)
        complain(fmt::format("has {} bytes of type {}, but {} records {} bytes of type {}", entry->second.bytes,
                             entry->second.dtype, manifestName, bytes, tensor.dtype));
      auto form = file.seal.pieces.find(tensor.key());
      PieceForm whole{entry->second.shape, {}, {0, 0, piece.range.end}};
      const PieceForm &is = form == file.seal.pieces.end() ? whole : form->second;
      if (is != PieceForm{tensor.shape, tensor.cut, piece.range})
        complain(fmt::format("is a different piece of the tensor than {} records", manifestName));
      auto digits = file.seal.blocks.find(tensor.key());
      if (digits == file.seal.blocks.end() || digits->second.size() != countBlocks(bytes) * checksumDigits)
        complain("has no block checksums");
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

CheckpointReader::BlockPlace CheckpointReader::placeOf(const SavedTensor &tensor, const SavedPiece &piece,
                                                       uint64_t block) const {
  const StoredTensor &entry = checkpoint.files[piece.file]->reader.tensors().at(tensor.key());
  uint64_t before = block * sealedBlock;
  return {tensor, piece, block, entry.begin + before, std::min(sealedBlock, entry.bytes - before)};
}

/// Reads a block and verifies it.
void CheckpointReader::readBlock(const BlockPlace &place, char *to) {
  const auto &[tensor, piece, number, begin, bytes] = place;
  const Checkpoint::File &file = *checkpoint.files[piece.file];
  asDamage([&] { file.reader.read(begin, bytes, to); });
  readBytes += bytes;
  Checksum checksum;
  checksum.add(to, bytes);
  std::string is = checksum.digits();
  std::string says = file.seal.blocks.at(tensor.key()).substr(number * checksumDigits, checksumDigits);
  if (is == says)
    return;
  uint64_t size = dtypeBytes(tensor.dtype), first = piece.range.begin + number * sealedBlock / size;
  checkpoint.reject(
      checkpoint.said.files[piece.file],
      fmt::format("'{}' is damaged: elements {} to {} of piece {} have checksum {}, but the header records {}",
                  tensor.key(), first, first + bytes / size, piece.range.index, is, says));
}

const CheckpointReader::Block &CheckpointReader::load(const BlockPlace &place) {
  for (Block &block : blocks)
    if (block.file == place.piece.file && block.begin == place.begin) {
      block.lastUse = ++uses;
      return block;
    }
  Block &block =
      blocks.size() < mostBlocks ? blocks.emplace_back() : *std::ranges::min_element(blocks, {}, &Block::lastUse);
  block.file = UINT64_MAX; // until it is verified
  block.bytes.resize(place.bytes);
  readBlock(place, block.bytes.data());
  block.file = place.piece.file, block.begin = place.begin, block.lastUse = ++uses;
  return block;
}

/// Calls visit(block, from, count) for the parts of blocks in which the elements [begin, begin + count) lie: bytes
/// [from, from + count) of the block.
template <class Visit>
void CheckpointReader::forEachPart(const SavedTensor &tensor, uint64_t begin, uint64_t count, Visit visit) const {
  PieceShape shape = shapeOf(tensor);
  uint64_t size = dtypeBytes(tensor.dtype);
  for (uint64_t at = begin, end = begin + count; at < end;) {
    PieceShape::Found found = shape.find(at);
    auto place = [](const SavedPiece &piece) { return std::pair(piece.range.index, piece.range.begin); };
    // They tile the tensor: the last that begins no later has the element.
    const SavedPiece &piece =
        *std::prev(std::ranges::upper_bound(tensor.pieces, std::pair(found.index, found.inPiece), {}, place));
    uint64_t elements = std::min({end - at, found.count, piece.range.end - found.inPiece});
    uint64_t from = (found.inPiece - piece.range.begin) * size;
    for (uint64_t rest = elements * size; rest > 0;) {
      BlockPlace block = placeOf(tensor, piece, from / sealedBlock);
      uint64_t inBlock = from % sealedBlock, some = std::min(rest, block.bytes - inBlock);
      visit(block, inBlock, some);
      from += some, rest -= some;
    }
    at += elements;
  }
}

void CheckpointReader::read(const SavedTensor &tensor, uint64_t begin, uint64_t count, const Take &take) {
  forEachPart(tensor, begin, count, [&](const BlockPlace &place, uint64_t from, uint64_t some) {
    take(load(place).bytes.data() + from, some);
  });
}

void CheckpointReader::readTo(const SavedTensor &tensor, uint64_t begin, uint64_t count, char *to) {
  forEachPart(tensor, begin, count, [&](const BlockPlace &place, uint64_t from, uint64_t some) {
    if (some == place.bytes)
      readBlock(place, to);
    else
      std::copy_n(load(place).bytes.data() + from, some, to);
    to += some;
  });
}

uint64_t CheckpointReader::blocksOf(const SavedTensor &tensor, const SavedPiece &piece) {
  return countBlocks((piece.range.end - piece.range.begin) * dtypeBytes(tensor.dtype));
}

} // namespace xlc::runtime
