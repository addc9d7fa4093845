// The command line of a training program.
#ifndef XLC_LIB_RUNTIME_JOB_OPTIONS_H
#define XLC_LIB_RUNTIME_JOB_OPTIONS_H

#include "Data/Data.h"
#include "Device/Executor.h"

#include <map>
#include <optional>
#include <string>

namespace xlc::runtime {

struct Options {
  std::optional<uint64_t> steps, epochs; ///< neither: one epoch
  std::string log, tensorboard, save, saveTrained, saveAverage, init, profile, stats;
  std::string resume;          ///< empty: the run starts anew
  std::string checkpointDir;   ///< empty: that of the plan
  bool checkpointsNow = false; ///< a checkpoint is written before the first step
  bool dataChanged = false;    ///< a run is resumed with other data
  std::string dataFolder;
  std::map<std::string, std::string> dataFiles; ///< by input; files of the stream as "tokens"
  bool evaluates = false;                       ///< evaluates once instead of training
  std::string predictions;                      ///< the folder for the written outputs; empty: none
  std::string validationFolder;                 ///< data of the evaluation, as dataFolder and dataFiles
  std::map<std::string, std::string> validationFiles;
  bool checksData = false; ///< reads all data instead of a run
  /// Instead of training, generates tokens after those of a file.
  struct Generate {
    uint64_t tokens = 0;
    std::string prompt;
    double temperature = 1; ///< 0: the most likely token
    uint64_t topK = 0;      ///< samples from the most likely tokens; 0: from all
  };
  std::optional<Generate> generate;
  uint64_t logNorms = 0;  ///< interval in steps at which norms of parameters are logged; 0: never
  bool examines = true;   ///< a failed step is repeated and examined
  bool checksNan = false; ///< every step is examined
  std::optional<double> learningRate;
  std::optional<uint64_t> seed;
  std::optional<Fault> fault;
  bool nativeLibraries = false; ///< library calls use all features of this machine
  std::string tuned, tune;      ///< files of algorithms: one that is read, one that is written instead of a run
  bool registersMemory = false; ///< with NCCL
  bool check = false;
  std::optional<bool> processes;  ///< ranks are processes, else threads; none: default of the target
  double timeout = 60;            ///< seconds; 0: none
  std::optional<Overlap> overlap; ///< none: that of the plan
  std::optional<bool> graph;      ///< whether steps are GPU graphs; none: if a process has one rank
  std::optional<double> linkRate; ///< the limit of bytes per second that a rank reads from others
};

/// The data options.
DataChoice choiceOf(const Plan &plan, const Options &options);
/// The data options of the evaluation.
DataChoice validationChoiceOf(const Options &options);

/// Parses the arguments. If the program must end at once (--help, --version, a usage error), prints the text, if it
/// `speaks`, and returns nothing, with the exit code in `exit`. `about` describes the plan in one line.
std::optional<Options> parseOptions(int argc, const char *const *argv, const std::string &about, bool speaks,
                                    Exit &exit);

} // namespace xlc::runtime

#endif
