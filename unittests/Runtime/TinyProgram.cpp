// See TinyProgram.h. The arena, in bytes:
//
//   0 w | 512 g | 1024 x | 1600 ids | 1664 loss sum | 1728 sum of squares | 1792 loss | 1856 norm | 1920 scalars | 1984
//   gathered w
#include "TinyProgram.h"
#include "xlc/Runtime/CpuLevel.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace xlc::runtime::tiny {
namespace {

using namespace xlc::plan;

// w, x -> g (+)=, loss sum (+)=
void gradient(char *const *p, int64_t, int64_t, const uint8_t *accumulate) {
  const float *w = (const float *)p[0], *x = (const float *)p[1];
  float *g = (float *)p[2], *sum = (float *)p[3], scale = 1.0f / (micro * microBatches * ranks), loss = 0;
  for (uint64_t i = 0; i < padded; ++i) {
    float value = 0;
    for (uint64_t row = 0; row < micro && i < elements; ++row) {
      float difference = w[i] - x[row * elements + i];
      value += difference * scale, loss += difference * difference * scale / 2;
    }
    g[i] = accumulate[0] ? g[i] + value : value;
  }
  *sum = accumulate[1] ? *sum + loss : loss;
}

// g -> sum of squares (f64)
template <uint64_t Count> void squares(char *const *p, int64_t, int64_t, const uint8_t *) {
  double sum = 0;
  for (uint64_t i = 0; i < Count; ++i)
    sum += (double)((const float *)p[0])[i] * ((const float *)p[0])[i];
  std::memcpy(p[1], &sum, 8);
}

// loss sum, sum of squares -> loss, norm, applied, where the step before was
void scalars(char *const *p, int64_t, int64_t, const uint8_t *) {
  double sum;
  std::memcpy(&sum, p[1], 8);
  float norm = (float)std::sqrt(sum);
  std::memcpy(p[2], p[0], 4);
  std::memcpy(p[3], &norm, 4);
  if (!std::isfinite(norm) || !std::isfinite(*(const float *)p[0]))
    *(float *)p[4] = 0;
}

// w, g, scalars -> w
void update(char *const *p, int64_t begin, int64_t end, const uint8_t *) {
  const float *w = (const float *)p[0], *g = (const float *)p[1], *scalar = (const float *)p[2];
  for (int64_t i = begin; i < end; ++i)
    ((float *)p[3])[i] = scalar[4] == 1 ? w[i] - scalar[0] * g[i] : w[i];
}

// `squares` that also writes 8 kB after its result, in nobody's operand
void stray(char *const *p, int64_t begin, int64_t end, const uint8_t *accumulate) {
  squares<padded>(p, begin, end, accumulate);
  p[1][8192] = 0;
}

const XlcKernel codes[] = {gradient, squares<padded>, squares<padded / 2>, scalars, update, stray};
static_assert(std::size(codes) == strayCode + 1);

uint32_t addBuffer(Plan &plan, const char *name, uint64_t offset, uint64_t size, int first, int last, bool persistent) {
  auto buffer = std::make_unique<BufferT>();
  buffer->name = name, buffer->offset = offset, buffer->size = size;
  buffer->first = first, buffer->last = last, buffer->persistent = persistent;
  plan.programs[0]->buffers.push_back(std::move(buffer));
  return (uint32_t)plan.programs[0]->buffers.size() - 1;
}

/// Of float32, in one dimension.
uint32_t addView(Plan &plan, uint64_t bytes) {
  auto view = std::make_unique<ViewT>();
  view->element = Element::F32, view->sizes = {bytes / 4}, view->strides = {1};
  plan.views.push_back(std::move(view));
  return (uint32_t)plan.views.size() - 1;
}

/// A kernel, a function of that one call, both called `name`; every operand has a slot.
void addFunction(Plan &plan, const char *name, int code, uint64_t extent, std::vector<uint64_t> ins,
                 std::vector<uint64_t> outs, Accumulate accumulate = Accumulate::Never) {
  auto kernel = std::make_unique<KernelT>();
  kernel->name = name, kernel->code = code, kernel->extent = extent, kernel->grain = 16;
  auto call = std::make_unique<CallT>();
  call->name = name, call->kernel = (uint32_t)plan.kernels.size(), call->in_bytes = ins, call->out_bytes = outs;
  uint32_t slot = 0;
  for (size_t i = 0; i < ins.size(); ++i)
    call->ins.push_back(Operand(slot++, 0));
  for (size_t i = 0; i < outs.size(); ++i)
    call->outs.push_back(Operand(slot++, 0)), call->accumulate.push_back(accumulate);
  for (uint64_t bytes : ins)
    call->in_views.push_back(addView(plan, bytes));
  for (uint64_t bytes : outs)
    call->out_views.push_back(addView(plan, bytes));
  auto function = std::make_unique<FunctionT>();
  function->name = name, function->slots = slot;
  function->calls.push_back(std::move(call));
  plan.kernels.push_back(std::move(kernel));
  plan.functions.push_back(std::move(function));
}

template <class Action> void addStep(Plan &plan, const std::string &label, Action action) {
  auto step = std::make_unique<StepT>();
  step->label = label;
  step->action.Set(std::move(action));
  plan.programs[0]->steps.push_back(std::move(step));
}

void addRun(Plan &plan, const std::string &label, uint32_t function, std::vector<Place> places, bool first = true) {
  RunT run;
  run.function = function, run.places = std::move(places), run.first = first;
  addStep(plan, label, std::move(run));
}

void addExchange(Plan &plan, const std::string &label, CollectiveKind kind, Place src, Place dst, uint64_t count,
                 Element element = Element::F32) {
  ExchangeT exchange;
  exchange.kind = kind, exchange.group = 0, exchange.chunk = count, exchange.element = element;
  exchange.src = std::make_unique<Place>(src), exchange.dst = std::make_unique<Place>(dst);
  addStep(plan, label, std::move(exchange));
}

void addAllReduce(Plan &plan, const std::string &label, Place place, uint64_t count, Element element) {
  addExchange(plan, label, CollectiveKind::all_reduce, place, place, count, element);
}

/// Of float32, on the first stage.
StateT &addState(Plan &plan, StateKind kind, const std::string &name, Beginning begins, Place place) {
  auto state = std::make_unique<StateT>();
  state->kind = kind, state->name = name, state->begins = begins;
  auto home = std::make_unique<StatePlaceT>();
  home->state = (uint32_t)plan.states.size(), home->place = std::make_unique<Place>(place);
  plan.programs[0]->states.push_back(std::move(home));
  return *plan.states.emplace_back(std::move(state));
}

void addStorage(Plan &plan, bool sharded) {
  auto bucket = std::make_unique<BucketT>();
  bucket->name = "bucket", bucket->elements = padded, bucket->shard_elements = padded / 2;
  plan.buckets.push_back(std::move(bucket));
  StateT &values = addState(plan, StateKind::Value, "", Beginning::Parameters, Place(0, 0, 0));
  values.bucket = 0, values.extent = sharded ? Extent::Shard : Extent::Whole;
  auto parameter = std::make_unique<ParameterT>();
  parameter->name = "w", parameter->shape = {7, 10}, parameter->elements = elements, parameter->init = Init::Normal,
  parameter->std = 0.5;
  plan.parameters.push_back(std::move(parameter));
  auto group = std::make_unique<OptimizerGroupT>();
  group->lr = 0.5;
  plan.groups.push_back(std::move(group));
  auto x = std::make_unique<InputT>();
  x->name = "x", x->element = Element::F32, x->row_shape = {elements};
  plan.inputs.push_back(std::move(x));
  auto ids = std::make_unique<InputT>();
  ids->name = "ids", ids->element = Element::I64, ids->has_limit = true, ids->limit = 10, ids->has_ignore = true,
  ids->ignore = -100;
  plan.inputs.push_back(std::move(ids));
  plan.dataset = std::make_unique<DatasetT>();
  plan.dataset->ahead = 2304; // of rows that are read ahead
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    plan.dataset->inputs.push_back(std::make_unique<InputDataT>());
}

void addFunctions(Plan &plan, bool sharded) {
  uint64_t held = padded * 4 / (sharded ? 2 : 1);
  addFunction(plan, "gradient", 0, 1, {padded * 4, micro * elements * 4}, {padded * 4, 4}, Accumulate::Later);
  addFunction(plan, "squares", sharded ? 2 : 1, 1, {held}, {8});
  addFunction(plan, "scalars", 3, 1, {4, 8}, {4, 4, 4});
  addFunction(plan, "update", 4, held / 4, {held, held, 24}, {held});
}

/// Gathers the parameter before the gradients and releases it after, at stage 3.
void addMicroBatches(Plan &plan, bool sharded) {
  Place w = sharded ? Place(1984, 0, 9) : Place(0, 0, 0);
  if (sharded)
    addExchange(plan, "gather w", CollectiveKind::all_gather, Place(0, 0, 0), w, padded / 2);
  for (uint32_t k = 0; k < microBatches; ++k) {
    LoadT load;
    load.micro_batch = k, load.inputs = {0, 1}, load.places = {Place(1024, 0, 2), Place(1600, 0, 3)};
    addStep(plan, "load " + std::to_string(k), std::move(load));
    addRun(plan, "gradient " + std::to_string(k), 0, {w, Place(1024, 0, 2), Place(512, 0, 1), Place(1664, 0, 4)},
           k == 0);
  }
  if (sharded) {
    ReleaseT release;
    release.place = std::make_unique<Place>(w), release.bytes = padded * 4;
    addStep(plan, "release w", std::move(release));
  }
}

} // namespace

Plan makePlan(int stage) {
  bool sharded = stage == 3;
  Plan plan;
  plan.version = XLC_PLAN_VERSION, plan.model = "tiny", plan.fingerprint = "f", plan.compiler = "test";
  plan.mesh = std::make_unique<Mesh>(1, ranks, 1, ranks), plan.micro = micro, plan.micro_batches = microBatches,
  plan.threads = 2, plan.seed = 1, plan.cpu = (uint8_t)findHostLevel();
  plan.alignment = 64;
  plan.programs.push_back(std::make_unique<ProgramT>());
  ProgramT &program = *plan.programs[0];
  program.arena = 2560;
  auto everybody = std::make_unique<RankGroupT>();
  everybody->digits = {ranks, 1};
  plan.rank_groups.push_back(std::move(everybody));
  addStorage(plan, sharded);
  addFunctions(plan, sharded);
  BeginT begin;
  begin.places = {Place(1920, 0, 8)};
  addStep(plan, "begin", std::move(begin));
  addMicroBatches(plan, sharded);
  Place g = sharded ? Place(512, padded * 2, 1) : Place(512, 0, 1);
  if (sharded)
    addExchange(plan, "reduce g", CollectiveKind::reduce_scatter, Place(512, 0, 1), g, padded / 2);
  else
    addAllReduce(plan, "reduce g", g, padded, Element::F32);
  addAllReduce(plan, "reduce loss", Place(1664, 0, 4), 1, Element::F32);
  addRun(plan, "squares", 1, {g, Place(1728, 0, 5)});
  if (sharded)
    addAllReduce(plan, "reduce squares", Place(1728, 0, 5), 1, Element::F64);
  addRun(plan, "scalars", 2,
         {Place(1664, 0, 4), Place(1728, 0, 5), Place(1792, 0, 6), Place(1856, 0, 7), Place(1936, 0, 8)});
  int last = (int)plan.programs[0]->steps.size();
  addRun(plan, "update", 3, {Place(0, 0, 0), g, Place(1920, 0, 8), Place(0, 0, 0)});
  addBuffer(plan, "w", 0, sharded ? 256 : 512, 0, last, true);
  addBuffer(plan, "g", 512, 512, 2, last, false);
  addBuffer(plan, "x", 1024, 560, 1, last - 3, false);
  addBuffer(plan, "ids", 1600, 16, 1, last - 3, false);
  addBuffer(plan, "loss sum", 1664, 4, 2, last - 1, false);
  addBuffer(plan, "sum of squares", 1728, 8, 2, last - 1, false);
  addBuffer(plan, "loss", 1792, 4, last - 1, last, true);
  addBuffer(plan, "norm", 1856, 4, last - 1, last, true);
  addBuffer(plan, "scalars", 1920, 24, 0, last, true);
  addBuffer(plan, "gathered w", 1984, 512, 1, last, false);
  auto traffic = std::make_unique<TrafficT>();
  traffic->all_gather = traffic->reduce_scatter = sharded ? 2 * padded / 2 * 4 : 0;
  traffic->all_reduce = 2 * (sharded ? 4 + 8 : padded * 4 + 4);
  plan.traffic.push_back(std::move(traffic));
  addState(plan, StateKind::Result, "loss", Beginning::Nothing, Place(1792, 0, 6));
  addState(plan, StateKind::Result, "norm", Beginning::Nothing, Place(1856, 0, 7));
  addState(plan, StateKind::Counter, "applied", Beginning::One, Place(1936, 0, 8));
  return plan;
}

void setResultBytes(Plan &plan, plan::CallT &call, uint64_t bytes) {
  call.out_bytes[0] = bytes;
  call.out_views[0] = addView(plan, bytes);
}

Plan makeStages() {
  Plan plan = makePlan(0);
  *plan.mesh = Mesh(2, ranks, 1, ranks);
  plan.programs.insert(plan.programs.begin(), std::make_unique<ProgramT>());
  ProgramT &first = *plan.programs[0], &second = *plan.programs[1];
  constexpr uint64_t bytes = micro * elements * 4;
  first.arena = 640, second.stage = 1;
  auto x = std::make_unique<BufferT>();
  x->name = "x", x->size = bytes, x->last = 2 * microBatches - 1;
  first.buffers.push_back(std::move(x));
  for (uint32_t k = 0; k < microBatches; ++k) {
    auto load = std::make_unique<StepT>(), send = std::make_unique<StepT>(), receive = std::make_unique<StepT>();
    LoadT loaded;
    loaded.micro_batch = k, loaded.inputs = {0}, loaded.places = {Place(0, 0, 0)};
    load->label = "load", load->action.Set(std::move(loaded));
    SendT sent;
    sent.place = std::make_unique<Place>(0, 0, 0), sent.bytes = bytes, sent.message = k, sent.peer = 1;
    send->label = "send " + std::to_string(k), send->action.Set(std::move(sent));
    ReceiveT received;
    received.place = std::make_unique<Place>(1024, 0, 2), received.bytes = bytes, received.message = k;
    receive->label = "receive " + std::to_string(k), receive->action.Set(std::move(received));
    first.steps.push_back(std::move(load)), first.steps.push_back(std::move(send));
    auto at = std::find_if(second.steps.begin(), second.steps.end(),
                           [&](const auto &step) { return step->label == "load " + std::to_string(k); });
    *at = std::move(receive);
  }
  for (auto &buffer : second.buffers)
    buffer->last = buffer->last < 0 ? -1 : (int)second.steps.size() - 1;
  plan.traffic.push_back(std::make_unique<TrafficT>());
  plan.traffic[1]->axis = Axis::pp, plan.traffic[1]->transfer = ranks * microBatches * bytes;
  plan.dataset->ahead = 2240;
  return plan;
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "xlc-runtime-XXXXXX").string();
  path = mkdtemp(name.data());
}
Folder::~Folder() { std::filesystem::remove_all(path); }

std::string Folder::write(const std::string &name, const std::string &bytes) const {
  std::ofstream(file(name), std::ios::binary) << bytes;
  return file(name);
}
std::string Folder::read(const std::string &name) const {
  std::ifstream in(file(name), std::ios::binary);
  return (std::ostringstream() << in.rdbuf()).str();
}

std::string makeNpy(const std::string &descr, const std::string &shape, const std::string &elements) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  std::string length = {(char)(header.size() & 255), (char)(header.size() >> 8)};
  return std::string("\x93NUMPY\x01\x00", 8) + length + header + elements;
}

void writeData(const Folder &folder) {
  std::string x, ids;
  for (uint64_t i = 0; i < rows * elements; ++i) {
    double value = std::sin((double)i);
    x.append((const char *)&value, 8);
  }
  for (int32_t i = 0; i < (int32_t)rows; ++i) {
    int32_t id = i % 3 ? i % 10 : -100;
    ids.append((const char *)&id, 4);
  }
  folder.write("x.npy", makeNpy("<f8", "(" + std::to_string(rows) + ", 70)", x));
  folder.write("ids.npy", makeNpy("<i4", "(" + std::to_string(rows) + ",)", ids));
}

namespace {

Exit runUntil(int received, const Plan &plan, const Folder &folder, std::vector<std::string> arguments,
              const Target &target) {
  flatbuffers::FlatBufferBuilder builder;
  FinishPlanBuffer(builder, CreatePlan(builder, &plan));
  arguments.insert(arguments.begin(), "train");
  if (std::find(arguments.begin(), arguments.end(), "--data") == arguments.end())
    arguments.insert(arguments.end(), {"--data", folder.file("")});
  std::vector<const char *> argv;
  for (const std::string &argument : arguments)
    argv.push_back(argument.c_str());
  Embedded embedded{sealPlan(builder.GetBufferPointer(), builder.GetSize()), codes, std::size(codes), nullptr, 0};
  std::atomic<int> signal = received;
  return runProgram((int)argv.size(), argv.data(), embedded, target, readSettings(std::getenv), signal);
}

} // namespace

Exit run(const Plan &plan, const Folder &folder, std::vector<std::string> arguments, const Target &target) {
  return runUntil(0, plan, folder, std::move(arguments), target);
}

Exit runInterrupted(const Plan &plan, const Folder &folder, std::vector<std::string> arguments) {
  return runUntil(SIGINT, plan, folder, std::move(arguments), linkedTarget());
}

} // namespace xlc::runtime::tiny
