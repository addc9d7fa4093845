// See PlanShapes.h.
#include "PlanShapes.h"

using namespace xlc;

static plan::Element floatOf(runtime::FloatType type) {
  return type == runtime::FloatType::F32    ? plan::Element::F32
         : type == runtime::FloatType::BF16 ? plan::Element::BF16
                                            : plan::Element::F16;
}

plan::ContractT xlc::contractOf(const runtime::ContractShape &shape) {
  plan::ContractT result;
  result.m = shape.m, result.n = shape.n, result.k = shape.k;
  result.a_m = shape.aM, result.a_k = shape.aK, result.b_k = shape.bK, result.b_n = shape.bN;
  result.y_m = shape.yM, result.y_n = shape.yN;
  result.bias = shape.epilogue.bias, result.residual = shape.epilogue.residual;
  result.activation = (plan::Activation)shape.epilogue.activation; // EmitTests hold the two against each other
  result.operands = floatOf(shape.operands), result.result = floatOf(shape.result);
  for (const auto &batch : shape.batch)
    result.batch.emplace_back(batch.size, batch.a, batch.b, batch.y);
  return result;
}

plan::AttentionT xlc::attentionOf(const runtime::AttentionShape &shape) {
  plan::AttentionT result;
  result.backward = shape.backward, result.causal = shape.causal, result.scale = shape.scale;
  result.batch = shape.batch, result.queries = shape.queries, result.keys = shape.keys;
  result.heads = shape.heads, result.groups = shape.groups, result.d = shape.d, result.e = shape.e;
  auto strides = [](const runtime::HeadStrides &s) {
    return std::make_unique<plan::HeadStrides>(s.batch, s.position, s.head);
  };
  result.q = strides(shape.q), result.k = strides(shape.k), result.v = strides(shape.v);
  result.out = strides(shape.out);
  if (shape.backward) {
    result.dout = strides(shape.dout);
    result.dq = strides(shape.dq), result.dk = strides(shape.dk), result.dv = strides(shape.dv);
  }
  result.window = shape.window, result.uniform = shape.uniform, result.added = shape.added;
  result.bias_kind = (plan::BiasKind)shape.biasKind;
  result.element = floatOf(shape.type), result.ratio = shape.ratio;
  if (shape.biasKind != runtime::AttentionBias::None)
    result.bias = std::make_unique<plan::BiasStrides>(shape.bias.batch, shape.bias.head, shape.bias.query);
  return result;
}

std::vector<plan::WindowDim> xlc::dimsOf(const std::vector<runtime::WindowDim> &dims) {
  std::vector<plan::WindowDim> result;
  result.reserve(dims.size());
  for (const runtime::WindowDim &dim : dims)
    result.emplace_back(dim.in, dim.out, dim.size, dim.stride, dim.dilation, dim.pad);
  return result;
}

plan::ConvolutionT xlc::convolutionOf(const runtime::ConvolutionShape &shape) {
  plan::ConvolutionT result;
  result.kind = static_cast<plan::ConvolutionKind>(shape.kind);
  result.batch = shape.batch, result.groups = shape.groups;
  result.inputs = shape.inputs, result.outputs = shape.outputs;
  result.dims = dimsOf(shape.dims);
  result.element = floatOf(shape.type);
  return result;
}
