// See Manifest.h. Writes a manifest and computes its fingerprint.
#include "Manifest.h"

#include "Files/Checksum.h"
#include "ManifestText.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace xlc::runtime {
namespace {

using nlohmann::json;

json describe(const SavedData &data) {
  json files = json::array();
  for (const SavedData::File &file : data.files)
    files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"ends", file.ends}});
  return {{"rows", data.rows},
          {"files", std::move(files)},
          {"shuffle", data.shuffle},
          {"seed", data.seed},
          {"end", data.drop ? "drop" : "continue"}};
}

json describe(const LossScaleState &scale) {
  return {{"factor", scale.factor},
          {"good_in_row", scale.goodInRow},
          {"overflows_left", scale.overflowsLeft},
          {"skipped", scale.skipped},
          {"skipped_in_row", scale.skippedInRow}};
}

json describe(const SavedTensor &tensor) {
  json pieces = json::array();
  for (const SavedPiece &piece : tensor.pieces)
    pieces.push_back({piece.file, piece.range.index, piece.range.begin, piece.range.end});
  return {{"name", tensor.name},
          {"kind", tensor.kind},
          {"dtype", tensor.dtype},
          {"shape", tensor.shape},
          {"cut", {tensor.cut.dim, tensor.cut.outer, tensor.cut.parts}},
          {"pieces", std::move(pieces)}};
}

} // namespace

std::optional<CutGeometry> geometryOf(const std::vector<uint64_t> &shape, const TensorCut &cut) {
  uint64_t all = 1;
  for (uint64_t dim : shape)
    if (__builtin_mul_overflow(all, dim, &all))
      return std::nullopt;
  if (cut.parts == 1)
    return cut == TensorCut() ? std::optional(CutGeometry{all, all, 1, 1}) : std::nullopt;
  constexpr uint64_t mostParts = 1 << 20;
  if (cut.dim >= shape.size() || cut.outer == 0 || cut.parts == 0 || cut.parts > mostParts ||
      shape[cut.dim] % cut.outer != 0)
    return std::nullopt;
  CutGeometry geometry;
  geometry.run = shape[cut.dim] / cut.outer;
  geometry.block = geometry.run / cut.parts + (geometry.run % cut.parts != 0);
  geometry.rows = cut.outer;
  for (size_t i = 0; i < cut.dim; ++i)
    geometry.rows *= shape[i];
  for (size_t i = cut.dim + 1; i < shape.size(); ++i)
    geometry.rest *= shape[i];
  uint64_t elements = 0;
  if (__builtin_mul_overflow(geometry.rows * geometry.block, geometry.rest, &elements) ||
      __builtin_mul_overflow(elements, cut.parts, &elements))
    return std::nullopt;
  return geometry;
}

std::string fingerprintOf(const std::vector<SavedTensor> &tensors) {
  std::vector<std::pair<std::string, const SavedTensor *>> sorted;
  sorted.reserve(tensors.size());
  for (const SavedTensor &tensor : tensors)
    sorted.emplace_back(tensor.key(), &tensor);
  std::ranges::sort(sorted);
  Checksum checksum;
  for (const auto &[key, tensor] : sorted) {
    checksum.addText(key);
    checksum.addText(tensor->kind);
    checksum.addNumber(tensor->shape.size());
    for (uint64_t dim : tensor->shape)
      checksum.addNumber(dim);
  }
  return checksum.digits();
}

std::string writeManifest(const Manifest &manifest) {
  json files = json::array();
  for (const SavedFile &file : manifest.files)
    files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"header", file.header}});
  nlohmann::ordered_json all = {{"xlc_checkpoint", manifestVersion},
                                {"checksum", manifestNoDigits},
                                {"model", manifest.model},
                                {"progress",
                                 {{"step", manifest.progress.step},
                                  {"applied", manifest.progress.applied},
                                  {"samples", manifest.progress.samples}}},
                                {"random", {{"seed", manifest.seed}}}};
  if (manifest.lossScale)
    all["loss_scale"] = describe(*manifest.lossScale);
  all["optimizer"] = {{"type", manifest.optimizer}, {"states", manifest.states}};
  all["schedule"] = manifest.schedule;
  if (manifest.data)
    all["data"] = describe(*manifest.data);
  if (manifest.evaluation)
    all["evaluation"] = {{"best", manifest.evaluation->best}, // null where it is infinite
                         {"best_step", manifest.evaluation->bestStep},
                         {"not_better", manifest.evaluation->notBetter},
                         {"last_step", manifest.evaluation->lastStep}};
  all["made_by"] = {{"xlc", manifest.madeBy.xlc},
                    {"layout", manifest.madeBy.layout},
                    {"precision", manifest.madeBy.precision},
                    {"target", manifest.madeBy.target}};
  all["files"] = files;
  json tensors = json::array();
  for (const SavedTensor &tensor : manifest.tensors)
    tensors.push_back(describe(tensor));
  all["tensors"] = tensors;
  std::string text = all.dump() + "\n";
  text.replace(text.find(manifestChecksumKey) + manifestChecksumKey.size(), checksumDigits, checksumOfText(text));
  return text;
}

} // namespace xlc::runtime
