// See Outputs.h. A file may become unwritable between this check and its use; the writers check again.
#include "Outputs.h"

#include "Data/Data.h"
#include "Failure.h"
#include "Files/OutputFile.h"
#include "Places/ProgramPath.h"
#include "Predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace xlc::runtime {
namespace {

namespace fs = std::filesystem;

constexpr char predict[] = "--predict";

struct NamedFile {
  std::string path, is; ///< `is`: what it is, in words, or the option of an output
};

/// One file under two paths, also where it does not exist yet. Devices take any number of writers.
bool isSameFile(const std::string &first, const std::string &second) {
  std::error_code ignored;
  if (fs::exists(first, ignored) && fs::exists(second, ignored))
    return fs::is_regular_file(first, ignored) && fs::equivalent(first, second, ignored);
  fs::path whole = fs::weakly_canonical(fs::absolute(first, ignored), ignored);
  return !whole.empty() && whole == fs::weakly_canonical(fs::absolute(second, ignored), ignored);
}

/// All that a run reads.
std::vector<NamedFile> listInputs(const Plan &plan, const Options &options) {
  std::vector<NamedFile> files{{programPath(), "the program itself"},
                               {besidePath(), "the program's initial values"},
                               {"/dev/stdout", "the standard output"},
                               {"/dev/stderr", "the standard error"}};
  if (!options.init.empty())
    files.push_back({options.init, "the file of --init"});
  if (!options.tuned.empty())
    files.push_back({options.tuned, "the file of --tuned"});
  if (options.generate)
    files.push_back({options.generate->prompt, "the file of --prompt"});
  for (const DataFile &file : listDataFiles(plan, choiceOf(plan, options)))
    files.push_back({file.path, file.is});
  if (plan.evaluation)
    for (const DataFile &file : listDataFiles(plan, validationChoiceOf(options), plan::Purpose::evaluate))
      files.push_back({file.path, file.is});
  return files;
}

/// Why `path` cannot be written, or nothing; throws Rejected as OutputFile does. Of a file that is `replaced`, the
/// folder is written to.
std::string findObstacle(const std::string &path, bool replaced, Devices devices) {
  fs::path folder = fs::path(findOutputTarget(path, devices)).parent_path();
  std::string parent = folder.empty() ? "." : folder.string();
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    return std::strerror(EISDIR);
  if (fs::exists(status) && access(path.c_str(), W_OK) != 0)
    return std::strerror(errno);
  if (!fs::exists(status) && status.type() != fs::file_type::not_found)
    return error.message();
  if (fs::exists(status) && !(replaced && fs::is_regular_file(status)))
    return "";
  fs::file_status place = fs::status(parent, error);
  if (fs::exists(place) && !fs::is_directory(place))
    return std::strerror(ENOTDIR);
  return access(parent.c_str(), W_OK | X_OK) != 0 ? std::strerror(errno) : "";
}

/// The folder is made where there is none.
std::string findObstacleOfPrediction(const std::string &path) {
  std::error_code ignored;
  fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status))
    return std::strerror(EISDIR);
  return fs::exists(status) && !fs::is_regular_file(status) ? "not a regular file" : "";
}

} // namespace

std::string besidePath() { return programPath() + ".safetensors"; }

void checkOutputs(const Plan &plan, const Options &options) {
  std::vector<NamedFile> outputs{{options.log, "--log"},
                                 {options.save, "--save"},
                                 {options.saveTrained, "--save-trained"},
                                 {options.saveAverage, "--save-ema"},
                                 {options.profile, "--profile"},
                                 {options.stats, "--stats"},
                                 {options.tune, "--tune"}};
  if (!options.predictions.empty())
    for (const auto &output : plan.outputs) {
      std::string path = predictionPath(options.predictions, *output);
      outputs.push_back({path, predict}), outputs.push_back({unfinishedPath(path), predict});
    }
  std::vector<NamedFile> taken = listInputs(plan, options);
  std::vector<std::string> problems;
  for (const NamedFile &output : outputs) {
    if (output.path.empty())
      continue;
    auto same = std::find_if(taken.begin(), taken.end(),
                             [&](const NamedFile &file) { return isSameFile(output.path, file.path); });
    if (same != taken.end())
      problems.push_back(
          fmt::format("{}: error: {} would overwrite {}; choose another file", output.path, output.is, same->is));
    else
      try {
        bool isSaved = output.is.starts_with("--save");
        std::string why = output.is == predict ? findObstacleOfPrediction(output.path)
                                               : findObstacle(output.path, /*replaced=*/output.is != "--log",
                                                              isSaved ? Devices::Refused : Devices::WrittenTo);
        if (!why.empty())
          problems.push_back(fmt::format("{}: error: cannot be written: {}", output.path, why));
      } catch (const Rejected &problem) {
        problems.push_back(problem.what());
      }
    taken.push_back({output.path, fmt::format("the file of {}", output.is)});
  }
  if (!problems.empty())
    throw Rejected(fmt::format("{}", fmt::join(problems, "\n")));
}

} // namespace xlc::runtime
