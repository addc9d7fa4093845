// Checks, before anything is written, that an output is not one of the input files. A program replaces any file of its
// name, so a model that took hours to export, or a data file, would be lost without a message.
#include "DescribePlan.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace xlc;

namespace {

/// A file that the compilation reads or its program will, and what it is.
struct InputFile {
  std::string path, role;
};

std::vector<InputFile> findInputFiles(const Compilation &compilation) {
  std::vector<InputFile> files = {{compilation.modelPath, "the model"}, {compilation.specPath, "the spec"}};
  files.push_back({compilation.spec.init.stateDict, "the state dict"});
  for (const std::string &path : compilation.externalData)
    files.push_back({path, "data of the model"});
  const DataSpec &data = compilation.spec.data;
  llvm::StringSet<> names;
  for (const RowsSpec *rows : {&data.train, &data.validation}) {
    for (const auto &[input, path] : rows->files)
      files.push_back({path, "the data of '" + input + "'"});
    for (const std::string &path : rows->stream ? rows->stream->files : std::vector<std::string>())
      files.push_back({path, "a file of tokens"}); // a pattern is the name of no file
  }
  for (exec::ProgramOp program : exec::programsOf(*compilation.module))
    for (auto load : program.getBody().front().getOps<exec::LoadOp>())
      for (StringRef name : load.getInputs().getAsValueRange<StringAttr>())
        if (names.insert(name).second)
          files.push_back({dataPath(data.train, name), "the data of '" + name.str() + "'"});
  return files;
}

} // namespace

LogicalResult xlc::checkOutputs(const Compilation &compilation, ArrayRef<std::string> outputs) {
  std::vector<InputFile> inputs = findInputFiles(compilation);
  for (const std::string &output : outputs)
    for (const InputFile &input : inputs)
      if (!input.path.empty() && llvm::sys::fs::equivalent(output, input.path)) {
        compilation.diagnostics.error(output, "this output would overwrite '" + input.path + "', which is " +
                                                  input.role + "; choose another name");
        return failure();
      }
  return success();
}
