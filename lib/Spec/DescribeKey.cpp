// Describes the values of a key in words: for messages, and for docs/Spec.md.
#include "Keys.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;

namespace xlc::spec {
namespace {

/// "3", "1e-06".
std::string describeBound(double value) {
  bool isWhole = value == std::trunc(value) && std::abs(value) < 1e15;
  return isWhole ? std::to_string(int64_t(value)) : formatv("{0:e0}", value).str();
}

/// " from 0 to 3", " above 0", "" without bounds.
std::string describeRange(const Range &range) {
  bool hasLow = range.low != any.low, hasHigh = range.high != any.high;
  std::string low = describeBound(range.low), high = describeBound(range.high);
  if (hasLow && hasHigh && !range.excludesLow && !range.excludesHigh)
    return " between " + low + " and " + high;
  std::string result;
  if (hasLow)
    result += (range.excludesLow ? " > " : " >= ") + low;
  if (hasHigh)
    result += (hasLow ? " and" : "") + std::string(range.excludesHigh ? " < " : " <= ") + high;
  return result;
}

std::string describeChoices(StringRef choices, ArrayRef<StringRef> others = {}) {
  SmallVector<StringRef> words;
  choices.split(words, '|');
  words.append(others.begin(), others.end());
  if (words.size() == 1)
    return words.front().str();
  return join(ArrayRef(words).drop_back(), ", ") + " or " + words.back().str();
}

} // namespace

std::string describe(const Key &key) {
  switch (key.kind) {
  case Kind::Section:
  case Kind::Names:
    return "a mapping";
  case Kind::Sections:
    return "a list of mappings";
  case Kind::Integer:
    return "an integer" + describeRange(key.range);
  case Kind::IntegerOrChoice:
    return "an integer" + describeRange(key.range) + ", or " + describeChoices(key.choices);
  case Kind::Number:
    return "a number" + describeRange(key.range);
  case Kind::NumberOrChoice:
    return "a number" + describeRange(key.range) + ", or " + describeChoices(key.choices);
  case Kind::Numbers:
    return "a list of two numbers" + describeRange(key.range);
  case Kind::Integers:
    return "a list of integers" + describeRange(key.range);
  case Kind::Boolean:
    return "true or false";
  case Kind::BooleanOrAuto:
    return "true, false or auto";
  case Kind::Choice:
    return describeChoices(key.choices);
  case Kind::ChoiceOrTensors:
    return describeChoices(key.choices, {"a .safetensors file"});
  case Kind::ChoiceOrDevice:
    return describeChoices(key.choices, {"a .yaml file", "a mapping"});
  case Kind::Text:
    return "a name";
  case Kind::Patterns:
    return "a list of patterns";
  case Kind::NameList:
    return "a list of names";
  case Kind::NameLists:
    return "a list of lists of names";
  case Kind::Bytes:
    return "a size above 0 with a unit";
  case Kind::BytesUnitsOrAuto:
    return "auto, a number of model units, or a size such as 25MiB";
  case Kind::Folder:
    return "a folder or a mapping";
  case Kind::Directory:
    return "a folder";
  case Kind::StepsOrTime:
    return "a number of steps, or a time with its unit (30s, 10min, 2h)";
  case Kind::NpyFile:
    return "a .npy file";
  case Kind::Files:
    return "a file, a pattern or a list of these";
  case Kind::Unsupported:
    return "";
  }
  llvm_unreachable("unknown kind");
}

} // namespace xlc::spec
