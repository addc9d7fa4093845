// `xlc calibrate`: the figures of this machine, for plans that say how long a step takes on it.
#include "Command.h"
#include "MessageStream.h"

#include "Files/OutputFile.h"
#include "xlc/Target/Targets.h"
#include "llvm/Support/Threading.h"

using namespace xlc;

namespace {

struct CalibrateOptions {
  std::string output;
  int cores = int(llvm::hardware_concurrency().compute_thread_count());
};

int calibrate(const CalibrateOptions &options) {
  messages() << "measures products, memory and copies on " << options.cores << " cores: some seconds\n";
  std::string text;
  llvm::raw_string_ostream stream(text);
  const TargetRow &row = getTargets().front();
  printDevice(row.make(row.listChips().front())->measure(options.cores), stream);
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
  command->footer("\nExamples:\n"
                  "  xlc calibrate -o machine.yaml      and then, in a spec: cluster: {device: machine.yaml}\n"
                  "  xlc calibrate --cores 8            as a machine of eight cores\n\n"
                  "Other work on the machine makes it look slower than it is.");
  auto options = std::make_shared<CalibrateOptions>();
  command->add_option("-o,--output", options->output, "write to this file; default: standard output")
      ->type_name("FILE");
  command->add_option("--cores", options->cores, "cores that training may use")
      ->check(CLI::Range(1, options->cores))
      ->capture_default_str();
  return {command, [options] { return calibrate(*options); }};
}
