// Whether a plan makes sense: every index in its table, every byte that an action may touch inside the arena, on
// every rank. A place is linear in the shard, so its first and last shard stand for all.
#include "Plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime {
namespace {

using Wide = __int128;

class PlanChecker {
public:
  PlanChecker(const Plan &plan, uint64_t kernelCount) : plan(plan), kernelCount(kernelCount) {}

  void checkAll() {
    checkSizes();
    if (problems.empty()) { // the rest divides by these
      checkStorage();
      checkKernels();
      checkFunctions();
      for (const auto &step : plan.steps)
        checkStep(*step);
      checkPlace(plan.loss.get(), 4, "the loss");
      checkPlace(plan.norm.get(), 4, "the gradient norm");
    }
    if (!problems.empty())
      throw Rejected(fmt::format("error: the plan in this program is damaged:\n  {}", fmt::join(problems, "\n  ")));
  }

private:
  template <class... Values> void require(bool condition, fmt::format_string<Values...> text, Values &&...values) {
    if (!condition && problems.size() < 20)
      problems.push_back(fmt::format(text, std::forward<Values>(values)...));
  }
  bool isInArena(Wide begin, Wide bytes) const { return begin >= 0 && bytes >= 0 && begin + bytes <= (Wide)plan.arena; }

  /// `from` and `bytes` are relative to the place.
  void checkPlace(const plan::Place *place, Wide bytes, const std::string &what, Wide from = 0) {
    if (!place)
      return require(false, "{} has no place", what);
    for (Wide shard : {(Wide)0, (Wide)plan.shards - 1})
      require(isInArena((Wide)place->offset() + shard * place->stride() + from, bytes),
              "{} leaves the arena of {} bytes", what, plan.arena);
    require(place->buffer() < plan.buffers.size(), "{} names buffer {} of {}", what, place->buffer(),
            plan.buffers.size());
  }

  void checkSizes();
  void checkStorage();
  void checkParameter(const plan::ParameterT &parameter);
  void checkKernels();
  void checkFunctions();
  void checkCall(const plan::FunctionT &function, const plan::CallT &call);
  void checkLibraryCall(const plan::CallT &call, const plan::KernelT &kernel);
  void checkWindowCall(const plan::CallT &call, const plan::KernelT &kernel);
  void checkStep(const plan::StepT &step);
  void checkRun(const plan::RunT &run, const std::string &label);
  void checkLoad(const plan::LoadT &load, const std::string &label);

  const Plan &plan;
  const uint64_t kernelCount;
  std::vector<std::string> problems;
};

void PlanChecker::checkSizes() {
  require(plan.ranks >= 1 && plan.ranks <= 4096, "{} ranks", plan.ranks);
  require(plan.shards >= 1 && plan.ranks % std::max(plan.shards, 1u) == 0, "{} shards for {} ranks", plan.shards,
          plan.ranks);
  require(plan.micro >= 1 && plan.micro_batches >= 1, "{} micro-batches of {} samples", plan.micro_batches, plan.micro);
  require(plan.threads >= 1 && plan.threads <= 1024, "{} threads", plan.threads);
  require(plan.arena >= 1 && plan.arena <= (uint64_t)1 << 46, "an arena of {} bytes", plan.arena);
  require(plan.alignment >= 1 && plan.alignment <= 1 << 20 && (plan.alignment & (plan.alignment - 1)) == 0,
          "an alignment of {}", plan.alignment);
  require(plan.traffic != nullptr, "no traffic");
}

void PlanChecker::checkStorage() {
  for (const auto &buffer : plan.buffers)
    require(isInArena((Wide)buffer->offset, (Wide)buffer->size), "buffer '{}' leaves the arena", buffer->name);
  for (const auto &bucket : plan.buckets) {
    require((Wide)bucket->shard_elements * plan.shards >= (Wide)bucket->elements,
            "bucket '{}' is larger than its shards", bucket->name);
    auto bytes = [&](plan::Extent extent) {
      return 4 * (Wide)(extent == plan::Extent::Whole ? bucket->elements : bucket->shard_elements);
    };
    checkPlace(bucket->place.get(), bytes(bucket->params), fmt::format("bucket '{}'", bucket->name));
    for (const plan::Place &state : bucket->states)
      checkPlace(&state, bytes(bucket->states_extent), fmt::format("a state of bucket '{}'", bucket->name));
  }
  for (const auto &parameter : plan.parameters)
    checkParameter(*parameter);
  for (const auto &input : plan.inputs) {
    Wide elements = 1;
    for (uint64_t dim : input->row_shape)
      elements = std::min<Wide>(elements * dim, plan.arena + 1);
    require(elements <= (Wide)plan.arena, "a row of input '{}' is larger than the arena", input->name);
  }
}

void PlanChecker::checkParameter(const plan::ParameterT &parameter) {
  if (parameter.bucket >= plan.buckets.size())
    return require(false, "parameter '{}' is in bucket {} of {}", parameter.name, parameter.bucket,
                   plan.buckets.size());
  require((Wide)parameter.offset + parameter.elements <= (Wide)plan.buckets[parameter.bucket]->elements,
          "parameter '{}' leaves its bucket", parameter.name);
  Wide elements = 1;
  for (uint64_t dim : parameter.shape)
    elements = std::min<Wide>(elements * dim, (Wide)1 << 62);
  require(elements == (Wide)parameter.elements, "parameter '{}' has {} elements and another shape", parameter.name,
          parameter.elements);
}

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

void PlanChecker::checkKernels() {
  for (const auto &kernel : plan.kernels) {
    bool isLibrary = kernel->library.type != plan::Library::NONE;
    require(isLibrary || (kernel->code >= 0 && (uint64_t)kernel->code < kernelCount), "kernel '{}' is code {} of {}",
            kernel->name, kernel->code, kernelCount);
    require(kernel->grain >= 1 && kernel->grain <= (uint64_t)1 << 40 && kernel->extent <= (uint64_t)1 << 46,
            "kernel '{}' has extent {} and grain {}", kernel->name, kernel->extent, kernel->grain);
    if (const plan::ContractT *c = kernel->library.AsContract())
      require(c->m >= 1 && c->n >= 1 && c->k >= 1, "contraction '{}' is empty", kernel->name);
    if (const plan::AttentionT *a = kernel->library.AsAttention())
      require(a->groups >= 1 && a->heads >= 1 && a->heads % a->groups == 0 && a->queries >= 1 && a->keys >= 1 &&
                  a->d >= 1 && a->e >= 1 && a->q && a->k && a->v && a->out &&
                  (!a->backward || (a->dout && a->dq && a->dk && a->dv)) &&
                  (a->bias_kind == plan::BiasKind::None || a->bias) && a->window < (uint64_t)1 << 40,
              "attention '{}' is incomplete", kernel->name);
    if (const plan::ConvolutionT *c = kernel->library.AsConvolution())
      require(c->kind <= plan::ConvolutionKind::WeightBackward && c->batch >= 1 && c->groups >= 1 && c->inputs >= 1 &&
                  c->outputs >= 1 && areLegal(c->dims, false),
              "convolution '{}' is malformed", kernel->name);
    if (const plan::MaxPoolT *p = kernel->library.AsMaxPool())
      require(p->planes >= 1 && areLegal(p->dims, true), "pool '{}' is malformed", kernel->name);
  }
}

void PlanChecker::checkFunctions() {
  for (const auto &function : plan.functions)
    for (const auto &call : function->calls)
      checkCall(*function, *call);
}

void PlanChecker::checkCall(const plan::FunctionT &function, const plan::CallT &call) {
  std::string what = fmt::format("call '{}' of '{}'", call.name, function.name);
  require(call.ins.size() == call.in_bytes.size() && call.outs.size() == call.out_bytes.size() &&
              call.outs.size() == call.accumulate.size() && call.workspace.size() <= 1,
          "{} has operands without sizes", what);
  for (const auto *operands : {&call.ins, &call.outs, &call.workspace})
    for (const plan::Operand &operand : *operands)
      require(operand.slot() < function.slots, "{} uses slot {} of {}", what, operand.slot(), function.slots);
  if (call.kernel >= plan.kernels.size())
    return require(false, "{} runs kernel {} of {}", what, call.kernel, plan.kernels.size());
  if (problems.empty())
    checkLibraryCall(call, *plan.kernels[call.kernel]);
}

/// Bytes from the first to behind the last element of a strided operand of floats; none where a stride is negative.
Wide spanOf(std::initializer_list<std::pair<uint64_t, int64_t>> dims, const std::vector<plan::BatchDim> &batch = {},
            int64_t (plan::BatchDim::*stride)() const = nullptr) {
  Wide last = 0;
  for (auto [size, step] : dims)
    last = step < 0 ? (Wide)1 << 100 : last + ((Wide)size - 1) * step;
  for (const plan::BatchDim &dim : batch)
    last = (dim.*stride)() < 0 ? (Wide)1 << 100 : last + ((Wide)dim.size() - 1) * (dim.*stride)();
  return 4 * (last + 1);
}

void PlanChecker::checkLibraryCall(const plan::CallT &call, const plan::KernelT &kernel) {
  auto expect = [&](size_t ins, size_t outs) {
    bool good = call.ins.size() == ins && call.outs.size() == outs;
    require(good, "call '{}' has {} ins and {} outs, '{}' takes {} and {}", call.name, call.ins.size(),
            call.outs.size(), kernel.name, ins, outs);
    return good;
  };
  auto covers = [&](uint64_t bytes, Wide needed) {
    require((Wide)bytes >= needed, "call '{}' reaches past an operand", call.name);
  };
  if (const plan::ContractT *c = kernel.library.AsContract()) {
    if (!expect(c->bias ? 3 : 2, 1))
      return;
    covers(call.in_bytes[0], spanOf({{c->m, c->a_m}, {c->k, c->a_k}}, c->batch, &plan::BatchDim::a));
    covers(call.in_bytes[1], spanOf({{c->k, c->b_k}, {c->n, c->b_n}}, c->batch, &plan::BatchDim::b));
    covers(call.out_bytes[0], spanOf({{c->m, c->y_m}, {c->n, c->y_n}}, c->batch, &plan::BatchDim::y));
    if (c->bias)
      covers(call.in_bytes[2], 4 * (Wide)c->n);
  } else if (const plan::AttentionT *a = kernel.library.AsAttention()) {
    bool hasBias = a->bias_kind != plan::BiasKind::None;
    if (!expect((a->backward ? 6 : 3) + hasBias, a->backward ? 3 : 2))
      return;
    auto heads = [&](uint64_t bytes, const plan::HeadStrides &s, uint64_t positions, uint64_t count,
                     uint64_t features) {
      covers(bytes, spanOf({{a->batch, s.batch()}, {positions, s.position()}, {count, s.head()}, {features, 1}}));
    };
    heads(call.in_bytes[0], *a->q, a->queries, a->heads, a->d);
    heads(call.in_bytes[1], *a->k, a->keys, a->groups, a->d);
    heads(call.in_bytes[2], *a->v, a->keys, a->groups, a->e);
    heads(a->backward ? call.in_bytes[3] : call.out_bytes[0], *a->out, a->queries, a->heads, a->e);
    covers(a->backward ? call.in_bytes[4] : call.out_bytes[1], 8 * (Wide)a->batch * a->heads * a->queries);
    if (hasBias) {
      Wide bytes = spanOf(
          {{a->batch, a->bias->batch()}, {a->heads, a->bias->head()}, {a->queries, a->bias->query()}, {a->keys, 1}});
      covers(call.in_bytes.back(), a->bias_kind == plan::BiasKind::Add ? bytes : bytes / 4);
    }
    if (a->backward) {
      heads(call.in_bytes[5], *a->dout, a->queries, a->heads, a->e);
      heads(call.out_bytes[0], *a->dq, a->queries, a->heads, a->d);
      heads(call.out_bytes[1], *a->dk, a->keys, a->groups, a->d);
      heads(call.out_bytes[2], *a->dv, a->keys, a->groups, a->e);
    }
    for (plan::Accumulate accumulate : call.accumulate)
      require(accumulate == plan::Accumulate::Never, "call '{}': attention writes its results, it cannot add",
              call.name);
  } else if (const plan::ScatterAddT *s = kernel.library.AsScatterAdd()) {
    if (!expect(2, 1))
      return;
    require(s->index == plan::Element::I64 || s->index == plan::Element::I32,
            "call '{}' has indices that are no integers", call.name);
    require(s->distinct > 0, "call '{}' has no indices", call.name);
    covers(call.in_bytes[0], (Wide)s->distinct * s->indices * (s->per_element ? s->width : 1) * bytesOf(s->index));
    covers(call.in_bytes[1], 4 * (Wide)s->outer * s->indices * s->width);
    covers(call.out_bytes[0], 4 * (Wide)s->outer * s->rows * s->width);
  } else {
    checkWindowCall(call, kernel);
  }
}

/// Convolutions and pools: operands are contiguous, so their sizes say all.
void PlanChecker::checkWindowCall(const plan::CallT &call, const plan::KernelT &kernel) {
  auto bytes = [](std::initializer_list<uint64_t> sizes, const std::vector<plan::WindowDim> &dims,
                  uint64_t (plan::WindowDim::*size)() const) {
    Wide product = 4;
    auto grow = [&](uint64_t by) { product = std::min<Wide>(product * by, (Wide)1 << 62); };
    std::for_each(sizes.begin(), sizes.end(), grow);
    for (const plan::WindowDim &dim : dims)
      grow((dim.*size)());
    return product;
  };
  std::vector<Wide> needed; // ins, then the result
  if (const plan::ConvolutionT *c = kernel.library.AsConvolution()) {
    Wide x = bytes({c->batch, c->groups, c->inputs}, c->dims, &plan::WindowDim::in);
    Wide w = bytes({c->groups, c->inputs, c->outputs}, c->dims, &plan::WindowDim::size);
    Wide y = bytes({c->batch, c->groups, c->outputs}, c->dims, &plan::WindowDim::out);
    needed = c->kind == plan::ConvolutionKind::Forward     ? std::vector<Wide>{x, w, y}
             : c->kind == plan::ConvolutionKind::Transpose ? std::vector<Wide>{y, w, x}
                                                           : std::vector<Wide>{x, y, w};
  } else if (const plan::MaxPoolT *p = kernel.library.AsMaxPool()) {
    Wide x = bytes({p->planes}, p->dims, &plan::WindowDim::in), y = bytes({p->planes}, p->dims, &plan::WindowDim::out);
    needed = p->backward ? std::vector<Wide>{x, y, x} : std::vector<Wide>{x, y};
  } else {
    return;
  }
  bool fits = call.ins.size() + 1 == needed.size() && call.outs.size() == 1;
  for (size_t i = 0; fits && i < call.ins.size(); ++i)
    fits = (Wide)call.in_bytes[i] >= needed[i];
  require(fits && (Wide)call.out_bytes[0] >= needed.back(), "call '{}' does not fit '{}'", call.name, kernel.name);
}

void PlanChecker::checkStep(const plan::StepT &step) {
  using plan::Action;
  std::string what = fmt::format("action '{}'", step.label);
  const plan::ActionUnion &action = step.action;
  auto collective = [&](plan::Group group, plan::Element element, uint64_t count) {
    return (Wide)groupSize(plan, group) * count * bytesOf(element);
  };
  if (const auto *begin = action.AsBegin()) {
    require(begin->places.size() == plan.groups.size(), "{} has {} places for {} optimizer groups", what,
            begin->places.size(), plan.groups.size());
    for (const plan::Place &place : begin->places)
      checkPlace(&place, 16, what);
  } else if (const auto *load = action.AsLoad()) {
    checkLoad(*load, what);
  } else if (const auto *run = action.AsRun()) {
    checkRun(*run, what);
  } else if (const auto *gather = action.AsAllGather()) {
    checkPlace(gather->src.get(), (Wide)gather->count * bytesOf(gather->element), what);
    checkPlace(gather->dst.get(), collective(gather->group, gather->element, gather->count), what);
  } else if (const auto *scatter = action.AsReduceScatter()) {
    checkPlace(scatter->src.get(), collective(scatter->group, scatter->element, scatter->count), what);
    checkPlace(scatter->dst.get(), (Wide)scatter->count * bytesOf(scatter->element), what);
  } else if (const auto *reduce = action.AsAllReduce()) {
    checkPlace(reduce->place.get(), (Wide)reduce->count * bytesOf(reduce->element), what);
  } else if (const auto *release = action.AsRelease()) {
    checkPlace(release->place.get(), (Wide)release->bytes, what);
  } else {
    require(false, "{} is of an unknown kind", what);
  }
}

void PlanChecker::checkLoad(const plan::LoadT &load, const std::string &label) {
  require(load.inputs.size() == load.places.size(), "{} has inputs without places", label);
  require(load.micro_batch < plan.micro_batches, "{} loads micro-batch {} of {}", label, load.micro_batch,
          plan.micro_batches);
  for (size_t i = 0; i < std::min(load.inputs.size(), load.places.size()); ++i) {
    if (load.inputs[i] >= plan.inputs.size()) {
      require(false, "{} loads input {} of {}", label, load.inputs[i], plan.inputs.size());
      continue;
    }
    const plan::InputT &input = *plan.inputs[load.inputs[i]];
    checkPlace(&load.places[i], (Wide)plan.micro * rowElements(input) * bytesOf(input.element), label);
  }
}

void PlanChecker::checkRun(const plan::RunT &run, const std::string &label) {
  if (run.function >= plan.functions.size())
    return require(false, "{} runs function {} of {}", label, run.function, plan.functions.size());
  const plan::FunctionT &function = *plan.functions[run.function];
  if (run.places.size() != function.slots)
    return require(false, "{} has {} places for {} slots", label, run.places.size(), function.slots);
  for (const auto &call : function.calls) {
    if (!problems.empty())
      return;
    std::string what = fmt::format("{}, call '{}'", label, call->name);
    auto check = [&](const std::vector<plan::Operand> &operands, const uint64_t *bytes) {
      for (size_t i = 0; i < operands.size() && operands[i].slot() < function.slots; ++i)
        checkPlace(&run.places[operands[i].slot()], (Wide)bytes[i], what, operands[i].offset());
    };
    check(call->ins, call->in_bytes.data());
    check(call->outs, call->out_bytes.data());
    check(call->workspace, &call->workspace_bytes);
  }
}

} // namespace

void checkPlan(const Plan &plan, uint64_t kernelCount) { PlanChecker(plan, kernelCount).checkAll(); }

} // namespace xlc::runtime
