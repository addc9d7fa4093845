// See Options.h.
#include "Options.h"

#include "Files/StandardStreams.h"
#include "OptionValues.h"
#include "xlc/Support/CommandLine.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <iostream>
#include <limits>
#include <sstream>

namespace xlc::runtime {
namespace {

constexpr uint64_t mostGenerated = 1'000'000'000;
constexpr uint64_t mostSteps = std::numeric_limits<int64_t>::max();

constexpr char examples[] = R"(
Examples:
  ./train --steps 20                                  train for 20 steps, one line each
  ./train --steps 20 --log log.jsonl --save final.safetensors
  ./train --data input_ids=a.npy,labels=b.npy         other data, one .npy file per model input
  ./train --data folder                               folder/NAME.npy for every input
  ./train --data tokens='corpus/*.bin' --epochs 3     three passes over other token files
  ./train --eval --init final.safetensors             evaluate once (requires 'eval' in the spec)
  ./train --predict outputs --init final.safetensors  the same; write outputs/NAME.npy for 'eval.outputs'
  ./train --generate 200 --prompt text --resume auto  generate 200 tokens that continue those of a file
  ./train --log log.csv --tensorboard charts          write the log as a table, and files for TensorBoard
  ./train --check-data                                check all data: every id must have a row in its table
  ./train --init final.safetensors --lr 1e-4          start from saved parameters
  ./train --resume auto                               resume from the newest checkpoint, if there is one
  touch CK/checkpoint-now                             in CK, the folder of checkpoints: write one after this step
  ./train --steps 3 --profile trace.json              trace of all ranks, for https://ui.perfetto.dev
  ./train --steps 3 --inject-fault 0:3:begin          make rank 0 fail in step 3 at the action 'begin', which
                                                      every program has; a --profile trace lists all others
  ./train --tune h100.json && ./train --tuned h100.json       use the fastest algorithms for products on a GPU
  ./train --processes                                 run each rank as a process, started and watched by this
                                                      one (the default on GPUs)
  mpirun --bind-to none -np 4 ./train                 the same with another launcher: one process per rank of the
                                                      plan; also srun, torchrun --no-python -- (on several hosts
                                                      with GPUs only), and mpiexec on one host

Ranks with GPUs on several hosts connect to MASTER_ADDR, at the port MASTER_PORT + 1. XLC_JOB_SECRET, a secret text in
the environment of all ranks, keeps other processes out; the connections are not encrypted.

Ctrl-C (SIGINT), SIGTERM and SIGHUP end the run after the current step, with a checkpoint if the run has a folder for
them, and with --save; a second Ctrl-C or SIGTERM ends it at once. SIGUSR1 writes a checkpoint, and training continues.
A line that cannot be written (--log, stdout) does not end the run.

Exit codes: 0 done, 1 input rejected or output not written, 2 usage, 5 a rank failed, 6 no checkpoint can be resumed,
7 the loss or a gradient is not finite, 70 internal error, 130, 143, 129 ended by SIGINT, SIGTERM, SIGHUP)";

Options::Generate &generationOf(Options &options) {
  return options.generate ? *options.generate : options.generate.emplace();
}

/// After all others: --tune is none of a run's.
void addOptionsOfTuning(CLI::App &app, Options &options) {
  CLI::Option *tune = app.add_option("--tune", options.tune,
                                     "instead of training: time cuBLASLt's algorithms for all products on the first "
                                     "GPU (takes seconds) and write the fastest ones to this file, for --tuned");
  app.add_option("--tuned", options.tuned, "use the algorithms in this file, written by --tune, for products on GPUs");
  for (CLI::Option *other : app.get_options())
    if (other != tune && other->get_name() != "--help" && other->get_name() != "--version")
      tune->excludes(other);
}

void addOptionsOfFiles(CLI::App &app, Options &options) {
  app.add_option(
      "--log", options.log,
      "write one JSON object per step and evaluation to this file; if its name ends in .csv, write a CSV table");
  app.add_option("--tensorboard", options.tensorboard,
                 "write losses, rates, norms and metrics for TensorBoard to this folder")
      ->type_name("FOLDER");
  app.add_option("--save", options.save, "write the parameters to this safetensors file at the end");
  app.add_option("--save-trained", options.saveTrained, "like --save, without frozen parameters");
  app.add_option("--save-ema", options.saveAverage,
                 "like --save, with the averages of the spec's ema instead of the trained parameters");
  app.add_option("--init", options.init,
                 "start from the parameters in this safetensors file (of any float type) or checkpoint");
  app.add_option("--resume", options.resume,
                 "resume from this checkpoint (of any layout); auto: resume from the newest checkpoint in the run's "
                 "folder, or start a new run if the folder has none")
      ->type_name("auto|FOLDER");
  app.add_option("--checkpoint-dir", options.checkpointDir,
                 "folder of the run's checkpoints; default: checkpoint.dir of the spec")
      ->type_name("FOLDER");
  app.add_flag("--checkpoint-now", options.checkpointsNow,
               "write a checkpoint before the first step; with --resume and no steps left to run, converts a "
               "checkpoint to this program's layout");
  app.add_flag(
      "--data-changed", options.dataChanged,
      "with --resume: accept data that differ from those of the run so far; training continues at the same sample");
}

/// What a program does in place of training.
void addOptionsOfEvaluation(CLI::App &app, Options &options) {
  CLI::Option *evaluates = app.add_flag("--eval", options.evaluates,
                                        "instead of training: evaluate once, with --init or --resume, and exit");
  app.add_option_function<std::string>(
         "--validation",
         [&options](const std::string &text) {
           parseData("--validation", text, options.validationFolder, options.validationFiles);
         },
         "validation data, in the same form as --data; default: data.validation of the spec")
      ->join(',');
  CLI::Option *predicts = app.add_option("--predict", options.predictions,
                                         "like --eval, and write the spec's eval.outputs to this folder: NAME.npy "
                                         "contains the output for each row, in row order")
                              ->type_name("FOLDER");
  CLI::Option *generates = app.add_option_function<std::string>(
                                  "--generate",
                                  [&options](const std::string &text) {
                                    generationOf(options).tokens = parseWhole("--generate", text, 1, mostGenerated);
                                  },
                                  "instead of training: generate this many tokens, each drawn from the model's "
                                  "prediction, and print them: uint8 tokens as bytes, others as numbers")
                               ->type_name("COUNT");
  CLI::Option *prompt = app.add_option_function<std::string>(
                               "--prompt", [&options](const std::string &text) { generationOf(options).prompt = text; },
                               "file with the tokens to continue, of the token type of the spec's stream (uint8: text)")
                            ->type_name("FILE");
  app.add_option_function<std::string>(
         "--temperature",
         [&options](const std::string &text) {
           generationOf(options).temperature = parseAmount("--temperature", text);
         },
         "divide the logits by this number before a token is drawn; 0: always take the most likely token; default: 1")
      ->type_name("NUMBER")
      ->needs(generates);
  app.add_option_function<std::string>(
         "--top-k",
         [&options](const std::string &text) {
           generationOf(options).topK = parseWhole("--top-k", text, 1, mostSteps);
         },
         "draw from the COUNT most likely tokens only; default: from all tokens")
      ->type_name("COUNT")
      ->needs(generates);
  generates->needs(prompt), prompt->needs(generates);
  generates->excludes(evaluates)->excludes(predicts);
}

/// What would have no effect is refused: the options of training where nothing is trained.
void excludeOptionsOfTraining(CLI::App &app) {
  CLI::Option *generates = app.get_option("--generate");
  for (const char *ofTraining : {"--steps", "--epochs", "--save", "--save-trained", "--save-ema", "--lr", "--check-nan",
                                 "--no-examine", "--log-norms", "--inject-fault"})
    for (CLI::Option *other : {app.get_option("--eval"), app.get_option("--predict"), generates})
      other->excludes(ofTraining);
  for (const char *ofEvaluation : {"--validation", "--log", "--tensorboard", "--profile"})
    generates->excludes(ofEvaluation);
}

/// What is looked at in steps beside the numbers that each gives.
void addOptionsOfObservation(CLI::App &app, Options &options) {
  app.add_flag(
         "--no-examine{false}", options.examines,
         "if the loss or a gradient is not finite, exit without running the step again to find the first such value")
      ->disable_flag_override();
  app.add_flag("--check-nan", options.checksNan, "search every step for the first value that is not finite (slow)")
      ->excludes("--no-examine");
  app.add_option_function<std::string>(
         "--log-norms",
         [&options](const std::string &text) { options.logNorms = parseWhole("--log-norms", text, 1, mostSteps); },
         "every COUNT steps, write the norm and the largest magnitude of each parameter's gradient and update to --log "
         "(on one host only)")
      ->type_name("COUNT")
      ->needs("--log")
      ->excludes("--check-nan");
  app.add_option("--profile", options.profile, "write a trace of every rank to this file");
  app.add_option("--stats", options.stats, "write planned and used bytes to this file");
}

/// How ranks run, wait and meet.
void addOptionsOfRunning(CLI::App &app, Options &options) {
  app.add_option_function<std::string>(
         "--library-isa", [&options](const std::string &text) { options.nativeLibraries = text == "native"; },
         "instruction sets for library calls: plan: those of the processors that the program is compiled for; native: "
         "all of this machine's, if the planned workspace suffices (changes the last bits of results)")
      ->type_name("plan|native")
      ->check(CLI::IsMember({"plan", "native"}));
  app.add_option_function<std::string>(
         "--overlap",
         [&options](const std::string &text) {
           options.overlap = text == "threads" ? Overlap::Threads : Overlap::Inline;
         },
         "how a rank runs exchanges and loads: inline: one action after another (on a GPU: on one stream); threads: "
         "in parallel with its computations (with bitwise identical results); default: runtime.overlap of the spec; on "
         "GPUs, several streams")
      ->type_name("inline|threads")
      ->check(CLI::IsMember({"inline", "threads"}));
  app.add_option_function<std::string>(
         "--graph", [&options](const std::string &text) { options.graph = text == "on"; },
         "on: launch each step on GPUs as one CUDA graph, from the third step on; off: launch it action by action "
         "(with bitwise identical results); not with --profile, --check or --link-rate; default: on, but off if a "
         "process has several GPUs, as NCCL recommends")
      ->type_name("on|off")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_flag("--register-buffers", options.registersMemory,
               "register the memory of several GPUs with NCCL, so that it exchanges data without copies through its "
               "own buffers, if GPUs and network support this (NCCL's sums may round differently)");
  app.add_option_function<std::string>(
         "--link-rate",
         [&options](const std::string &text) {
           options.linkRate = parseAmount("--link-rate", text);
           if (*options.linkRate < 1000)
             throw CLI::ValidationError("--link-rate", "'" + text + "' is less than 1000 bytes per second");
         },
         "simulate a slower network: delay messages as on a link of this many bytes per second, for example 1e9")
      ->type_name("RATE");
  app.add_option_function<std::string>(
         "--timeout", [&options](const std::string &text) { options.timeout = parseAmount("--timeout", text); },
         "seconds to wait for ranks that do not join or make no progress; 0: no limit; default: 60")
      ->type_name("SECONDS");
  CLI::Option *processes = app.add_flag_callback(
      "--processes", [&options] { options.processes = true; },
      "run each rank as a process, not as a thread (with bitwise identical results); the default on GPUs");
  app.add_flag_callback(
         "--threads", [&options] { options.processes = false; },
         "run the ranks as threads of this process; the default on CPUs")
      ->excludes(processes);
  app.add_flag("--check", options.check,
               "before each call, fill all memory but its operands with a poison value (slow)")
      ->excludes("--overlap");
}

/// Help to stdout; what is wrong to stderr, where nothing of the arguments may reach the terminal as it is.
void tellUsage(const CLI::App &app, const CLI::ParseError &result) {
  std::ostringstream complaint;
  app.exit(result, std::cout, complaint);
  if (std::string text = complaint.str(); !text.empty())
    say(text.substr(0, text.find_last_not_of('\n') + 1));
}

} // namespace

DataChoice choiceOf(const Plan &plan, const Options &options) {
  return {options.dataFiles, options.dataFolder, options.seed.value_or(plan.seed)};
}

DataChoice validationChoiceOf(const Options &options) { return {options.validationFiles, options.validationFolder, 0}; }

std::optional<Options> parseOptions(int argc, const char *const *argv, const std::string &about, bool speaks,
                                    Exit &exit) {
  Options options;
  CLI::App app(about);
  app.footer(examples);
  app.set_version_flag("--version", fmt::format("xlc runtime {}\n{}", XLC_VERSION, about));
  app.add_option_function<std::string>(
         "--steps", [&](const std::string &text) { options.steps = parseWhole("--steps", text, 1, mostSteps); },
         "number of optimizer steps; default: one epoch, as with --epochs 1")
      ->type_name("COUNT");
  app.add_option_function<std::string>(
         "--epochs", [&](const std::string &text) { options.epochs = parseWhole("--epochs", text, 1, mostSteps); },
         "instead of --steps: number of passes over the data; if the last step lacks rows, it uses rows of the next "
         "epoch")
      ->type_name("COUNT")
      ->excludes("--steps");
  addOptionsOfFiles(app, options);
  app.add_option_function<std::string>(
         "--data", [&](const std::string &text) { parseData("--data", text, options.dataFolder, options.dataFiles); },
         "folder with a NAME.npy for each input, or name=path,... (may be repeated); if the spec has a token stream: "
         "tokens=path, or a pattern")
      ->join(',');
  addOptionsOfEvaluation(app, options);
  app.add_flag("--check-data", options.checksData, "instead of training: read all data, report errors, and exit");
  app.add_option_function<std::string>(
         "--lr", [&](const std::string &text) { options.learningRate = parseAmount("--lr", text); },
         "learning rate; scales the whole schedule, and groups with their own rates keep their ratios to the first "
         "group")
      ->type_name("RATE");
  app.add_option_function<std::string>(
         "--seed", [&](const std::string &text) { options.seed = parseWhole("--seed", text, 0, UINT64_MAX); },
         "seed of random initial values, stochastic rounding and generated tokens; default: that of the spec")
      ->type_name("NUMBER");
  addOptionsOfObservation(app, options);
  app.add_option_function<std::string>(
      "--inject-fault", [&](const std::string &text) { options.fault = parseFault(text); },
      "for tests: make a rank fail (rank:step:action), make a gradient overflow (rank:step:parameter=inf or =nan), or "
      "flip a bit of a rank's parameter after the step (rank:step:parameter=flip; of a state: m/parameter=flip)");
  addOptionsOfRunning(app, options);
  excludeOptionsOfTraining(app);
  addOptionsOfTuning(app, options);
  refuseEmptyValues(app);
  try {
    app.parse(argc, const_cast<char **>(argv));
  } catch (const CLI::ParseError &result) {
    exit = result.get_exit_code() == 0 ? Exit::Done : Exit::Usage;
    if (speaks)
      tellUsage(app, result);
    return std::nullopt;
  }
  options.evaluates |= !options.predictions.empty();
  return options;
}

} // namespace xlc::runtime
