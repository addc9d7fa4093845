// See Data.h.
#include "Data.h"

#include "Plan/Ranks.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime {
namespace {

/// Names of files for which there is no input.
void checkNames(const Plan &plan, const Chosen &chosen, const DataChoice &choice, std::vector<std::string> &problems) {
  for (const auto &[name, path] : choice.files) {
    if (std::any_of(plan.inputs.begin(), plan.inputs.end(),
                    [&](const auto &each) { return isOfData(*each) && dataName(*each) == name; }) ||
        (name == Chosen::streamName && chosen.readsStream()))
      continue;
    std::vector<std::string> names;
    for (const auto &input : plan.inputs)
      if (isOfData(*input) && input->whole_of.empty())
        names.push_back(input->name);
    problems.push_back(
        fmt::format("error: the model has no input '{}'; its inputs are {}", name, fmt::join(names, ", ")));
  }
}

/// Whether the model may have been exported with one tensor as both inputs, so that it reads `other` in both places.
bool standsFor(const plan::InputT &other, const plan::InputT &input) {
  return input.unread && !other.unread && other.whole_of.empty() && other.element == input.element &&
         other.row_shape == input.row_shape;
}

} // namespace

std::vector<DataFile> listDataFiles(const Plan &plan, const DataChoice &choice, plan::Purpose purpose) {
  std::vector<DataFile> files;
  Chosen chosen(plan, datasetOf(plan, purpose), choice);
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    if (chosen.isOfRows(i))
      files.push_back({chosen.pathOf(i), fmt::format("the data of input '{}'", dataName(*plan.inputs[i]))});
  if (chosen.readsStream())
    try {
      for (const std::string &path : findTokenFiles(chosen.streamFiles()))
        files.push_back({path, "a token file"});
    } catch (const Rejected &) {
      return files; // Data says why
    }
  return files;
}

Data::Data(const Plan &plan, const DataChoice &choice, Scan scan, plan::Purpose purpose)
    : plan(plan), purpose(purpose) {
  std::vector<std::string> problems;
  const plan::DatasetT &dataset = datasetOf(plan, purpose);
  checkNames(plan, Chosen(plan, dataset, choice), choice, problems);
  open(dataset, choice, scan, problems);
  if (problems.empty())
    checkRowCounts(problems);
  bool fits = problems.empty();
  for (const InputRows &input : inputs)
    try {
      if (fits)
        input.check(scan);
    } catch (const Rejected &problem) {
      problems.push_back(problem.what());
    }
  if (problems.empty())
    checkStandIns(scan, problems);
  if (!problems.empty())
    throw Rejected(fmt::format("{}", fmt::join(problems, "\n")));
  uint64_t batch = globalBatch(plan), rows = dataset.drop ? rowCount / batch * batch : rowCount;
  if (rowCount > 0)
    order = dataset.shuffle ? Order::shuffled(rows, dataset.seed.value_or(choice.seed)) : Order::inOrder(rows);
  for (uint32_t rank = 0; !inputs.empty() && rank < rankCount(plan); ++rank)
    blocks.push_back(std::make_unique<Blocks>());
}

void Data::open(const plan::DatasetT &dataset, const DataChoice &choice, Scan scan,
                std::vector<std::string> &problems) {
  Chosen chosen(plan, dataset, choice);
  try {
    openStream(chosen, dataset, scan);
  } catch (const Rejected &problem) {
    problems.push_back(problem.what());
  }
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    try {
      inputs.emplace_back(*plan.inputs[i], openSource(chosen, i), dataset.inputs[i]->fill);
    } catch (const Rejected &problem) {
      problems.push_back(problem.what());
    }
}

void Data::openStream(const Chosen &chosen, const plan::DatasetT &dataset, Scan scan) {
  uint64_t length = 0;
  bool next = false;
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    if (plan::InputSource source = chosen.sourceOf(i); Chosen::isOfStream(source))
      length = rowElements(*plan.inputs[i]), next |= source == plan::InputSource::NextTokens;
  if (length == 0)
    return;
  plan::TokenType type = dataset.stream ? dataset.stream->type : plan::TokenType::Auto;
  stream = std::make_unique<TokenStream>(chosen.streamFiles(), type, length, next, scan);
}

std::unique_ptr<RowSource> Data::openSource(const Chosen &chosen, size_t i) const {
  const plan::InputT &input = *plan.inputs[i];
  if (!isOfData(input))
    return nullptr;
  switch (chosen.sourceOf(i)) {
  case plan::InputSource::Fill:
    return nullptr;
  case plan::InputSource::Tokens:
    return stream ? std::make_unique<StreamRows>(*stream, 0) : nullptr;
  case plan::InputSource::NextTokens:
    return stream ? std::make_unique<StreamRows>(*stream, 1) : nullptr;
  case plan::InputSource::Rows:
    break;
  }
  std::string path = chosen.pathOf(i);
  if (path.empty())
    throw Rejected(fmt::format("error: no data for input '{0}': add {1} {0}=FILE.npy", dataName(input),
                               purpose == plan::Purpose::train ? "--data" : "--validation"));
  return std::make_unique<RowFile>(path, input);
}

void Data::checkRowCounts(std::vector<std::string> &problems) {
  if (stream && stream->rows() == 0) {
    problems.push_back(fmt::format("{}: error: no file of the stream has the {} tokens of a row", stream->firstPath(),
                                   stream->length()));
    return;
  }
  const InputRows *first = nullptr;
  for (const InputRows &input : inputs) {
    if (input.isFilled())
      continue;
    if (!first)
      first = &input, rowCount = input.rows();
    if (input.rows() != rowCount)
      problems.push_back(fmt::format("{}: error: has {} rows, but {} has {}", input.placeOf(0), input.rows(),
                                     first->placeOf(0), rowCount));
  }
  if (!first && !inputs.empty())
    problems.push_back("error: all inputs have constant values ('fill'): at least one must have rows");
  uint64_t least = purpose == plan::Purpose::train ? globalBatch(plan) : 1;
  if (first && rowCount < least)
    problems.push_back(fmt::format("{}: error: has {} rows, but a step needs {}", first->placeOf(0), rowCount, least));
}

/// Of inputs that nothing reads, one of those that may be read in their place has the same rows: of much data
/// the first.
void Data::checkStandIns(Scan scan, std::vector<std::string> &problems) const {
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const plan::InputT &input = *plan.inputs[i];
    uint64_t bytes = std::max<uint64_t>(rowElements(input) * bytesOf(input.element), 1);
    uint64_t rows = scan == Scan::All ? rowCount : std::min(rowCount, std::max<uint64_t>(kMostScanned / bytes, 1));
    std::string found;
    for (uint32_t j = 0; j < inputs.size(); ++j) {
      const plan::InputT &other = *plan.inputs[j];
      uint64_t row = 0, column = 0;
      if (!standsFor(other, input))
        continue;
      if (!differs(i, j, rows, row, column)) {
        found.clear();
        break;
      }
      if (found.empty())
        found = fmt::format("{0}: error: row {1}, column {2} differs from the same element of {3}: the model does not "
                            "read input '{4}', perhaps because it was exported with one tensor as both '{4}' and "
                            "'{5}'; export it with xlc_export, or pass --data {4}={3} if this is intended",
                            inputs[i].placeOf(row), row, column, inputs[j].placeOf(row), input.name, other.name);
    }
    if (!found.empty())
      problems.push_back(std::move(found));
  }
}

/// Whether two inputs of one form have other elements in the first rows, and where.
bool Data::differs(uint32_t index, uint32_t other, uint64_t rows, uint64_t &row, uint64_t &column) const {
  const plan::InputT &input = *plan.inputs[index];
  uint64_t bytes = rowElements(input) * bytesOf(input.element);
  auto through = std::make_unique<Blocks>();
  std::vector<char> a(bytes), b(bytes);
  auto read = [&](uint32_t which, std::vector<char> &to) {
    RowSink sink(to.data());
    inputs[which].read(row, 1, *through, sink);
  };
  for (row = 0; row < rows; ++row) {
    read(index, a), read(other, b);
    auto differs = (uint64_t)(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
    column = differs / bytesOf(input.element);
    if (differs < bytes)
      return true;
  }
  return false;
}

uint64_t Data::firstSample(uint32_t input, uint64_t step, uint32_t microBatch, int rank) const {
  uint64_t dp = plan.mesh->dp(), dpIndex = (uint64_t)rank / plan.mesh->tp() % dp;
  bool isWhole = !plan.inputs[input]->whole_of.empty();
  return shift + step * globalBatch(plan) + (isWhole ? 0 : (microBatch * dp + dpIndex) * plan.micro);
}

void Data::load(uint32_t index, uint64_t step, uint32_t microBatch, int rank, RowSink &sink, Blocks &through) const {
  const plan::InputT &input = *plan.inputs[index];
  uint64_t sample = firstSample(index, step, microBatch, rank), end = sample + rowsOf(plan, input);
  // Of an evaluation, samples behind the last row are any, and do not count.
  uint64_t last = purpose == plan::Purpose::train ? end : std::clamp(order.rows(), sample, end);
  auto give = [&](const void *from, uint64_t bytes) { sink.give((const char *)from, bytes); };
  if (!isOfData(input)) {
    giveSampleNumbers(sample - shift - step * globalBatch(plan), last - sample, give);
    for (; last < end; ++last)
      give(&kNoSample, sizeof kNoSample);
    return;
  }
  uint64_t rows[64];
  while (sample < end) {
    uint64_t some = std::min<uint64_t>(std::size(rows), (sample < last ? last : end) - sample);
    if (sample < last)
      order.rowsOf(sample, some, rows);
    else
      std::fill_n(rows, some, order.rows() - 1);
    for (uint64_t i = 0, count; i < some; i += count) {
      for (count = 1; i + count < some && rows[i + count] == rows[i] + count;)
        ++count;
      inputs[index].read(rows[i], count, through, sink);
    }
    sample += some;
  }
}

std::string Data::findNaN(uint64_t step) const {
  auto through = std::make_unique<Blocks>();
  uint64_t first = shift + step * globalBatch(plan);
  for (const InputRows &input : inputs)
    for (uint64_t sample = first; sample < first + globalBatch(plan); ++sample)
      if (std::string found = input.findNaN(order.rowOf(sample), *through); !found.empty())
        return found;
  return "";
}

std::string Data::describe() const {
  std::string text = fmt::format("{} rows", rowCount);
  if (rowCount != order.rows())
    text += fmt::format(", {} of them per epoch", order.rows());
  if (stream)
    text += fmt::format(" of {} tokens in {} file{}, {} tokens unused at the ends of files", stream->length(),
                        stream->fileCount(), stream->fileCount() == 1 ? "" : "s", stream->tokensLeft());
  return text;
}

} // namespace xlc::runtime
