// Files are recognised by keys that only they have, and that are more than keys of ours: a spec with the key
// `zero_optimization` is a spec with an unknown key.
#include "Foreign.h"

#include "Aliases.h"
#include "Keys.h"
#include "Values.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace xlc::spec {
namespace {

struct Tool {
  StringLiteral what; ///< "this is ..."
  StringLiteral keys; ///< any of them tells it
};

constexpr Tool tools[] = {
    {"a configuration of Accelerate",
     "distributed_type compute_environment fsdp_config deepspeed_config megatron_lm_config"},
    {"a configuration of DeepSpeed", "zero_optimization train_batch_size train_micro_batch_size_per_gpu"},
    {"a list of transformers' TrainingArguments", "per_device_train_batch_size num_train_epochs"}};

/// Accelerate's key that names a file of DeepSpeed.
constexpr StringLiteral kOtherFile = "deepspeed_config_file";

bool isTold(const Tool &tool, const YamlNode &root) {
  SmallVector<StringRef> keys;
  StringRef(tool.keys).split(keys, ' ');
  return any_of(root.children, [&](const YamlNode &child) { return is_contained(keys, StringRef(child.key)); });
}

/// Goes through the keys of the file and collects what each is here.
class Translator {
public:
  Translator(const YamlNode &root, SpecErrors &errors) : root(root), errors(errors) {}

  void translate(const YamlNode &mapping, const std::string &prefix) {
    for (const YamlNode &child : mapping.children)
      translateKey(child, prefix + child.key);
  }

  void sayRest() {
    if (rest.empty())
      return;
    constexpr size_t most = 12;
    std::string names =
        join(map_range(ArrayRef(rest).take_front(most), [](StringRef name) { return quote(name); }), ", ");
    if (rest.size() > most)
      names += " and " + std::to_string(rest.size() - most) + " more";
    errors.note(SpecLocation{}, "a spec has no keys for " + names);
  }

private:
  void translateKey(const YamlNode &node, const std::string &path) {
    const Alias *row = findAlias(path);
    const Key *key = row ? findKey(row->ours) : nullptr;
    bool isUnsupported = key && key->kind == Kind::Unsupported;
    if (node.kind == YamlNode::Kind::Mapping && !isUnsupported)
      return translate(node, path + ".");
    if (any_of(tools, [&](const Tool &tool) { return is_contained(split(tool.keys, ' '), StringRef(path)); }) && !row)
      return; // it only tells whose file this is
    if (node.kind == YamlNode::Kind::Empty)
      return;
    if (StringRef(path).ends_with(kOtherFile))
      return errors.note(node.location, "run xlc plan with this file as --spec to translate its keys");
    if (!row)
      return rest.push_back(path);
    std::string theirs = quote(node.kind == YamlNode::Kind::Scalar ? path + ": " + node.text : path);
    if (row->ours.starts_with("--"))
      return errors.note(node.keyLocation, theirs + " is the program's option " + row->ours);
    bool isAuto = node.text == "auto" && !isUnsupported;
    std::optional<std::string> written;
    if (row->write)
      written = row->write({node, root});
    else if (!isAuto)
      written = writeAt(row->ours, node.text);
    if (isAuto)
      return errors.note(node.keyLocation, theirs + " is " + quote(written ? *written : writeAt(row->ours, "...")) +
                                               " in a spec, with the value from the trainer's arguments");
    if (written && !written->empty())
      errors.note(node.keyLocation, theirs + " is " + quote(*written) + " in a spec");
    else if (!written && isUnsupported)
      errors.note(node.keyLocation, theirs + " corresponds to " + quote(row->ours) + ", which is not supported yet");
    else if (!written)
      rest.push_back(path);
  }

  const YamlNode &root;
  SpecErrors &errors;
  std::vector<std::string> rest;
};

} // namespace

bool refuseForeign(const YamlNode &root, SpecErrors &errors) {
  const Tool *tool = find_if(tools, [&](const Tool &each) { return isTold(each, root); });
  size_t ours = count_if(root.children, [](const YamlNode &child) { return findKey(child.key); });
  if (root.kind != YamlNode::Kind::Mapping || tool == std::end(tools) || 2 * ours >= root.children.size())
    return false;
  errors.error(root.location, "this is " + tool->what +
                                  ", not a spec of xlc; write a spec with the keys in the notes and " +
                                  "with loss, dims and data, which such a file does not contain");
  Translator translator(root, errors);
  translator.translate(root, "");
  translator.sayRest();
  return true;
}

} // namespace xlc::spec
