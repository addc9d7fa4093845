// xlc compile: compiles the plan to a training program.
#include "ReferenceCheck.h"
#include "llvm/Support/FileSystem.h"

using namespace xlc;

namespace {

constexpr const char *examples = R"(Examples:
  xlc compile gpt2.onnx --spec zero3.yaml -o train     ./train, and train.safetensors next to it
  ./train --steps 100 --log log.jsonl --save final.safetensors
  xlc compile gpt2.onnx --spec zero3.yaml -o train --cpu x86-64-v3     for any processor with AVX2
  xlc compile gpt2.onnx --spec zero3.yaml -o train --bundle            and train.libs, for a machine without oneDNN
  xlc compile gpt2.onnx --spec one.yaml -o train --target cuda         for an NVIDIA GPU; no GPU is needed to compile

At run time, the program needs oneDNN (libdnnl.so.2), in OUTPUT.libs or on the system; on GPUs, NVIDIA's driver and
cuBLAS; OUTPUT.safetensors next to it; and its data. It stores the spec's paths as absolute paths;
--data overrides them.
Exit code 4, and no program, if the gradients differ from the model's reference (docs/Export.md).)";

struct CompileOptions : CommonOptions {
  std::string output, simulatorImage;
  bool bundles = false;
  CheckOptions check;
};

int compile(const CompileOptions &options, const char *driver) {
  LastSession last(new Session(options));
  Session &session = *last;
  if (int code = session.runPhases())
    return code;
  if (int code = checkReference(session, options.check))
    return code;
  std::string path = llvm::sys::fs::getMainExecutable(driver, (void *)&addCompileCommand);
  return session.compile(
      {.output = options.output, .driver = path, .bundles = options.bundles, .simulatorImage = options.simulatorImage});
}

} // namespace

Command xlc::addCompileCommand(CLI::App &app, const char *driver) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App *command = app.add_subcommand("compile", "compile a training program, which does not need Python");
  options->addTo(*command);
  command
      ->add_option("-o,--output", options->output,
                   "output program; initial parameters are written to OUTPUT.safetensors")
      ->required();
  command->add_flag("--bundle", options->bundles,
                    "also copy oneDNN and its dependencies to OUTPUT.libs, for machines that have only a C library");
  command->add_option("--simulator-image", options->simulatorImage,
                      "also write the kernels as host code for the simulated GPU (docs/rationale/Gpu.md)");
  options->check.addTo(*command);
  command->footer(examples);
  return {command, [options, driver] { return compile(*options, driver); }};
}
