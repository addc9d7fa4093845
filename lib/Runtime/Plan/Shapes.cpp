// See Shapes.h.
#include "Shapes.h"

namespace xlc::runtime {

static HeadStrides stridesOf(const std::unique_ptr<plan::HeadStrides> &s) {
  return s ? HeadStrides{s->batch(), s->position(), s->head()} : HeadStrides{0, 0, 0};
}

FloatType floatOf(plan::Element element) {
  return element == plan::Element::BF16  ? FloatType::BF16
         : element == plan::Element::F16 ? FloatType::F16
                                         : FloatType::F32;
}

ContractShape shapeOf(const plan::ContractT &c) {
  ContractShape shape{(int64_t)c.m, (int64_t)c.n, (int64_t)c.k, c.a_m, c.a_k, c.b_k, c.b_n, c.y_m, c.y_n, {}, {}};
  shape.epilogue = {c.bias, c.residual, (Activation)c.activation};
  shape.operands = floatOf(c.operands), shape.result = floatOf(c.result);
  for (const plan::BatchDim &dim : c.batch)
    shape.batch.push_back({(int64_t)dim.size(), dim.a(), dim.b(), dim.y()});
  return shape;
}

AttentionShape shapeOf(const plan::AttentionT &a) {
  return {a.backward,
          a.causal,
          a.scale,
          (int64_t)a.batch,
          (int64_t)a.queries,
          (int64_t)a.keys,
          (int64_t)a.heads,
          (int64_t)a.groups,
          (int64_t)a.d,
          (int64_t)a.e,
          stridesOf(a.q),
          stridesOf(a.k),
          stridesOf(a.v),
          stridesOf(a.out),
          stridesOf(a.dout),
          stridesOf(a.dq),
          stridesOf(a.dk),
          stridesOf(a.dv),
          (int64_t)a.window,
          a.uniform,
          a.added,
          (AttentionBias)a.bias_kind,
          a.bias ? BiasStrides{a.bias->batch(), a.bias->head(), a.bias->query()} : BiasStrides(),
          floatOf(a.element),
          a.ratio};
}

std::vector<WindowDim> dimsOf(const std::vector<plan::WindowDim> &dims) {
  std::vector<WindowDim> result;
  result.reserve(dims.size());
  for (const plan::WindowDim &dim : dims)
    result.push_back({(int64_t)dim.in(), (int64_t)dim.out(), (int64_t)dim.size(), (int64_t)dim.stride(),
                      (int64_t)dim.dilation(), dim.pad()});
  return result;
}

ConvolutionShape shapeOf(const plan::ConvolutionT &c) {
  return {static_cast<ConvolutionShape::Kind>(c.kind),
          (int64_t)c.batch,
          (int64_t)c.groups,
          (int64_t)c.inputs,
          (int64_t)c.outputs,
          dimsOf(c.dims),
          floatOf(c.element)};
}

} // namespace xlc::runtime
