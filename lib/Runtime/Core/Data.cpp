// See Data.h.
#include "Data.h"

#include <fmt/format.h>

#include <cstring>

namespace xlc::runtime {
namespace {

template <class T> T readAt(const char *from, uint64_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}

bool isInteger(NpyType type) { return type == NpyType::I32 || type == NpyType::I64; }
bool isInteger(plan::Element element) { return element == plan::Element::I32 || element == plan::Element::I64; }

int64_t integerAt(const NpyFile &file, uint64_t index) {
  return file.type == NpyType::I64 ? readAt<int64_t>(file.elements, index) : readAt<int32_t>(file.elements, index);
}

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
  }
}

/// A name comes from the model and is no path: one with a slash has no file in a folder, only one that is given.
std::string pathIn(const std::string &folder, const std::string &name) {
  return name.find('/') == std::string::npos ? fmt::format("{}/{}.npy", folder, name) : "";
}

void checkShape(const plan::InputT &input, const NpyFile &file) {
  std::vector<uint64_t> row(file.shape.begin() + !file.shape.empty(), file.shape.end());
  if (file.shape.empty() || row != input.row_shape)
    throw Rejected(fmt::format("{}: error: the shape is [{}], input '{}' needs [rows{}{}]", file.path,
                               fmt::join(file.shape, ", "), input.name, input.row_shape.empty() ? "" : ", ",
                               fmt::join(input.row_shape, ", ")));
  if (isInteger(input.element) && !isInteger(file.type))
    throw Rejected(fmt::format("{}: error: the elements are floats, input '{}' needs integers", file.path, input.name));
}

/// Ids must index their table, and fit the type they are converted to.
void checkIds(const plan::InputT &input, const NpyFile &file) {
  bool narrows = input.element == plan::Element::I32 && file.type == NpyType::I64;
  if (!isInteger(file.type) || (!input.has_limit && !narrows))
    return;
  uint64_t width = rowElements(input);
  for (uint64_t i = 0; i < file.shape[0] * width; ++i) {
    int64_t id = integerAt(file, i);
    if (input.has_ignore && id == input.ignore)
      continue;
    if (input.has_limit && (id < 0 || id >= input.limit))
      throw Rejected(
          fmt::format("{}: error: row {}, column {}: id {} is outside the table of input '{}', which has {} rows{}",
                      file.path, i / width, i % width, id, input.name, input.limit,
                      input.has_ignore ? fmt::format(" ({} is ignored)", input.ignore) : ""));
    if (narrows && id != (int32_t)id)
      throw Rejected(fmt::format("{}: error: row {}, column {}: {} does not fit input '{}', which has 32 bits",
                                 file.path, i / width, i % width, id, input.name));
  }
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
                     [&](const auto &input) { return dataName(*input) == name; })) {
      std::vector<std::string> names;
      for (const auto &input : plan.inputs)
        if (input->whole_of.empty())
          names.push_back(input->name);
      problems.push_back(
          fmt::format("error: the model has no input '{}', its inputs are {}", name, fmt::join(names, ", ")));
    }
  for (const auto &input : plan.inputs)
    try {
      std::string path = findDataPath(plan, *input, paths, folder);
      if (path.empty())
        throw Rejected(fmt::format("error: no data for input '{}': --data {}=FILE.npy gives it", dataName(*input),
                                   dataName(*input)));
      auto file = std::make_unique<NpyFile>(path);
      checkShape(*input, *file);
      checkIds(*input, *file);
      file->dropPages();
      files.push_back(std::move(file));
    } catch (const Rejected &problem) {
      problems.push_back(problem.what());
    }
  if (problems.empty() && !files.empty()) {
    rowCount = files[0]->shape[0];
    for (const auto &file : files)
      if (file->shape[0] != rowCount)
        problems.push_back(
            fmt::format("{}: error: {} rows, while {} has {}", file->path, file->shape[0], files[0]->path, rowCount));
    if (rowCount < globalBatch(plan))
      problems.push_back(
          fmt::format("{}: error: {} rows, while a step needs {}", files[0]->path, rowCount, globalBatch(plan)));
  }
  if (!problems.empty())
    throw Rejected(fmt::format("{}", fmt::join(problems, "\n")));
}

void Data::load(uint32_t index, uint64_t step, uint32_t microBatch, int rank, char *to) const {
  const plan::InputT &input = *plan.inputs[index];
  const NpyFile &file = *files[index];
  uint64_t width = rowElements(input), bytes = width * bytesOf(input.element);
  uint64_t dp = plan.mesh->dp(), dpIndex = (uint64_t)rank / plan.mesh->tp() % dp;
  bool isWhole = !input.whole_of.empty();
  uint64_t first = step % rowCount * globalBatch(plan) + (isWhole ? 0 : (microBatch * dp + dpIndex) * plan.micro);
  for (uint64_t i = 0; i < rowsOf(plan, input); ++i) {
    uint64_t row = (first + i) % rowCount;
    convertTo(input.element, file.type, file.elements + row * width * file.elementBytes(), width, to + i * bytes);
  }
}

} // namespace xlc::runtime
