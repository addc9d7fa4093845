// An ONNX file as plain structs: what ReadModel has checked and everything else in Import trusts.
//
// No protobuf beyond ReadModel.cpp and ReadTensor.cpp. Names are unique, every value is defined
// before it is used, every tensor has exactly the bytes its shape needs (or is absent).
#ifndef XLC_IMPORT_MODEL_H
#define XLC_IMPORT_MODEL_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace xlc::onnx {

/// Complaints about one file, each on its own line; all of them are reported before giving up.
class Diagnostics {
public:
  Diagnostics(llvm::StringRef path, llvm::raw_ostream &out) : path(path), out(out) {}
  void error(const llvm::Twine &message) { out << path << ": error: " << message << "\n", ++errors; }
  void warning(const llvm::Twine &message) { out << path << ": warning: " << message << "\n"; }
  void note(const llvm::Twine &message) { out << path << ": note: " << message << "\n"; }
  bool hasErrors() const { return errors > 0; }

private:
  std::string path;
  llvm::raw_ostream &out;
  int errors = 0;
};

/// ONNX's numbers for element types.
enum class ElementType { Float = 1, Uint8 = 2, Int8 = 3, Int32 = 6, Int64 = 7, Bool = 9, Double = 11 };

/// Bytes of one element; 0 for a type that xlc does not know.
int64_t byteWidth(int elementType);

/// A tensor of the file. `bytes` is little-endian and row-major. An external tensor has its place instead;
/// `isAbsent`: the external file is not there, only the shape is known.
struct FileTensor {
  std::string name;
  ElementType type = ElementType::Float;
  std::vector<int64_t> shape;
  std::string bytes;
  bool isExternal = false, isAbsent = false;
  std::string file;
  uint64_t offset = 0;

  int64_t numElements() const;
  int64_t numBytes() const { return numElements() * byteWidth((int)type); }
  /// Reads an external tensor's bytes into `bytes`; false when the file cannot be read.
  bool load();
};

struct Attribute {
  enum class Kind { Int, Float, String, Tensor, Ints, Floats, Strings } kind = Kind::Int;
  int64_t i = 0;
  double f = 0;
  std::string s;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::shared_ptr<FileTensor> tensor;
};

struct Node {
  std::string name; ///< never empty: an unnamed node is called by its first output
  std::string op, domain;
  std::string scope; ///< PyTorch module it belongs to ("h.0.attn"), or empty
  std::vector<std::string> inputs, outputs;
  llvm::StringMap<Attribute> attributes;

  std::string describe() const { return "node '" + name + "' (" + op + ")"; }
  bool hasInput(size_t i) const { return i < inputs.size() && !inputs[i].empty(); }
};

/// One dimension of a model input: its size, or a name, or neither.
struct Dimension {
  std::optional<int64_t> size;
  std::string name;
};

struct ModelInput {
  std::string name;
  ElementType type = ElementType::Float;
  std::vector<Dimension> shape;
};

/// What the exporter says about PyTorch's parameters and buffers, in its order; empty when it says nothing.
struct Signature {
  std::vector<std::string> parameters, buffers;
};

struct Model {
  std::string path;
  int64_t opset = 0;
  std::vector<ModelInput> inputs;
  std::vector<std::string> outputs;
  std::vector<FileTensor> initializers;
  std::vector<Node> nodes;
  Signature signature;
};

/// Reads and checks a file; none when it complained.
std::optional<Model> readModel(llvm::StringRef path, Diagnostics &diagnostics);

} // namespace xlc::onnx

#endif
