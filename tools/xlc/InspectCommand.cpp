// xlc inspect: print the contents of a model file as imported by xlc. Needs no spec.
#include "Command.h"
#include "MessageStream.h"
#include "xlc/Inspect/Inspect.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace xlc;

namespace {

constexpr const char *examples = R"(Examples:
  xlc inspect gpt2.onnx                            parameters, ties, dimensions, units, operators
  xlc inspect gpt2.onnx --dims sequence=1024       also FLOPs per sample
  xlc inspect t5.onnx --dims source=512,target=128
  xlc inspect gpt2.onnx --init gpt2.safetensors    with the parameters of PyTorch's state dict
  xlc inspect gpt2.onnx --json | jq .parameters    for scripts (keys: docs/InspectJson.md))";

struct InspectCommandOptions {
  std::string model, init;
  std::vector<std::string> dims;
  bool json = false;
};

/// "sequence=128" as a name and a size; the size is 0 where the text is not of this form.
std::pair<std::string, int64_t> parseDim(const std::string &text) {
  auto [name, number] = llvm::StringRef(text).rsplit('=');
  int64_t size = 0;
  bool isSize = !name.empty() && !number.getAsInteger(10, size) && size > 0;
  return {name.str(), isSize ? size : 0};
}

int inspectModel(const InspectCommandOptions &options) {
  InspectOptions inspecting;
  for (const std::string &dim : options.dims)
    if (auto [name, size] = parseDim(dim); !inspecting.dims.try_emplace(name, size).second) {
      messages() << "--dims specifies two sizes of '" << name << "'\n";
      return Usage;
    }
  if (!options.init.empty()) {
    inspecting.init.from = InitSpec::From::StateDict;
    inspecting.init.stateDict = options.init;
  }
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.disableMultithreading();
  Diagnostics diagnostics(messages());
  std::optional<Inspection> inspection = inspect(options.model, inspecting, context, diagnostics);
  if (!inspection)
    return Rejected;
  llvm::StringRef name = llvm::sys::path::filename(options.model);
  options.json ? printJson(*inspection, name, llvm::outs()) : printTable(*inspection, name, llvm::outs());
  return Done;
}

} // namespace

Command xlc::addInspectCommand(CLI::App &app) {
  auto options = std::make_shared<InspectCommandOptions>();
  CLI::App *command = app.add_subcommand("inspect", "print the contents of a model file as imported by xlc");
  command->add_option("model", options->model, "the ONNX file")->required();
  command->add_option("--dims", options->dims, "sizes of symbolic dimensions: NAME=SIZE,NAME=SIZE")
      ->delimiter(',')
      ->check([](const std::string &text) {
        return parseDim(text).second ? "" : "'" + text + "' is not NAME=SIZE with a positive size";
      });
  command->add_option("--init", options->init,
                      "a PyTorch state dict of the module (.safetensors), as init.from of a spec");
  command->add_flag("--json", options->json, "print JSON (keys: docs/InspectJson.md)");
  command->footer(examples);
  return {command, [options] { return inspectModel(*options); }};
}
