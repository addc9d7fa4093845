// A PyTorch state dict in a safetensors file. See StateDict.cpp.
#ifndef XLC_IMPORT_STATEDICT_H
#define XLC_IMPORT_STATEDICT_H

#include "Files/Safetensors.h"
#include "Parameters.h"

namespace xlc::onnx {

/// One entry: `type` as the file spells it ("F32"), `offset` of its elements in the file.
struct StateTensor {
  std::string name, type;
  std::vector<int64_t> shape;
  uint64_t offset = 0;

  int64_t numElements() const;
  bool isFloat() const; ///< of a type that is read as float32
};

class StateDict {
public:
  /// Opens and checks the file from which the spec starts; none after an error that names it.
  static std::optional<StateDict> open(const Spec &spec, FileDiagnostics &diagnostics);
  StateDict(StateDict &&);
  ~StateDict();

  /// In the order of names.
  const std::vector<StateTensor> &tensors() const { return all; }
  /// Reads the elements of a tensor of floats, as float32; false after an error.
  bool read(const StateTensor &tensor, std::vector<float> &elements, FileDiagnostics &diagnostics) const;
  /// The same as an initial value, which refers to the file if possible; none after an error.
  std::optional<InitialValue> initialValue(const StateTensor &tensor, FileDiagnostics &diagnostics) const;
  const std::string &path() const { return file; }

private:
  StateDict();
  bool takeTensors(FileDiagnostics &diagnostics);

  const Spec *spec = nullptr; ///< names the file
  std::string file;
  std::unique_ptr<runtime::SafetensorsReader> reader;
  std::optional<runtime::Seal> seal;
  std::vector<StateTensor> all;
};

} // namespace xlc::onnx

#endif
