// Parsing is strict on purpose: YAML readers disagree on `1_000`, `010`, `0x10`, `yes` and `.inf`, so only the plain
// forms are numbers and booleans here, and a quoted value is text. An error names the value and the expected form.
#include "Values.h"

#include <cmath>

#include "Meant.h"
#include "xlc/Support/Bytes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace xlc::spec {
namespace {

/// Reads one node; where it fails, `culprit` is the node to point at, and `hint` says what the likely mistake is.
struct Reader {
  const Key &key;
  const YamlNode *culprit;
  std::string hint;

  /// A value that cannot be read, with its hint.
  bool refuse(std::string why) {
    hint = std::move(why);
    return false;
  }
  bool readInteger(const YamlNode &node, int64_t &result);
  bool readNumber(const YamlNode &node, double &result);
  bool readBytes(const YamlNode &node, int64_t &result);
  bool readBoolean(const YamlNode &node, bool &result);
  bool readChoice(const YamlNode &node, std::string &result);
  bool readChoiceOrFile(const YamlNode &node, StringRef ending, Value &result);
  bool readText(const YamlNode &node, std::string &result);
  bool readNumbers(const YamlNode &node, std::vector<double> &result);
  bool readIntegers(const YamlNode &node, std::vector<double> &result);
  bool readPatterns(const YamlNode &node, std::vector<std::string> &result);
  bool readNames(const YamlNode &node, size_t atLeast, std::vector<std::string> &result);
  bool readFiles(const YamlNode &node, std::vector<std::string> &result);
  bool readNameLists(const YamlNode &node, std::vector<std::vector<std::string>> &result);
  bool readPrefetch(const YamlNode &node, Value &result);
  bool readStepsOrTime(const YamlNode &node, Value &result);
  bool read(const YamlNode &node, Value &result);
};

bool isPlain(const YamlNode &node) { return node.kind == YamlNode::Kind::Scalar && !node.isQuoted; }
bool isAuto(const YamlNode &node) { return isPlain(node) && node.text == "auto"; }

bool looksLikeInteger(StringRef text) {
  text.consume_front("-") || text.consume_front("+");
  bool isOctal = text.size() > 1 && text.front() == '0'; // 8 to some readers, 10 to others
  return !text.empty() && !isOctal && all_of(text, isDigit);
}

bool looksLikeNumber(StringRef text) {
  text.consume_front("-") || text.consume_front("+");
  return !text.empty() && (isDigit(text.front()) || text.front() == '.') && text.find_if(isDigit) != StringRef::npos &&
         all_of(text, [](char c) { return isDigit(c) || StringRef(".eE+-").contains(c); });
}

/// A quoted number, or an unquoted one with a unit, is a likely slip; so is a YAML word for infinity.
std::string explainNotNumber(const YamlNode &node) {
  StringRef text = node.text;
  if (node.kind != YamlNode::Kind::Scalar)
    return "";
  if (node.isQuoted && looksLikeNumber(text))
    return "remove the quotes";
  if (parseBytes(text))
    return "a count has no unit";
  if (StringRef lower = text.ltrim("+-."); lower.equals_insensitive("inf") || lower.equals_insensitive("nan"))
    return "the number must be finite";
  return "";
}

bool Reader::readInteger(const YamlNode &node, int64_t &result) {
  if (!isPlain(node) || !looksLikeInteger(node.text))
    return refuse(explainNotNumber(node));
  StringRef digits = node.text;
  digits.consume_front("+");
  if (digits.getAsInteger(10, result))
    return refuse("the number does not fit into 64 bits");
  return key.range.contains(double(result));
}

bool Reader::readNumber(const YamlNode &node, double &result) {
  if (!isPlain(node) || !looksLikeNumber(node.text) || StringRef(node.text).getAsDouble(result))
    return refuse(explainNotNumber(node));
  if (!std::isfinite(result))
    return refuse("the number must be finite");
  return key.range.contains(result);
}

bool Reader::readBytes(const YamlNode &node, int64_t &result) {
  if (node.kind != YamlNode::Kind::Scalar)
    return false;
  std::optional<int64_t> bytes = parseBytes(node.text, &hint);
  if (!bytes)
    return false;
  result = *bytes;
  return key.range.contains(double(result));
}

bool Reader::readBoolean(const YamlNode &node, bool &result) {
  if (!isPlain(node))
    return false;
  result = node.text == "true";
  return result || node.text == "false";
}

bool Reader::readChoice(const YamlNode &node, std::string &result) {
  if (node.kind != YamlNode::Kind::Scalar)
    return false;
  SmallVector<StringRef> words;
  StringRef(key.choices).split(words, '|');
  result = node.text;
  if (is_contained(words, StringRef(node.text)))
    return true;
  hint = askWhetherMeant(findMeantWords(node.text, key.choices));
  if (hint.empty() && key.path == "loss.type")
    return refuse("a model with another loss computes it and has it as an output (loss.output)");
  return false;
}

bool Reader::readChoiceOrFile(const YamlNode &node, StringRef ending, Value &result) {
  if (node.kind != YamlNode::Kind::Scalar || !StringRef(node.text).ends_with(ending))
    return readChoice(node, result.text);
  result.form = Value::Form::File;
  return readText(node, result.text);
}

bool Reader::readText(const YamlNode &node, std::string &result) {
  result = node.text;
  if (key.kind == Kind::NpyFile && node.kind == YamlNode::Kind::Scalar && !StringRef(node.text).ends_with(".npy"))
    return refuse("convert other formats with python -m xlc_data rows, or use a token stream (keys tokens and input)");
  return node.kind == YamlNode::Kind::Scalar && !node.text.empty();
}

bool Reader::readNumbers(const YamlNode &node, std::vector<double> &result) {
  if (node.kind != YamlNode::Kind::Sequence || node.children.size() != 2)
    return false;
  return all_of(node.children, [&](const YamlNode &child) {
    culprit = &child;
    return readNumber(child, result.emplace_back());
  });
}

bool Reader::readIntegers(const YamlNode &node, std::vector<double> &result) {
  if (node.kind != YamlNode::Kind::Sequence || node.children.empty())
    return false;
  return all_of(node.children, [&](const YamlNode &child) {
    culprit = &child;
    int64_t integer = 0;
    bool isRead = readInteger(child, integer);
    result.push_back(double(integer));
    return isRead;
  });
}

bool Reader::readPatterns(const YamlNode &node, std::vector<std::string> &result) {
  if (node.kind == YamlNode::Kind::Scalar)
    hint = "write a list in brackets";
  if (node.kind != YamlNode::Kind::Sequence || node.children.empty())
    return false;
  hint = "a pattern is a name with optional wildcards * and ?; a leading ! excludes names";
  return all_of(node.children, [&](const YamlNode &child) {
    culprit = &child;
    result.push_back(child.text);
    return child.kind == YamlNode::Kind::Scalar && !StringRef(child.text).ltrim('!').empty();
  });
}

bool Reader::readNames(const YamlNode &node, size_t atLeast, std::vector<std::string> &result) {
  culprit = &node;
  if (node.kind != YamlNode::Kind::Sequence || node.children.size() < atLeast)
    return false;
  return all_of(node.children, [&](const YamlNode &child) {
    culprit = &child;
    return readText(child, result.emplace_back());
  });
}

bool Reader::readFiles(const YamlNode &node, std::vector<std::string> &result) {
  if (node.kind == YamlNode::Kind::Scalar)
    return readText(node, result.emplace_back());
  return readNames(node, 1, result);
}

bool Reader::readNameLists(const YamlNode &node, std::vector<std::vector<std::string>> &result) {
  hint = "each inner list must have at least two names: [[a, b], [c, d]]";
  return node.kind == YamlNode::Kind::Sequence && !node.children.empty() &&
         all_of(node.children, [&](const YamlNode &child) { return readNames(child, 2, result.emplace_back()); });
}

bool Reader::readPrefetch(const YamlNode &node, Value &result) {
  if (isPlain(node) && looksLikeInteger(node.text))
    return readInteger(node, result.integer);
  result.form = Value::Form::Bytes;
  return readBytes(node, result.integer);
}

bool Reader::readStepsOrTime(const YamlNode &node, Value &result) {
  if (isPlain(node) && looksLikeInteger(node.text))
    return readInteger(node, result.integer);
  constexpr std::pair<StringLiteral, double> units[] = {{"min", 60}, {"h", 3600}, {"s", 1}};
  StringRef number = node.text;
  for (auto [unit, seconds] : units)
    if (isPlain(node) && number.consume_back(unit)) {
      result.form = Value::Form::Time;
      number = number.rtrim();
      return looksLikeNumber(number) && !number.getAsDouble(result.number) && std::isfinite(result.number) &&
             (result.number *= seconds) > 0;
    }
  return false;
}

bool Reader::read(const YamlNode &node, Value &result) {
  switch (key.kind) {
  case Kind::Integer:
    return readInteger(node, result.integer);
  case Kind::IntegerOrChoice:
    return looksLikeNumber(node.text) ? readInteger(node, result.integer) : readChoice(node, result.text);
  case Kind::Number:
    return readNumber(node, result.number);
  case Kind::NumberOrChoice:
    return looksLikeNumber(node.text) ? readNumber(node, result.number) : readChoice(node, result.text);
  case Kind::Numbers:
    return readNumbers(node, result.numbers);
  case Kind::Integers:
    return readIntegers(node, result.numbers);
  case Kind::Boolean:
    return readBoolean(node, result.boolean);
  case Kind::BooleanOrAuto:
    result.form = isAuto(node) ? Value::Form::Auto : Value::Form::Plain;
    return isAuto(node) || readBoolean(node, result.boolean);
  case Kind::Choice:
    return readChoice(node, result.text);
  case Kind::ChoiceOrTensors:
    return readChoiceOrFile(node, ".safetensors", result);
  case Kind::ChoiceOrDevice:
    return readChoiceOrFile(node, ".yaml", result);
  case Kind::Text:
  case Kind::Folder:
  case Kind::Directory:
  case Kind::NpyFile:
    return readText(node, result.text);
  case Kind::Files:
    return readFiles(node, result.texts);
  case Kind::Patterns:
    return readPatterns(node, result.texts);
  case Kind::NameList:
    return readNames(node, 1, result.texts);
  case Kind::NameLists:
    return readNameLists(node, result.textLists);
  case Kind::Bytes:
    return readBytes(node, result.integer);
  case Kind::BytesUnitsOrAuto:
    result.form = Value::Form::Auto;
    return isAuto(node) || (result.form = Value::Form::Plain, readPrefetch(node, result));
  case Kind::StepsOrTime:
    return readStepsOrTime(node, result);
  case Kind::Section:
  case Kind::Sections:
  case Kind::Names:
  case Kind::Unsupported:
    break;
  }
  llvm_unreachable("the validator reads no value for these");
}

} // namespace

std::string describe(const YamlNode &node) {
  switch (node.kind) {
  case YamlNode::Kind::Empty:
    return "nothing";
  case YamlNode::Kind::Scalar:
    return quote(node.text);
  case YamlNode::Kind::Sequence:
    return node.children.empty() ? "an empty list" : "a list";
  case YamlNode::Kind::Mapping:
    return "a mapping";
  }
  llvm_unreachable("unknown kind");
}

std::optional<Value> readValue(const Key &key, StringRef shownPath, const YamlNode &node, SpecErrors &errors) {
  Reader reader{key, &node, ""};
  Value value;
  if (reader.read(node, value))
    return value;
  std::string message = quote(shownPath) + " must be " + describe(key) + ", got " + describe(*reader.culprit);
  errors.error(reader.culprit->location, reader.hint.empty() ? message : message + "; " + reader.hint);
  return std::nullopt;
}

} // namespace xlc::spec
