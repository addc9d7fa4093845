// See Manifest.h. The text is parsed value by value: lists of pieces, which may have a million entries, become plain
// structs when they end, and nothing else of the text is kept.
#include "Manifest.h"

#include "ManifestText.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace xlc::runtime {
namespace {

using nlohmann::json;

/// The limit on values beside the lists of pieces.
constexpr size_t mostValues = 1 << 20;

/// A text that cannot be a manifest: what is thrown within this file.
struct Wrong {
  std::string why;
};

[[noreturn]] void wrong(std::string why) { throw Wrong{std::move(why)}; }

/// The members of objects, with their types.
class Fields {
public:
  Fields(const json &object, std::string where) : object(object), where(std::move(where)) {
    if (!object.is_object())
      wrong(fmt::format("'{}' is not an object", this->where));
  }
  const json &get(const char *key) const {
    auto found = object.find(key);
    if (found == object.end())
      wrong(fmt::format("'{}' is missing", nameOf(key)));
    return *found;
  }
  bool has(const char *key) const { return object.contains(key); }
  std::string text(const char *key) const {
    const json &value = get(key);
    return value.is_string() ? value.get<std::string>() : (wrong(fmt::format("'{}' is not a string", nameOf(key))), "");
  }
  uint64_t count(const char *key) const { return countOf(get(key), nameOf(key)); }
  bool truth(const char *key) const {
    const json &value = get(key);
    return value.is_boolean() ? value.get<bool>()
                              : (wrong(fmt::format("'{}' is neither true nor false", nameOf(key))), false);
  }
  double number(const char *key) const {
    const json &value = get(key);
    return value.is_number() ? value.get<double>() : (wrong(fmt::format("'{}' is not a number", nameOf(key))), 0.0);
  }
  std::vector<uint64_t> counts(const char *key) const {
    std::vector<uint64_t> all;
    for (const json &each : list(key))
      all.push_back(countOf(each, nameOf(key)));
    return all;
  }
  const json &list(const char *key) const {
    const json &value = get(key);
    if (!value.is_array())
      wrong(fmt::format("'{}' is not a list", nameOf(key)));
    return value;
  }
  std::string nameOf(const char *key) const { return where.empty() ? key : where + "." + key; }

private:
  static uint64_t countOf(const json &value, const std::string &name) {
    if (!value.is_number_unsigned())
      wrong(fmt::format("'{}' is not an integer >= 0", name));
    return value.get<uint64_t>();
  }

  const json &object;
  const std::string where;
};

/// Takes pieces and tensors out of the text while it is parsed.
class Events {
public:
  explicit Events(std::vector<SavedTensor> &tensors) : tensors(tensors) {}

  bool operator()(int depth, json::parse_event_t event, json &value) {
    using Event = json::parse_event_t;
    if (event == Event::key && depth == 1)
      isInTensors = value == "tensors";
    if (event == Event::key && isInTensors && depth == 3)
      isInPieces = value == "pieces";
    if (depth > 8)
      wrong("it has unexpected nested lists");
    if (event == Event::array_end && isInTensors && isInPieces && depth == 4)
      return takePiece(value);
    if (event == Event::object_end && isInTensors && depth == 2)
      return takeTensor(value);
    bool isNumberOfPiece = event == Event::value && isInTensors && isInPieces;
    if ((event == Event::value || event == Event::array_start || event == Event::object_start) && !isNumberOfPiece &&
        !(isInTensors && isInPieces && depth == 4) && ++values > mostValues)
      wrong("it has too many values for a manifest");
    return true;
  }

private:
  bool takePiece(const json &value) {
    if (value.size() != 4 || !std::ranges::all_of(value, [](const json &each) { return each.is_number_unsigned(); }))
      wrong("a piece must be four integers >= 0: file, index, begin, end");
    pieces.push_back(
        {value[0].get<uint64_t>(), {value[1].get<uint64_t>(), value[2].get<uint64_t>(), value[3].get<uint64_t>()}});
    return false;
  }
  bool takeTensor(const json &value) {
    Fields fields(value, fmt::format("tensors[{}]", tensors.size()));
    SavedTensor tensor{fields.text("name"), fields.text("kind"), fields.text("dtype"), fields.counts("shape"), {}, {}};
    std::vector<uint64_t> cut = fields.counts("cut");
    if (cut.size() != 3)
      wrong(fmt::format("'{}' must be three integers >= 0: dim, outer, parts", fields.nameOf("cut")));
    tensor.cut = {cut[0], cut[1], cut[2]};
    tensor.pieces = std::exchange(pieces, {});
    tensors.push_back(std::move(tensor));
    return false;
  }

  std::vector<SavedTensor> &tensors;
  std::vector<SavedPiece> pieces;
  bool isInTensors = false, isInPieces = false;
  size_t values = 0;
};

SavedData readData(const Fields &fields) {
  SavedData data;
  data.rows = fields.count("rows");
  for (const json &each : fields.list("files")) {
    Fields file(each, "data.files");
    data.files.push_back({file.text("name"), file.count("bytes"), file.text("ends")});
  }
  data.shuffle = fields.truth("shuffle"), data.seed = fields.count("seed");
  data.drop = fields.text("end") == "drop";
  return data;
}

LossScaleState readLossScale(const Fields &fields) {
  LossScaleState scale{(float)fields.number("factor"), fields.count("good_in_row"), fields.count("overflows_left"),
                       fields.count("skipped"), fields.count("skipped_in_row")};
  if (!std::isfinite(scale.factor) || scale.factor <= 0)
    wrong("'loss_scale.factor' must be a number > 0");
  return scale;
}

void readMembers(const json &all, Manifest &manifest) {
  Fields fields(all, "");
  if (uint64_t is = fields.count("xlc_checkpoint"); is != manifestVersion)
    wrong(fmt::format("it has version {}, but this program reads version {}", is, manifestVersion));
  manifest.model = fields.text("model");
  Fields progress(fields.get("progress"), "progress");
  manifest.progress = {progress.count("step"), progress.count("applied"), progress.count("samples")};
  manifest.seed = Fields(fields.get("random"), "random").count("seed");
  if (fields.has("loss_scale"))
    manifest.lossScale = readLossScale(Fields(fields.get("loss_scale"), "loss_scale"));
  Fields optimizer(fields.get("optimizer"), "optimizer");
  manifest.optimizer = optimizer.text("type");
  for (const json &state : optimizer.list("states"))
    manifest.states.push_back(state.is_string() ? state.get<std::string>() : "");
  manifest.schedule = fields.text("schedule");
  if (fields.has("data"))
    manifest.data = readData(Fields(fields.get("data"), "data"));
  if (fields.has("evaluation")) {
    Fields evaluation(fields.get("evaluation"), "evaluation");
    double best = evaluation.get("best").is_null() ? INFINITY : evaluation.number("best");
    uint64_t last = evaluation.has("last_step") ? evaluation.count("last_step") : manifest.progress.step;
    manifest.evaluation = {best, evaluation.count("best_step"), evaluation.count("not_better"), last};
  }
  Fields madeBy(fields.get("made_by"), "made_by");
  manifest.madeBy = {madeBy.text("xlc"), madeBy.text("layout"), madeBy.text("precision"), madeBy.text("target")};
  for (const json &each : fields.list("files")) {
    Fields file(each, "files");
    manifest.files.push_back({file.text("name"), file.count("bytes"), file.text("header")});
  }
}

/// "parameters-00003.safetensors": a name with a slash, or of another file, is none.
bool isFileName(std::string_view name) {
  for (std::string_view begin : {"parameters-", "states-"})
    if (constexpr std::string_view end = ".safetensors"; name.starts_with(begin) && name.ends_with(end)) {
      std::string_view number = name.substr(begin.size(), name.size() - begin.size() - end.size());
      return number.size() >= 5 && number.size() <= 9 &&
             std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
    }
  return false;
}

/// Pieces have to have all elements of a tensor, once.
void checkTiling(SavedTensor &tensor, size_t files) {
  auto complain = [&](std::string_view why) { wrong(fmt::format("'{}' {}", tensor.key(), why)); };
  std::optional<CutGeometry> geometry = geometryOf(tensor.shape, tensor.cut);
  if (!geometry || !dtypeBytes(tensor.dtype))
    complain("has an invalid shape, cut or type");
  std::ranges::sort(tensor.pieces, {}, [](const SavedPiece &piece) {
    return std::tuple(piece.range.index, piece.range.begin, piece.range.end);
  });
  uint64_t index = 0, at = 0, elements = geometry->pieceElements();
  for (const auto &[file, range] : tensor.pieces) {
    if (file >= files)
      complain(fmt::format("has a piece with file index {}, but the manifest lists {} files", file, files));
    if (range.index >= tensor.cut.parts || range.begin >= range.end || range.end > elements)
      complain(fmt::format("has piece {} with elements {} to {}, but is cut into {} pieces of {} elements", range.index,
                           range.begin, range.end, tensor.cut.parts, elements));
    if (at == elements)
      ++index, at = 0;
    if (range.index != index || range.begin > at)
      complain(
          fmt::format("lacks elements {} to {} of piece {}", at, range.index == index ? range.begin : elements, index));
    if (range.begin < at)
      complain(fmt::format("has elements {} to {} of piece {} twice", range.begin, std::min(at, range.end), index));
    at = range.end;
  }
  bool isEmpty = elements == 0 && tensor.pieces.empty();
  if (!isEmpty && (at != elements || index + 1 != tensor.cut.parts))
    complain(fmt::format("lacks elements {} to {} of piece {}", at == elements ? 0 : at, elements,
                         at == elements ? index + 1 : index));
}

void check(Manifest &manifest) {
  std::vector<std::string> names, keys;
  names.reserve(manifest.files.size()), keys.reserve(manifest.tensors.size());
  for (const SavedFile &file : manifest.files) {
    if (!isFileName(file.name))
      wrong(fmt::format("'{}' is not the name of a checkpoint file", file.name));
    names.push_back(file.name);
  }
  for (SavedTensor &tensor : manifest.tensors)
    checkTiling(tensor, manifest.files.size());
  for (const SavedTensor &tensor : manifest.tensors)
    keys.push_back(tensor.key());
  for (auto [all, what] : {std::pair(&names, "file"), std::pair(&keys, "tensor")}) {
    std::ranges::sort(*all);
    if (auto twice = std::ranges::adjacent_find(*all); twice != all->end())
      wrong(fmt::format("{} '{}' occurs twice", what, *twice));
  }
  if (std::string is = fingerprintOf(manifest.tensors); is != manifest.model)
    wrong(fmt::format("its tensors belong to model {}, but it records model {}", is, manifest.model));
}

} // namespace

Manifest readManifest(std::string text, std::string &complaint) {
  Manifest manifest;
  try {
    size_t digits = text.find(manifestChecksumKey);
    if (digits == text.npos || text.size() - digits < manifestChecksumKey.size() + checksumDigits)
      wrong("it does not record its own checksum");
    digits += manifestChecksumKey.size();
    std::string stored = text.substr(digits, checksumDigits);
    text.replace(digits, checksumDigits, manifestNoDigits);
    if (std::string is = checksumOfText(text); is != stored)
      wrong(fmt::format("it has checksum {}, but records {}", is, stored));
    Events events(manifest.tensors);
    readMembers(json::parse(text, std::ref(events)), manifest);
    check(manifest);
  } catch (const Wrong &problem) {
    complaint = problem.why;
  } catch (const json::exception &problem) {
    complaint = fmt::format("it is not valid JSON: {}", problem.what());
  }
  return manifest;
}

} // namespace xlc::runtime
