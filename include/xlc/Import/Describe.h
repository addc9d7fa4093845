// What a model file holds, as far as it can be said without knowing the sizes of its dimensions. For `xlc inspect`.
#ifndef XLC_IMPORT_DESCRIBE_H
#define XLC_IMPORT_DESCRIBE_H

#include "xlc/Spec/Spec.h"

namespace xlc {

struct FileDescription {
  /// A model input. `shape`: a number, a name, or "?" for each dimension.
  struct Input {
    std::string name, type;
    std::vector<std::string> shape;
  };
  /// `origin`: where its name came from, in a few words; `initializer`: the tensor of the file, empty where there is
  /// none.
  struct Parameter {
    std::string name;
    std::vector<int64_t> shape;
    std::string origin, initializer;
    std::string guess; ///< from what name or being were concluded; empty where that leaves no doubt
    int64_t numElements() const;
  };
  /// A tensor that the exporter calls a buffer, or a constant that PyTorch had under a name.
  struct Buffer {
    std::string name, type;
    std::vector<int64_t> shape;
  };
  /// A constant of floats under no name of PyTorch's: it is not trained. `op` and `module` are of its first reader.
  struct Constant {
    std::string name;
    std::vector<int64_t> shape;
    std::string op, module;
  };
  /// A further name that PyTorch had for a parameter.
  struct Tie {
    std::string name, parameter;
  };
  struct Operator {
    std::string name;
    int64_t count = 0;
    bool isSupported = true;
    std::string firstNode; ///< where it is met first, with the module if the file says so
  };

  int64_t nodes = 0;
  std::vector<Input> inputs;
  std::vector<std::string> outputs;
  std::string batch;             ///< name of dimension 0; empty where it has none
  std::vector<std::string> dims; ///< the other symbolic dimensions, in the order in which inputs have them
  std::vector<Parameter> parameters;
  std::vector<Tie> ties;
  std::vector<Buffer> buffers;
  std::vector<Constant> constants;
  std::vector<std::string> listed;      ///< names of parameters that the exporter lists; empty where it lists none
  std::vector<std::string> lost;        ///< those among them that nothing reads, and that are tied to nothing
  std::vector<Operator> operators;      ///< by falling count
  std::vector<std::string> dropoutsOff; ///< of a file with a record: modules that dropped nothing as it was exported
  std::vector<std::string> undone;      ///< what the exporter did and Import undoes, one line each
  std::vector<Message> complaints;      ///< errors and warnings about parameters

  int64_t numParameterElements() const;
};

/// Reads `path`; `init` may name a state dict that decides about its parameters. None if it cannot be read at all.
std::optional<FileDescription> describeFile(llvm::StringRef path, const InitSpec &init, Diagnostics &diagnostics);

} // namespace xlc

#endif
