// Prints docs/Spec.md from the key table.
#include "Aliases.h"
#include "Keys.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace xlc {
namespace {

constexpr StringLiteral introduction = R"(# The spec file

One YAML file configures training; the ONNX file defines the model. Every key has a default, so a spec can be as short
as `dp: 8` and `zero_stage: 3`. `xlc docs spec` prints this page from the table by which specs are checked.

- Sizes in bytes carry a unit (`25MiB`, `24GB`); counts carry none.
- Paths are relative to the spec file.
- Unknown keys, repeated keys, aliases and anchors are errors.
  All errors of a file are reported in one run, each with line and column.
- In the tables `*` stands for a name, such as that of a dimension or an input, and `[]` for the entries of a list.

```yaml
dp: 4
zero_stage: 3
batch: {global: 32, micro: 2}
dims: {sequence: 1024}
loss: {type: cross_entropy, logits: logits, labels: labels, shift: true}
optimizer: {type: adamw, lr: 3.0e-4, betas: [0.9, 0.95], weight_decay: 0.1, clip_norm: 1.0,
            groups: [{match: ["*.bias", "*.ln_*"], weight_decay: 0}]}
data: {train: {input_ids: input_ids.npy, labels: labels.npy}}
```
)";

constexpr StringLiteral tableHead = "\n| key | takes | default | meaning |\n|---|---|---|---|\n";

void printRow(const spec::Key &key, raw_ostream &out) {
  std::string takes = spec::describe(key);
  if (key.kind == spec::Kind::Choice)
    takes = "`" + join(split(StringRef(key.choices), '|'), "`, `") + "`";
  if (key.kind == spec::Kind::ChoiceOrTensors)
    takes = "`" + join(split(StringRef(key.choices), '|'), "`, `") + "`, a .safetensors file";
  if (key.kind == spec::Kind::ChoiceOrDevice)
    takes = "`" + join(split(StringRef(key.choices), '|'), "`, `") + "`, a .yaml file, a mapping";
  out << "| `" << key.path << "` | " << takes << " | " << key.defaultText << " | " << key.doc << " |\n";
}

/// What each update rule computes and keeps.
void printOptimizers(raw_ostream &out) {
  out << "\n| `optimizer.type` | kept for each parameter | update of p by the gradient g |\n|---|---|---|\n";
  for (const Optimizer &row : getOptimizers()) {
    out << "| `" << row.name << "` | ";
    interleaveComma(row.states, out, [&](const Optimizer::State &state) {
      out << "`" << state.name << "`";
      if (state.unlessZero)
        out << " where " << getName(*state.unlessZero) << " is not 0";
    });
    out << " | " << row.doc << " |\n";
  }
}

/// What each schedule of learning rates makes of a rate. Shapes and milestones stand in the text of their keys.
void printSchedules(raw_ostream &out) {
  out << "\nThe factor on a rate after t applied steps. W is `warmup`: while t < W, the factor increases from "
         "`warmup_from` to 1:\n`warmup_from + (1 - warmup_from) t / W`. T is `steps`, p = (t - W) / max(1, T - W), m = "
         "`min_lr` / `optimizer.lr`. After T, each formula continues\nas in the library in parentheses; a cosine, for "
         "example, rises again.\n\n"
         "| `lr_schedule.type` | takes | factor for t >= W |\n|---|---|---|\n";
  for (const runtime::ScheduleRow &row : runtime::kSchedules) {
    SmallVector<StringRef> keys;
    for (const runtime::TakenByRate &taken : row.takes)
      keys.push_back(runtime::rowOf(taken.key).name);
    if (row.warmupShape)
      keys.push_back("warmup_shape");
    if (row.decayShape)
      keys.push_back("decay_shape");
    if (row.takesMilestones)
      keys.push_back("milestones");
    out << "| `" << StringRef(row.name) << "` | `" << join(keys, "`, `") << "` | " << StringRef(row.doc) << " |\n";
  }
}

/// A section, or what has a value of its own and keys beside it.
bool opensTable(const spec::Key &key) {
  return !key.path.contains('.') &&
         (key.kind == spec::Kind::Section || (key.kind == spec::Kind::Choice && spec::hasKeys(key)));
}

} // namespace

void printSpecDocumentation(raw_ostream &out) {
  out << introduction << "\n## Ranks, dimensions, parameters\n" << tableHead;
  for (const spec::Key &key : spec::keyTable()) {
    StringRef section = key.path.split('.').first;
    bool isInSection = opensTable(*spec::findKey(section));
    if (!isInSection && key.kind != spec::Kind::Unsupported)
      printRow(key, out);
  }
  for (const spec::Key &section : spec::keyTable()) {
    if (!opensTable(section))
      continue;
    out << "\n## " << section.path << "\n\n" << section.doc << "\n" << tableHead;
    for (const spec::Key &key : spec::keyTable())
      if (key.path.starts_with((section.path + ".").str()) && key.kind != spec::Kind::Unsupported)
        printRow(key, out);
    if (section.path == "optimizer")
      printOptimizers(out);
    if (section.path == "lr_schedule")
      printSchedules(out);
  }
  out << "\n## Names in other tools\n\nIf a spec contains a name of another tool that is not a key, an error "
         "message proposes the corresponding key or option. A configuration file of Accelerate, DeepSpeed or "
         "transformers given as `--spec` is recognized, and "
         "notes translate its keys and values.\n\n"
         "| other tool | xlc |\n|---|---|\n";
  for (const spec::Alias &row : spec::aliasTable())
    out << "| `" << join(split(row.theirs, ' '), "`, `") << "` | `" << row.ours << "` |\n";
  out << "\n## Not supported yet\n\nThese keys are recognized and rejected.\n\n| key | meaning |\n|---|---|\n";
  for (const spec::Key &key : spec::keyTable())
    if (key.kind == spec::Kind::Unsupported)
      out << "| `" << key.path << "` | " << key.doc << " |\n";
}

} // namespace xlc
