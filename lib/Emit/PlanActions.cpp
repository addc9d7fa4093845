// Translates the `exec` programs to programs of the plan: places, buffers, and actions as steps, one for one and in
// order.
#include "PlanParts.h"
#include "xlc/Estimate/ResidualSlots.h"
#include "xlc/Memory/Memory.h"

using namespace mlir;
using namespace xlc;

namespace {

using Buffers = std::vector<std::unique_ptr<plan::BufferT>>;

/// A program of the plan while its steps are written.
struct Writer {
  plan::PlanT &plan;
  const Buffers &buffers;
  const std::map<StringRef, unsigned> &functions;
};

plan::Place resolve(const Buffers &buffers, exec::PlaceAttr place) {
  return plan::Place(buffers[place.getBuffer()]->offset + place.getOffset(), place.getStride(), place.getBuffer());
}

std::unique_ptr<plan::Place> place(const Buffers &buffers, exec::PlaceAttr attribute) {
  return std::make_unique<plan::Place>(resolve(buffers, attribute));
}

std::vector<plan::Place> places(const Buffers &buffers, ArrayAttr attributes) {
  std::vector<plan::Place> result;
  for (auto attribute : attributes.getAsRange<exec::PlaceAttr>())
    result.push_back(resolve(buffers, attribute));
  return result;
}

/// An action as a step, with the label that progress and faults say.
template <class Action> plan::StepT stepOf(StringRef label, Action action) {
  plan::StepT made;
  made.label = label.str();
  made.action.Set(std::move(action));
  return made;
}

/// The plan knows a bucket by its name.
FailureOr<unsigned> numberOf(FlatSymbolRefAttr name, Operation *user, const plan::PlanT &plan) {
  auto bucket = llvm::find_if(plan.buckets, [&](auto &each) { return name.getValue() == each->name; });
  if (bucket == plan.buckets.end())
    return user->emitOpError() << "names " << name << ", which is not a bucket of the plan";
  return bucket - plan.buckets.begin();
}

FailureOr<plan::StepT> step(exec::BeginOp op, const Writer &writer) {
  plan::BeginT begin;
  begin.places = places(writer.buffers, op.getPlaces());
  op.forEachNumber([&](runtime::StepNumber number, exec::PlaceAttr at) {
    begin.numbers.emplace_back(resolve(writer.buffers, at), uint8_t(number));
  });
  return stepOf("begin", std::move(begin));
}

FailureOr<plan::StepT> step(exec::RunOp op, const Writer &writer) {
  auto function = writer.functions.find(op.getFunction());
  if (function == writer.functions.end())
    return op.emitOpError() << "runs '" << op.getFunction() << "', which is not a function of the module";
  plan::RunT run;
  run.function = function->second;
  run.micro_batch = op.getMicroBatch();
  run.first = op.getFirst();
  run.places = places(writer.buffers, op.getPlaces());
  return stepOf(op.getLabel(), std::move(run));
}

FailureOr<plan::StepT> step(exec::ExchangeOp op, const Writer &writer) {
  plan::ExchangeT exchange = exchangeOf(writer.plan, op.getExchange());
  exchange.src = place(writer.buffers, op.getSrc());
  exchange.dst = place(writer.buffers, op.getDst());
  return stepOf(op.getLabel(), std::move(exchange));
}

FailureOr<plan::StepT> step(exec::ReleaseOp op, const Writer &writer) {
  plan::ReleaseT release;
  release.place = place(writer.buffers, op.getPlace());
  release.bytes = op.getBytes();
  return stepOf(op.getLabel(), std::move(release));
}

FailureOr<plan::StepT> step(exec::LoadOp op, const Writer &writer) {
  plan::LoadT load;
  load.micro_batch = op.getMicroBatch();
  for (auto name : op.getInputs().getAsRange<StringAttr>()) {
    auto input = llvm::find_if(writer.plan.inputs, [&](auto &candidate) { return name.getValue() == candidate->name; });
    if (input == writer.plan.inputs.end())
      return op.emitOpError() << "loads '" << name.getValue() << "', which is not an input of the plan";
    load.inputs.push_back(input - writer.plan.inputs.begin());
  }
  load.places = places(writer.buffers, op.getPlaces());
  return stepOf("load micro-batch " + std::to_string(op.getMicroBatch()), std::move(load));
}

FailureOr<plan::StepT> step(exec::StoreOp op, const Writer &writer) {
  plan::StoreT store;
  store.micro_batch = op.getMicroBatch();
  for (auto name : op.getOutputs().getAsRange<StringAttr>()) {
    auto output = llvm::find_if(writer.plan.outputs, [&](auto &known) { return name.getValue() == known->name; });
    if (output == writer.plan.outputs.end())
      return op.emitOpError() << "stores '" << name.getValue() << "', which is not an output of the plan";
    store.outputs.push_back(output - writer.plan.outputs.begin());
  }
  store.places = places(writer.buffers, op.getPlaces());
  return stepOf("store micro-batch " + std::to_string(op.getMicroBatch()), std::move(store));
}

/// A send or a receive.
template <typename Table, typename Op> FailureOr<plan::StepT> transfer(Op op, const Writer &writer) {
  Table made;
  made.place = place(writer.buffers, op.getPlace());
  made.bytes = op.getBytes(), made.message = op.getMessage(), made.peer = op.getPeer();
  return stepOf(op.getLabel(), std::move(made));
}
FailureOr<plan::StepT> step(exec::SendOp op, const Writer &writer) { return transfer<plan::SendT>(op, writer); }
FailureOr<plan::StepT> step(exec::ReceiveOp op, const Writer &writer) { return transfer<plan::ReceiveT>(op, writer); }

} // namespace

unsigned xlc::groupOf(plan::PlanT &plan, dist::GroupAttr group) {
  plan::RankGroupT made;
  made.axis = static_cast<plan::Axis>(group.getAxis());
  made.digits.assign(group.getDigits().asArrayRef().begin(), group.getDigits().asArrayRef().end());
  made.stages.assign(group.getStages().asArrayRef().begin(), group.getStages().asArrayRef().end());
  for (auto [i, known] : llvm::enumerate(plan.rank_groups))
    if (known->axis == made.axis && known->digits == made.digits && known->stages == made.stages)
      return i;
  plan.rank_groups.push_back(std::make_unique<plan::RankGroupT>(std::move(made)));
  return plan.rank_groups.size() - 1;
}

plan::ExchangeT xlc::exchangeOf(plan::PlanT &plan, const exec::Exchange &what) {
  plan::ExchangeT made;
  made.kind = static_cast<plan::CollectiveKind>(what.kind);
  made.group = groupOf(plan, what.group);
  made.outer = what.outer, made.chunk = what.chunk, made.rows = what.rows;
  made.ranks_first = what.ranksFirst, made.accumulate = what.accumulate;
  made.element = elementOf(what.element);
  if (what.wire)
    made.wire = elementOf(what.wire);
  return made;
}

plan::Element xlc::elementOf(Type type) {
  if (type.isF32())
    return plan::Element::F32;
  if (type.isF64())
    return plan::Element::F64;
  if (type.isBF16())
    return plan::Element::BF16;
  if (type.isF16())
    return plan::Element::F16;
  if (type.isInteger(64))
    return plan::Element::I64;
  if (type.isInteger(32))
    return plan::Element::I32;
  assert(type.isInteger(1) && "the verifiers of graph and exec take no other element type");
  return plan::Element::I1;
}

/// Every place of an action names a buffer.
static LogicalResult checkPlaces(Operation &op, size_t buffers) {
  int64_t bad = -1;
  for (NamedAttribute attribute : op.getAttrs())
    attribute.getValue().walk([&](exec::PlaceAttr place) {
      if (place.getBuffer() < 0 || place.getBuffer() >= (int64_t)buffers)
        bad = place.getBuffer();
    });
  if (bad == -1)
    return success();
  return op.emitOpError() << "uses buffer " << bad << ", which must be below " << buffers;
}

/// A row of the plan's table of states, made once for all stages.
static FailureOr<unsigned> numberOf(exec::StateOp op, plan::PlanT &plan) {
  plan::StateT made;
  made.kind = static_cast<plan::StateKind>(op.getKind()), made.begins = static_cast<plan::Beginning>(op.getBegins());
  made.name = op.getName().value_or("").str();
  made.extent = op.getShard() ? plan::Extent::Shard : plan::Extent::Whole, made.element = elementOf(op.getType());
  if (op.getBucketAttr()) {
    FailureOr<unsigned> bucket = numberOf(op.getBucketAttr(), op, plan);
    if (failed(bucket))
      return failure();
    made.bucket = unsigned(*bucket); // NOLINT(bugprone-optional-value-conversion)
  }
  if (auto group = op.getGroupAttr())
    made.group = groupOf(plan, group);
  made.site = op.getSite();
  if (op.getKind() == exec::StateKind::result)
    made.elements = op.getElements();
  for (auto [i, known] : llvm::enumerate(plan.states))
    if (known->kind == made.kind && known->name == made.name && known->bucket == made.bucket &&
        known->group == made.group && known->site == made.site)
      return i;
  plan.states.push_back(std::make_unique<plan::StateT>(std::move(made)));
  return plan.states.size() - 1;
}

/// Where the stage keeps its states.
static LogicalResult fillStates(exec::ProgramOp program, const Writer &writer, plan::ProgramT &made) {
  for (auto state : program.getBody().getOps<exec::StateOp>()) {
    FailureOr<unsigned> row = numberOf(state, writer.plan);
    if (failed(row))
      return failure();
    auto home = std::make_unique<plan::StatePlaceT>();
    home->state = *row, home->place = place(writer.buffers, state.getPlace());
    made.states.push_back(std::move(home));
  }
  return success();
}

FailureOr<plan::ProgramT *> xlc::fillHeld(exec::ProgramOp program, plan::PlanT &plan) {
  plan::ProgramT &made = *plan.programs.emplace_back(std::make_unique<plan::ProgramT>());
  made.purpose = static_cast<plan::Purpose>(program.getPurpose());
  made.stage = program.getStage();
  made.arena = program.getArena();
  made.residual_slots = countResidualSlots(program);
  for (auto op : program.getBody().getOps<exec::BufferOp>()) {
    auto buffer = std::make_unique<plan::BufferT>();
    buffer->name = op.getName().str(), buffer->cause = static_cast<plan::Cause>(op.getCause());
    buffer->size = op.getSize(), buffer->offset = op.getOffset();
    buffer->first = op.getFirst(), buffer->last = op.getLast(), buffer->persistent = op.getPersistent();
    made.buffers.push_back(std::move(buffer));
  }
  if (failed(fillStates(program, Writer{plan, made.buffers, {}}, made)))
    return failure();
  return &made;
}

LogicalResult xlc::fillProgram(exec::ProgramOp program, const std::map<StringRef, unsigned> &functions,
                               plan::PlanT &plan) {
  FailureOr<plan::ProgramT *> held = fillHeld(program, plan);
  if (failed(held))
    return failure();
  plan::ProgramT &made = **held;
  Writer writer{plan, made.buffers, functions};
  for (auto action : program.getBody().front().getOps<exec::Action>()) {
    Operation &op = *action.getOperation();
    if (failed(checkPlaces(op, made.buffers.size())))
      return failure();
    using Step = FailureOr<plan::StepT>;
    Step step = TypeSwitch<Operation *, Step>(&op)
                    .Case<exec::BeginOp, exec::LoadOp, exec::StoreOp, exec::RunOp, exec::ExchangeOp, exec::ReleaseOp,
                          exec::SendOp, exec::ReceiveOp>([&](auto action) -> Step { return ::step(action, writer); })
                    .Default([](Operation *other) -> Step {
                      return other->emitOpError("is not an action that the runtime supports");
                    });
    if (failed(step))
      return failure();
    step->stream = static_cast<plan::Stream>(action.getStream());
    step->after.assign(action.getAfter().begin(), action.getAfter().end());
    made.steps.push_back(std::make_unique<plan::StepT>(std::move(*step)));
  }
  return success();
}
