// See Resumption.h.
#include "Resumption.h"

#include "Files/Checksum.h"
#include "Files/StandardStreams.h"
#include "Plan/PlannedSchedule.h"

#include <fmt/format.h>

#include <filesystem>

namespace xlc::runtime {
namespace {

namespace fs = std::filesystem;

constexpr char automatic[] = "auto";
constexpr uint64_t endBytes = 1 << 20; ///< of a file of data, at either end

std::string digestEnds(const InputFile &file) {
  uint64_t some = std::min(file.size(), endBytes);
  std::vector<char> bytes(some);
  Checksum checksum;
  for (uint64_t from : {(uint64_t)0, file.size() - some}) {
    file.read(from, some, bytes.data());
    checksum.add(bytes.data(), some);
  }
  return checksum.digits();
}

std::vector<std::string> findCandidates(const Plan &plan, const Options &options) {
  if (options.resume.empty())
    return {};
  if (options.resume != automatic)
    return {options.resume};
  std::string dir = checkpointFolder(plan, options);
  if (dir.empty())
    throw Rejected("error: --resume auto requires a folder of checkpoints: add 'checkpoint: {dir: ...}' to the spec, "
                   "or give --checkpoint-dir");
  std::vector<std::string> folders;
  bool isAny = false;
  for (const StepFolder &folder : listStepFolders(dir)) {
    isAny = true;
    if (folder.hasManifest)
      folders.push_back(folder.path);
  }
  if (isAny && folders.empty())
    say(fmt::format("{}: note: contains only unfinished checkpoints; the run starts from the beginning", dir));
  if (folders.empty() && (options.evaluates || options.generate))
    throw NoCheckpoint(fmt::format(
        "{}: error: has no checkpoint for this run, which does not train; omit --resume to use the initial parameters",
        dir));
  return folders;
}

} // namespace

std::string checkpointFolder(const Plan &plan, const Options &options) {
  if (!options.checkpointDir.empty())
    return options.checkpointDir;
  return plan.checkpoints ? plan.checkpoints->dir : "";
}

SavedData describeData(const Plan &plan, const Data &data, const DataChoice &choice) {
  SavedData described;
  described.rows = data.rows();
  for (const DataFile &each : listDataFiles(plan, choice)) {
    InputFile file(each.path);
    described.files.push_back({fs::path(each.path).filename().string(), file.size(), digestEnds(file)});
  }
  const plan::DatasetT &dataset = *plan.dataset;
  described.shuffle = dataset.shuffle, described.drop = dataset.drop;
  described.seed = dataset.seed.value_or(choice.seed);
  return described;
}

Resumption::Resumption(const Plan &plan, const Options &options)
    : plan(plan), options(options), ownSeed(options.seed.value_or(plan.seed)),
      candidates(findCandidates(plan, options)) {
  open();
}

void Resumption::open() {
  for (opened = nullptr; number < candidates.size() && !opened; number += !opened)
    try {
      opened = std::make_shared<const Checkpoint>(candidates[number]);
    } catch (const Damaged &problem) {
      reasons.emplace_back(problem.what());
    }
  if (candidates.empty())
    return;
  if (!opened)
    throw NoCheckpoint(fmt::format("{}\nerror: no checkpoint can be resumed", fmt::join(reasons, "\n")));
  if (std::string why = findDifferences(plan, opened->manifest()); !why.empty())
    throw Rejected(
        fmt::format("{}: error: cannot be resumed by this program: {}; use --init to start from its parameters only",
                    opened->folder, why));
  if (options.seed && *options.seed != seed())
    throw Rejected(fmt::format("error: --seed is {}, but the run that wrote {} has seed {}: omit --seed", *options.seed,
                               opened->folder, seed()));
}

void Resumption::passOver(uint64_t count) {
  if (count <= number)
    return;
  uint64_t before = seed();
  number = count;
  open();
  if (seed() != before)
    throw Rejected(fmt::format("{}: error: has seed {}, but the newer checkpoint, which is damaged, has seed {}",
                               opened->folder, seed(), before));
}

void Resumption::checkData(const SavedData &data) const {
  if (!opened || !opened->manifest().data || options.dataChanged)
    return;
  const SavedData &was = *opened->manifest().data;
  auto refuse = [&](const std::string &why) {
    throw Rejected(fmt::format(
        "{}: error: cannot be resumed with these data: {}; --data-changed continues at the same sample anyway",
        opened->folder, why));
  };
  if (was.rows != data.rows)
    refuse(fmt::format("the data have {} rows, but the checkpoint records {}", data.rows, was.rows));
  if (was.shuffle != data.shuffle || was.drop != data.drop || (was.shuffle && was.seed != data.seed))
    refuse("'data.shuffle', 'data.seed' or 'data.end' differs from the recorded value");
  if (was.files.size() != data.files.size())
    refuse(fmt::format("the data have {} files, but the checkpoint records {}", data.files.size(), was.files.size()));
  for (size_t i = 0; i < was.files.size(); ++i)
    if (was.files[i] != data.files[i])
      refuse(fmt::format("file '{}' ({} bytes) differs from the recorded file '{}' ({} bytes) in name, size, or "
                         "content at the beginning or end",
                         data.files[i].name, data.files[i].bytes, was.files[i].name, was.files[i].bytes));
}

std::string Resumption::describe() const {
  std::string text;
  for (const std::string &reason : reasons)
    text += fmt::format("note: skipped: {}\n", reason);
  if (!opened)
    return text;
  const Manifest &manifest = opened->manifest();
  const Manifest::MadeBy &by = manifest.madeBy;
  if (!manifest.data && !options.dataChanged)
    text += fmt::format("note: {} has no record of the run's data: training continues at sample {} of the given data\n",
                        opened->folder, progress().samples);
  if (std::string is = describeSchedule(plan); manifest.schedule != is && manifest.schedule != kImportedSchedule)
    text +=
        fmt::format("note: learning rates follow the schedule of this program, {}; the checkpoint's schedule is {}\n",
                    is, manifest.schedule);
  return text + fmt::format("resumes {}: step {}, {} samples (written by xlc {}: {}, {}, {})", opened->folder,
                            progress().step, progress().samples, by.xlc, by.layout, by.precision, by.target);
}

} // namespace xlc::runtime
