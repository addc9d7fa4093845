// See CudnnGraph.h.
#include "CudnnGraph.h"

#include "xlc/Runtime/FusedAttention.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace xlc::runtime::cudnn {

DataType dataTypeOf(FloatType type) {
  return type == FloatType::BF16 ? DataType::BF16 : type == FloatType::F16 ? DataType::F16 : DataType::F32;
}

Sizes contiguous(int64_t batch, int64_t heads, int64_t rows, int64_t columns) {
  return {{batch, heads, rows, columns}, {heads * rows * columns, rows * columns, columns, 1}};
}

Sizes transposed(const Sizes &sizes) {
  Sizes result = sizes;
  std::swap(result.dimensions[2], result.dimensions[3]);
  std::swap(result.strides[2], result.strides[3]);
  return result;
}

void Graph::setTensor(Descriptor of, Attribute attribute, Tensor tensor) const {
  descriptors.set(of, attribute, Type::Descriptor, tensors[tensor].get());
}

Graph::Tensor Graph::add(const Sizes &sizes, DataType type, bool isVirtual, bool isByValue) {
  OwnedDescriptor made = descriptors.make(Kind::Tensor);
  auto id = (int64_t)tensors.size();
  descriptors.set(made.get(), Attribute::TensorType, Type::DataType, type);
  descriptors.setAll(made.get(), Attribute::TensorDimensions, Type::Int64, sizes.dimensions);
  descriptors.setAll(made.get(), Attribute::TensorStrides, Type::Int64, sizes.strides);
  descriptors.set(made.get(), Attribute::TensorId, Type::Int64, id);
  descriptors.set(made.get(), Attribute::TensorAlignment, Type::Int64, kFusedAttentionAlignment);
  descriptors.set(made.get(), Attribute::TensorIsVirtual, Type::Boolean, isVirtual);
  descriptors.set(made.get(), Attribute::TensorIsByValue, Type::Boolean, isByValue);
  descriptors.finish(made.get());
  tensors.push_back(std::move(made));
  if (!isVirtual && !isByValue)
    operands.push_back(id);
  return (Tensor)id;
}

Graph::Tensor Graph::number(float number) {
  numbers.push_back(number);
  Tensor made = add(contiguous(1, 1, 1, 1), DataType::F32, false, true);
  numberIds.push_back((int64_t)made);
  return made;
}

void Graph::addOperation(OwnedDescriptor operation) {
  descriptors.finish(operation.get());
  operations.push_back(std::move(operation));
}

void Graph::pointwise(PointwiseMode mode, Tensor x, Tensor b, Tensor y, DataType precision, int64_t axis) {
  OwnedDescriptor how = descriptors.make(Kind::Pointwise), operation = descriptors.make(Kind::OperationPointwise);
  descriptors.set(how.get(), Attribute::PointwiseMode, Type::PointwiseMode, mode);
  descriptors.set(how.get(), Attribute::PointwisePrecision, Type::DataType, precision);
  if (axis >= 0)
    descriptors.set(how.get(), Attribute::PointwiseAxis, Type::Int64, axis);
  descriptors.finish(how.get());
  descriptors.set(operation.get(), Attribute::OperationPointwise, Type::Descriptor, how.get());
  setTensor(operation.get(), Attribute::OperationPointwiseX, x);
  if (b != none)
    setTensor(operation.get(), Attribute::OperationPointwiseB, b);
  setTensor(operation.get(), Attribute::OperationPointwiseY, y);
  addOperation(std::move(operation));
  parts.push_back(std::move(how));
}

void Graph::select(Tensor t, Tensor x, Tensor b, Tensor y) {
  OwnedDescriptor how = descriptors.make(Kind::Pointwise), operation = descriptors.make(Kind::OperationPointwise);
  descriptors.set(how.get(), Attribute::PointwiseMode, Type::PointwiseMode, PointwiseMode::Select);
  descriptors.set(how.get(), Attribute::PointwisePrecision, Type::DataType, DataType::F32);
  descriptors.finish(how.get());
  descriptors.set(operation.get(), Attribute::OperationPointwise, Type::Descriptor, how.get());
  setTensor(operation.get(), Attribute::OperationPointwiseX, x);
  setTensor(operation.get(), Attribute::OperationPointwiseB, b);
  setTensor(operation.get(), Attribute::OperationPointwiseT, t);
  setTensor(operation.get(), Attribute::OperationPointwiseY, y);
  addOperation(std::move(operation));
  parts.push_back(std::move(how));
}

void Graph::multiply(Tensor a, Tensor b, Tensor c) {
  OwnedDescriptor how = descriptors.make(Kind::Matmul), operation = descriptors.make(Kind::OperationMatmul);
  descriptors.set(how.get(), Attribute::MatmulPrecision, Type::DataType, DataType::F32);
  descriptors.finish(how.get());
  setTensor(operation.get(), Attribute::OperationMatmulA, a);
  setTensor(operation.get(), Attribute::OperationMatmulB, b);
  setTensor(operation.get(), Attribute::OperationMatmulC, c);
  descriptors.set(operation.get(), Attribute::OperationMatmul, Type::Descriptor, how.get());
  addOperation(std::move(operation));
  parts.push_back(std::move(how));
}

void Graph::reduce(ReductionOperator how, Tensor x, Tensor y) {
  OwnedDescriptor part = descriptors.make(Kind::Reduction), operation = descriptors.make(Kind::OperationReduction);
  descriptors.set(part.get(), Attribute::ReductionOperator, Type::ReductionOperator, how);
  descriptors.set(part.get(), Attribute::ReductionPrecision, Type::DataType, DataType::F32);
  descriptors.finish(part.get());
  setTensor(operation.get(), Attribute::OperationReductionX, x);
  setTensor(operation.get(), Attribute::OperationReductionY, y);
  descriptors.set(operation.get(), Attribute::OperationReduction, Type::Descriptor, part.get());
  addOperation(std::move(operation));
  parts.push_back(std::move(part));
}

void Graph::reshape(Tensor x, Tensor y) {
  OwnedDescriptor operation = descriptors.make(Kind::OperationReshape);
  setTensor(operation.get(), Attribute::OperationReshapeX, x);
  setTensor(operation.get(), Attribute::OperationReshapeY, y);
  addOperation(std::move(operation));
}

void Graph::convolve(Makes which, const Filter &filter, Tensor x, Tensor w, Tensor y, bool adds) {
  const ConvolutionOperation &is = convolutionOperations[(size_t)which];
  OwnedDescriptor how = descriptors.make(Kind::Convolution), operation = descriptors.make(is.kind);
  descriptors.set(how.get(), Attribute::ConvolutionPrecision, Type::DataType, DataType::F32);
  descriptors.set(how.get(), Attribute::ConvolutionMode, Type::ConvolutionMode, ConvolutionMode::CrossCorrelation);
  descriptors.set(how.get(), Attribute::ConvolutionDimensions, Type::Int64, (int64_t)filter.strides.size());
  descriptors.setAll(how.get(), Attribute::ConvolutionStrides, Type::Int64, filter.strides);
  descriptors.setAll(how.get(), Attribute::ConvolutionDilations, Type::Int64, filter.dilations);
  descriptors.setAll(how.get(), Attribute::ConvolutionPads, Type::Int64, filter.pads);
  descriptors.setAll(how.get(), Attribute::ConvolutionPadsBehind, Type::Int64, filter.padsBehind);
  descriptors.finish(how.get());
  descriptors.set(operation.get(), is.factor, Type::Float, 1.0F);
  descriptors.set(operation.get(), is.factorBefore, Type::Float, adds ? 1.0F : 0.0F);
  descriptors.set(operation.get(), is.how, Type::Descriptor, how.get());
  setTensor(operation.get(), is.w, w);
  setTensor(operation.get(), is.x, x);
  setTensor(operation.get(), is.y, y);
  addOperation(std::move(operation));
  parts.push_back(std::move(how));
}

std::optional<std::string> Graph::finalize(int64_t mostWorkspace, Engines engines) {
  graph = descriptors.make(Kind::OperationGraph);
  std::vector<Descriptor> all;
  all.reserve(operations.size());
  for (const OwnedDescriptor &operation : operations)
    all.push_back(operation.get());
  if (device.handle)
    descriptors.set(graph.get(), Attribute::GraphHandle, Type::Handle, device.handle);
  descriptors.setAll(graph.get(), Attribute::GraphOperations, Type::Descriptor, all);
  descriptors.finish(graph.get());
  return engine.choose(graph.get(), mostWorkspace, engines);
}

void Graph::run(std::span<char *const> addresses, char *workspace, void *stream) const {
  OwnedDescriptor pack = descriptors.make(Kind::VariantPack);
  std::array<int64_t, mostPointers> ids;
  std::array<const void *, mostPointers> pointers;
  size_t count = addresses.size() + numbers.size();
  assert(addresses.size() == operands.size() && count <= mostPointers);
  std::ranges::copy(numberIds, std::ranges::copy(operands, ids.begin()).out);
  std::ranges::transform(numbers, std::ranges::copy(addresses, pointers.begin()).out,
                         [](const float &number) { return &number; });
  descriptors.setAll(pack.get(), Attribute::PackIds, Type::Int64, std::span(ids).first(count));
  descriptors.setAll(pack.get(), Attribute::PackPointers, Type::VoidPointer, std::span(pointers).first(count));
  descriptors.set(pack.get(), Attribute::PackWorkspace, Type::VoidPointer, workspace);
  descriptors.finish(pack.get());
  descriptors.require(descriptors.library.setStream(device.handle, stream), "cudnnSetStream");
  descriptors.require(descriptors.library.execute(device.handle, engine.plan(), pack.get()), "cudnnBackendExecute");
}

} // namespace xlc::runtime::cudnn
