// An ONNX file as plain structs, checked by ReadModel and trusted by Import.
//
// Protobuf is used only in the files Read*.cpp. Names are unique and text, every value is defined before it is used,
// every tensor has exactly the bytes of its shape (or is absent). Functions are inlined, and the branches of an `If`
// are in the list of nodes, where each node is guarded by the condition.
#ifndef XLC_ONNX_MODEL_H
#define XLC_ONNX_MODEL_H

#include "xlc/Onnx/ExportRecord.h"
#include "xlc/Support/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace xlc {
struct Spec;
} // namespace xlc

namespace xlc::onnx {

/// Diagnostics of one file; all of them are reported before reading fails. Text from the file is printed on one line,
/// truncated if it is long.
class FileDiagnostics {
public:
  FileDiagnostics(llvm::StringRef path, Diagnostics &diagnostics) : path(path), diagnostics(diagnostics) {}
  void error(const llvm::Twine &text) { report(Severity::Error, path, text); }
  /// An error of the spec, at `key` if the spec has it, which only the model reveals.
  void error(const Spec &spec, llvm::StringRef key, const llvm::Twine &text);
  void warning(const llvm::Twine &text) { report(Severity::Warning, path, text); }
  void note(const llvm::Twine &text) { report(Severity::Note, path, text); }
  /// Reports a complete message with its place.
  void report(const Message &message) { diagnostics.report(message); }
  bool hasErrors() const { return diagnostics.hasErrors(); }

private:
  void report(Severity severity, llvm::StringRef where, const llvm::Twine &text);

  std::string path;
  Diagnostics &diagnostics;
};

/// The reason why `name` is not a valid name; empty if it is valid: text of at most 512 bytes.
std::string checkName(llvm::StringRef name);

/// The maximum number of dimensions of a tensor, and of elements.
inline constexpr int maximumRank = 16;
inline constexpr int64_t maximumElements = int64_t(1) << 44;

/// ONNX's numbers for the element types that xlc supports.
enum class ElementType { Float = 1, Uint8 = 2, Int8 = 3, Int32 = 6, Int64 = 7, Bool = 9, Double = 11 };

/// Bytes of one element; 0 for an unsupported type.
int64_t byteWidth(int elementType);

/// Converts `count` elements of a float type of ONNX from their stored form.
void convertToFloats(int elementType, const char *from, size_t count, float *to);

/// Whether `elementType` is float16 or bfloat16.
inline bool isHalf(int elementType) { return elementType == 10 || elementType == 16; }

/// "float16" for 10; the number itself if ONNX does not define it.
std::string nameOfType(int elementType);

/// A tensor of the file. `bytes` is little-endian and row-major, and of `type`: 16-bit floats are converted to floats,
/// and unsupported integers to int64. An external tensor has its location instead; `isAbsent`: the external file is
/// missing and only the shape is known; `file` is the path that was tried.
struct FileTensor {
  std::string name;
  ElementType type = ElementType::Float;
  int storedType = 1; ///< ONNX's number of the type in the file
  std::vector<int64_t> shape;
  std::string bytes;
  bool isExternal = false, isAbsent = false;
  std::string file;
  uint64_t offset = 0;

  int64_t numElements() const;
  int64_t storedBytes() const; ///< in the file
  /// Reads an external tensor's bytes into `bytes`; false if the file cannot be read.
  bool load();
  /// Converts elements of float64 to float32, now or when they are loaded.
  void narrow();
  /// Frees the bytes of an external tensor.
  void unload() {
    if (isExternal)
      std::string().swap(bytes);
  }
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

/// The condition for running a node of a branch: `condition` is `wanted`, and the guard around it holds.
struct Guard {
  int outer = -1; ///< index in Model::guards
  std::string condition;
  bool wanted = false;
};

/// The PyTorch call that a node was made from, as recorded by its exporter:
/// `%add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%a, %detach), kwargs = {alpha: 2})`.
/// If one call became several nodes, they have the same text.
struct TracedCall {
  std::string name;                   ///< of its result, "add"; empty: not in the file
  std::string target;                 ///< "aten.add.Tensor"
  std::vector<std::string> arguments; ///< as text: "%a", "[%a, %b]", "None", "1"
  std::vector<std::pair<std::string, std::string>> keywords;
  bool isInRegion = false;  ///< was in a block that changes how PyTorch computes: no_grad, or autocast
  bool namesDetach = false; ///< its line of Python contains the word `detach`

  /// The argument at `position`, or that of the keyword; empty if neither is given.
  llvm::StringRef find(size_t position, llvm::StringRef keyword) const;
  /// The values among its arguments, in their order: "a", "detach".
  std::vector<std::string> values() const;
};

struct Node {
  std::string name; ///< never empty: an unnamed node has the name of its first output
  std::string op, domain;
  std::string scope; ///< PyTorch module it belongs to ("h.0.attn"), or empty
  TracedCall call;
  bool stopsGradient = false;          ///< the file states that no gradient flows through it
  std::optional<int64_t> paddingIndex; ///< of a lookup: the row of its table that receives no gradient from it
  std::string nextOf;                  ///< the buffer whose value in the next step is its result; or empty
  int64_t opset = 0;                   ///< of ONNX's own operators
  int guard = -1;                      ///< index in Model::guards; -1: runs always
  std::string misfit;                  ///< why the types of its operands are incompatible (ElementTypes.h); or empty
  std::vector<std::string> inputs, outputs;
  llvm::StringMap<Attribute> attributes;

  Node() = default;
  Node(const Node &) = default;
  // a growing list moves its nodes only if this is noexcept, which the map's move does not declare
  Node(Node &&) noexcept = default;
  Node &operator=(const Node &) = default;
  Node &operator=(Node &&) noexcept = default;

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
  int storedType = 1; ///< ONNX's number of the type that the file states
  std::vector<Dimension> shape;
};

/// The exporter's list of PyTorch's parameters and buffers, in its order; empty if there is none.
struct Signature {
  std::vector<std::string> parameters, buffers;
  std::vector<std::string> changed;     ///< buffers that a forward pass changes
  llvm::StringMap<std::string> targets; ///< name in traced calls ("p_h_0_weight") -> parameter or buffer
  std::vector<std::string> inputs;      ///< names in traced calls of the model's inputs, in their order
};

/// The declaration of an output in a file: ONNX's number of the element type, 0 for none, and the number of dimensions,
/// -1 for any.
struct DeclaredType {
  int elementType, rank;
};

struct Model {
  std::string path;
  std::vector<ModelInput> inputs;
  std::vector<std::string> outputs;
  std::vector<DeclaredType> outputTypes; ///< as outputs
  std::vector<FileTensor> initializers;
  std::vector<Node> nodes;
  std::vector<Guard> guards;
  Signature signature;
  std::optional<ExportRecord> record; ///< if xlc_export made the file
};

/// Reads and checks a file; none after an error.
std::optional<Model> readModel(llvm::StringRef path, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
