// The walk: for each key of a mapping, find its row, check the value against it, pass it to the row's setter.
#include "Validate.h"

#include "Aliases.h"
#include "Meant.h"
#include "Values.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace xlc::spec {
namespace {

/// Unknown keys for which another is proposed; no more messages are shown of a file.
constexpr size_t mostExplained = 100;

class Validator {
public:
  Validator(Checked &checked, SpecErrors &errors) : checked(checked), errors(errors) {}

  /// `rowPrefix` is where the mapping stands in the table ("optimizer.groups[]."), `shownPrefix` where it
  /// stands in the file ("optimizer.groups[0].").
  void checkMapping(const YamlNode &mapping, StringRef rowPrefix, StringRef shownPrefix) {
    Mapping kind = isTokenStream(mapping) ? Mapping::TokenStream : Mapping::Other;
    for (const YamlNode &child : mapping.children)
      checkEntry(child, rowPrefix, shownPrefix, kind);
  }

private:
  enum class Mapping { Other, TokenStream };

  /// What names `input` beside `tokens`, or other files than rows as `tokens`, maps no inputs to their files.
  static bool isTokenStream(const YamlNode &mapping) {
    auto find = [&](StringRef name) {
      return find_if(mapping.children, [&](const YamlNode &child) { return child.key == name; });
    };
    auto tokens = find("tokens"), none = mapping.children.end();
    if (tokens == none)
      return false;
    return !isFileOfRows(*tokens) || find("input") != none;
  }
  static bool isFileOfRows(const YamlNode &node) {
    return node.kind == YamlNode::Kind::Scalar && StringRef(node.text).ends_with(".npy");
  }

  void checkEntry(const YamlNode &node, StringRef rowPrefix, StringRef shownPrefix, Mapping kind) {
    std::string shown = (shownPrefix + node.key).str();
    const Key *row = findRow(node.key, rowPrefix, kind);
    if (!row || (kind == Mapping::TokenStream && row->kind == Kind::NpyFile && !isFileOfRows(node)))
      return refuseUnknown(node, rowPrefix, shown);
    bool isSection = node.kind == YamlNode::Kind::Mapping || row->kind == Kind::Section || row->kind == Kind::Names;
    checked.spec.locations[shown] = isSection ? node.keyLocation : node.location;
    if (row->kind == Kind::Unsupported)
      return refuse(shown, node.keyLocation, quote(shown) + " is not supported yet");
    if (row->kind == Kind::Sections)
      return checkList(*row, node, shown);
    if (node.kind == YamlNode::Kind::Mapping && hasKeys(*row)) {
      if (row->kind == Kind::Names && row->set)
        row->set(checked.spec, nameOf(node));
      return checkMapping(node, (row->path + ".").str(), shown + ".");
    }
    if (row->kind == Kind::Section || row->kind == Kind::Names)
      return refuse(shown, node.location, quote(shown) + " must be a mapping, got " + describe(node));
    checkValue(*row, node, shown);
  }

  /// The key's own row, or that of a name that the user chooses. `.`, `[` and `*` mean something in the table,
  /// so a key that has them can only be such a name.
  static const Key *findRow(StringRef name, StringRef rowPrefix, Mapping kind) {
    if (name.find_first_of(".[]*") == StringRef::npos)
      if (const Key *row = findKey((rowPrefix + name).str()); row && (!row->isOfStream || kind == Mapping::TokenStream))
        return row;
    return findKey((rowPrefix + "*").str());
  }

  /// A name that the user chooses for a mapping.
  static Value nameOf(const YamlNode &node) {
    Value value;
    value.name = node.key;
    value.location = node.keyLocation;
    return value;
  }

  void checkValue(const Key &row, const YamlNode &node, const std::string &shown) {
    std::optional<Value> value = readValue(row, shown, node, errors);
    if (!value) {
      checked.refused.insert(shown);
      return;
    }
    value->name = node.key;
    value->location = node.location;
    if (row.kind == Kind::Folder || row.kind == Kind::Directory || row.kind == Kind::NpyFile ||
        value->form == Value::Form::File)
      value->text = besideSpec(value->text);
    if (row.kind == Kind::Files)
      for (std::string &path : value->texts)
        path = besideSpec(path);
    row.set(checked.spec, *value);
  }

  void checkList(const Key &row, const YamlNode &node, const std::string &shown) {
    if (node.kind != YamlNode::Kind::Sequence)
      return refuse(shown, node.location, quote(shown) + " must be a list of mappings, got " + describe(node));
    for (auto [index, child] : enumerate(node.children)) {
      std::string entry = shown + "[" + std::to_string(index) + "]";
      Value begin;
      begin.location = child.location;
      row.set(checked.spec, begin);
      checked.spec.locations[entry] = child.location;
      if (child.kind == YamlNode::Kind::Mapping)
        checkMapping(child, (row.path + "[].").str(), entry + ".");
      else
        refuse(entry, child.location, quote(entry) + " must be a mapping, got " + describe(child));
    }
  }

  void refuse(const std::string &shown, SpecLocation location, const Twine &message) {
    errors.error(location, message);
    checked.refused.insert(shown);
  }

  void refuseUnknown(const YamlNode &node, StringRef rowPrefix, const std::string &shown) {
    std::string hint = "nested keys are written a: {b: ...}";
    if (!StringRef(node.key).contains('.'))
      hint = ++unknown <= mostExplained ? explainUnknown(node.key, rowPrefix) : "";
    refuse(shown, node.keyLocation, "unknown key " + quote(shown) + (hint.empty() ? "" : "; " + hint));
  }

  /// From the surest to the least sure: another spelling of a key of the same mapping, another tool's name, a key of
  /// another mapping that is spelled exactly so, one of the same mapping that is spelled nearly so.
  std::string explainUnknown(StringRef written, StringRef rowPrefix) {
    SmallVector<StringRef> siblings, meant;
    for (const Key &key : keyTable()) {
      StringRef name = key.path;
      if (name.consume_front(rowPrefix) && !name.contains('.') && name != "*")
        siblings.push_back(name);
    }
    copy_if(siblings, std::back_inserter(meant), [&](StringRef name) { return isSameName(name, written); });
    if (const Alias *alias = findAlias((rowPrefix + written).str());
        alias && meant.empty() && !rowPrefix.starts_with("cluster.device.")) {
      if (alias->ours.starts_with("--"))
        return "use the program's option " + alias->ours.str();
      StringRef last = alias->ours.substr(alias->ours.rfind('.') + 1);
      if (findKey(alias->ours)->kind == Kind::Unsupported)
        return "the key in a spec is " + quote(alias->ours) + ", which is not supported yet";
      meant.push_back(is_contained(siblings, last) ? last : StringRef(alias->ours));
    }
    // A key that lacks one letter is meant more often than one of that name somewhere else.
    std::optional<StringRef> nearest = findNearest(written, siblings);
    if (meant.empty() && !(nearest && written.edit_distance(*nearest) == 1))
      meant = findElsewhere(written);
    if (meant.empty() && nearest)
      meant.push_back(*nearest);
    return askWhetherMeant(meant);
  }

  /// Keys of this name in any mapping, but for what describes a device, one group of many or a token stream.
  static SmallVector<StringRef> findElsewhere(StringRef written) {
    SmallVector<StringRef> found;
    for (const Key &key : keyTable())
      if (key.path.ends_with(("." + written).str()) && !key.path.contains("[]") &&
          !key.path.starts_with("cluster.device.") && key.kind != Kind::Unsupported && !key.isOfStream)
        found.push_back(key.path);
    return found;
  }

  std::string besideSpec(StringRef path) {
    if (sys::path::is_absolute(path))
      return path.str();
    SmallString<128> result = sys::path::parent_path(checked.spec.path);
    sys::path::append(result, path);
    return result.str().str();
  }

  Checked &checked;
  SpecErrors &errors;
  size_t unknown = 0; ///< keys so far
};

} // namespace

/// `rowPrefix`: where the keys of the file stand in the table; `what` it is, for a message.
static Checked validateAll(const YamlNode &root, StringRef path, StringRef rowPrefix, StringRef what,
                           SpecErrors &errors) {
  Checked checked;
  checked.spec.path = path.str();
  if (root.kind == YamlNode::Kind::Mapping)
    Validator(checked, errors).checkMapping(root, rowPrefix, "");
  else if (root.kind != YamlNode::Kind::Empty)
    errors.error(root.location, what + " must be a mapping from keys to values, got " + describe(root));
  return checked;
}

Checked validate(const YamlNode &root, StringRef path, SpecErrors &errors) {
  return validateAll(root, path, "", "a spec", errors);
}

Checked validateDevice(const YamlNode &root, StringRef path, SpecErrors &errors) {
  return validateAll(root, path, "cluster.device.", "a device", errors);
}

} // namespace xlc::spec
