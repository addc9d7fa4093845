// Checks the data of a spec: that each source names a file, and that a stream of tokens states its use. Also checks
// that checkpoints have a folder.
#include "CrossChecks.h"

using namespace llvm;

namespace xlc::spec {
namespace {

/// An input gets its rows from one place.
void refuseTwoSources(const Spec &spec, const RowsSpec &rows, StringRef path, SpecErrors &errors) {
  const TokenStreamSpec &stream = *rows.stream;
  std::string labels = (path + ".labels").str();
  if (!stream.labels.empty() && stream.labels == stream.input) {
    errors.error(spec.where(labels), labels + " and " + path + ".input are both " + quote(stream.input) +
                                         "; set labels to a different input, or to loss.labels");
    errors.note(spec.where((path + ".input").str()), path + ".input is given here");
  }
  auto isOfStream = [&](StringRef name) { return name == stream.input || name == stream.labels; };
  for (const auto &[name, number] : stream.fill) {
    std::string key = (path + ".fill." + name).str();
    if (isOfStream(name))
      errors.error(spec.where(key), key + " fills an input whose rows come from the token stream");
    else if (rows.files.count(name))
      errors.error(spec.where(key), key + " fills an input whose rows come from a file");
  }
  for (const auto &[name, file] : rows.files)
    if (isOfStream(name)) {
      std::string key = (path + "." + name).str();
      errors.error(spec.where(key), key + " gives a file for an input whose rows come from the token stream");
    }
}

void checkTargets(const Spec &spec, const TokenStreamSpec &stream, StringRef path, SpecErrors &errors) {
  using Targets = TokenStreamSpec::Targets;
  std::string targets = (path + ".targets").str(), labels = (path + ".labels").str();
  if (stream.targets != Targets::Default && stream.labels.empty()) {
    errors.error(spec.where(targets), targets + " has no effect without labels");
    errors.note({}, "set " + labels + " to a model input or to loss.labels");
  }
  if (stream.targets == Targets::Next && spec.loss.shift) {
    errors.error(spec.where(targets), targets + " = next and loss.shift = true both shift the labels by one token");
    noteIfGiven(spec, "loss.shift", "loss.shift is given here", errors);
    errors.note({}, "set " + targets + " to same, the default with loss.shift");
  }
  if (stream.targets == Targets::Default && !stream.labels.empty() && spec.loss.type != LossSpec::Type::CrossEntropy) {
    errors.warning(spec.where(labels),
                   "the labels are the tokens shifted by one, and the model, which computes its own "
                   "loss, may shift them again");
    errors.note({}, "set " + targets +
                        " to same if the model shifts labels itself, as models of transformers do, and " + targets +
                        " to next otherwise");
  }
}

void checkRows(const Spec &spec, const RowsSpec &rows, StringRef path, SpecErrors &errors) {
  if (isGiven(spec, path) && rows.isEmpty())
    return errors.error(spec.where(path), path + " is empty: it must name at least one file");
  if (!rows.stream)
    return;
  if (rows.stream->input.empty()) {
    errors.error(spec.where((path + ".tokens").str()),
                 path + " is a token stream and requires input, the name of a model input");
    errors.note({}, "for example " + path + ": {tokens: corpus.bin, input: input_ids, labels: labels}");
    return;
  }
  refuseTwoSources(spec, rows, path, errors);
  checkTargets(spec, *rows.stream, path, errors);
}

} // namespace

void checkData(Spec &spec, SpecErrors &errors) {
  checkRows(spec, spec.data.train, "data.train", errors);
  checkRows(spec, spec.data.validation, "data.validation", errors);
}

void checkCheckpoint(Spec &spec, SpecErrors &errors) {
  using Background = CheckpointSpec::Background;
  if (spec.checkpoint && spec.checkpoint->background == Background::Direct && !spec.targetFacts().isHost) {
    errors.error(
        spec.where("checkpoint.background"),
        "checkpoint.background: direct is supported on CPUs only: it reads the memory of ranks while they compute");
    errors.note({}, "set checkpoint.background to copy, the default on GPUs");
  }
  if (!isGiven(spec, "checkpoint") || (spec.checkpoint && !spec.checkpoint->dir.empty()))
    return;
  errors.error(spec.where("checkpoint"), "checkpoint requires dir, the folder of the checkpoints");
  errors.note({}, "for example checkpoint: {dir: checkpoints, every: 1000}");
}

} // namespace xlc::spec
