// Builds and runs a graph of cuDNN's operations, all of which one engine executes.
//
//   value      a tensor between two operations, which is never materialized
//   operand    a tensor in device memory, whose address is given when the graph runs
//   number     a float32
//
// All tensors have four dimensions: batch, head, row, column.
#ifndef XLC_LIB_RUNTIME_CUDA_CUDNNGRAPH_H
#define XLC_LIB_RUNTIME_CUDA_CUDNNGRAPH_H

#include "CudnnEngine.h"
#include "xlc/Runtime/LibraryShapes.h"

#include <array>
#include <deque>
#include <span>
#include <vector>

namespace xlc::runtime::cudnn {

struct Sizes {
  std::array<int64_t, 4> dimensions, strides; ///< in elements
};
DataType dataTypeOf(FloatType type);
/// The sizes of a tensor with contiguous rows.
Sizes contiguous(int64_t batch, int64_t heads, int64_t rows, int64_t columns);
/// The parameters of convolutions besides their tensors, along two dimensions.
struct Filter {
  std::array<int64_t, 2> strides, dilations, pads, padsBehind;
};

/// The same memory with rows and columns exchanged.
Sizes transposed(const Sizes &sizes);

class Graph {
public:
  using Tensor = size_t; ///< its id

  Graph(const Library &library, const Device &device, std::string what)
      : descriptors(library, std::move(what)), device(device), engine(descriptors, device) {}
  Graph(const Graph &) = delete;

  Tensor operand(const Sizes &sizes, DataType type) { return add(sizes, type, false, false); }
  Tensor value(const Sizes &sizes, DataType type = DataType::F32) { return add(sizes, type, true, false); }
  Tensor number(float number);

  /// y = x `mode` b, in `precision`. `none`: the mode has no b. `axis`: of an index.
  void pointwise(PointwiseMode mode, Tensor x, Tensor b, Tensor y, DataType precision = DataType::F32,
                 int64_t axis = -1);
  void pointwise(PointwiseMode mode, Tensor x, Tensor y) { pointwise(mode, x, none, y); }
  /// y = t ? x : b
  void select(Tensor t, Tensor x, Tensor b, Tensor y);
  void multiply(Tensor a, Tensor b, Tensor c);
  void reduce(ReductionOperator how, Tensor x, Tensor y);
  /// Reshapes x to the dimensions of y.
  void reshape(Tensor x, Tensor y);
  /// Shapes: x[image, channel, row, column], w[channel of y, channel of a group of x, row, column], y as x. The result
  /// is added to the existing values if `adds`.
  void convolve(Makes which, const Filter &filter, Tensor x, Tensor w, Tensor y, bool adds);

  /// Chooses an engine, by the order of the heuristic among those with at most this workspace. Returns the reason if
  /// there is none.
  std::optional<std::string> finalize(int64_t mostWorkspace, Engines engines = Engines::Any);
  /// Whether the notes of the engine state that it uses tensor cores.
  bool usesTensorCores() const { return engine.usesTensorCores(); }
  /// Runs the graph with the operands' addresses, in the order of their creation.
  void run(std::span<char *const> operands, char *workspace, void *stream) const;

  static constexpr Tensor none = (Tensor)-1;
  static constexpr size_t mostPointers = 32; ///< pointers to operands and numbers

private:
  Tensor add(const Sizes &sizes, DataType type, bool isVirtual, bool isByValue);
  void setTensor(Descriptor of, Attribute attribute, Tensor tensor) const;
  void addOperation(OwnedDescriptor operation);

  const Descriptors descriptors;
  const Device device;
  std::vector<OwnedDescriptor> tensors, parts, operations;
  std::vector<int64_t> operands; ///< ids in the order of the addresses; those of numbers follow
  std::deque<float> numbers;     ///< their addresses are stable
  std::vector<int64_t> numberIds;
  OwnedDescriptor graph;
  Engine engine;
};

} // namespace xlc::runtime::cudnn

#endif
