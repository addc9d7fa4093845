// See CudnnGraph.h.
#include "CudnnGraph.h"

#include "xlc/Runtime/FusedAttention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace xlc::runtime::cudnn {

constexpr int64_t mostEngines = 16; // of a heuristic
constexpr int64_t mostNotes = 16;   // of an engine

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

OwnedDescriptor Graph::make(Kind kind) const {
  Descriptor made = nullptr;
  library.require(library.createDescriptor(kind, &made), "cudnnBackendCreateDescriptor", what);
  return OwnedDescriptor(made, {&library});
}

template <class Range> void Graph::setAll(Descriptor of, Attribute attribute, Type type, const Range &values) const {
  library.require(
      library.setAttribute(of, attribute, type, (int64_t)std::size(values), (const void *)std::data(values)),
      "cudnnBackendSetAttribute", what);
}

template <class T> void Graph::set(Descriptor of, Attribute attribute, Type type, const T &value) const {
  setAll(of, attribute, type, std::span(&value, 1));
}

void Graph::setTensor(Descriptor of, Attribute attribute, Tensor tensor) const {
  set(of, attribute, Type::Descriptor, tensors[tensor].get());
}

void Graph::finish(Descriptor made) const { library.require(library.finalize(made), "cudnnBackendFinalize", what); }

Graph::Tensor Graph::add(const Sizes &sizes, DataType type, bool isVirtual, bool isByValue) {
  OwnedDescriptor made = make(Kind::Tensor);
  auto id = (int64_t)tensors.size();
  set(made.get(), Attribute::TensorType, Type::DataType, type);
  setAll(made.get(), Attribute::TensorDimensions, Type::Int64, sizes.dimensions);
  setAll(made.get(), Attribute::TensorStrides, Type::Int64, sizes.strides);
  set(made.get(), Attribute::TensorId, Type::Int64, id);
  set(made.get(), Attribute::TensorAlignment, Type::Int64, kFusedAttentionAlignment);
  set(made.get(), Attribute::TensorIsVirtual, Type::Boolean, isVirtual);
  set(made.get(), Attribute::TensorIsByValue, Type::Boolean, isByValue);
  finish(made.get());
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
  finish(operation.get());
  operations.push_back(std::move(operation));
}

void Graph::pointwise(PointwiseMode mode, Tensor x, Tensor b, Tensor y, DataType precision, int64_t axis) {
  OwnedDescriptor how = make(Kind::Pointwise), operation = make(Kind::OperationPointwise);
  set(how.get(), Attribute::PointwiseMode, Type::PointwiseMode, mode);
  set(how.get(), Attribute::PointwisePrecision, Type::DataType, precision);
  if (axis >= 0)
    set(how.get(), Attribute::PointwiseAxis, Type::Int64, axis);
  finish(how.get());
  set(operation.get(), Attribute::OperationPointwise, Type::Descriptor, how.get());
  setTensor(operation.get(), Attribute::OperationPointwiseX, x);
  if (b != none)
    setTensor(operation.get(), Attribute::OperationPointwiseB, b);
  setTensor(operation.get(), Attribute::OperationPointwiseY, y);
  addOperation(std::move(operation));
  parts.push_back(std::move(how));
}

void Graph::select(Tensor t, Tensor x, Tensor b, Tensor y) {
  OwnedDescriptor how = make(Kind::Pointwise), operation = make(Kind::OperationPointwise);
  set(how.get(), Attribute::PointwiseMode, Type::PointwiseMode, PointwiseMode::Select);
  set(how.get(), Attribute::PointwisePrecision, Type::DataType, DataType::F32);
  finish(how.get());
  set(operation.get(), Attribute::OperationPointwise, Type::Descriptor, how.get());
  setTensor(operation.get(), Attribute::OperationPointwiseX, x);
  setTensor(operation.get(), Attribute::OperationPointwiseB, b);
  setTensor(operation.get(), Attribute::OperationPointwiseT, t);
  setTensor(operation.get(), Attribute::OperationPointwiseY, y);
  addOperation(std::move(operation));
  parts.push_back(std::move(how));
}

void Graph::multiply(Tensor a, Tensor b, Tensor c) {
  OwnedDescriptor how = make(Kind::Matmul), operation = make(Kind::OperationMatmul);
  set(how.get(), Attribute::MatmulPrecision, Type::DataType, DataType::F32);
  finish(how.get());
  setTensor(operation.get(), Attribute::OperationMatmulA, a);
  setTensor(operation.get(), Attribute::OperationMatmulB, b);
  setTensor(operation.get(), Attribute::OperationMatmulC, c);
  set(operation.get(), Attribute::OperationMatmul, Type::Descriptor, how.get());
  addOperation(std::move(operation));
  parts.push_back(std::move(how));
}

void Graph::reduce(ReductionOperator how, Tensor x, Tensor y) {
  OwnedDescriptor part = make(Kind::Reduction), operation = make(Kind::OperationReduction);
  set(part.get(), Attribute::ReductionOperator, Type::ReductionOperator, how);
  set(part.get(), Attribute::ReductionPrecision, Type::DataType, DataType::F32);
  finish(part.get());
  setTensor(operation.get(), Attribute::OperationReductionX, x);
  setTensor(operation.get(), Attribute::OperationReductionY, y);
  set(operation.get(), Attribute::OperationReduction, Type::Descriptor, part.get());
  addOperation(std::move(operation));
  parts.push_back(std::move(part));
}

void Graph::reshape(Tensor x, Tensor y) {
  OwnedDescriptor operation = make(Kind::OperationReshape);
  setTensor(operation.get(), Attribute::OperationReshapeX, x);
  setTensor(operation.get(), Attribute::OperationReshapeY, y);
  addOperation(std::move(operation));
}

void Graph::convolve(Makes which, const Filter &filter, Tensor x, Tensor w, Tensor y, bool adds) {
  const ConvolutionOperation &is = convolutionOperations[(size_t)which];
  OwnedDescriptor how = make(Kind::Convolution), operation = make(is.kind);
  set(how.get(), Attribute::ConvolutionPrecision, Type::DataType, DataType::F32);
  set(how.get(), Attribute::ConvolutionMode, Type::ConvolutionMode, ConvolutionMode::CrossCorrelation);
  set(how.get(), Attribute::ConvolutionDimensions, Type::Int64, (int64_t)filter.strides.size());
  setAll(how.get(), Attribute::ConvolutionStrides, Type::Int64, filter.strides);
  setAll(how.get(), Attribute::ConvolutionDilations, Type::Int64, filter.dilations);
  setAll(how.get(), Attribute::ConvolutionPads, Type::Int64, filter.pads);
  setAll(how.get(), Attribute::ConvolutionPadsBehind, Type::Int64, filter.padsBehind);
  finish(how.get());
  set(operation.get(), is.factor, Type::Float, 1.0F);
  set(operation.get(), is.factorBefore, Type::Float, adds ? 1.0F : 0.0F);
  set(operation.get(), is.how, Type::Descriptor, how.get());
  setTensor(operation.get(), is.w, w);
  setTensor(operation.get(), is.x, x);
  setTensor(operation.get(), is.y, y);
  addOperation(std::move(operation));
  parts.push_back(std::move(how));
}

std::vector<OwnedDescriptor> Graph::findEngines(HeuristicsMode mode) const {
  OwnedDescriptor heuristics = make(Kind::Heuristics);
  set(heuristics.get(), Attribute::HeuristicsGraph, Type::Descriptor, graph.get());
  set(heuristics.get(), Attribute::HeuristicsMode, Type::HeuristicsMode, mode);
  if (device.properties)
    set(heuristics.get(), Attribute::HeuristicsDevice, Type::Descriptor, device.properties);
  if (library.finalize(heuristics.get()) != Status::Success)
    return {};
  std::vector<OwnedDescriptor> found;
  std::vector<Descriptor> places;
  places.reserve(mostEngines);
  for (int64_t i = 0; i < mostEngines; ++i)
    places.push_back(found.emplace_back(make(Kind::EngineConfiguration)).get());
  int64_t count = 0;
  Status status = library.getAttribute(heuristics.get(), Attribute::HeuristicsResults, Type::Descriptor, mostEngines,
                                       &count, (void *)places.data());
  found.resize(status == Status::Success ? (size_t)count : 0);
  return found;
}

std::vector<Note> Graph::notesOf(Descriptor configuration) const {
  OwnedDescriptor engine = make(Kind::Engine);
  Descriptor place = engine.get();
  int64_t count = 0;
  library.require(
      library.getAttribute(configuration, Attribute::ConfigurationEngine, Type::Descriptor, 1, &count, (void *)&place),
      "cudnnBackendGetAttribute", what);
  std::vector<Note> notes(mostNotes);
  library.require(
      library.getAttribute(engine.get(), Attribute::EngineNotes, Type::Note, mostNotes, &count, notes.data()),
      "cudnnBackendGetAttribute", what);
  notes.resize((size_t)count);
  return notes;
}

bool Graph::isTaken(Descriptor configuration, Engines engines) const {
  return engines == Engines::Any || std::ranges::all_of(notesOf(configuration), [&](Note note) {
           return note == Note::StrictNan || (note == Note::TensorCore && engines == Engines::Repeatable);
         });
}

bool Graph::usesTensorCores() const { return std::ranges::count(notesOf(configuration.get()), Note::TensorCore) > 0; }

bool Graph::tryEngine(Descriptor configuration, int64_t mostWorkspace, std::string &why) {
  OwnedDescriptor made = make(Kind::ExecutionPlan);
  if (device.properties)
    set(made.get(), Attribute::PlanDevice, Type::Descriptor, device.properties);
  else
    set(made.get(), Attribute::PlanHandle, Type::Handle, device.handle);
  set(made.get(), Attribute::PlanConfiguration, Type::Descriptor, configuration);
  if (library.finalize(made.get()) != Status::Success) {
    why = library.lastError();
    return false;
  }
  int64_t bytes = 0, count = 0;
  library.require(library.getAttribute(made.get(), Attribute::PlanWorkspace, Type::Int64, 1, &count, &bytes),
                  "cudnnBackendGetAttribute", what);
  if (bytes > mostWorkspace) {
    why = fmt::format("it wants {} bytes of workspace, and the plan has {}", bytes, mostWorkspace);
    return false;
  }
  plan = std::move(made);
  return true;
}

std::optional<std::string> Graph::finalize(int64_t mostWorkspace, Engines engines) {
  graph = make(Kind::OperationGraph);
  std::vector<Descriptor> all;
  all.reserve(operations.size());
  for (const OwnedDescriptor &operation : operations)
    all.push_back(operation.get());
  if (device.handle)
    set(graph.get(), Attribute::GraphHandle, Type::Handle, device.handle);
  setAll(graph.get(), Attribute::GraphOperations, Type::Descriptor, all);
  finish(graph.get());
  std::string why = "it knows none";
  for (HeuristicsMode mode : {HeuristicsMode::Best, HeuristicsMode::Fallback})
    for (OwnedDescriptor &engine : findEngines(mode))
      if (isTaken(engine.get(), engines) && tryEngine(engine.get(), mostWorkspace, why)) {
        configuration = std::move(engine);
        return std::nullopt;
      }
  return fmt::format("cuDNN {} has no kernel for {}: {}", library.version(), what, why);
}

void Graph::run(std::span<char *const> addresses, char *workspace, void *stream) const {
  OwnedDescriptor pack = make(Kind::VariantPack);
  std::array<int64_t, mostPointers> ids;
  std::array<const void *, mostPointers> pointers;
  size_t count = addresses.size() + numbers.size();
  assert(addresses.size() == operands.size() && count <= mostPointers);
  std::ranges::copy(numberIds, std::ranges::copy(operands, ids.begin()).out);
  std::ranges::transform(numbers, std::ranges::copy(addresses, pointers.begin()).out,
                         [](const float &number) { return &number; });
  setAll(pack.get(), Attribute::PackIds, Type::Int64, std::span(ids).first(count));
  setAll(pack.get(), Attribute::PackPointers, Type::VoidPointer, std::span(pointers).first(count));
  set(pack.get(), Attribute::PackWorkspace, Type::VoidPointer, workspace);
  finish(pack.get());
  library.require(library.setStream(device.handle, stream), "cudnnSetStream", what);
  library.require(library.execute(device.handle, plan.get(), pack.get()), "cudnnBackendExecute", what);
}

} // namespace xlc::runtime::cudnn
