// See Data.h.
#include "Data.h"

#include "Plan/Ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace xlc::runtime {
namespace {

constexpr uint64_t blockBytes = 1 << 16;

template <class T> T readAt(const char *from, uint64_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}

bool isInteger(NpyType type) { return type != NpyType::F32 && type != NpyType::F64; }

template <class To, class From> void convert(const char *from, uint64_t count, char *to) {
  for (uint64_t i = 0; i < count; ++i) {
    To value = (To)readAt<From>(from, i);
    std::memcpy(to + i * sizeof(To), &value, sizeof(To));
  }
}
template <class To> void convertFrom(NpyType type, const char *from, uint64_t count, char *to) {
  switch (type) {
  case NpyType::F32:
    return convert<To, float>(from, count, to);
  case NpyType::F64:
    return convert<To, double>(from, count, to);
  case NpyType::I32:
    return convert<To, int32_t>(from, count, to);
  case NpyType::I64:
    return convert<To, int64_t>(from, count, to);
  case NpyType::Bool: // a file may say true in other ways than by 1
    for (uint64_t i = 0; i < count; ++i) {
      To value = (To)(from[i] != 0);
      std::memcpy(to + i * sizeof(To), &value, sizeof(To));
    }
  }
}
void convertTo(plan::Element element, NpyType type, const char *from, uint64_t count, char *to) {
  switch (element) {
  case plan::Element::F32:
    return convertFrom<float>(type, from, count, to);
  case plan::Element::F64:
    return convertFrom<double>(type, from, count, to);
  case plan::Element::I64:
    return convertFrom<int64_t>(type, from, count, to);
  case plan::Element::I32:
    return convertFrom<int32_t>(type, from, count, to);
  case plan::Element::I1:
    return convertFrom<bool>(type, from, count, to);
  case plan::Element::BF16:
  case plan::Element::F16:
    break; // checkPlan lets no input be of sixteen bits
  }
}

/// A name comes from the model and is no path: one with a slash has no file in a folder, only one that is given.
std::string pathIn(const std::string &folder, const std::string &name) {
  return name.find('/') == std::string::npos ? fmt::format("{}/{}.npy", folder, name) : "";
}

void checkShape(const plan::InputT &input, const NpyFile &file) {
  std::vector<uint64_t> row(file.shape.begin() + !file.shape.empty(), file.shape.end());
  if (file.shape.empty() || row != input.row_shape)
    throw Rejected(fmt::format("{}: error: the shape is [{}], input '{}' needs [rows{}{}]", file.path(),
                               fmt::join(file.shape, ", "), input.name, input.row_shape.empty() ? "" : ", ",
                               fmt::join(input.row_shape, ", ")));
  if (runtime::isInteger(input.element) && !isInteger(file.type))
    throw Rejected(
        fmt::format("{}: error: the elements are floats, input '{}' needs integers", file.path(), input.name));
}

/// What ids must fulfil: they index the table of their input or are the one to ignore, and fit the type that they
/// become. `type` is that of the elements as they are stored.
class IdRule {
public:
  IdRule(const plan::InputT &input, NpyType type)
      : input(input), type(type), narrows(input.element == plan::Element::I32 && type == NpyType::I64) {}

  bool isNeeded() const { return isInteger(type) && type != NpyType::Bool && (input.has_limit || narrows); }

  /// The first of `count` elements that breaks the rule, or `count`.
  uint64_t findBad(const char *elements, uint64_t count) const {
    if (!isNeeded())
      return count;
    return type == NpyType::I64 ? find<int64_t>(elements, count) : find<int32_t>(elements, count);
  }

  /// What is wrong with the element at `index` of `elements`.
  std::string describe(const char *elements, uint64_t index) const {
    int64_t id = type == NpyType::I64 ? readAt<int64_t>(elements, index) : readAt<int32_t>(elements, index);
    if (input.has_limit && (id < 0 || id >= input.limit))
      return fmt::format("id {} is outside the table of input '{}', which has {} rows{}", id, input.name, input.limit,
                         input.has_ignore ? fmt::format(" ({} is ignored)", input.ignore) : "");
    return fmt::format("{} does not fit input '{}', which has 32 bits", id, input.name);
  }

private:
  bool isBad(int64_t id) const {
    if (input.has_ignore && id == input.ignore)
      return false;
    return (input.has_limit && (id < 0 || id >= input.limit)) || (narrows && id != (int32_t)id);
  }
  template <class Id> uint64_t find(const char *elements, uint64_t count) const {
    uint64_t i = 0;
    while (i < count && !isBad(readAt<Id>(elements, i)))
      ++i;
    return i;
  }

  const plan::InputT &input;
  const NpyType type;
  const bool narrows;
};

bool isStoredAs(NpyType type, plan::Element element) {
  switch (type) {
  case NpyType::F32:
    return element == plan::Element::F32;
  case NpyType::F64:
    return element == plan::Element::F64;
  case NpyType::I32:
    return element == plan::Element::I32;
  case NpyType::I64:
    return element == plan::Element::I64;
  case NpyType::Bool:
    return false; // each byte becomes 0 or 1
  }
  return false;
}

/// Reads elements [from, from + count) to `to` and checks them there. Returns what is wrong, with its row, or nothing.
std::string readChecked(const plan::InputT &input, const NpyFile &file, uint64_t from, uint64_t count, char *to) {
  uint64_t width = std::max<uint64_t>(rowElements(input), 1);
  if (std::string why = file.tryRead(from, count, to); !why.empty())
    return fmt::format("row {}: {}", from / width, why);
  IdRule rule(input, file.type);
  uint64_t bad = rule.findBad(to, count), at = from + bad;
  return bad == count ? "" : fmt::format("row {}, column {}: {}", at / width, at % width, rule.describe(to, bad));
}

/// All ids of a file, before the first step. Takes as long as the file is large.
void checkIds(const plan::InputT &input, const NpyFile &file) {
  if (!IdRule(input, file.type).isNeeded())
    return;
  std::vector<char> block(blockBytes);
  uint64_t elements = file.shape[0] * rowElements(input), most = blockBytes / file.elementBytes();
  for (uint64_t at = 0; at < elements; at += most)
    if (std::string why = readChecked(input, file, at, std::min(most, elements - at), block.data()); !why.empty())
      throw Rejected(fmt::format("{}: error: {}", file.path(), why));
}

/// The first of `elements` elements that are not the same in both files, in the type of their inputs, or `elements`.
uint64_t findDifference(plan::Element element, const NpyFile &one, const NpyFile &other, uint64_t elements) {
  uint64_t size = bytesOf(element), most = blockBytes / 8;
  std::vector<char> stored(blockBytes), a(blockBytes), b(blockBytes);
  auto read = [&](const NpyFile &file, uint64_t at, uint64_t count, std::vector<char> &to) {
    if (std::string why = file.tryRead(at, count, stored.data()); !why.empty())
      throw Rejected(fmt::format("{}: error: {}", file.path(), why));
    convertTo(element, file.type, stored.data(), count, to.data());
  };
  for (uint64_t at = 0; at < elements; at += most) {
    uint64_t some = std::min(most, elements - at);
    read(one, at, some, a), read(other, at, some, b);
    uint64_t differs =
        (uint64_t)(std::mismatch(a.begin(), a.begin() + (ptrdiff_t)(some * size), b.begin()).first - a.begin());
    if (differs < some * size)
      return at + differs / size;
  }
  return elements;
}

/// Whether the model may have been exported with one tensor as both inputs, so that it reads `other` in both places.
bool standsFor(const plan::InputT &other, const plan::InputT &input) {
  return input.unread && !other.unread && other.whole_of.empty() && other.element == input.element &&
         other.row_shape == input.row_shape;
}

} // namespace

std::string findDataPath(const Plan &plan, const plan::InputT &input, const std::map<std::string, std::string> &files,
                         const std::string &folder) {
  const std::string &name = dataName(input);
  if (auto it = files.find(name); it != files.end())
    return it->second;
  if (!folder.empty())
    return pathIn(folder, name);
  if (!input.path.empty() || plan.data.empty())
    return input.path;
  return pathIn(plan.data, name);
}

Data::Data(const Plan &plan, const std::map<std::string, std::string> &paths, const std::string &folder) : plan(plan) {
  std::vector<std::string> problems;
  for (const auto &[name, path] : paths)
    if (std::none_of(plan.inputs.begin(), plan.inputs.end(),
                     [&](const auto &input) { return isFromFile(*input) && dataName(*input) == name; })) {
      std::vector<std::string> names;
      for (const auto &input : plan.inputs)
        if (isFromFile(*input) && input->whole_of.empty())
          names.push_back(input->name);
      problems.push_back(
          fmt::format("error: the model has no input '{}', its inputs are {}", name, fmt::join(names, ", ")));
    }
  for (const auto &input : plan.inputs)
    try {
      if (!isFromFile(*input)) { // behind all that are
        files.emplace_back();
        continue;
      }
      std::string path = findDataPath(plan, *input, paths, folder);
      if (path.empty())
        throw Rejected(fmt::format("error: no data for input '{}': --data {}=FILE.npy gives it", dataName(*input),
                                   dataName(*input)));
      auto file = std::make_unique<NpyFile>(path);
      checkShape(*input, *file);
      files.push_back(std::move(file));
    } catch (const Rejected &problem) {
      problems.push_back(problem.what());
    }
  if (problems.empty() && !files.empty()) {
    rowCount = files[0]->shape[0];
    for (const auto &file : files)
      if (file && file->shape[0] != rowCount)
        problems.push_back(fmt::format("{}: error: {} rows, while {} has {}", file->path(), file->shape[0],
                                       files[0]->path(), rowCount));
    if (rowCount < globalBatch(plan))
      problems.push_back(
          fmt::format("{}: error: {} rows, while a step needs {}", files[0]->path(), rowCount, globalBatch(plan)));
  }
  bool fits = problems.empty();
  for (size_t i = 0; i < files.size() && fits; ++i)
    try {
      if (files[i])
        checkIds(*plan.inputs[i], *files[i]);
    } catch (const Rejected &problem) {
      problems.push_back(problem.what());
    }
  if (problems.empty())
    checkStandIns(problems);
  if (!problems.empty())
    throw Rejected(fmt::format("{}", fmt::join(problems, "\n")));
  for (uint32_t rank = 0; !files.empty() && rank < rankCount(plan); ++rank)
    blocks.push_back(std::make_unique<Blocks>());
}

/// Of inputs that nothing reads, one of those that may be read in their place has the same rows.
void Data::checkStandIns(std::vector<std::string> &problems) const {
  for (size_t i = 0; i < files.size(); ++i) {
    const plan::InputT &input = *plan.inputs[i];
    std::string found;
    for (size_t j = 0; j < files.size(); ++j) {
      const plan::InputT &other = *plan.inputs[j];
      if (!files[i] || !files[j] || !standsFor(other, input))
        continue;
      uint64_t width = std::max<uint64_t>(rowElements(input), 1), elements = rowCount * rowElements(input);
      uint64_t at = findDifference(input.element, *files[i], *files[j], elements);
      if (at == elements) {
        found.clear();
        break;
      }
      if (found.empty())
        found =
            fmt::format("{0}: error: row {1}, column {2} is not that of {3}: the model reads nothing of input '{4}', "
                        "and may have been exported with one tensor as '{4}' and '{5}', which it reads in both "
                        "places; export it with xlc_export, or give --data {4}={3} where that is meant",
                        files[i]->path(), at / width, at % width, files[j]->path(), input.name, other.name);
    }
    if (!found.empty())
      problems.push_back(std::move(found));
  }
}

void Data::loadElements(uint32_t index, uint64_t from, uint64_t count, int rank, const Take &take) const {
  const plan::InputT &input = *plan.inputs[index];
  const NpyFile &file = *files[index];
  Blocks &block = *blocks[rank];
  bool converts = !isStoredAs(file.type, input.element);
  uint64_t size = bytesOf(input.element), most = Blocks::bytes / std::max(file.elementBytes(), size);
  for (uint64_t done = 0; done < count; done += most) {
    uint64_t some = std::min(most, count - done);
    if (std::string why = readChecked(input, file, from + done, some, block.stored); !why.empty())
      throw std::runtime_error(fmt::format("{}: {}", file.path(), why));
    if (converts)
      convertTo(input.element, file.type, block.stored, some, block.converted);
    take(converts ? block.converted : block.stored, some * size);
  }
}

void Data::load(uint32_t index, uint64_t step, uint32_t microBatch, int rank, const Take &take) const {
  const plan::InputT &input = *plan.inputs[index];
  uint64_t width = rowElements(input), dp = plan.mesh->dp(), dpIndex = (uint64_t)rank / plan.mesh->tp() % dp;
  bool isWhole = !input.whole_of.empty();
  uint64_t sample = isWhole ? 0 : (microBatch * dp + dpIndex) * plan.micro; // within the step
  if (!isFromFile(input))
    return giveSampleNumbers(sample, rowsOf(plan, input), take);
  uint64_t first = step % rowCount * globalBatch(plan) + sample;
  for (uint64_t done = 0, rows = rowsOf(plan, input), some; done < rows; done += some) {
    uint64_t row = (first + done) % rowCount;
    some = std::min(rows - done, rowCount - row); // behind the last row comes the first
    loadElements(index, row * width, some * width, rank, take);
  }
}

/// The first of `count` elements from `from` that is not a number, or `count`. What cannot be read is none: a load says so.
static uint64_t findNaNIn(const NpyFile &file, uint64_t from, uint64_t count) {
  if (isInteger(file.type))
    return count;
  std::vector<char> block(blockBytes);
  uint64_t most = blockBytes / file.elementBytes();
  for (uint64_t done = 0; done < count; done += most) {
    uint64_t some = std::min(most, count - done);
    if (!file.tryRead(from + done, some, block.data()).empty())
      return count;
    for (uint64_t i = 0; i < some; ++i)
      if (std::isnan(file.type == NpyType::F32 ? readAt<float>(block.data(), i) : readAt<double>(block.data(), i)))
        return done + i;
  }
  return count;
}

std::string Data::findNaN(uint64_t step) const {
  for (size_t input = 0; input < files.size(); ++input)
    for (uint64_t i = 0; files[input] && i < globalBatch(plan); ++i) {
      uint64_t row = (step % rowCount * globalBatch(plan) + i) % rowCount, width = rowElements(*plan.inputs[input]);
      if (uint64_t column = findNaNIn(*files[input], row * width, width); column < width)
        return fmt::format("{}: row {}, column {} is not a number", files[input]->path(), row, column);
    }
  return "";
}

} // namespace xlc::runtime
