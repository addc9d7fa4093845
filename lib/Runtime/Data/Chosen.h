// Selects the source of the rows of each input: a dataset of the plan, or files that the command line names instead.
#ifndef XLC_LIB_RUNTIME_DATA_CHOSEN_H
#define XLC_LIB_RUNTIME_DATA_CHOSEN_H

#include "Plan/Plan.h"

#include <map>

namespace xlc::runtime {

/// The data options of the command line: files by the name of an input, the files of the stream as "tokens"; a folder
/// of NAME.npy; a seed, used if the spec states none for the order.
struct DataChoice {
  std::map<std::string, std::string> files = {}; // NOLINT
  std::string folder = "";                       // NOLINT
  uint64_t seed = 0;
};

/// The dataset of a purpose in the plan. An evaluation reads each row once.
inline const plan::DatasetT &datasetOf(const Plan &plan, plan::Purpose purpose) {
  return purpose == plan::Purpose::train ? *plan.dataset : *plan.validation;
}

/// The source of an input: the one in the dataset, unless the command line replaces it.
class Chosen {
public:
  /// The option's name for the files of a stream.
  static constexpr char streamName[] = "tokens";
  Chosen(const Plan &plan, const plan::DatasetT &dataset, const DataChoice &choice)
      : plan(plan), dataset(dataset), choice(choice) {}

  bool isOfRows(size_t i) const { return isOfData(*plan.inputs[i]) && sourceOf(i) == plan::InputSource::Rows; }
  plan::InputSource sourceOf(size_t i) const {
    const plan::InputT &input = *plan.inputs[i];
    if (!isOfData(input) || choice.files.count(dataName(input)) || !choice.folder.empty())
      return plan::InputSource::Rows;
    return dataset.inputs[i]->source;
  }
  /// The file with the rows of an input; empty if it has none.
  std::string pathOf(size_t i) const {
    const std::string &name = dataName(*plan.inputs[i]), &path = dataset.inputs[i]->path;
    if (auto it = choice.files.find(name); it != choice.files.end())
      return it->second;
    if (!choice.folder.empty())
      return pathIn(choice.folder, name);
    return !path.empty() || dataset.folder.empty() ? path : pathIn(dataset.folder, name);
  }
  bool readsStream() const {
    for (size_t i = 0; i < plan.inputs.size(); ++i)
      if (isOfStream(sourceOf(i)))
        return true;
    return false;
  }
  std::vector<std::string> streamFiles() const {
    if (auto it = choice.files.find(streamName); it != choice.files.end())
      return {it->second};
    return dataset.stream ? dataset.stream->files : std::vector<std::string>();
  }

  static bool isOfStream(plan::InputSource source) {
    return source == plan::InputSource::Tokens || source == plan::InputSource::NextTokens;
  }

private:
  /// Names of inputs are not paths: an input whose name contains a slash has no file in a folder.
  static std::string pathIn(const std::string &folder, const std::string &name) {
    return name.find('/') == std::string::npos ? folder + "/" + name + ".npy" : "";
  }

  const Plan &plan;
  const plan::DatasetT &dataset;
  const DataChoice &choice;
};

} // namespace xlc::runtime

#endif
