// xlc checkpoint: lists the contents of a program's checkpoint, verifies that it is complete, and exports and imports
// checkpoints of other programs.
#include "Checkpoint/Export.h"
#include "Checkpoint/Import.h"
#include "Command.h"
#include "MessageStream.h"
#include "xlc/Support/Bytes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace xlc;

namespace {

constexpr const char *examples = R"(Examples:
  xlc checkpoint inspect checkpoints/step-00001000
  xlc checkpoint verify checkpoints/step-00001000                   every block; exit code 4 if one is damaged
  xlc checkpoint export checkpoints/step-00001000 -o model.safetensors --dtype bf16
  xlc checkpoint export checkpoints/step-00001000 -o folder --shard-size 5GB     in the format of Hugging Face models
  xlc checkpoint export checkpoints/step-00001000 -o folder --adapter                in the format of PEFT adapters
  xlc checkpoint import model.safetensors -o checkpoints/step-00000000       or a folder of several files
  xlc checkpoint import model.safetensors --states states.safetensors --optimizer adamw --step 1000 --samples 64000 \
      -o checkpoints/step-00001000                                  to resume a run of another program

The format of checkpoints: docs/Checkpoints.md)";

struct CheckpointCommandOptions {
  std::string folder, output, dtype, shardSize;
  bool states = false;
  bool adapter = false;
  std::string adapterConfig;
  std::string source; ///< what is imported
  runtime::ImportChoice imported;
};

void printRow(llvm::StringRef name, const llvm::Twine &what) {
  llvm::outs() << llvm::formatv("  {0,-11} ", name) << what << "\n";
}

/// Tensors of one kind, and their bytes.
void printTensors(const runtime::Manifest &manifest) {
  llvm::MapVector<llvm::StringRef, std::pair<uint64_t, uint64_t>> kinds;
  for (const runtime::SavedTensor &tensor : manifest.tensors) {
    auto &[count, bytes] = kinds[tensor.kind];
    ++count, bytes += runtime::countBytes({tensor.name, tensor.shape, tensor.dtype});
  }
  for (const auto &[kind, sum] : kinds)
    printRow(kind, llvm::formatv("{0} tensor{1}, {2}", sum.first, sum.first == 1 ? "" : "s",
                                 formatBytes(int64_t(sum.second))));
}

int inspectCheckpoint(const CheckpointCommandOptions &options) {
  runtime::Checkpoint checkpoint(options.folder);
  const runtime::Manifest &manifest = checkpoint.manifest();
  llvm::outs() << "checkpoint of step " << manifest.progress.step << "\n";
  printRow("applied", llvm::formatv("{0} steps, {1} samples", manifest.progress.applied, manifest.progress.samples));
  printRow("seed", llvm::Twine(manifest.seed));
  if (const auto &scale = manifest.lossScale)
    printRow("loss scale", llvm::formatv("{0}, {1} steps skipped", scale->factor, scale->skipped));
  printRow("optimizer", manifest.optimizer.empty() ? "unknown" : manifest.optimizer);
  if (const auto &data = manifest.data)
    printRow("rows", llvm::formatv("{0} in {1} file{2}{3}", data->rows, data->files.size(),
                                   data->files.size() == 1 ? "" : "s", data->shuffle ? ", shuffled" : ""));
  else
    printRow("rows", "unknown");
  printRow("written by", llvm::formatv("xlc {0}: {1}, {2}, {3}", manifest.madeBy.xlc, manifest.madeBy.layout,
                                       manifest.madeBy.precision, manifest.madeBy.target));
  uint64_t bytes = 0;
  for (const runtime::SavedFile &file : manifest.files)
    bytes += file.bytes;
  printRow("files", llvm::formatv("{0}, {1}", manifest.files.size(), formatBytes(int64_t(bytes))));
  printTensors(manifest);
  return Done;
}

int verifyCheckpoint(const CheckpointCommandOptions &options) {
  std::vector<std::string> damage;
  uint64_t tensors = 0;
  try {
    runtime::Checkpoint checkpoint(options.folder);
    damage = runtime::findDamage(checkpoint);
    tensors = checkpoint.manifest().tensors.size();
  } catch (const runtime::Damaged &problem) {
    damage.emplace_back(problem.what());
  }
  for (const std::string &each : damage)
    messages() << each << "\n";
  if (!damage.empty())
    return VerificationFailed;
  llvm::outs() << options.folder << ": " << tensors << " tensors, every block is intact\n";
  return Done;
}

/// Names of what no file has, the first few.
void noteLeftOut(llvm::ArrayRef<std::string> names, llvm::StringRef why) {
  constexpr size_t mostNamed = 3;
  if (!names.empty())
    messages() << "note: omitted, because " << why << ": " << llvm::join(names.take_front(mostNamed), ", ")
               << (names.size() > mostNamed ? ", ..." : "") << "\n";
}

int exportParameters(const CheckpointCommandOptions &options) {
  runtime::ExportChoice choice{.states = options.states};
  if (!options.dtype.empty())
    choice.dtype = options.dtype == "fp32" ? "F32" : options.dtype == "bf16" ? "BF16" : "F16";
  if (!options.shardSize.empty())
    choice.shardBytes = uint64_t(*parseBytes(options.shardSize));
  runtime::Checkpoint checkpoint(options.folder);
  std::vector<std::string> files;
  if (options.adapter) {
    auto exported = runtime::exportAdapter(checkpoint, options.output, options.adapterConfig, choice);
    files = std::move(exported.files);
    noteLeftOut(exported.leftOut, "PEFT models do not have them");
  } else {
    files = runtime::exportCheckpoint(checkpoint, options.output, choice);
  }
  for (const std::string &file : files)
    llvm::outs() << file << "\n";
  return Done;
}

int importParameters(const CheckpointCommandOptions &options) {
  runtime::Imported imported = runtime::importCheckpoint(options.source, options.output, options.imported);
  llvm::outs() << options.output << ": " << imported.parameters << " parameters and " << imported.states << " states\n";
  noteLeftOut(imported.leftOut, "they are not floats");
  return Done;
}

/// What is wrong with a user's files is said as the programs say it.
int runSaying(int (*work)(const CheckpointCommandOptions &), const CheckpointCommandOptions &options) {
  try {
    return work(options);
  } catch (const runtime::Rejected &problem) {
    messages() << problem.what() << "\n";
    return Rejected;
  }
}

void addOptionsOfExport(CLI::App &exporting, CheckpointCommandOptions &options) {
  exporting.add_option("-o,--output", options.output, "output file; with --shard-size or --adapter, output folder")
      ->required();
  CLI::Option *states = exporting.add_flag("--states", options.states, "also export the optimizer's states, as m/NAME");
  exporting.add_option("--dtype", options.dtype, "type of float parameters; default: unchanged")
      ->check(CLI::IsMember({"fp32", "bf16", "fp16"}));
  CLI::Option *shards = exporting.add_option(
      "--shard-size", options.shardSize, "write several files of at most this size (for example 5GB), and their index");
  shards->check([](const std::string &text) {
    std::string reason;
    std::optional<int64_t> bytes = parseBytes(text, &reason);
    return bytes && *bytes > 0 ? "" : "'" + text + "' is not a size: " + reason;
  });
  CLI::Option *adapter = exporting.add_flag(
      "--adapter", options.adapter, "export only the PEFT adapter, as adapter_model.safetensors with PEFT's names");
  adapter->excludes(states)->excludes(shards);
  exporting
      .add_option("--adapter-config", options.adapterConfig,
                  "PEFT's configuration file of the adapter, copied to the folder as adapter_config.json")
      ->needs(adapter);
}

} // namespace

Command xlc::addCheckpointCommand(CLI::App &app) {
  auto options = std::make_shared<CheckpointCommandOptions>();
  CLI::App *command = app.add_subcommand("checkpoint", "inspect, verify, export and import checkpoints");
  command->require_subcommand(1);
  command->footer(examples);
  auto add = [&](const char *name, const char *what) {
    CLI::App *one = command->add_subcommand(name, what);
    one->add_option("folder", options->folder, "folder of the checkpoint: checkpoints/step-00001000")->required();
    return one;
  };
  CLI::App *inspecting = add("inspect", "print the progress, the settings and the contents");
  CLI::App *verifying = add("verify", "check the checksum of every block");
  CLI::App *exporting = add("export", "write the parameters as safetensors");
  addOptionsOfExport(*exporting, *options);
  CLI::App *importing =
      command->add_subcommand("import", "create a checkpoint from safetensors files of other programs");
  runtime::ImportChoice &choice = options->imported;
  choice.compiler = XLC_VERSION;
  importing
      ->add_option("source", options->source,
                   "a file, or a folder of files: Hugging Face's with an index, or torch's shard-*.safetensors")
      ->required();
  importing->add_option("-o,--output", options->output, "folder of the checkpoint to create: DIR/step-00001000")
      ->required();
  importing->add_option("--states", choice.states, "file or folder with the optimizer's states, named m/NAME");
  importing->add_option("--optimizer", choice.optimizer, "optimizer.type of the spec; default: unknown, not compared");
  importing->add_option("--step", choice.step, "number of completed steps; default 0");
  importing->add_option("--samples", choice.samples,
                        "number of samples read: the position in the data where a run resumes; default 0");
  importing->add_option("--seed", choice.seed, "seed of random numbers after this step; default 0");
  return {command, [=] {
            auto *work = inspecting->parsed()  ? inspectCheckpoint
                         : verifying->parsed() ? verifyCheckpoint
                         : importing->parsed() ? importParameters
                                               : exportParameters;
            return runSaying(work, *options);
          }};
}
