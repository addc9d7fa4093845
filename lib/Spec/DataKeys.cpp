// The rows below `data`, of the table in Keys.cpp.
#include "Keys.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace xlc::spec {
namespace {

constexpr Range any = {};
constexpr Range notNegative = {.low = 0};

template <RowsSpec DataSpec::*rows> void setFolder(Spec &spec, const Value &value) {
  (spec.data.*rows).folder = value.text;
}
template <RowsSpec DataSpec::*rows> void setFile(Spec &spec, const Value &value) {
  (spec.data.*rows).files[value.name] = value.text;
}
/// The stream that the keys below `data.train` and `data.validation` describe.
template <RowsSpec DataSpec::*rows> TokenStreamSpec &streamOf(Spec &spec) {
  std::optional<TokenStreamSpec> &stream = (spec.data.*rows).stream;
  return stream ? *stream : stream.emplace();
}
template <RowsSpec DataSpec::*rows> void setTokens(Spec &spec, const Value &value) {
  streamOf<rows>(spec).files = value.texts;
}
template <RowsSpec DataSpec::*rows> void setTokenType(Spec &spec, const Value &value) {
  using enum TokenStreamSpec::Type;
  streamOf<rows>(spec).type = StringSwitch<TokenStreamSpec::Type>(value.text)
                                  .Case("uint8", U8)
                                  .Case("uint16", U16)
                                  .Case("uint32", U32)
                                  .Case("int32", I32)
                                  .Default(Auto);
}
template <RowsSpec DataSpec::*rows> void setInput(Spec &spec, const Value &value) {
  streamOf<rows>(spec).input = value.text;
}
template <RowsSpec DataSpec::*rows> void setLabels(Spec &spec, const Value &value) {
  streamOf<rows>(spec).labels = value.text;
}
template <RowsSpec DataSpec::*rows> void setTargets(Spec &spec, const Value &value) {
  using enum TokenStreamSpec::Targets;
  streamOf<rows>(spec).targets = value.text == "next" ? Next : Same;
}
template <RowsSpec DataSpec::*rows> void setFill(Spec &spec, const Value &value) {
  streamOf<rows>(spec).fill[value.name] = value.number;
}

// clang-format off
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): only for want of memory
const Key dataRows[] = {
  {"data", Kind::Section, any, "", "", "The training and validation data.", nullptr},
  {"data.train", Kind::Folder, any, "", "none",
   "A folder with one NAME.npy per model input (and labels), a mapping from names to files, or a token "
   "stream, which is a mapping of the keys below: `{tokens: corpus.bin, input: input_ids, labels: labels}`. "
   "[Runtime.md](Runtime.md#data) has the formats. In addition to the keys of a stream, files may be given for inputs "
   "that it does not provide.",
   setFolder<&DataSpec::train>},
  {"data.train.*", Kind::NpyFile, any, "", "none",
   "The file with the rows of this model input (or of the labels): floats or integers, which are converted to the "
   "input's type without scaling.", setFile<&DataSpec::train>},
  {"data.train.tokens", Kind::Files, any, "", "none",
   "The files of the stream, or patterns (`corpus/*.bin`), which are expanded in the order of names when the program "
   "starts. The number of tokens of a row is the length of a row of `input`; rows do not cross files.",
   setTokens<&DataSpec::train>, true},
  {"data.train.type", Kind::Choice, any, "auto|uint8|uint16|uint32|int32", "auto",
   "Type of the tokens in files without a header, little endian. `auto`: the type recorded in the files, which must be "
   "those of llm.c, those of Megatron (pairs of .idx and .bin), or one-dimensional .npy files.",
   setTokenType<&DataSpec::train>, true},
  {"data.train.input", Kind::Text, any, "", "none",
   "The model input for the tokens; required for a stream.", setInput<&DataSpec::train>, true},
  {"data.train.labels", Kind::Text, any, "", "none",
   "The model input (or the labels of `loss`) for the targets.",
   setLabels<&DataSpec::train>, true},
  {"data.train.targets", Kind::Choice, any, "next|same", "`same` with `loss.shift`, else `next`",
   "`next`: labels are the tokens shifted by one, so that row i of a file is tokens i S to i S + S, where S is the "
   "length of a row. `same`: labels are the tokens themselves, and the loss shifts them.",
   setTargets<&DataSpec::train>, true},
  {"data.train.fill", Kind::Names, any, "", "none",
   "Inputs that are filled with one number: `{attention_mask: 1}`.", nullptr, true},
  {"data.train.fill.*", Kind::Number, any, "", "none", "That number.", setFill<&DataSpec::train>, true},
  {"data.validation", Kind::Folder, any, "", "none",
   "As `data.train`, for evaluations (`eval`): in order, each row once.",
   setFolder<&DataSpec::validation>},
  {"data.validation.*", Kind::NpyFile, any, "", "none", "As `data.train.*`.", setFile<&DataSpec::validation>},
  {"data.validation.tokens", Kind::Files, any, "", "none",
   "As `data.train.tokens`.", setTokens<&DataSpec::validation>, true},
  {"data.validation.type", Kind::Choice, any,
   "auto|uint8|uint16|uint32|int32", "auto", "As `data.train.type`.",
   setTokenType<&DataSpec::validation>, true},
  {"data.validation.input", Kind::Text, any, "", "none",
   "As `data.train.input`.", setInput<&DataSpec::validation>, true},
  {"data.validation.labels", Kind::Text, any, "", "none",
   "As `data.train.labels`.", setLabels<&DataSpec::validation>, true},
  {"data.validation.targets", Kind::Choice, any, "next|same",
   "`same` with `loss.shift`, else `next`", "As `data.train.targets`.",
   setTargets<&DataSpec::validation>, true},
  {"data.validation.fill", Kind::Names, any, "", "none", "As `data.train.fill`.", nullptr, true},
  {
   "data.validation.fill.*", Kind::Number, any, "", "none", "That number.",
   setFill<&DataSpec::validation>, true},
  {"data.shuffle", Kind::Boolean, any, "", "false",
   "Rows are read in a random order, a different one in each epoch, each row once per epoch. The order depends on "
   "`seed` and the epoch only, not on the layout.",
   [](Spec &s, const Value &v) { s.data.shuffles = v.boolean; }},
  {"data.seed", Kind::Integer, notNegative, "",
   "`init.seed`, or `--seed` of the program", "Seed of the order.",
   [](Spec &s, const Value &v) { s.data.seed = uint64_t(v.integer); }},
  {"data.end", Kind::Choice, any, "continue|drop", "continue",
   "The end of an epoch. `continue`: a step may combine the last rows of one epoch with the first of the next, so no "
   "row is dropped. `drop`: an epoch has only whole global batches; the remaining rows are dropped (the same ones in "
   "each epoch, also with `shuffle`).",
   [](Spec &s, const Value &v) { s.data.end = v.text ==
   "drop" ? DataSpec::End::Drop : DataSpec::End::Continue; }},
};
// clang-format on

} // namespace

ArrayRef<Key> dataKeys() { return dataRows; }

} // namespace xlc::spec
