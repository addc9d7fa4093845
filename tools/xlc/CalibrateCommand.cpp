// `xlc calibrate`: measures the figures of this machine, with which plans predict the time of a step on it.
#include "Command.h"
#include "MessageStream.h"

#include "Failure.h"
#include "Files/OutputFile.h"
#include "xlc/Target/Targets.h"
#include "llvm/Support/Threading.h"
#include <cstdlib>

using namespace xlc;

namespace {

struct CalibrateOptions {
  std::string output, target = kTargetFacts[0].name.str();
  int cores = int(llvm::hardware_concurrency().compute_thread_count());
};

/// As programs read it.
std::string readLibraryFolder() {
  const char *folder = std::getenv("XLC_CUDA_LIBRARIES");
  return folder ? folder : "";
}

int calibrate(const CalibrateOptions &options) {
  const TargetRow &row = *findTarget(options.target);
  bool isCpu = options.target == kTargetFacts[0].name;
  messages() << "measuring products, memory and "
             << (isCpu ? "copies on " + std::to_string(options.cores) + " cores" : "attention on the first GPU")
             << ": takes a few seconds\n";
  std::string text;
  llvm::raw_string_ostream stream(text);
  try {
    printDevice(row.make(row.listChips().front())->measure({options.cores, readLibraryFolder()}), stream);
  } catch (const runtime::Rejected &problem) {
    messages() << problem.what() << "\n";
    return Rejected;
  } catch (const runtime::DeviceFailure &problem) {
    messages() << "error: this machine's GPU cannot be measured: " << problem.what() << "\n";
    return Rejected;
  }
  if (options.output.empty()) {
    llvm::outs() << text;
    return Done;
  }
  runtime::OutputFile file(options.output);
  file.write(text);
  file.publish();
  return Done;
}

} // namespace

Command xlc::addCalibrateCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("calibrate", "measure this machine, for cluster.device of a spec");
  command->footer(
      "\nExamples:\n"
      "  xlc calibrate -o machine.yaml      and then, in a spec: cluster: {device: machine.yaml}\n"
      "  xlc calibrate --cores 8            as a machine with eight cores\n"
      "  xlc calibrate --target cuda        its first GPU, and the memory of a process outside its arena\n\n"
      "Other load on the machine lowers the measured rates.");
  auto options = std::make_shared<CalibrateOptions>();
  command->add_option("-o,--output", options->output, "write to this file; default: standard output")
      ->type_name("FILE");
  command->add_option("--target", options->target, "device to measure: the processors, or the first GPU")
      ->check(CLI::IsMember(listTargets()))
      ->capture_default_str();
  command->add_option("--cores", options->cores, "cores that training may use; CPUs only")
      ->check(CLI::Range(1, options->cores))
      ->capture_default_str();
  return {command, [options] { return calibrate(*options); }};
}
