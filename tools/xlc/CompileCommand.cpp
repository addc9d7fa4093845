// xlc compile: from the same plan to a training program.
#include "Session.h"
#include "llvm/Support/FileSystem.h"

using namespace xlc;

namespace {

constexpr const char *examples = R"(Examples:
  xlc compile gpt2.onnx --spec zero3.yaml -o train     ./train, and train.safetensors beside it
  ./train --steps 100 --log log.jsonl --save final.safetensors
  xlc compile gpt2.onnx --spec zero3.yaml -o train --cpu x86-64-v3     for any processor with AVX2

The program needs oneDNN (libdnnl) where it runs, OUTPUT.safetensors beside it, and its data: the spec's paths are kept
as absolute ones, --data gives others.)";

struct CompileOptions : CommonOptions {
  std::string output;
};

int compile(const CompileOptions &options, const char *driver) {
  LastSession last(new Session(options));
  Session &session = *last;
  if (int code = session.runPhases())
    return code;
  std::string path = llvm::sys::fs::getMainExecutable(driver, (void *)&addCompileCommand);
  return session.compile(options.output, path);
}

} // namespace

Command xlc::addCompileCommand(CLI::App &app, const char *driver) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App *command = app.add_subcommand("compile", "makes a training program (which needs oneDNN, and no Python)");
  options->addTo(*command);
  command->add_option("-o,--output", options->output, "the program; initial parameters go to OUTPUT.safetensors")
      ->required();
  command->footer(examples);
  return {command, [options, driver] { return compile(*options, driver); }};
}
