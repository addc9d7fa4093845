// Checks kernels, functions and the calls in them: operands are within their slots' sizes, and libraries support the
// shapes.
#include "Exchanges.h"
#include "PlanCheckers.h"
#include "Shapes.h"

#include "xlc/Runtime/Dropout.h"
#include "xlc/Runtime/Workspace.h"

#include <algorithm>

namespace xlc::runtime {
namespace {

constexpr uint32_t kMostBlockThreads = 1024; ///< of a block of any GPU

/// One to three dimensions, bounded so that nothing overflows; with `isFull`, every window meets an element.
bool areLegal(const std::vector<plan::WindowDim> &dims, bool isFull) {
  constexpr uint64_t limit = (uint64_t)1 << 31;
  if (dims.empty() || dims.size() > 3)
    return false;
  for (const plan::WindowDim &dim : dims) {
    for (uint64_t size : {dim.in(), dim.out(), dim.size(), dim.stride(), dim.dilation()})
      if (size < 1 || size >= limit)
        return false;
    if (dim.pad() <= -(int64_t)limit || dim.pad() >= (int64_t)limit)
      return false;
    for (int64_t o = 0; isFull && o < (int64_t)dim.out(); ++o) {
      int64_t begin = o * (int64_t)dim.stride() - dim.pad(), step = (int64_t)dim.dilation();
      int64_t first = begin >= 0 ? 0 : (-begin + step - 1) / step;
      if (first >= (int64_t)dim.size() || begin + first * step >= (int64_t)dim.in())
        return false;
    }
  }
  return true;
}

} // namespace

void CallChecker::checkKernels() {
  for (const auto &kernel : plan.kernels) {
    bool isLibrary = kernel->library.type != plan::Library::NONE;
    bool isLaunched = !kernel->launches.empty();
    require(isLibrary || isLaunched || (kernel->code >= 0 && (uint64_t)kernel->code < kernelCount),
            "kernel '{}' has code number {}, but the program has code for {} kernels", kernel->name, kernel->code,
            kernelCount);
    for (const auto &launch : kernel->launches)
      require(!launch->function.empty() && launch->grid >= 1 && launch->grid <= INT32_MAX && launch->block >= 1 &&
                  launch->block <= kMostBlockThreads,
              "kernel '{}' has an invalid launch: {} blocks of {} threads", kernel->name, launch->grid, launch->block);
    require(!isLaunched || !plan.gpu.empty(), "kernel '{}' is for GPUs, but the plan is for CPUs", kernel->name);
    require(kernel->grain >= 1 && kernel->grain <= (uint64_t)1 << 40 && kernel->extent <= (uint64_t)1 << 46,
            "kernel '{}' has an invalid extent ({}) or grain ({})", kernel->name, kernel->extent, kernel->grain);
    if (const plan::ContractT *c = kernel->library.AsContract())
      checkContract(*c, kernel->name);
    if (const plan::AttentionT *a = kernel->library.AsAttention()) {
      require(hasProducts(a->element), "attention '{}' has an unsupported element type", kernel->name);
      require(a->groups >= 1 && a->heads >= 1 && a->heads % a->groups == 0 && a->queries >= 1 && a->keys >= 1 &&
                  a->d >= 1 && a->e >= 1 && a->q && a->k && a->v && a->out &&
                  (!a->backward || (a->dout && a->dq && a->dk && a->dv)) &&
                  (a->bias_kind == plan::BiasKind::None || a->bias) && a->window < (uint64_t)1 << 40 && a->ratio >= 0 &&
                  a->ratio < 1,
              "attention '{}' has an invalid shape or lacks an operand", kernel->name);
    }
    if (const plan::ConvolutionT *c = kernel->library.AsConvolution())
      require(c->kind <= plan::ConvolutionKind::WeightBackward && c->batch >= 1 && c->groups >= 1 && c->inputs >= 1 &&
                  c->outputs >= 1 && areLegal(c->dims, false) && hasProducts(c->element) &&
                  (c->element == plan::Element::F32 || !plan.gpu.empty()),
              "convolution '{}' has an invalid shape, kind or element type", kernel->name);
    if (const plan::MaxPoolT *p = kernel->library.AsMaxPool())
      require(p->planes >= 1 && areLegal(p->dims, true), "pool '{}' has an invalid shape", kernel->name);
  }
}

void CallChecker::checkContract(const plan::ContractT &c, const std::string &name) {
  require(c.m >= 1 && c.n >= 1 && c.k >= 1, "contraction '{}' is empty", name);
  bool areGood = hasProducts(c.operands) && (c.result == plan::Element::F32 || c.result == c.operands);
  require(areGood, "contraction '{}' has an unsupported element type", name);
  bool hasBeside = c.residual || c.activation != plan::Activation::None;
  require(!hasBeside || (c.operands != plan::Element::F32 && c.batch.empty()),
          "contraction '{}' has an epilogue that requires a single product of 16-bit elements", name);
  bool hasEpilogue = c.bias || c.residual || c.activation != plan::Activation::None;
  require(!hasEpilogue || c.operands == c.result,
          "contraction '{}' has an epilogue, which requires a result of the type of the operands", name);
  require(c.activation <= plan::Activation::GeluBackward && !(c.residual && c.activation != plan::Activation::None) &&
              !(c.bias && c.activation == plan::Activation::GeluBackward),
          "contraction '{}' has an unsupported epilogue", name);
}

void CallChecker::checkFunctions() {
  for (const auto &function : plan.functions)
    for (const auto &call : function->calls)
      checkCall(*function, *call);
}

void CallChecker::checkCall(const plan::FunctionT &function, const plan::CallT &call) {
  std::string what = fmt::format("call '{}' of '{}'", call.name, function.name);
  require(call.ins.size() == call.in_bytes.size() && call.outs.size() == call.out_bytes.size() &&
              call.outs.size() == call.accumulate.size() && call.workspace.size() <= 1,
          "{} has operands without sizes", what);
  for (const auto *operands : {&call.ins, &call.outs, &call.workspace})
    for (const plan::Operand &operand : *operands)
      require(operand.slot() < function.slots, "{} uses slot {}, but the function has {} slots", what, operand.slot(),
              function.slots);
  if (call.exchange)
    checkExchange(call, what);
  else if (call.kernel >= plan.kernels.size())
    require(false, "{} runs kernel {}, but there are {} kernels", what, call.kernel, plan.kernels.size());
  else if (problems.empty())
    checkLibraryCall(call, *plan.kernels[call.kernel]);
  if (!problems.empty())
    return;
  checkViews(call.ins.size(), call.in_views, call.in_bytes, what);
  checkViews(call.outs.size(), call.out_views, call.out_bytes, what);
}

/// A tensor lies within the bytes that the call may touch. Views were checked before.
void CallChecker::checkViews(size_t operands, const std::vector<uint32_t> &views, const std::vector<uint64_t> &bytes,
                             const std::string &what) {
  require(views.size() == operands, "{} has {} views for {} operands", what, views.size(), operands);
  for (size_t i = 0; i < std::min(views.size(), bytes.size()); ++i)
    if (views[i] >= plan.views.size())
      require(false, "{} uses view {}, but there are {} views", what, views[i], plan.views.size());
    else
      require(spanOf(*plan.views[views[i]]) <= bytes[i], "{} has an operand of {} bytes, but view {} is larger", what,
              bytes[i], views[i]);
}

/// A collective of the ranks of a stage, from one operand to another.
void CallChecker::checkExchange(const plan::CallT &call, const std::string &what) {
  const plan::ExchangeT &exchange = *call.exchange;
  bool adds = exchange.kind == plan::CollectiveKind::reduce_scatter || isReduction(exchange.kind);
  bool isMade = exchange.element <= plan::Element::MAX && !exchange.wire &&
                (!adds || hasSum(exchange.element)); // what has no sum is moved
  if (exchange.group >= plan.rank_groups.size() || exchange.kind > plan::CollectiveKind::MAX || !isMade ||
      exchange.accumulate || call.ins.size() != 1 || call.outs.size() != 1 || call.in_bytes.size() != 1 ||
      call.out_bytes.size() != 1)
    return require(false, "{} is not a supported collective", what);
  require(plan.rank_groups[exchange.group]->stages.empty(),
          "{} is a collective over several stages, which a function cannot contain", what);
  auto [src, dst] = bytesOfExchange(plan, exchange);
  require((Quantity)call.in_bytes[0] >= src && (Quantity)call.out_bytes[0] >= dst,
          "{} accesses bytes beyond the end of an operand", what);
}

std::pair<Quantity, Quantity> bytesOfExchange(const Plan &plan, const plan::ExchangeT &exchange) {
  bool isTurned = exchange.kind == plan::CollectiveKind::all_to_all;
  bool gathers = isTurned || exchange.kind == plan::CollectiveKind::all_gather;
  bool scatters = isTurned || exchange.kind == plan::CollectiveKind::reduce_scatter;
  Quantity limit = kLargestArena, ranks = (Quantity)groupSize(*plan.rank_groups[exchange.group]);
  Quantity runs =
      std::min(limit, std::min(limit, (Quantity)exchange.outer) * std::min(limit, (Quantity)exchange.chunk));
  Quantity rows = isTurned ? exchange.rows : 1;
  Quantity piece = std::min(limit, runs * rows) * bytesOf(exchange.element), whole = piece * ranks;
  return {scatters ? whole : piece, gathers ? whole : piece};
}

namespace {

/// Elements from the first to behind the last of a strided operand; none where a stride is negative.
Quantity spanOf(std::initializer_list<std::pair<uint64_t, int64_t>> dims, const std::vector<plan::BatchDim> &batch = {},
                int64_t (plan::BatchDim::*stride)() const = nullptr) {
  const Quantity beyondAll = Quantity(kLargestArena) * kLargestArena;
  Quantity last = 0;
  for (auto [size, step] : dims)
    last = step < 0 ? beyondAll : last + ((Quantity)size - 1) * step;
  for (const plan::BatchDim &dim : batch)
    last = (dim.*stride)() < 0 ? beyondAll : last + ((Quantity)dim.size() - 1) * (dim.*stride)();
  return last + 1;
}

} // namespace

void CallChecker::covers(const plan::CallT &call, uint64_t bytes, Quantity elements, plan::Element element) {
  require((Quantity)bytes >= elements * (Quantity)bytesOf(element),
          "call '{}' accesses bytes beyond the end of an operand", call.name);
}

void CallChecker::checkLibraryCall(const plan::CallT &call, const plan::KernelT &kernel) {
  auto expect = [&](size_t ins, size_t outs) {
    bool good = call.ins.size() == ins && call.outs.size() == outs;
    require(good, "call '{}' has {} inputs and {} outputs, but '{}' takes {} and {}", call.name, call.ins.size(),
            call.outs.size(), kernel.name, ins, outs);
    return good;
  };
  if (const plan::ContractT *c = kernel.library.AsContract()) {
    Epilogue epilogue = shapeOf(*c).epilogue;
    if (expect(2 + c->bias + epilogue.readsBeside(), epilogue.activation == Activation::Gelu ? 2 : 1))
      checkContractCall(call, *c);
  } else if (const plan::AttentionT *a = kernel.library.AsAttention()) {
    bool hasBias = a->bias_kind != plan::BiasKind::None;
    bool drops = a->ratio > 0;
    if (!expect((a->backward ? 6 : 3) + hasBias + drops, a->backward ? 3 : 2))
      return;
    auto heads = [&](uint64_t bytes, const plan::HeadStrides &s, uint64_t positions, uint64_t count,
                     uint64_t features) {
      covers(call, bytes, spanOf({{a->batch, s.batch()}, {positions, s.position()}, {count, s.head()}, {features, 1}}),
             a->element);
    };
    heads(call.in_bytes[0], *a->q, a->queries, a->heads, a->d);
    heads(call.in_bytes[1], *a->k, a->keys, a->groups, a->d);
    heads(call.in_bytes[2], *a->v, a->keys, a->groups, a->e);
    heads(a->backward ? call.in_bytes[3] : call.out_bytes[0], *a->out, a->queries, a->heads, a->e);
    covers(call, a->backward ? call.in_bytes[4] : call.out_bytes[1], (Quantity)a->batch * a->heads * a->queries,
           sumElement);
    if (hasBias) {
      Quantity span = spanOf(
          {{a->batch, a->bias->batch()}, {a->heads, a->bias->head()}, {a->queries, a->bias->query()}, {a->keys, 1}});
      covers(call, call.in_bytes[a->backward ? 6 : 3], span,
             a->bias_kind == plan::BiasKind::Add ? plan::Element::F32 : plan::Element::I1);
    }
    if (drops)
      covers(call, call.in_bytes.back(), (Quantity)a->batch * a->heads * kHeadDraws, plan::Element::I64);
    if (a->backward) {
      heads(call.in_bytes[5], *a->dout, a->queries, a->heads, a->e);
      heads(call.out_bytes[0], *a->dq, a->queries, a->heads, a->d);
      heads(call.out_bytes[1], *a->dk, a->keys, a->groups, a->d);
      heads(call.out_bytes[2], *a->dv, a->keys, a->groups, a->e);
    }
    for (plan::Accumulate accumulate : call.accumulate)
      require(accumulate == plan::Accumulate::Never, "call '{}': attention cannot add to its results", call.name);
  } else if (const plan::ScatterAddT *s = kernel.library.AsScatterAdd()) {
    if (expect(2, 1))
      checkScatterCall(call, *s);
  } else if (const plan::ScatterIntoT *into = kernel.library.AsScatterInto()) {
    if (expect(3, 1))
      checkScatterIntoCall(call, *into);
  } else {
    checkWindowCall(call, kernel);
  }
}

void CallChecker::checkContractCall(const plan::CallT &call, const plan::ContractT &c) {
  covers(call, call.in_bytes[0], spanOf({{c.m, c.a_m}, {c.k, c.a_k}}, c.batch, &plan::BatchDim::a), c.operands);
  covers(call, call.in_bytes[1], spanOf({{c.k, c.b_k}, {c.n, c.b_n}}, c.batch, &plan::BatchDim::b), c.operands);
  Quantity ofResult = spanOf({{c.m, c.y_m}, {c.n, c.y_n}}, c.batch, &plan::BatchDim::y);
  for (uint64_t bytes : call.out_bytes)
    covers(call, bytes, ofResult, c.result);
  if (shapeOf(c).epilogue.readsBeside())
    covers(call, call.in_bytes.back(), ofResult, c.result);
  if (c.bias)
    covers(call, call.in_bytes[2], c.n, c.result);
  bool adds = std::ranges::any_of(call.accumulate, [](auto how) { return how != plan::Accumulate::Never; });
  require(c.result == plan::Element::F32 || !adds,
          "call '{}' adds to 16-bit elements, which would be rounded after each addition", call.name);
}

void CallChecker::checkScatterIntoCall(const plan::CallT &call, const plan::ScatterIntoT &s) {
  require(isInteger(s.index), "call '{}' has indices that are not integers", call.name);
  require(s.distinct > 0, "call '{}' has no indices", call.name);
  require(s.element == plan::Element::F32 || isInteger(s.element),
          "call '{}' has an element type that scatters do not support", call.name);
  require(s.kind <= plan::ScatterKind::MAX, "call '{}' has an unknown kind of scatter", call.name);
  require(call.accumulate[0] == plan::Accumulate::Never, "call '{}': a scatter into a base cannot add to its result",
          call.name);
  Quantity whole = (Quantity)s.outer * s.rows * s.width;
  covers(call, call.in_bytes[0], whole, s.element);
  covers(call, call.in_bytes[1], (Quantity)s.distinct * s.indices * (s.per_element ? s.width : 1), s.index);
  covers(call, call.in_bytes[2], (Quantity)s.outer * s.indices * s.width, s.element);
  covers(call, call.out_bytes[0], whole, s.element);
}

/// Its operands are contiguous, so their sizes say all.
void CallChecker::checkScatterCall(const plan::CallT &call, const plan::ScatterAddT &s) {
  require(isInteger(s.index), "call '{}' has indices that are not integers", call.name);
  require(s.distinct > 0, "call '{}' has no indices", call.name);
  covers(call, call.in_bytes[0], (Quantity)s.distinct * s.indices * (s.per_element ? s.width : 1), s.index);
  covers(call, call.in_bytes[1], (Quantity)s.outer * s.indices * s.width, plan::Element::F32);
  bool isRounded = isNarrow(s.result) && !s.per_element && call.accumulate[0] == plan::Accumulate::Never;
  require(s.result == plan::Element::F32 || isRounded, "call '{}' has a result type that scatter sums do not support",
          call.name);
  covers(call, call.out_bytes[0], (Quantity)s.outer * s.rows * s.width, s.result);
}

/// Convolutions and pools, likewise.
void CallChecker::checkWindowCall(const plan::CallT &call, const plan::KernelT &kernel) {
  const plan::ConvolutionT *c = kernel.library.AsConvolution();
  plan::Element element = c ? c->element : plan::Element::F32;
  auto bytes = [&](std::initializer_list<uint64_t> sizes, const std::vector<plan::WindowDim> &dims,
                   uint64_t (plan::WindowDim::*size)() const) {
    Quantity product = bytesOf(element);
    auto grow = [&](uint64_t by) { product = std::min<Quantity>(product * by, kLargestArena); };
    std::for_each(sizes.begin(), sizes.end(), grow);
    for (const plan::WindowDim &dim : dims)
      grow((dim.*size)());
    return product;
  };
  std::vector<Quantity> needed; // ins, then the result
  if (c) {
    require(element == plan::Element::F32 || call.accumulate[0] == plan::Accumulate::Never,
            "call '{}' adds to its result, which requires elements of type F32", call.name);
    Quantity x = bytes({c->batch, c->groups, c->inputs}, c->dims, &plan::WindowDim::in);
    Quantity w = bytes({c->groups, c->inputs, c->outputs}, c->dims, &plan::WindowDim::size);
    Quantity y = bytes({c->batch, c->groups, c->outputs}, c->dims, &plan::WindowDim::out);
    needed = c->kind == plan::ConvolutionKind::Forward     ? std::vector<Quantity>{x, w, y}
             : c->kind == plan::ConvolutionKind::Transpose ? std::vector<Quantity>{y, w, x}
                                                           : std::vector<Quantity>{x, y, w};
  } else if (const plan::MaxPoolT *p = kernel.library.AsMaxPool()) {
    Quantity x = bytes({p->planes}, p->dims, &plan::WindowDim::in),
             y = bytes({p->planes}, p->dims, &plan::WindowDim::out);
    needed = p->backward ? std::vector<Quantity>{x, y, x} : std::vector<Quantity>{x, y};
  } else {
    return;
  }
  bool fits = call.ins.size() + 1 == needed.size() && call.outs.size() == 1;
  for (size_t i = 0; fits && i < call.ins.size(); ++i)
    fits = (Quantity)call.in_bytes[i] >= needed[i];
  require(fits && (Quantity)call.out_bytes[0] >= needed.back(),
          "call '{}' does not have the operands that '{}' requires", call.name, kernel.name);
}

} // namespace xlc::runtime
