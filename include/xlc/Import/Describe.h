// The contents of a model file, as far as they do not depend on the sizes of its dimensions. For `xlc inspect`.
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
  /// `origin`: the source of its name, in a few words; `initializer`: the tensor of the file, empty if there is none.
  struct Parameter {
    std::string name;
    std::vector<int64_t> shape;
    std::string origin, initializer;
    std::string guess; ///< the evidence from which the name or the existence was inferred; empty if they are certain
    int64_t numElements() const;
  };
  /// A tensor that the exporter lists as a buffer, or a constant that has a name in PyTorch.
  struct Buffer {
    std::string name, type;
    std::vector<int64_t> shape;
  };
  /// A float constant without a name in PyTorch, which is not trained. `op` and `module` are those of its first reader.
  struct Constant {
    std::string name;
    std::vector<int64_t> shape;
    std::string op, module;
  };
  /// A further name of a parameter in PyTorch.
  struct Tie {
    std::string name, parameter;
  };
  struct Operator {
    std::string name;
    int64_t count = 0;
    bool isSupported = true;
    std::string firstNode; ///< the first node with the operator, with the module if the file states it
  };

  int64_t nodes = 0;
  std::vector<Input> inputs;
  std::vector<std::string> outputs;
  std::string batch;             ///< name of dimension 0; empty if it has none
  std::vector<std::string> dims; ///< the other symbolic dimensions, in the order in which inputs have them
  std::vector<Parameter> parameters;
  std::vector<Tie> ties;
  std::vector<Buffer> buffers;
  std::vector<Constant> constants;
  std::vector<std::string> listed;      ///< names of parameters that the exporter lists; empty if it lists none
  std::vector<std::string> lost;        ///< the listed parameters that are neither read nor tied to another
  std::vector<Operator> operators;      ///< by decreasing count
  std::vector<std::string> dropoutsOff; ///< for a file with a record: modules whose dropout was off during the export
  std::vector<std::string> undone;      ///< transformations of the exporter that Import reverts, one line each
  std::vector<Message> complaints;      ///< errors and warnings about parameters

  int64_t numParameterElements() const;
};

/// Reads `path`. `init` may name a state dict that determines the parameters. None if the file cannot be read at all.
std::optional<FileDescription> describeFile(llvm::StringRef path, const InitSpec &init, Diagnostics &diagnostics);

} // namespace xlc

#endif
