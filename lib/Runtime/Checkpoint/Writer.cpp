// See Writer.h.
#include "Writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unistd.h>

namespace xlc::runtime {
namespace {

/// One of the files of a rank.
struct FileOfRank {
  std::string name;
  std::vector<HeldPart> parts;
};

std::vector<FileOfRank> filesOf(const Plan &plan, int rank) {
  std::vector<FileOfRank> files{{fmt::format("parameters-{:05}.safetensors", rank), {}},
                                {fmt::format("states-{:05}.safetensors", rank), {}}};
  forEachOwnedPart(plan, rank, [&](const HeldPart &part) {
    files[part.held.row->kind == plan::StateKind::Optimizer].parts.push_back(part);
  });
  std::erase_if(files, [](const FileOfRank &file) { return file.parts.empty(); });
  return files;
}

SavedTensor tensorOf(const Plan &plan, const HeldPart &part) {
  return describeTensor(plan, *part.held.row, *plan.parameters[part.parameter]);
}

/// A whole tensor has its shape; else it is a piece.
TensorForm formOf(const Plan &plan, const HeldPart &part) {
  SavedTensor tensor = tensorOf(plan, part);
  uint64_t count = part.range.end - part.range.begin;
  bool isWhole = tensor.cut.parts == 1 && count == plan.parameters[part.parameter]->elements;
  if (isWhole)
    return {tensor.key(), tensor.shape, tensor.dtype};
  return {tensor.key(), {count}, tensor.dtype, PieceForm{tensor.shape, tensor.cut, part.range}};
}

std::vector<TensorForm> formsOf(const Plan &plan, const FileOfRank &file) {
  std::vector<TensorForm> forms;
  forms.reserve(file.parts.size());
  for (const HeldPart &part : file.parts)
    forms.push_back(formOf(plan, part));
  return forms;
}

/// Whether a copy has it: what ranks hold rounded alone has the values that it began with.
bool isCopied(const Plan &plan, const HeldPart &part, bool all) {
  return (all || !changesInUpdates(*part.held.row)) && !isHeldRounded(plan, *plan.parameters[part.parameter]);
}

/// The values with which a parameter began, for a part of it; padding is zero.
void putInitialPart(const Plan &plan, int rank, const InitialValues &values, const HeldPart &part, uint64_t begin,
                    uint64_t count, char *to) {
  const plan::ParameterT &parameter = *plan.parameters[part.parameter];
  uint64_t size = bytesOf(storedElement(plan, parameter.bucket));
  std::memset(to, 0, count * size);
  memberOf(plan, parameter, rank)
      .forEachRun(begin, begin + count, [&](uint64_t inBucket, uint64_t inWhole, uint64_t some) {
        putInitial(plan, part.parameter, values, inWhole, some, to + (inBucket - begin) * size);
      });
}

} // namespace

StateCopy::StateCopy(const Plan &plan, int rank, const ReadState &read, bool all) {
  forEachOwnedPart(plan, rank, [&](const HeldPart &part) {
    if (!isCopied(plan, part, all))
      return;
    std::vector<char> &bytes = runs[part.offset()];
    bytes.resize(part.bytes());
    const char *from = read(part.offset(), bytes.size(), bytes.data());
    if (from != bytes.data())
      std::memcpy(bytes.data(), from, bytes.size());
  });
}

/// The bytes in the copy, or null if it does not have them.
const char *StateCopy::find(uint64_t offset, uint64_t bytes) const {
  auto after = runs.upper_bound(offset);
  if (after == runs.begin())
    return nullptr;
  const auto &[begin, run] = *std::prev(after);
  return offset + bytes <= begin + run.size() ? run.data() + (offset - begin) : nullptr;
}

ReadState StateCopy::before(ReadState read) const {
  return [this, read = std::move(read)](uint64_t offset, uint64_t bytes, char *room) {
    const char *copied = find(offset, bytes);
    return copied ? copied : read(offset, bytes, room);
  };
}

uint64_t StateCopy::bytes() const {
  uint64_t bytes = 0;
  for (const auto &[offset, run] : runs)
    bytes += run.size();
  return bytes;
}

void writeFiles(const Plan &plan, int rank, const InitialValues &values, const ReadState &read,
                const std::string &folder, const WaitingStep *step) {
  std::vector<std::unique_ptr<OutputFile>> written;
  std::vector<char> block(sealedBlock);
  for (const FileOfRank &file : filesOf(plan, rank)) {
    std::vector<TensorForm> forms = formsOf(plan, file);
    OutputFile &to = *written.emplace_back(std::make_unique<OutputFile>(folder + "/" + file.name));
    if (step)
      to.bypassCache(step->isWaiting);
    SafetensorsWriter writer(to, forms, BlockSeals::With);
    for (size_t i = 0; i < forms.size(); ++i) {
      const HeldPart &part = file.parts[i];
      bool isRounded = isHeldRounded(plan, *plan.parameters[part.parameter]);
      uint64_t size = dtypeBytes(forms[i].dtype), most = block.size() / size;
      for (uint64_t at = part.inBucket, end = at + part.range.end - part.range.begin; at < end; at += most) {
        uint64_t some = std::min(most, end - at);
        const char *from = block.data();
        if (isRounded)
          putInitialPart(plan, rank, values, part, at, some, block.data());
        else
          from = read(part.held.offsetOf(at), some * size, block.data());
        writer.write(from, some * size);
      }
    }
    writer.finish();
  }
  if (step)
    step->afterReading();
  std::vector<OutputFile *> together;
  together.reserve(written.size());
  for (const auto &file : written)
    together.push_back(file.get());
  if (!together.empty())
    OutputFile::publishTogether(together);
}

WrittenBytes measureFiles(const Plan &plan, int rank) {
  WrittenBytes bytes;
  for (const FileOfRank &file : filesOf(plan, rank)) {
    std::vector<TensorForm> forms = formsOf(plan, file);
    for (const TensorForm &form : forms)
      bytes.files += countBytes(form);
    Seal seal;
    seal.model = fingerprintOf(forms);
    bytes.files += makeSealedHeader(forms, seal, BlockSeals::With).size();
    for (const HeldPart &part : file.parts)
      if (isCopied(plan, part, /*all=*/true)) {
        bytes.copy += part.bytes();
        bytes.copyBesideUpdates += isCopied(plan, part, /*all=*/false) ? part.bytes() : 0;
      }
  }
  return bytes;
}

void listFiles(const Plan &plan, const std::string &folder, Manifest &manifest) {
  manifest.tensors = listTensors(plan);
  std::map<std::string, SavedTensor *> byKey;
  for (SavedTensor &tensor : manifest.tensors)
    byKey.emplace(tensor.key(), &tensor);
  for (int rank = 0; rank < (int)rankCount(plan); ++rank)
    for (const FileOfRank &file : filesOf(plan, rank)) {
      SafetensorsReader reader(folder + "/" + file.name);
      reader.seal(); // it is what was written
      for (const HeldPart &part : file.parts) {
        SavedTensor &tensor = *byKey.at(tensorOf(plan, part).key());
        tensor.pieces.push_back({manifest.files.size(), part.range});
      }
      manifest.files.push_back({file.name, reader.size(), reader.headerDigits()});
    }
  for (SavedTensor &tensor : manifest.tensors)
    std::ranges::sort(tensor.pieces, {},
                      [](const SavedPiece &piece) { return std::pair(piece.range.index, piece.range.begin); });
  manifest.model = fingerprintOf(manifest.tensors);
}

} // namespace xlc::runtime
