// Two steps: the bytes (UTF-8, no control characters), then yaml-cpp's events into a tree.
#include "Yaml.h"

#include <sstream>

#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

namespace xlc::spec {
namespace {

/// Deeper than any spec needs; yaml-cpp recurses, so this also bounds its stack.
constexpr size_t maxDepth = 16;

/// Thrown to leave yaml-cpp's parser after a complaint.
struct Stop {};

SpecLocation locationOf(const YAML::Mark &mark) { return {mark.line + 1, mark.column + 1}; }

SpecLocation locationOf(StringRef text, size_t offset) {
  StringRef before = text.take_front(offset);
  size_t lineStart = before.rfind('\n') + 1; // npos + 1 is 0
  return {int(before.count('\n')) + 1, int(offset - lineStart) + 1};
}

/// Refuses bytes that yaml-cpp would skip or reinterpret.
bool checkBytes(StringRef text, SpecErrors &errors) {
  const auto *begin = reinterpret_cast<const UTF8 *>(text.begin());
  const auto *bad = begin;
  if (!isLegalUTF8String(&bad, reinterpret_cast<const UTF8 *>(text.end()))) {
    errors.error(locationOf(text, bad - begin), "the file is not valid UTF-8 from this byte on");
    return false;
  }
  size_t control = text.find_if([](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r') || c == '\x7f';
  });
  if (control == StringRef::npos)
    return true;
  errors.error(locationOf(text, control), text[control] == 0 ? "a NUL byte is not allowed in a spec"
                                                             : "a control character is not allowed in a spec");
  return false;
}

/// Builds the tree. `open` holds the nodes that are not finished; in a mapping, a key waits for its value.
class TreeBuilder : public YAML::EventHandler {
public:
  explicit TreeBuilder(SpecErrors &errors) : errors(errors) {}

  YamlNode takeRoot() {
    while (open.size() > 1)
      finish();
    return open.empty() ? std::move(root) : std::move(open.front().node);
  }

  void OnDocumentStart(const YAML::Mark &) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark &mark, YAML::anchor_t anchor) override {
    add(begin(YamlNode::Kind::Empty, mark, "", anchor));
  }
  void OnAlias(const YAML::Mark &mark, YAML::anchor_t) override {
    errors.error(locationOf(mark), "an alias is not allowed in a spec; write the value out");
    throw Stop();
  }
  void OnScalar(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                const std::string &value) override {
    YamlNode node = begin(YamlNode::Kind::Scalar, mark, tag, anchor);
    if (StringRef(value).contains('\0')) // written as an escape; a path would end there
      errors.error(node.location, "a NUL byte is not allowed in a spec");
    node.text = value;
    node.isQuoted = tag == "!";
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    push(begin(YamlNode::Kind::Sequence, mark, tag, anchor));
  }
  void OnSequenceEnd() override { finish(); }
  void OnMapStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    push(begin(YamlNode::Kind::Mapping, mark, tag, anchor));
  }
  void OnMapEnd() override { finish(); }

private:
  struct OpenNode {
    YamlNode node;
    std::optional<YamlNode> key;       ///< Mapping: read, its value not yet
    StringMap<SpecLocation> firstSeen; ///< Mapping: keys so far
    bool isDuplicate = false;          ///< the key that waits is a repetition: its value is dropped
  };

  YamlNode begin(YamlNode::Kind kind, const YAML::Mark &mark, StringRef tag, YAML::anchor_t anchor) {
    YamlNode node;
    node.kind = kind;
    node.location = locationOf(mark);
    if (anchor)
      errors.error(node.location, "an anchor is not allowed in a spec; write the value out where it is needed");
    if (!tag.empty() && tag != "?" && tag != "!")
      errors.error(node.location, "a tag is not allowed in a spec");
    return node;
  }

  void push(YamlNode node) {
    if (open.size() == maxDepth) {
      errors.error(node.location, "a spec may be nested at most " + Twine(maxDepth) + " levels deep");
      throw Stop();
    }
    OpenNode opened;
    opened.node = std::move(node);
    open.push_back(std::move(opened));
  }

  void finish() {
    YamlNode node = std::move(open.back().node);
    open.pop_back();
    add(std::move(node));
  }

  /// A finished node goes where its parent wants it: key, value, item or root.
  void add(YamlNode node) {
    if (open.empty()) {
      root = std::move(node);
      return;
    }
    OpenNode &parent = open.back();
    if (parent.node.kind == YamlNode::Kind::Sequence)
      parent.node.children.push_back(std::move(node));
    else if (!parent.key)
      addKey(parent, std::move(node));
    else
      addValue(parent, std::move(node));
  }

  void addKey(OpenNode &parent, YamlNode key) {
    parent.isDuplicate = false;
    if (key.kind != YamlNode::Kind::Scalar) {
      errors.error(key.location, "a key must be a name");
      parent.isDuplicate = true;
    } else if (auto [it, isNew] = parent.firstSeen.try_emplace(key.text, key.location); !isNew) {
      errors.error(key.location, "the key " + quote(key.text) + " is given twice");
      errors.note(it->second, "it is first given here");
      parent.isDuplicate = true;
    }
    parent.key = std::move(key);
  }

  void addValue(OpenNode &parent, YamlNode value) {
    if (!parent.isDuplicate) {
      value.key = parent.key->text;
      value.keyLocation = parent.key->location;
      parent.node.children.push_back(std::move(value));
    }
    parent.key.reset();
  }

  SpecErrors &errors;
  std::vector<OpenNode> open;
  YamlNode root;
};

} // namespace

YamlFile readYaml(StringRef text, SpecErrors &errors) {
  if (!checkBytes(text, errors))
    return {};
  TreeBuilder builder(errors);
  std::istringstream stream(text.str());
  bool isWhole = false;
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    TreeBuilder second(errors);
    if (parser.HandleNextDocument(second))
      errors.error(second.takeRoot().location, "a spec must be one YAML document; a second one begins here");
    isWhole = true;
  } catch (const YAML::Exception &exception) {
    errors.error(locationOf(exception.mark), "invalid YAML: " + exception.msg);
  } catch (const Stop &) {
    isWhole = false; // the complaint has been made
  }
  return {builder.takeRoot(), isWhole};
}

} // namespace xlc::spec
