// libcudnn.so.9 of the simulated devices, under the real names: descriptors store the attributes that were set, an
// engine supports any graph of the operations in CudnnOperations.h, and the execution of a plan is one piece of work.
#include "CudnnOperations.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>

using namespace xlc::runtime::cudnn;
using namespace xlc::simulate;
using SimulatedOperation = xlc::simulate::cudnn::Operation;
using SimulatedTensor = xlc::simulate::cudnn::Tensor;

namespace {

constexpr Status badParameter = (Status)2000, notFinalized = (Status)2004;

struct Attributes {
  Kind kind;
  std::map<Attribute, std::string> values; ///< bytes
  bool isFinal = false;

  template <class T> std::vector<T> all(Attribute attribute) const {
    auto found = values.find(attribute);
    if (found == values.end())
      return {};
    std::vector<T> result(found->second.size() / sizeof(T));
    std::memcpy((void *)result.data(), found->second.data(), found->second.size());
    return result;
  }
  template <class T> T one(Attribute attribute, T otherwise = {}) const {
    std::vector<T> found = all<T>(attribute);
    return found.empty() ? otherwise : found[0];
  }
  const Attributes *descriptor(Attribute attribute) const { return one<const Attributes *>(attribute); }
};

struct Context {
  void *stream = nullptr;
};

/// Descriptors, of all threads.
class Living {
public:
  void add(const Attributes *descriptor) {
    std::lock_guard lock(mutex);
    all.insert(descriptor);
  }
  bool remove(const Attributes *descriptor) {
    std::lock_guard lock(mutex);
    return all.erase(descriptor) != 0;
  }
  bool contains(const Attributes *descriptor) const {
    std::lock_guard lock(mutex);
    return all.count(descriptor) != 0;
  }

private:
  mutable std::mutex mutex;
  std::set<const Attributes *> all; ///< looked up only
} living;

uint64_t bytesOf(Type type) {
  switch (type) {
  case Type::Handle:
  case Type::VoidPointer:
  case Type::Descriptor:
  case Type::Int64:
    return 8;
  case Type::Boolean:
    return 1;
  default:
    return 4;
  }
}

SimulatedTensor tensorOf(const Attributes &a) {
  SimulatedTensor tensor{a.one<int64_t>(Attribute::TensorId),
                         a.one<DataType>(Attribute::TensorType),
                         {},
                         {},
                         a.one<uint8_t>(Attribute::TensorIsVirtual) != 0,
                         a.one<uint8_t>(Attribute::TensorIsByValue) != 0};
  std::vector<int64_t> dimensions = a.all<int64_t>(Attribute::TensorDimensions);
  std::vector<int64_t> strides = a.all<int64_t>(Attribute::TensorStrides);
  if (dimensions.size() != 4 || strides.size() != 4)
    endWith("a cuDNN tensor must have four dimensions");
  std::copy(dimensions.begin(), dimensions.end(), tensor.dimensions.begin());
  std::copy(strides.begin(), strides.end(), tensor.strides.begin());
  return tensor;
}

/// x and w are read where y is made, and so on: the one that is made is `y` of the operation.
SimulatedOperation convolutionOf(const Attributes &a, Makes makes) {
  const ConvolutionOperation &is = convolutionOperations[(size_t)makes];
  const Attributes &how = *a.descriptor(is.how);
  auto pair = [&](Attribute attribute) {
    std::vector<int64_t> all = how.all<int64_t>(attribute);
    if (all.size() != 2)
      endWith("a cuDNN convolution must have two dimensions");
    return std::array{all[0], all[1]};
  };
  SimulatedTensor w = tensorOf(*a.descriptor(is.w)), x = tensorOf(*a.descriptor(is.x));
  SimulatedTensor y = tensorOf(*a.descriptor(is.y));
  SimulatedOperation result{};
  result.kind = SimulatedOperation::Kind::Convolution, result.makes = makes,
  result.factor = a.one<float>(is.factorBefore);
  result.filter = {pair(Attribute::ConvolutionStrides), pair(Attribute::ConvolutionDilations),
                   pair(Attribute::ConvolutionPads), pair(Attribute::ConvolutionPadsBehind)};
  result.x = makes == Makes::X ? y : x;
  result.b = makes == Makes::W ? y : w;
  result.y = makes == Makes::Y ? y : makes == Makes::X ? x : w;
  return result;
}

SimulatedOperation operationOf(const Attributes &a) {
  auto tensor = [&](Attribute attribute) { return tensorOf(*a.descriptor(attribute)); };
  auto optional = [&](Attribute attribute) {
    const Attributes *found = a.descriptor(attribute);
    return found ? std::optional(tensorOf(*found)) : std::nullopt;
  };
  SimulatedOperation result{};
  switch (a.kind) {
  case Kind::OperationPointwise: {
    const Attributes &how = *a.descriptor(Attribute::OperationPointwise);
    result.kind = SimulatedOperation::Kind::Pointwise;
    result.x = tensor(Attribute::OperationPointwiseX), result.y = tensor(Attribute::OperationPointwiseY);
    result.b = optional(Attribute::OperationPointwiseB), result.t = optional(Attribute::OperationPointwiseT);
    result.mode = how.one<PointwiseMode>(Attribute::PointwiseMode);
    result.axis = how.one<int64_t>(Attribute::PointwiseAxis);
    return result;
  }
  case Kind::OperationMatmul:
    result.kind = SimulatedOperation::Kind::Matmul;
    result.x = tensor(Attribute::OperationMatmulA), result.b = tensor(Attribute::OperationMatmulB);
    result.y = tensor(Attribute::OperationMatmulC);
    return result;
  case Kind::OperationReduction:
    result.kind = SimulatedOperation::Kind::Reduction;
    result.x = tensor(Attribute::OperationReductionX), result.y = tensor(Attribute::OperationReductionY);
    result.reduction =
        a.descriptor(Attribute::OperationReduction)->one<ReductionOperator>(Attribute::ReductionOperator);
    return result;
  case Kind::OperationConvolution:
    return convolutionOf(a, Makes::Y);
  case Kind::OperationConvolutionBack:
    return convolutionOf(a, Makes::X);
  case Kind::OperationConvolutionOfWeights:
    return convolutionOf(a, Makes::W);
  case Kind::OperationReshape:
    result.kind = SimulatedOperation::Kind::Reshape;
    result.x = tensor(Attribute::OperationReshapeX), result.y = tensor(Attribute::OperationReshapeY);
    return result;
  default:
    endWith("a cuDNN graph has a descriptor of kind " + std::to_string((int)a.kind) + " as an operation");
  }
}

std::vector<SimulatedOperation> operationsOf(const Attributes &graph) {
  std::vector<SimulatedOperation> result;
  for (const auto *each : graph.all<const Attributes *>(Attribute::GraphOperations))
    result.push_back(operationOf(*each));
  return result;
}

/// What is said of each engine that a graph has: of a convolution's, the fastest is on tensor cores.
std::vector<std::vector<Note>> notesOfEngines(const Attributes &graph) {
  if (operationsOf(graph)[0].kind != SimulatedOperation::Kind::Convolution)
    return {{}};
  return {{Note::TensorCore}, {Note::Nondeterministic}, {Note::StrictNan}};
}

/// What the engines of the real library ask for: XLC_SIMULATE_CUDNN_WORKSPACE (0).
int64_t workspaceOfPlans() {
  const char *given = getenv("XLC_SIMULATE_CUDNN_WORKSPACE");
  return given ? std::strtoll(given, nullptr, 10) : 0;
}

/// Reads numbers now, and the rest when the queue comes to it.
Work workOf(const std::vector<SimulatedOperation> &operations, const Attributes &pack) {
  std::vector<int64_t> ids = pack.all<int64_t>(Attribute::PackIds);
  std::vector<char *> pointers = pack.all<char *>(Attribute::PackPointers);
  auto places = std::make_shared<xlc::simulate::cudnn::Places>();
  for (size_t i = 0; i < ids.size(); ++i)
    (*places)[ids[i]] = pointers[i];
  auto numbers = std::make_shared<std::map<int64_t, float>>();
  Work work{"cudnnBackendExecute of " + std::to_string(operations.size()) + " operations", {}, {}, nullptr};
  std::set<int64_t> made;
  auto note = [&](const SimulatedTensor &tensor, std::vector<Span> &spans) {
    if (tensor.isVirtual)
      return;
    if (!places->count(tensor.id))
      endWith("a cuDNN variant pack lacks a tensor");
    if (!tensor.isByValue) {
      if ((uintptr_t)places->at(tensor.id) % 16)
        endWith("a cuDNN tensor is not aligned to 16 bytes");
      std::vector<Span> more = tensor.spans(places->at(tensor.id));
      spans.insert(spans.end(), more.begin(), more.end());
    } else if (auto [found, isNew] = numbers->try_emplace(tensor.id); isNew) {
      std::memcpy(&found->second, places->at(tensor.id), sizeof found->second);
      (*places)[tensor.id] = (char *)&found->second;
    }
  };
  for (const SimulatedOperation &each : operations) {
    for (const auto &in : {std::optional(each.x), each.b, each.t})
      if (in && !made.count(in->id))
        note(*in, work.reads);
    if (each.factor != 0)
      note(each.y, work.reads);
    note(each.y, work.writes);
    made.insert(each.y.id);
  }
  work.run = [=] {
    (void)numbers;
    xlc::simulate::cudnn::run(operations, *places);
  };
  return work;
}

} // namespace

#define CUDNN_FUNCTION extern "C" XLC_SIMULATED Status

extern "C" XLC_SIMULATED size_t cudnnGetVersion() {
  const char *given = getenv("XLC_SIMULATE_CUDNN");
  return given ? std::strtoull(given, nullptr, 10) : 91400;
}
extern "C" XLC_SIMULATED const char *cudnnGetErrorString(Status) { return nullptr; }
extern "C" XLC_SIMULATED void cudnnGetLastErrorString(char *text, size_t bytes) {
  if (bytes)
    text[0] = 0;
}
CUDNN_FUNCTION cudnnCreate(Context **context) {
  if (isToFail("cudnnCreate"))
    return Status::InternalError;
  *context = new Context;
  return Status::Success;
}
CUDNN_FUNCTION cudnnDestroy(Context *context) {
  delete context;
  return Status::Success;
}
CUDNN_FUNCTION cudnnSetStream(Context *context, void *stream) {
  if (isToFail("cudnnSetStream"))
    return Status::InternalError;
  context->stream = stream;
  return Status::Success;
}
CUDNN_FUNCTION cudnnBackendCreateDescriptor(Kind kind, Attributes **made) {
  living.add(*made = new Attributes{kind, {}});
  return Status::Success;
}
CUDNN_FUNCTION cudnnBackendDestroyDescriptor(Attributes *descriptor) {
  if (!living.remove(descriptor))
    endWith("a cuDNN descriptor is destroyed twice");
  delete descriptor;
  return Status::Success;
}
CUDNN_FUNCTION cudnnBackendSetAttribute(Attributes *descriptor, Attribute attribute, Type type, int64_t count,
                                        const void *values) {
  if (descriptor->isFinal)
    return badParameter;
  descriptor->values[attribute].assign((const char *)values, (uint64_t)count * bytesOf(type));
  return Status::Success;
}
CUDNN_FUNCTION cudnnBackendFinalize(Attributes *descriptor) {
  if (isToFail("cudnnBackendFinalize"))
    return Status::InternalError;
  if (descriptor->kind == Kind::OperationGraph)
    if (std::string wrong = xlc::simulate::cudnn::check(operationsOf(*descriptor)); !wrong.empty())
      endWith("a cuDNN graph: " + wrong);
  if (descriptor->kind == Kind::ExecutionPlan) { // its configuration may go
    const Attributes *engine = descriptor->descriptor(Attribute::PlanConfiguration);
    for (Attribute each : {Attribute::HeuristicsGraph, Attribute::EngineNotes})
      descriptor->values[each] = engine->values.at(each);
  }
  descriptor->isFinal = true;
  return Status::Success;
}
CUDNN_FUNCTION cudnnBackendGetAttribute(Attributes *descriptor, Attribute attribute, Type, int64_t most, int64_t *count,
                                        void *values) {
  if (!descriptor->isFinal)
    return notFinalized;
  *count = 1;
  if (attribute == Attribute::PlanWorkspace && most >= 1) {
    *(int64_t *)values = workspaceOfPlans();
    return Status::Success;
  }
  if (attribute == Attribute::ConfigurationEngine && most >= 1) {
    Attributes *engine = *(Attributes **)values;
    engine->values = descriptor->values, engine->isFinal = true;
    return Status::Success;
  }
  if (attribute == Attribute::EngineNotes) {
    std::vector<Note> notes = descriptor->all<Note>(attribute);
    *count = (int64_t)notes.size();
    std::copy_n(notes.begin(), std::min(*count, most), (Note *)values);
    return Status::Success;
  }
  if (attribute != Attribute::HeuristicsResults)
    return badParameter;
  const Attributes *graph = descriptor->descriptor(Attribute::HeuristicsGraph);
  std::vector<std::vector<Note>> engines = notesOfEngines(*graph);
  *count = std::min(most, (int64_t)engines.size());
  for (int64_t i = 0; i < *count; ++i) {
    Attributes *engine = ((Attributes **)values)[i]; // whose plan asks for the graph
    engine->values[Attribute::HeuristicsGraph].assign((const char *)&graph, sizeof(void *));
    engine->values[Attribute::EngineNotes].assign((const char *)engines[(size_t)i].data(),
                                                  engines[(size_t)i].size() * sizeof(Note));
    engine->isFinal = true;
  }
  return Status::Success;
}
CUDNN_FUNCTION cudnnBackendExecute(Context *context, Attributes *plan, Attributes *pack) {
  if (isToFail("cudnnBackendExecute"))
    return Status::InternalError;
  const Attributes *graph = plan->descriptor(Attribute::HeuristicsGraph);
  if (!plan->isFinal || !pack->isFinal || !living.contains(graph))
    return notFinalized;
  std::vector<SimulatedOperation> operations = operationsOf(*graph);
  std::vector<Note> notes = plan->all<Note>(Attribute::EngineNotes);
  bool isExact = std::ranges::all_of(notes, [](Note note) { return note == Note::StrictNan; });
  for (SimulatedOperation &each : operations)
    each.roundsOperands = !isExact;
  enqueue(context->stream, workOf(operations, *pack));
  return Status::Success;
}
