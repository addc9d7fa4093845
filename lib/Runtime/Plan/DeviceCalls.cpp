// See DeviceCalls.h.
#include "DeviceCalls.h"

#include "Exchanges.h"
#include "Shapes.h"

#include "xlc/Runtime/AlignedProduct.h"

#include <fmt/format.h>

#include <cctype>

namespace xlc::runtime {
namespace {

/// In names of kernels: "f32". A type that none has gives a name that none has.
std::string suffixOf(plan::Element element) {
  std::string name = nameOf(element);
  for (char &letter : name)
    letter = (char)std::tolower((unsigned char)letter);
  return name;
}

} // namespace

DeviceScatter deviceCallOf(const plan::ScatterAddT &s) {
  DeviceScatter made{"",
                     {(int64_t)s.outer, (int64_t)s.distinct, (int64_t)s.indices, (int64_t)s.rows, (int64_t)s.width,
                      /*adds=*/0},
                     0};
  made.kernel = s.per_element ? fmt::format("xlc_scatter_elements_{}", suffixOf(s.index))
                              : fmt::format("xlc_scatter_rows_{}_{}", suffixOf(s.index), suffixOf(s.result));
  made.blocks = s.per_element ? blocksForElements(made.parameters) : blocksForRows(made.parameters);
  return made;
}

DeviceScatterInto deviceCallOf(const plan::ScatterIntoT &s) {
  ScatterIntoParameters parameters{(int64_t)s.outer, (int64_t)s.distinct, (int64_t)s.indices, (int64_t)s.rows,
                                   (int64_t)s.width, s.per_element,       (ScatterKind)s.kind};
  return {fmt::format("xlc_scatter_into_{}_{}", suffixOf(s.index), suffixOf(s.element)), parameters,
          blocksForScatterInto(parameters)};
}

DevicePool deviceCallOf(const plan::MaxPoolT &pool) {
  MaxPoolParameters parameters{(int64_t)pool.planes, Windows(dimsOf(pool.dims)), /*adds=*/0};
  if (pool.backward)
    return {"xlc_max_pool_backward", parameters, blocksForPoolBackward(parameters)};
  return {"xlc_max_pool", parameters, blocksForPool(parameters)};
}

std::vector<std::string> deviceKernelsOf(const plan::KernelT &kernel) {
  if (const plan::ScatterAddT *scatter = kernel.library.AsScatterAdd())
    return {deviceCallOf(*scatter).kernel};
  if (const plan::ScatterIntoT *scatter = kernel.library.AsScatterInto())
    return {deviceCallOf(*scatter).kernel};
  if (const plan::MaxPoolT *pool = kernel.library.AsMaxPool())
    return {deviceCallOf(*pool).kernel};
  if (const plan::ContractT *contract = kernel.library.AsContract())
    if (ContractShape shape = shapeOf(*contract); AlignedProduct(shape).hasSums())
      return {convertKernelOf(plan::Element::F32, contract->operands)};
  if (const plan::AttentionT *attention = kernel.library.AsAttention()) {
    std::vector<std::string> names = {attention->backward ? narrowStatsKernel : wideStatsKernel};
    if (attention->bias_kind == plan::BiasKind::Allow)
      names.push_back(conditionKernel);
    return names;
  }
  if (const plan::ConvolutionT *convolution = kernel.library.AsConvolution()) {
    std::vector<std::string> names = {columnsKernel, fromColumnsKernel};
    if (convolution->element != plan::Element::F32)
      for (bool isWidened : {false, true})
        names.push_back(isWidened ? convertKernelOf(convolution->element, plan::Element::F32)
                                  : convertKernelOf(plan::Element::F32, convolution->element));
    return names;
  }
  return {};
}

std::string combineKernelOf(bool isLargest, plan::Element element, plan::Element wire) {
  std::string name = fmt::format("xlc_{}_{}", isLargest ? "largest" : "sum", suffixOf(element));
  return wire == element ? name : fmt::format("{}_as_{}", name, suffixOf(wire));
}

std::string convertKernelOf(plan::Element element, plan::Element other) {
  return fmt::format("xlc_convert_{}_{}", suffixOf(element), suffixOf(other));
}

std::vector<std::string> deviceKernelsOf(const Plan &plan, const plan::ExchangeT &exchange) {
  if (!isSummedInOrder(plan, exchange))
    return {};
  plan::Element element = exchange.element, wire = exchange.wire.value_or(element);
  bool isLargest = exchange.kind == plan::CollectiveKind::all_reduce_max;
  std::vector<std::string> names = {combineKernelOf(isLargest, element, wire)};
  if (wire != element) {
    names.push_back(convertKernelOf(element, wire));
    names.push_back(convertKernelOf(wire, element));
  }
  return names;
}

} // namespace xlc::runtime
