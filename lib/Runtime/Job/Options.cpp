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
  ./train --data tokens='corpus/*.bin' --epochs 3     other files of tokens, three times over
  ./train --eval --init final.safetensors             evaluate once, of a spec that has 'eval'
  ./train --predict outputs --init final.safetensors  the same, and outputs/NAME.npy for each of 'eval.outputs'
  ./train --generate 200 --prompt text --resume auto  200 tokens that follow those of a file
  ./train --log log.csv --tensorboard charts          a table, and files for TensorBoard
  ./train --check-data                                whether every id has a row in its table, of data of any size
  ./train --init final.safetensors --lr 1e-4          begin from saved parameters
  ./train --resume auto                               go on from the newest checkpoint, or begin where there is none
  touch CK/checkpoint-now                             in the folder of checkpoints: one more after this step
  ./train --steps 3 --profile trace.json              what ran when, for https://ui.perfetto.dev
  ./train --steps 3 --inject-fault 0:3:begin          rank 0 fails in step 3 at the action 'begin', which every
                                                      program has; a --profile trace names all the others
  ./train --tune h100.json && ./train --tuned h100.json       the fastest algorithms of a GPU's products
  ./train --processes                                 each rank is a process; this one starts and watches them (on
                                                      GPUs also without the option)
  mpirun --bind-to none -np 4 ./train                 the same, started by others: so many as the plan has ranks; also
                                                      srun, torchrun --no-python -- (on several hosts with GPUs
                                                      alone), and on one host mpiexec

Ranks with GPUs on several hosts meet at MASTER_ADDR, at the port behind MASTER_PORT. XLC_JOB_SECRET in the environment
of all of them, a text that nobody guesses, lets in no others; what they say is not encrypted.

Ctrl-C (SIGINT), SIGTERM and SIGHUP end the run after its step with a checkpoint, where it has a folder for them, and
--save is done; a second Ctrl-C or SIGTERM ends it at once. SIGUSR1 lets it write a checkpoint and go on. A line that
cannot be written (--log, stdout) does not end it.

Exit codes: 0 done, 1 input rejected or output not written, 2 usage, 5 a rank failed, 6 no checkpoint can be resumed,
7 the loss or a gradient is not finite, 70 internal error, 130, 143, 129 ended by SIGINT, SIGTERM, SIGHUP)";

Options::Generate &generationOf(Options &options) {
  return options.generate ? *options.generate : options.generate.emplace();
}

/// After all others: --tune is none of a run's.
void addOptionsOfTuning(CLI::App &app, Options &options) {
  CLI::Option *tune = app.add_option(
      "--tune", options.tune,
      "instead of training: time the algorithms of cuBLASLt for all products on the first GPU, for some seconds, and "
      "write the fastest to this file, for --tuned");
  app.add_option("--tuned", options.tuned, "let products on GPUs take the algorithms that this file has");
  for (CLI::Option *other : app.get_options())
    if (other != tune && other->get_name() != "--help" && other->get_name() != "--version")
      tune->excludes(other);
}

void addOptionsOfCheckpoints(CLI::App &app, Options &options) {
  app.add_option("--resume", options.resume,
                 "go on from this checkpoint, of any layout; auto: from the newest of the folder, and begin where that "
                 "has none")
      ->type_name("auto|FOLDER");
  app.add_option("--checkpoint-dir", options.checkpointDir,
                 "the folder of the run's checkpoints; default: the spec's checkpoint.dir")
      ->type_name("FOLDER");
  app.add_flag("--checkpoint-now", options.checkpointsNow,
               "write a checkpoint before the first step: with --resume and no step to do, for this layout");
  app.add_flag("--data-changed", options.dataChanged,
               "with --resume: the data are others than those of the run until then; it goes on at the same sample");
}

/// What a program does in place of training.
void addOptionsOfEvaluation(CLI::App &app, Options &options) {
  CLI::Option *evaluates =
      app.add_flag("--eval", options.evaluates, "instead of training: evaluate once, with --init or --resume, and end");
  app.add_option_function<std::string>(
      "--validation",
      [&options](const std::string &text) {
        parseData("--validation", text, options.validationFolder, options.validationFiles);
      },
      "what is evaluated on, as --data; default: the spec's data.validation");
  CLI::Option *predicts =
      app.add_option("--predict", options.predictions,
                     "as --eval, and write eval.outputs of the spec to this folder: NAME.npy has those of all rows, in "
                     "their order")
          ->type_name("FOLDER");
  CLI::Option *generates =
      app.add_option_function<std::string>(
             "--generate",
             [&options](const std::string &text) {
               generationOf(options).tokens = parseWhole("--generate", text, 1, mostGenerated);
             },
             "instead of training: print so many tokens, one after the other, each drawn from what the model predicts "
             "behind the last ones; of uint8 as bytes, others as numbers")
          ->type_name("COUNT");
  CLI::Option *prompt = app.add_option_function<std::string>(
                               "--prompt", [&options](const std::string &text) { generationOf(options).prompt = text; },
                               "what comes before, tokens in the type of the spec's stream: of uint8 a text")
                            ->type_name("FILE");
  app.add_option_function<std::string>(
         "--temperature",
         [&options](const std::string &text) {
           generationOf(options).temperature = parseAmount("--temperature", text);
         },
         "by which logits are divided before a token is drawn; 0: the most likely one; default: 1")
      ->type_name("NUMBER")
      ->needs(generates);
  app.add_option_function<std::string>(
         "--top-k",
         [&options](const std::string &text) {
           generationOf(options).topK = parseWhole("--top-k", text, 1, mostSteps);
         },
         "draw one of so many most likely tokens; default: of all")
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
         "where the loss or a gradient is not finite: end without running the step again to find the first such value")
      ->disable_flag_override();
  app.add_flag("--check-nan", options.checksNan, "look for the first value that is not finite in every step; slow")
      ->excludes("--no-examine");
  app.add_option_function<std::string>(
         "--log-norms",
         [&options](const std::string &text) { options.logNorms = parseWhole("--log-norms", text, 1, mostSteps); },
         "every so many steps, write the norm and the largest magnitude of each parameter's gradient and update to "
         "--log; on one host")
      ->type_name("COUNT")
      ->needs("--log")
      ->excludes("--check-nan");
  app.add_option("--profile", options.profile, "write a trace of every rank to this file");
  app.add_option("--stats", options.stats, "write bytes planned and used to this file");
}

/// How ranks run, wait and meet.
void addOptionsOfRunning(CLI::App &app, Options &options) {
  app.add_option_function<std::string>(
         "--library-isa", [&options](const std::string &text) { options.nativeLibraries = text == "native"; },
         "instructions that library calls use: those of the processors that the program is made for, or all that this "
         "machine has, where the planned workspace is enough (other bits)")
      ->type_name("plan|native")
      ->check(CLI::IsMember({"plan", "native"}));
  app.add_option_function<std::string>(
         "--overlap",
         [&options](const std::string &text) {
           options.overlap = text == "threads" ? Overlap::Threads : Overlap::Inline;
         },
         "how a rank runs what it exchanges and loads: inline, one action after the other (on a GPU: on one stream), "
         "or "
         "on threads beside its computations (the same bits); default: the spec's runtime.overlap; a GPU's streams")
      ->type_name("inline|threads")
      ->check(CLI::IsMember({"inline", "threads"}));
  app.add_option_function<std::string>(
         "--graph", [&options](const std::string &text) { options.graph = text == "on"; },
         "whether GPUs get a step as one CUDA graph, from the third on, or action by action (the same bits); not with "
         "--profile, --check and --link-rate; default: on, but off where a process has several GPUs, for which NCCL "
         "advises against it")
      ->type_name("on|off")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_flag(
      "--register-buffers", options.registersMemory,
      "register the memory of several GPUs with NCCL, which then moves what ranks exchange without copies through "
      "buffers of its own where GPUs and network can (sums that NCCL makes may round otherwise)");
  app.add_option_function<std::string>(
         "--link-rate",
         [&options](const std::string &text) {
           options.linkRate = parseAmount("--link-rate", text);
           if (*options.linkRate < 1000)
             throw CLI::ValidationError("--link-rate", "'" + text + "' is less than 1000 bytes per second");
         },
         "let messages take as long as on a link of so many bytes per second, 1e9, to try a slower network")
      ->type_name("RATE");
  app.add_option_function<std::string>(
         "--timeout", [&options](const std::string &text) { options.timeout = parseAmount("--timeout", text); },
         "how long to wait for ranks that do not come, or do nothing; 0: as long as it takes; default: 60")
      ->type_name("SECONDS");
  CLI::Option *processes = app.add_flag_callback(
      "--processes", [&options] { options.processes = true; },
      "run each rank as a process of its own, not as a thread (the same bits); the default on GPUs");
  app.add_flag_callback(
         "--threads", [&options] { options.processes = false; },
         "run the ranks that this process starts as its threads; the default on CPUs")
      ->excludes(processes);
  app.add_flag("--check", options.check, "poison what is not live, and all but its operands for each call; slow")
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
         "optimizer steps; default: one epoch, as with --epochs 1")
      ->type_name("COUNT");
  app.add_option_function<std::string>(
         "--epochs", [&](const std::string &text) { options.epochs = parseWhole("--epochs", text, 1, mostSteps); },
         "instead of --steps: so many times over the data; a last step that the rows do not fill goes on with those "
         "of the next epoch")
      ->type_name("COUNT")
      ->excludes("--steps");
  app.add_option("--log", options.log,
                 "write one JSON object per step and evaluation to this file; where its name ends in .csv, a table");
  app.add_option("--tensorboard", options.tensorboard,
                 "write losses, rates, norms and metrics for TensorBoard to this folder")
      ->type_name("FOLDER");
  app.add_option("--save", options.save, "write the parameters to this safetensors file at the end");
  app.add_option("--save-trained", options.saveTrained,
                 "the same of those that are trained: what is frozen is left out");
  app.add_option("--save-ema", options.saveAverage,
                 "the same with the average of the spec's ema in place of what is trained");
  app.add_option("--init", options.init,
                 "begin from the parameters in this safetensors file, of any float type, or of a checkpoint");
  addOptionsOfCheckpoints(app, options);
  app.add_option_function<std::string>(
      "--data", [&](const std::string &text) { parseData("--data", text, options.dataFolder, options.dataFiles); },
      "a folder of NAME.npy, or name=path,...; tokens=path, or a pattern, for the stream of a spec that has one");
  addOptionsOfEvaluation(app, options);
  app.add_flag("--check-data", options.checksData, "instead of a run: read all data, say what is wrong, and end");
  app.add_option_function<std::string>(
         "--lr", [&](const std::string &text) { options.learningRate = parseAmount("--lr", text); },
         "learning rate, by which all of a schedule is scaled; groups with their own keep their ratio to the first")
      ->type_name("RATE");
  app.add_option_function<std::string>(
         "--seed", [&](const std::string &text) { options.seed = parseWhole("--seed", text, 0, UINT64_MAX); },
         "seed of random initial values, of stochastic rounding and of generated tokens; default: the spec's")
      ->type_name("NUMBER");
  addOptionsOfObservation(app, options);
  app.add_option_function<std::string>(
      "--inject-fault", [&](const std::string &text) { options.fault = parseFault(text); },
      "make a rank fail (rank:step:action), a gradient overflow (rank:step:parameter=inf, or =nan), or a bit of what a "
      "rank holds flip behind the step (rank:step:parameter=flip, of a state m/parameter=flip)");
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
