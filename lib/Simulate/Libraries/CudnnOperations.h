// Graphs of the simulated cuDNN: tensors, and operations that run one after the other, each over whole tensors in
// float32. Values of other types are rounded to their type.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_CUDNNOPERATIONS_H
#define XLC_LIB_SIMULATE_LIBRARIES_CUDNNOPERATIONS_H

#include "Device.h"

#include "Cuda/CudnnGraph.h"

#include <array>
#include <map>
#include <optional>
#include <vector>

namespace xlc::simulate::cudnn {

using runtime::cudnn::DataType;
using runtime::cudnn::PointwiseMode;
using runtime::cudnn::ReductionOperator;

struct Tensor {
  int64_t id;
  DataType type;
  std::array<int64_t, 4> dimensions, strides;
  bool isVirtual, isByValue;

  uint64_t bytes() const; ///< of an element
  /// The number of elements from the first to the last.
  int64_t extent() const;
  int64_t offset(const std::array<int64_t, 4> &index) const;
  /// The contiguous runs of elements of a tensor in memory.
  std::vector<Span> spans(const char *begin) const;
};

struct Operation {
  enum class Kind { Pointwise, Matmul, Reduction, Reshape, Convolution } kind;
  Tensor x, y; ///< of a product: a and c; of a convolution: what is read first, and what is made
  std::optional<Tensor> b, t;
  PointwiseMode mode = PointwiseMode::Identity;
  int64_t axis = 0;
  ReductionOperator reduction = ReductionOperator::Add;
  runtime::cudnn::Makes makes = {};
  runtime::cudnn::Filter filter = {};
  float factor = 0;            ///< of what the result was before
  bool roundsOperands = false; ///< of a convolution, to the ten bits that tensor cores multiply
};

/// Addresses by id; those of numbers are the host's.
using Places = std::map<int64_t, char *>;

/// Returns the error in the graph, or an empty string. Virtual values are written once, before they are read.
std::string check(const std::vector<Operation> &operations);
void run(const std::vector<Operation> &operations, const Places &places);

} // namespace xlc::simulate::cudnn

#endif
