// Printing goes through llvm::SourceMgr, which draws the line and the caret.
#include "Complaints.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "llvm/ADT/StringExtras.h"
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

/// The message, with its line and a caret below; of a line that is too long to be looked at, only the place.
void print(const SourceMgr &sources, SMLoc at, SourceMgr::DiagKind kind, const std::string &text, raw_ostream &out) {
  SMDiagnostic diagnostic = sources.GetMessage(at, kind, text);
  if (diagnostic.getLineContents().size() > longestShown)
    diagnostic = SMDiagnostic(sources, at, diagnostic.getFilename(), diagnostic.getLineNo(), diagnostic.getColumnNo(),
                              kind, text, /*LineStr=*/"", {});
  diagnostic.print(nullptr, out);
}

} // namespace

void Complaints::error(SpecLocation location, const Twine &message) {
  Error error;
  error.location = isNowhere(location) ? SpecLocation{1, 1} : location;
  error.text = message.str();
  errors.push_back(std::move(error));
}

void Complaints::note(SpecLocation location, const Twine &message) {
  Error &last = errors.back();
  last.notes.push_back({isNowhere(location) ? last.location : location, message.str()});
}

void Complaints::print(StringRef text, StringRef path, raw_ostream &out) const {
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
    xlc::spec::print(sources, locate(lines, error.location), SourceMgr::DK_Error, error.text, out);
    for (const Message &note : error.notes)
      xlc::spec::print(sources, locate(lines, note.location), SourceMgr::DK_Note, note.text, out);
  }
}

std::string quoted(StringRef text) {
  constexpr size_t longest = 60;
  std::string result = "'";
  for (char c : text.take_front(longest))
    result += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
  return result + (text.size() > longest ? "...'" : "'");
}

} // namespace xlc::spec
