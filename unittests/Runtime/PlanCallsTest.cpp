// Library calls of a plan: a library must support their shapes and types, and their operands must be long enough.
#include "PlanComplaints.h"

using namespace xlc::runtime;
using namespace xlc::test;
namespace plan = xlc::plan;
using plan::Element;

namespace {

void contract(Plan &p, int64_t stride) {
  plan::ContractT c;
  c.m = c.n = c.k = 2, c.a_m = c.b_k = c.y_m = 2, c.a_k = c.b_n = 1, c.y_n = stride;
  p.kernels[0]->library.Set(std::move(c));
}

TEST(Plan, ScattersIntoABaseMustCoverWhatTheyTouch) {
  auto into = [](Plan &p, const plan::ScatterIntoT &s, bool adds) {
    plan::CallT &call = *p.functions[3]->calls[0];
    call.ins.resize(3), call.in_bytes.resize(3, call.in_bytes[0]), call.outs.resize(1), call.out_bytes.resize(1);
    call.accumulate.assign(1, adds ? plan::Accumulate::Always : plan::Accumulate::Never);
    p.kernels[3]->library.Set(plan::ScatterIntoT(s));
  };
  plan::ScatterIntoT good;
  good.indices = good.rows = good.width = 1, good.index = Element::I64;
  expect("call 'update': a scatter into a base cannot add to its result", [&](Plan &p) { into(p, good, true); });
  auto spoil = [&](const char *complaint, auto change) {
    plan::ScatterIntoT bad = good;
    change(bad);
    expect(complaint, [&](Plan &p) { into(p, bad, false); });
  };
  spoil("call 'update' has indices that are not integers", [](auto &s) { s.index = Element::F32; });
  spoil("call 'update' has no indices", [](auto &s) { s.distinct = 0; });
  spoil("call 'update' has an element type that scatters do not support", [](auto &s) { s.element = Element::BF16; });
  spoil("call 'update' has an unknown kind of scatter", [](auto &s) { s.kind = (plan::ScatterKind)3; });
  spoil("call 'update' accesses bytes beyond the end of an operand", [](auto &s) { s.rows = 1ull << 40; });
  spoil("call 'update' accesses bytes beyond the end of an operand", [](auto &s) { s.indices = 1ull << 40; });
}

TEST(Plan, LibraryCallsMustCoverWhatTheyTouch) {
  expect("call 'gradient' has 2 inputs and 2 outputs, but 'gradient' takes 2 and 1", [](Plan &p) { contract(p, 1); });
  expect("call 'update' accesses bytes beyond the end of an operand", [&](Plan &p) {
    plan::ScatterAddT s;
    s.indices = 1ull << 40, s.rows = 1, s.width = 1, s.index = Element::I64;
    p.functions[3]->calls[0]->ins.pop_back(), p.functions[3]->calls[0]->in_bytes.pop_back();
    p.kernels[3]->library.Set(std::move(s));
  });
  expect("contraction 'gradient' is empty", [&](Plan &p) {
    contract(p, 1);
    p.kernels[0]->library.AsContract()->k = 0;
  });
  expect("has indices that are not integers", [&](Plan &p) {
    plan::ScatterAddT s;
    s.index = Element::F32;
    p.functions[3]->calls[0]->ins.pop_back(), p.functions[3]->calls[0]->in_bytes.pop_back();
    p.kernels[3]->library.Set(std::move(s));
  });
  expect("call 'update' has no indices", [&](Plan &p) {
    plan::ScatterAddT s;
    s.distinct = 0, s.index = Element::I64;
    p.functions[3]->calls[0]->ins.pop_back(), p.functions[3]->calls[0]->in_bytes.pop_back();
    p.kernels[3]->library.Set(std::move(s));
  });
  expect("call 'update' has a result type that scatter sums do not support",
         [&](Plan &p) { // of an index per element nothing is rounded
           plan::ScatterAddT s;
           s.index = Element::I64, s.result = Element::BF16, s.per_element = true;
           p.functions[3]->calls[0]->ins.pop_back(), p.functions[3]->calls[0]->in_bytes.pop_back();
           p.kernels[3]->library.Set(std::move(s));
         });
  expect("attention cannot add to its results", [&](Plan &p) {
    plan::AttentionT a;
    plan::HeadStrides strides(1, 1, 1);
    a.groups = a.heads = a.queries = a.keys = a.d = a.e = a.batch = 1;
    for (auto *each : {&a.q, &a.k, &a.v, &a.out})
      *each = std::make_unique<plan::HeadStrides>(strides);
    plan::CallT &call = *p.functions[0]->calls[0];
    call.ins.push_back(call.ins[0]), call.in_bytes.push_back(4);
    p.kernels[0]->library.Set(std::move(a));
  });
  expect("accesses bytes beyond the end of an operand", [&](Plan &p) { // the bias of 100 keys
    plan::AttentionT a;
    plan::HeadStrides strides(1, 1, 1);
    a.groups = a.heads = a.queries = a.d = a.e = a.batch = 1, a.keys = 100;
    for (auto *each : {&a.q, &a.k, &a.v, &a.out})
      *each = std::make_unique<plan::HeadStrides>(strides);
    a.bias_kind = plan::BiasKind::Allow, a.bias = std::make_unique<plan::BiasStrides>(0, 0, 0);
    plan::CallT &call = *p.functions[0]->calls[0];
    while (call.ins.size() < 4)
      call.ins.push_back(call.ins[0]), call.in_bytes.push_back(400);
    call.outs.resize(2, call.outs[0]), call.out_bytes.assign(2, 400),
        call.accumulate.assign(2, plan::Accumulate::Never);
    call.in_bytes.assign(4, 400), call.in_bytes.back() = 99;
    p.kernels[0]->library.Set(std::move(a));
  });
  expect("attention 'gradient' has an invalid shape or lacks an operand",
         [&](Plan &p) { p.kernels[0]->library.Set(plan::AttentionT()); });
}

TEST(Plan, LibraryCallsMustBeOfTypesThatTheyHave) {
  auto types = [](Plan &p, Element operands, Element result) {
    contract(p, 1);
    p.kernels[0]->library.AsContract()->operands = operands, p.kernels[0]->library.AsContract()->result = result;
  };
  for (auto [operands, result] : {std::pair{Element::I32, Element::F32},
                                  {Element::F64, Element::F64},
                                  {Element::BF16, Element::F16},
                                  {Element::F32, Element::BF16},
                                  {(Element)77, Element::F32},
                                  {Element::F16, (Element)77}})
    expect("contraction 'gradient' has an unsupported element type", [&](Plan &p) { types(p, operands, result); });
  expect("contraction 'gradient' has an epilogue, which requires a result of the type of the operands", [&](Plan &p) {
    types(p, Element::BF16, Element::F32);
    p.kernels[0]->library.AsContract()->bias = true;
  });
  expect("contraction 'gradient' has an unsupported epilogue", [&](Plan &p) {
    types(p, Element::BF16, Element::BF16);
    p.kernels[0]->library.AsContract()->residual = true;
    p.kernels[0]->library.AsContract()->activation = plan::Activation::Gelu;
  });
  expect("contraction 'gradient' has an epilogue that requires a single product of 16-bit elements", [&](Plan &p) {
    types(p, Element::F32, Element::F32);
    p.kernels[0]->library.AsContract()->residual = true;
  });
  expect("call 'gradient' has 2 inputs and 2 outputs, but 'gradient' takes 3 and 1", [&](Plan &p) {
    types(p, Element::BF16, Element::BF16);
    p.kernels[0]->library.AsContract()->residual = true;
  });
  expect("call 'gradient' adds to 16-bit elements, which would be rounded after each addition", [&](Plan &p) {
    types(p, Element::BF16, Element::BF16);
    plan::CallT &call = *p.functions[0]->calls[0];
    call.outs.pop_back(), call.out_bytes.pop_back(), call.accumulate.assign(1, plan::Accumulate::Later);
  });
  expect("attention 'gradient' has an unsupported element type", [&](Plan &p) {
    p.kernels[0]->library.Set(plan::AttentionT());
    p.kernels[0]->library.AsAttention()->element = Element::I64;
  });
}

/// A product of [6, 6] and [6, 6], operands and result of exactly the bytes that their types need, or one less.
TEST(Plan, OperandsOfSixteenBitsAreHalfAsLong) {
  for (auto [operands, result] : {std::pair{Element::BF16, Element::F32}, {Element::F16, Element::F16}})
    for (int missing : {0, 1, 2, 3}) { // none, or a byte of a, b, y
      std::string complaint = complaintAfter([&](Plan &p) {
        plan::ContractT c;
        c.m = c.n = c.k = 6, c.a_m = c.b_k = c.y_m = 6, c.a_k = c.b_n = c.y_n = 1;
        c.operands = operands, c.result = result;
        p.kernels[0]->library.Set(std::move(c));
        plan::CallT &call = *p.functions[0]->calls[0];
        call.ins.resize(2, call.ins[0]), call.outs.resize(1, call.outs[0]);
        call.in_bytes = {72u - (missing == 1), 72u - (missing == 2)};
        call.out_bytes = {36 * (result == Element::F32 ? 4u : 2u) - (missing == 3)};
        call.accumulate = {plan::Accumulate::Never};
      });
      EXPECT_EQ(complaint.find("call 'gradient' accesses bytes beyond the end of an operand") != std::string::npos,
                missing != 0)
          << missing << complaint;
    }
}

TEST(Plan, WindowsMustMeetTheirInput) {
  auto convolve = [](Plan &p, plan::WindowDim dim, plan::Element element = plan::Element::F32) {
    plan::ConvolutionT c;
    c.element = element;
    c.batch = c.groups = c.inputs = c.outputs = 1;
    c.dims.push_back(dim);
    p.kernels[0]->library.Set(std::move(c));
  };
  auto pool = [](Plan &p, plan::WindowDim dim) {
    plan::MaxPoolT m;
    m.planes = 1;
    m.dims.push_back(dim);
    p.kernels[0]->library.Set(std::move(m));
  };
  expect("convolution 'gradient' has an invalid shape, kind or element type",
         [&](Plan &p) { convolve(p, {1, 1, 1, 0, 1, 0}); });
  expect("convolution 'gradient' has an invalid shape, kind or element type",
         [&](Plan &p) { p.kernels[0]->library.Set(plan::ConvolutionT()); });
  expect("convolution 'gradient' has an invalid shape, kind or element type",
         [&](Plan &p) { convolve(p, {1, 1, 1ull << 40, 1, 1, 0}); });
  for (plan::Element element : {plan::Element::F64, plan::Element::BF16}) // of sixteen bits they are GPUs'
    expect("convolution 'gradient' has an invalid shape, kind or element type",
           [&](Plan &p) { convolve(p, {1, 1, 1, 1, 1, 0}, element); });
  expect("call 'gradient' adds to its result, which requires elements of type F32", [&](Plan &p) {
    convolve(p, {1, 1, 1, 1, 1, 0}, plan::Element::BF16);
    p.gpu = "sm_80";
  });
  expect("pool 'gradient' has an invalid shape", [&](Plan &p) { pool(p, {4, 3, 2, 2, 1, 0}); });
  expect("pool 'gradient' has an invalid shape", [&](Plan &p) { pool(p, {4, 1, 2, 2, 1, 2}); });
  expect("call 'gradient' does not have the operands that 'gradient' requires",
         [&](Plan &p) { convolve(p, {1 << 20, 1, 1, 1, 1, 0}); });
  expect("call 'gradient' does not have the operands that 'gradient' requires",
         [&](Plan &p) { pool(p, {4, 2, 2, 2, 1, 0}); });
}

} // namespace
