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
  std::string resume;          ///< "auto", or the folder of a checkpoint; empty: the run begins
  std::string checkpointDir;   ///< empty: the plan's
  bool checkpointsNow = false; ///< one is written before the first step
  bool dataChanged = false;    ///< a run is resumed with other data
  std::string dataFolder;
  std::map<std::string, std::string> dataFiles; ///< by input; those of the stream as "tokens"
  bool evaluates = false;                       ///< instead of training, evaluates once
  std::string predictions;                      ///< the folder of outputs that this writes; empty: none
  std::string validationFolder;                 ///< what it evaluates on, as dataFolder and dataFiles
  std::map<std::string, std::string> validationFiles;
  bool checksData = false; ///< instead of a run, reads all of it
  /// Instead of training, generates so many tokens behind those of a file.
  struct Generate {
    uint64_t tokens = 0;
    std::string prompt;
    double temperature = 1; ///< 0: the most likely token
    uint64_t topK = 0;      ///< of so many most likely ones; 0: of all
  };
  std::optional<Generate> generate;
  uint64_t logNorms = 0;  ///< norms of parameters are logged every so many steps; 0: never
  bool examines = true;   ///< a step that has failed is run again, and looked at
  bool checksNan = false; ///< every step is looked at
  std::optional<double> learningRate;
  std::optional<uint64_t> seed;
  std::optional<Fault> fault;
  bool nativeLibraries = false; ///< library calls use all that this machine has
  std::string tuned, tune;      ///< files of algorithms: read, and written instead of a run
  bool registersMemory = false; ///< with NCCL
  bool check = false;
  std::optional<bool> processes;  ///< each rank is one, else a thread; none: as the target likes
  double timeout = 60;            ///< seconds; 0: none
  std::optional<Overlap> overlap; ///< none: the plan's
  std::optional<bool> graph;      ///< whether a step is one of a GPU; none: where a process has one rank
  std::optional<double> linkRate; ///< bytes per second that a rank reads from others at most
};

/// What the options say of data.
DataChoice choiceOf(const Plan &plan, const Options &options);
/// The same of what is evaluated on.
DataChoice validationChoiceOf(const Options &options);

/// Parses the arguments. Where the program is to end at once (--help, --version, a usage error) it prints what is to
/// be said, if it `speaks`, and returns nothing, with the exit code in `exit`. `about` describes the plan in one line.
std::optional<Options> parseOptions(int argc, const char *const *argv, const std::string &about, bool speaks,
                                    Exit &exit);

} // namespace xlc::runtime

#endif
