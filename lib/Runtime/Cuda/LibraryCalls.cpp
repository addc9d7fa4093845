// See LibraryCalls.h.
#include "LibraryCalls.h"

#include "Plan/Shapes.h"

#include "xlc/Runtime/AlignedProduct.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace xlc::runtime::cuda {
namespace {

/// Of an address, and of those so many bytes behind it.
uint32_t with(uint32_t alignment, int64_t offset) { return alignmentOf(alignment | (uint64_t)offset); }

/// Which of a call's operands, and then its results, is the residual or h.
size_t besideOf(const plan::CallT &call, const Epilogue &epilogue) {
  return call.ins.size() - (epilogue.readsBeside() ? 1 : 0);
}

/// Among the operands of attention.
ptrdiff_t placeOfCondition(bool isBackward) { return isBackward ? 6 : 3; }
constexpr ptrdiff_t placeOfStats = 4; ///< without the condition

} // namespace

LibraryCalls::~LibraryCalls() {
  fusedAttentions.clear();
  convolutions.clear();
  if (fusingHandle)
    fusing->destroy(fusingHandle);
}

Function LibraryCalls::find(const std::string &name) const { return driver.findKernel(code, name); }

const Product *LibraryCalls::prepareProduct(const plan::CallT &call, const ContractShape &shape, uint64_t workspace,
                                            const ProductAlignment &alignment) {
  std::string key = fmt::format("{} {} {} {} {} {} {} {} {} {} {}", call.name, call.kernel, shape.m, shape.n, shape.k,
                                workspace, alignment.a, alignment.b, alignment.bias, alignment.beside, alignment.y);
  auto ready = prepared.find(key);
  if (ready == prepared.end()) {
    ready = prepared.emplace(key, products.prepare(call.name, shape, workspace, alignment)).first;
    if (tuning)
      tuning->apply(call.name, ready->second);
  }
  return &ready->second;
}

std::vector<Product *> LibraryCalls::listProducts() {
  std::vector<Product *> all;
  all.reserve(prepared.size());
  for (auto &[key, product] : prepared)
    all.push_back(&product);
  return all;
}

LibraryCalls::Contraction LibraryCalls::prepareContraction(const plan::CallT &call, const plan::ContractT &contract) {
  std::vector<uint32_t> found = places.alignmentsOf(call);
  ContractShape shape = shapeOf(contract);
  const Epilogue &epilogue = shape.epilogue;
  uint32_t ofBias = epilogue.bias ? found[2] : 1, beside = epilogue.hasBeside() ? found[besideOf(call, epilogue)] : 1;
  AlignedProduct aligned(shape);
  int64_t sums = aligned.sumBytes(), scratch = (int64_t)call.workspace_bytes - sums, element = bytesOf(shape.operands);
  if (scratch < 0)
    throw Rejected(fmt::format("error: call '{}' has {} bytes of workspace, but its partial sums need {}", call.name,
                               call.workspace_bytes, sums));
  Contraction made;
  if (aligned.hasSums())
    made.sums = scratch, made.count = shape.m * shape.n,
    made.round = find(convertKernelOf(plan::Element::F32, contract.operands));
  for (const ProductPart &part : aligned.parts()) {
    Contraction::Part placed{
        nullptr,  part.a * element, part.b * element, part.bias * element, part.y * bytesOf(part.shape.result),
        part.adds};
    ProductAlignment alignment{with(found[0], placed.a), with(found[1], placed.b), with(ofBias, placed.bias), beside,
                               with(aligned.hasSums() ? cublaslt::mostAlignment : found.back(), placed.y)};
    placed.product = prepareProduct(call, part.shape, scratch, alignment);
    made.parts.push_back(placed);
  }
  return made;
}

cudnn::Device LibraryCalls::fusingDevice() {
  if (!fusingHandle)
    fusing->require(fusing->create(&fusingHandle), "cudnnCreate", "this device");
  return {fusingHandle};
}

LibraryCalls::Attention LibraryCalls::prepareAttention(const plan::CallT &call, const plan::AttentionT &attention) {
  AttentionShape shape = shapeOf(attention);
  std::vector<uint32_t> alignments = places.alignmentsOf(call);
  if (shape.biasKind != AttentionBias::None)
    alignments.erase(alignments.begin() + placeOfCondition(shape.backward)); // what kernels of ours read, or write
  alignments.erase(alignments.begin() + placeOfStats);
  if (!isFusedAttention(shape) || std::ranges::min(alignments) < kFusedAttentionAlignment ||
      (int64_t)call.workspace_bytes < FusedAttentionWorkspace(shape).scratch)
    throw Rejected(fmt::format("error: call '{}' computes attention in a form that cuDNN does not support; compile "
                               "with runtime: {{attention: products}}",
                               call.name));
  auto &made = fusedAttentions[call.kernel];
  if (!made)
    made = std::make_unique<cudnn::FusedAttention>(*fusing, fusingDevice(), call.name, shape,
                                                   (int64_t)call.workspace_bytes);
  return {made.get(), find(shape.backward ? narrowStatsKernel : wideStatsKernel),
          made->condition() ? find(conditionKernel) : nullptr};
}

std::unique_ptr<cudnn::FusedConvolution> LibraryCalls::fuse(const plan::CallT &call, const ConvolutionShape &shape,
                                                            bool adds) {
  std::vector<uint32_t> alignments = places.alignmentsOf(call);
  if (!fusing || plan.deterministic || std::ranges::min(alignments) < kFusedAttentionAlignment)
    return nullptr;
  return cudnn::FusedConvolution::tryMake(*fusing, fusingDevice(), call.name, shape, adds,
                                          (int64_t)call.workspace_bytes);
}

LibraryCalls::Convolution LibraryCalls::prepareConvolution(const plan::CallT &call,
                                                           const plan::ConvolutionT &convolution) {
  ConvolutionShape shape = shapeOf(convolution);
  auto needed = (uint64_t)ConvolutionWorkspace<int64_t>(shape).bytes;
  constexpr uint64_t kLine = ConvolutionWorkspace<int64_t>::kLine;
  if (call.workspace_bytes < needed)
    throw Rejected(fmt::format("error: call '{}' has {} bytes of workspace, but its convolution needs {}", call.name,
                               call.workspace_bytes, needed));
  bool isWide = convolution.element == plan::Element::F32;
  bool isEverAdded = call.accumulate[0] != plan::Accumulate::Never;
  Convolution made{shape.kind,
                   (int64_t)((call.workspace_bytes - needed) / kLine * kLine),
                   makeConvolutionSteps(shape, false),
                   makeConvolutionSteps(shape, true),
                   nullptr,
                   find(columnsKernel),
                   find(fromColumnsKernel),
                   isWide ? nullptr : find(convertKernelOf(convolution.element, plan::Element::F32)),
                   isWide ? nullptr : find(convertKernelOf(plan::Element::F32, convolution.element)),
                   fuse(call, shape, false),
                   isEverAdded ? fuse(call, shape, true) : nullptr};
  ProductAlignment alignment{256, 256, 1, 1, 256};
  uint32_t operands = 256;
  for (uint32_t each : places.alignmentsOf(call))
    operands = std::min(operands, each);
  for (const ConvolutionStep &step : made.write.steps)
    if (step.kind == ConvolutionStep::Kind::Product) {
      alignment.a = std::min(alignment.a, with(operands, step.a.offset));
      alignment.b = std::min(alignment.b, with(operands, step.b.offset));
      alignment.y = std::min(alignment.y, with(operands, step.result.offset));
    }
  made.product = prepareProduct(call, made.write.product, (uint64_t)made.scratch, alignment);
  return made;
}

void LibraryCalls::prepare(const plan::CallT &call) {
  const plan::LibraryUnion &library = plan.kernels[call.kernel]->library;
  if (const plan::ContractT *contract = library.AsContract()) {
    contractions[&call] = prepareContraction(call, *contract);
  } else if (const plan::ScatterAddT *scatter = library.AsScatterAdd()) {
    DeviceScatter made = deviceCallOf(*scatter);
    scatters[&call] = {find(made.kernel), made.blocks, made.parameters};
  } else if (const plan::ScatterIntoT *into = library.AsScatterInto()) {
    DeviceScatterInto made = deviceCallOf(*into);
    scattersInto.insert({&call, {find(made.kernel), made.blocks, made.parameters}});
  } else if (const plan::MaxPoolT *pool = library.AsMaxPool()) {
    DevicePool made = deviceCallOf(*pool);
    pools.insert({&call, {find(made.kernel), made.blocks, made.parameters}});
  } else if (const plan::AttentionT *attention = library.AsAttention()) {
    attentions.insert({&call, prepareAttention(call, *attention)});
  } else if (const plan::ConvolutionT *convolution = library.AsConvolution()) {
    convolutions.insert({&call, prepareConvolution(call, *convolution)});
  } else {
    throw Rejected(fmt::format("error: call '{}' is {}, which GPU programs do not support", call.name,
                               plan::EnumNameLibrary(library.type)));
  }
}

template <class Parameters>
void LibraryCalls::launch(const Launch<Parameters> &what, std::span<char *const> operands, bool adds,
                          Stream stream) const {
  Parameters given = what.parameters;
  if constexpr (requires { given.adds; })
    given.adds = adds;
  std::array<void *, 5> parameters; // of the kernel that has most
  size_t count = 0;
  for (char *const &operand : operands)
    parameters[count++] = (void *)&operand;
  parameters[count] = &given;
  driver.launchBlocks(what.function, what.blocks, kDeviceThreads, parameters.data(), stream);
}

void LibraryCalls::run(const plan::CallT &call, const CallOperands &operands, Stream stream) {
  char *const *at = operands.addresses;
  bool adds = operands.accumulate[0];
  std::span<char *const> all(at, call.ins.size() + call.outs.size());
  switch (plan.kernels[call.kernel]->library.type) {
  case plan::Library::Contract:
    return runContraction(call, operands, stream);
  case plan::Library::ScatterAdd:
    return launch(scatters.at(&call), all, adds, stream);
  case plan::Library::ScatterInto:
    return launch(scattersInto.at(&call), all, adds, stream);
  case plan::Library::Attention:
    return runAttention(call, operands, stream);
  case plan::Library::MaxPool:
    return launch(pools.at(&call), all, adds, stream);
  default:
    return runConvolution(convolutions.at(&call), operands, stream);
  }
}

void LibraryCalls::runContraction(const plan::CallT &call, const CallOperands &operands, Stream stream) const {
  const Contraction &what = contractions.at(&call);
  char *const *p = operands.addresses;
  const Epilogue epilogue = shapeOf(*plan.kernels[call.kernel]->library.AsContract()).epilogue;
  bool hasSums = what.sums >= 0;
  char *y = p[call.ins.size() + call.outs.size() - 1];
  char *made = hasSums ? operands.workspace + what.sums : y;                   // sixteen bits are not added to
  char *beside = epilogue.hasBeside() ? p[besideOf(call, epilogue)] : nullptr; // then it is one product
  for (const Contraction::Part &part : what.parts)
    part.product->run({p[0] + part.a, p[1] + part.b, epilogue.bias ? p[2] + part.bias : nullptr, beside, made + part.y},
                      part.adds || (operands.accumulate[0] && !hasSums), operands.workspace, stream);
  if (hasSums)
    convert(what.round, made, y, what.count, stream);
}

void LibraryCalls::convert(Function kernel, char *from, char *to, int64_t count, Stream stream) const {
  ConvertParameters given{count};
  void *parameters[] = {(void *)&from, (void *)&to, &given};
  driver.launchBlocks(kernel, blocksToConvert(given), kDeviceThreads, parameters, stream);
}

/// The plan has log-sum-exps as f64 beside out: between forward and backward they are what the library has written.
void LibraryCalls::runAttention(const plan::CallT &call, const CallOperands &operands, Stream stream) const {
  const Attention &what = attentions.at(&call);
  const cudnn::FusedAttention &attention = *what.fused;
  char *workspace = operands.workspace, *stats = workspace + attention.places().stats, *lse = nullptr;
  std::optional<ConditionParameters> condition = attention.condition();
  std::array<char *, cudnn::FusedAttention::mostOperands> p;
  size_t count = 0;
  ptrdiff_t place = 0; // without the condition
  for (size_t i = 0; i < call.ins.size() + call.outs.size(); ++i) {
    char *each = operands.addresses[i];
    if (condition && (ptrdiff_t)i == placeOfCondition(attention.isBackward()))
      addCondition(what.condition, *condition, each, workspace + attention.places().bias, stream);
    else if (place++ == placeOfStats)
      lse = each;
    else
      p[count++] = each;
  }
  std::span<char *const> given(p.data(), count);
  if (attention.isBackward()) {
    convert(what.convert, lse, stats, attention.rows(), stream);
    return attention.run(given, workspace, stream);
  }
  attention.run(given, workspace, stream);
  convert(what.convert, stats, lse, attention.rows(), stream);
}

void LibraryCalls::addCondition(Function kernel, ConditionParameters given, char *condition, char *bias,
                                Stream stream) const {
  void *parameters[] = {(void *)&condition, (void *)&bias, &given};
  driver.launchBlocks(kernel, blocksForCondition(given), kDeviceThreads, parameters, stream);
}

void LibraryCalls::runConvolution(const Convolution &what, const CallOperands &operands, Stream stream) const {
  using Kind = ConvolutionShape::Kind;
  char *const *p = operands.addresses;
  char *x = p[what.kind == Kind::Transpose ? 2 : 0], *w = p[what.kind == Kind::WeightBackward ? 2 : 1];
  char *y = p[what.kind == Kind::Forward ? 2 : what.kind == Kind::Transpose ? 0 : 1];
  if (const auto &fused = operands.accumulate[0] ? what.fusedAdd : what.fusedWrite)
    return fused->run(x, w, y, operands.workspace, stream);
  char *bases[] = {x, w, y, operands.workspace + what.scratch}; // as ConvolutionPlace::Operand
  auto addressOf = [&](const ConvolutionPlace &place) { return bases[(int)place.operand] + place.offset; };
  const ConvolutionSteps &steps = operands.accumulate[0] ? what.add : what.write;
  for (const ConvolutionStep &step : steps.steps)
    switch (step.kind) {
    case ConvolutionStep::Kind::Columns:
      launch<ColumnsParameters>({what.columns, blocksForColumns(steps.columns), steps.columns},
                                std::array{addressOf(step.a), addressOf(step.result)}, step.adds, stream);
      break;
    case ConvolutionStep::Kind::FromColumns:
      launch<ColumnsParameters>({what.fromColumns, blocksFromColumns(steps.columns), steps.columns},
                                std::array{addressOf(step.a), addressOf(step.result)}, step.adds, stream);
      break;
    case ConvolutionStep::Kind::Product:
      what.product->run({addressOf(step.a), addressOf(step.b), nullptr, nullptr, addressOf(step.result)}, step.adds,
                        operands.workspace, stream);
      break;
    case ConvolutionStep::Kind::Widen:
      convert(what.widen, addressOf(step.a), addressOf(step.result), step.count, stream);
      break;
    case ConvolutionStep::Kind::Narrow:
      convert(what.narrow, addressOf(step.a), addressOf(step.result), step.count, stream);
      break;
    }
}

} // namespace xlc::runtime::cuda
