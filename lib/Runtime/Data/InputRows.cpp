// See InputRows.h.
#include "InputRows.h"

#include "Failure.h"
#include "StoredElements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace xlc::runtime {

void RowSink::give(const char *bytes, uint64_t count) {
  if (!memory)
    return (*take)(bytes, count);
  if (bytes != memory)
    std::memcpy(memory, bytes, count);
  memory += count;
}

void InputRows::read(uint64_t row, uint64_t count, Blocks &through, RowSink &sink) const {
  if (!source)
    return fill(count, through, sink);
  while (count > 0) {
    Stretch where = source->find(row);
    where.rows = std::min(where.rows, count);
    readStretch(where, through, sink);
    row += where.rows, count -= where.rows;
  }
}

void InputRows::readStretch(const Stretch &where, Blocks &through, RowSink &sink) const {
  const IdRule rule(input, where.type);
  bool converts = !isStoredAs(where.type, input.element);
  uint64_t width = rowElements(input), elements = where.rows * width, stored = bytesOf(where.type),
           size = bytesOf(input.element), most = Blocks::bytes / std::max(stored, size);
  auto fail = [&](uint64_t element, const std::string &why) {
    throw std::runtime_error(
        fmt::format("{}: row {}, column {}: {}", where.file->path, where.row + element / width, element % width, why));
  };
  for (uint64_t done = 0; done < elements; done += most) {
    uint64_t some = std::min(most, elements - done), read = 0;
    char *to = sink.roomOr(through.converted), *from = converts ? through.stored : to;
    if (std::string why = where.file->tryRead(where.begin + done * stored, some * stored, from, &read); !why.empty())
      fail(done + read / stored, why);
    if (uint64_t bad = rule.findBad(from, some); bad < some)
      fail(done + bad, rule.describe(from, bad));
    if (converts)
      convertStored(where.type, from, some, input.element, to);
    sink.give(to, some * size);
  }
}

void InputRows::fill(uint64_t count, Blocks &through, RowSink &sink) const {
  uint64_t elements = count * rowElements(input), size = bytesOf(input.element), most = Blocks::bytes / size;
  for (uint64_t i = 0; i < std::min(most, elements); ++i)
    convertStored(StoredType::F64, (const char *)&number, 1, input.element, through.converted + i * size);
  for (uint64_t done = 0; done < elements; done += most)
    sink.give(through.converted, std::min(most, elements - done) * size);
}

void InputRows::check(Scan scan) const {
  if (!source)
    return checkNumber();
  auto through = std::make_unique<Blocks>();
  for (const Stretch &all : source->stretches())
    if (scan == Scan::All || IdRule(input, all.type).isNeeded())
      try {
        checkStretch(all, scan, *through);
      } catch (const std::runtime_error &problem) { // "FILE: row ..."
        std::string_view text = problem.what();
        text.remove_prefix(all.file->path.size() + 2);
        throw Rejected(fmt::format("{}: error: {}", all.file->path, text));
      }
}

void InputRows::checkStretch(const Stretch &all, Scan scan, Blocks &through) const {
  auto check = [&](uint64_t from, uint64_t rows) {
    Stretch some = all;
    some.begin += from * rowElements(input) * bytesOf(all.type), some.row += from, some.rows = rows;
    Take nothing = [](const void *, uint64_t) {};
    RowSink sink(nothing);
    readStretch(some, through, sink);
  };
  if (scan == Scan::All || (!source->isOfStream() && all.file->size() <= kMostScanned))
    return check(0, all.rows);
  check(0, 1);
  check(all.rows - 1, 1);
}

/// Of an input that is filled.
void InputRows::checkNumber() const {
  double low = input.element == plan::Element::I32 ? INT32_MIN : -0x1p63, high = -low;
  if (input.element == plan::Element::I1)
    low = 0, high = 2;
  if (input.has_limit)
    low = 0, high = (double)input.limit;
  bool isIgnored = input.has_ignore && number == (double)input.ignore;
  bool isWhole = number >= low && number < high && number == (double)(int64_t)number;
  if (!isFloat(input.element) && !isIgnored && !isWhole)
    throw Rejected(fmt::format("error: input '{}' is filled with {}, but takes integers >= {} and < {}", input.name,
                               number, low, high));
}

std::string InputRows::findNaN(uint64_t row, Blocks &through) const {
  if (!source || row >= source->rows())
    return "";
  Stretch where = source->find(row);
  if (!isFloat(where.type))
    return "";
  uint64_t width = rowElements(input), stored = bytesOf(where.type), most = Blocks::bytes / stored;
  for (uint64_t done = 0; done < width; done += most) {
    uint64_t some = std::min(most, width - done);
    if (!where.file->tryRead(where.begin + done * stored, some * stored, through.stored).empty())
      return "";
    if (uint64_t column = runtime::findNaN(where.type, through.stored, some); column < some)
      return fmt::format("{}: the element in row {}, column {} is NaN", where.file->path, where.row, done + column);
  }
  return "";
}

std::string InputRows::placeOf(uint64_t row) const {
  if (source && row < source->rows())
    return source->find(row).file->path;
  std::vector<Stretch> all = source ? source->stretches() : std::vector<Stretch>(); // a file without rows has a name
  return all.empty() ? fmt::format("input '{}'", input.name) : all.front().file->path;
}

} // namespace xlc::runtime
