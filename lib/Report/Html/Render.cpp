// See Render.h. Names come from untrusted files, so a template escapes each of them; only paths of numbers, and the
// pages' own style and script, are inserted unescaped. The files of this folder are embedded in the program.
#include "Render.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Mustache.h"

using namespace llvm;

namespace {

constexpr char kHead[] = {
#include "head.html.inc"
};
constexpr char kFoot[] = {
#include "foot.html.inc"
};
constexpr char kMemory[] = {
#include "memory.html.inc"
};
constexpr char kPage[] = {
#include "page.html.inc"
};
constexpr char kDiff[] = {
#include "diff.html.inc"
};
constexpr char kStyle[] = {
#include "page.css.inc"
};
constexpr char kScript[] = {
#include "page.js.inc"
};

StringRef textOf(ArrayRef<char> bytes) { return {bytes.data(), bytes.size()}; }

} // namespace

std::string xlc::quoteForScript(const json::Value &value) {
  std::string text, quoted;
  raw_string_ostream(text) << value;
  for (char c : text)
    quoted += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : c == '&' ? "\\u0026" : std::string(1, c);
  return quoted;
}

void xlc::render(StringRef page, json::Object data, raw_ostream &out) {
  data["style"] = textOf(kStyle);
  data["script"] = textOf(kScript);
  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  mustache::MustacheContext context(allocator, saver);
  mustache::Template filled(
      StringSwitch<StringRef>(page).Case("page.html", textOf(kPage)).Case("diff.html", textOf(kDiff)), context);
  filled.registerPartial("head", textOf(kHead).str());
  filled.registerPartial("memory", textOf(kMemory).str());
  filled.registerPartial("foot", textOf(kFoot).str());
  filled.render(std::move(data), out);
}
