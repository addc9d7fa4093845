// See Sources.h.
#include "Sources.h"

#include "Failure.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime {

RowFile::RowFile(const std::string &path, const plan::InputT &input)
    : file(path), rowBytes(rowElements(input) * bytesOf(file.type)) {
  std::vector<uint64_t> row(file.shape.begin() + !file.shape.empty(), file.shape.end());
  if (file.shape.empty() || row != input.row_shape)
    throw Rejected(fmt::format("{}: error: the shape is [{}], but input '{}' needs [rows{}{}]", path,
                               fmt::join(file.shape, ", "), input.name, input.row_shape.empty() ? "" : ", ",
                               fmt::join(input.row_shape, ", ")));
  if (runtime::isInteger(input.element) && isFloat(file.type))
    throw Rejected(fmt::format("{}: error: the elements are floats, but input '{}' needs integers", path, input.name));
}

TokenStream::TokenStream(const std::vector<std::string> &patterns, plan::TokenType type, uint64_t length, bool next,
                         Scan scan)
    : rowLength(std::max<uint64_t>(length, 1)) {
  std::vector<std::string> problems;
  uint64_t behind = next ? 1 : 0, rows = 0;
  for (const std::string &path : findTokenFiles(patterns))
    try {
      TokenFile file = openTokens(path, type, scan);
      uint64_t ofFile = file.tokens < behind ? 0 : (file.tokens - behind) / rowLength;
      left += file.tokens - ofFile * rowLength;
      ends.push_back(rows += ofFile);
      files.push_back(std::move(file));
    } catch (const Rejected &problem) {
      problems.push_back(problem.what());
    }
  if (!problems.empty())
    throw Rejected(fmt::format("{}", fmt::join(problems, "\n")));
}

Stretch TokenStream::find(uint64_t row, uint64_t shift) const {
  auto file = (size_t)(std::upper_bound(ends.begin(), ends.end(), row) - ends.begin());
  uint64_t first = file ? ends[file - 1] : 0;
  const TokenFile &found = files[file];
  return {&found.bytes(), found.type, found.begin + ((row - first) * rowLength + shift) * bytesOf(found.type),
          row - first, ends[file] - row};
}

std::vector<Stretch> StreamRows::stretches() const {
  std::vector<Stretch> all;
  for (uint64_t row = 0; row < rows(); row += all.back().rows)
    all.push_back(find(row));
  return all;
}

} // namespace xlc::runtime
