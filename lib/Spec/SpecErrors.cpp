// Printing goes through llvm::SourceMgr, which draws the line and the caret.
#include "SpecErrors.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

namespace xlc::spec {
namespace {

constexpr size_t longestShown = 240;

bool isNowhere(SpecLocation location) { return location.line <= 0; }

/// The character that `location` names, or the nearest one before it.
SMLoc locate(ArrayRef<StringRef> lines, SpecLocation location) {
  StringRef line = lines[std::min<size_t>(std::max(location.line, 1) - 1, lines.size() - 1)];
  size_t column = std::min<size_t>(std::max(location.column, 1) - 1, line.size());
  return SMLoc::getFromPointer(line.data() + column);
}

/// A message with its line and a caret below; of a line that is too long to be looked at, only the place.
Message makeMessage(const SourceMgr &sources, SMLoc at, Severity severity, const std::string &text) {
  SMDiagnostic diagnostic = sources.GetMessage(at, SourceMgr::DK_Error, text);
  Message message{
      .severity = severity,
      .where = formatv("{0}:{1}:{2}", diagnostic.getFilename(), diagnostic.getLineNo(), diagnostic.getColumnNo() + 1),
      .text = text};
  if (diagnostic.getLineContents().size() <= longestShown) {
    SMDiagnostic line(sources, at, /*FN=*/"", 0, diagnostic.getColumnNo(), SourceMgr::DK_Error, /*Msg=*/"",
                      diagnostic.getLineContents(), {});
    raw_string_ostream out(message.source);
    line.print(/*ProgName=*/nullptr, out, /*ShowColors=*/false, /*ShowKindLabel=*/false);
    message.source.erase(0, 1); // the end of the line that names the place
  }
  return message;
}

} // namespace

void SpecErrors::error(SpecLocation location, const Twine &message) {
  Error error;
  error.location = isNowhere(location) ? SpecLocation{1, 1} : location;
  error.text = message.str();
  errors.push_back(std::move(error));
}

void SpecErrors::warning(SpecLocation location, const Twine &message) {
  error(location, message);
  errors.back().severity = Severity::Warning;
}

void SpecErrors::note(SpecLocation location, const Twine &message) {
  Error &last = errors.back();
  last.notes.push_back({isNowhere(location) ? last.location : location, message.str()});
}

void SpecErrors::report(StringRef text, StringRef path, Diagnostics &diagnostics) const {
  std::vector<size_t> order(errors.size());
  std::iota(order.begin(), order.end(), 0);
  auto place = [&](size_t i) { return std::tuple(errors[i].location.line, errors[i].location.column, i); };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return place(a) < place(b); });

  SourceMgr sources;
  unsigned buffer = sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, path), SMLoc());
  SmallVector<StringRef> lines;
  sources.getMemoryBuffer(buffer)->getBuffer().split(lines, '\n');
  for (size_t i : order) {
    const Error &error = errors[i];
    Message message = makeMessage(sources, locate(lines, error.location), error.severity, error.text);
    for (const Note &note : error.notes)
      message.notes.push_back(makeMessage(sources, locate(lines, note.location), Severity::Note, note.text));
    diagnostics.report(message);
  }
}

std::string quote(StringRef text) {
  constexpr size_t longest = 60;
  std::string result = "'";
  for (char c : text.take_front(longest))
    result += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
  return result + (text.size() > longest ? "...'" : "'");
}

} // namespace xlc::spec
