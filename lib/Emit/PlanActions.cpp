// Actions of the `exec` program as steps of the plan, one for one and in order.
#include "PlanParts.h"

using namespace mlir;
using namespace xlc;

namespace {

using Buffers = std::vector<std::unique_ptr<plan::BufferT>>;

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

/// The dp groups that the plan knows: all ranks, those of a shard group, those that replicate a shard.
plan::Group groupOf(exec::ProgramOp program, dist::GroupAttr group) {
  return group == dist::GroupAttr::dataParallel(program.getMesh()) ? plan::Group::All
         : group == dist::GroupAttr::shards(program.getMesh())     ? plan::Group::Shards
                                                                   : plan::Group::Replicas;
}

plan::StepT step(exec::BeginOp op, const Buffers &buffers) {
  plan::BeginT begin;
  begin.places = places(buffers, op.getPlaces());
  plan::StepT result;
  result.label = "begin";
  result.action.Set(std::move(begin));
  return result;
}

plan::StepT step(exec::RunOp op, const Buffers &buffers, unsigned function) {
  plan::RunT run;
  run.function = function;
  run.micro_batch = op.getMicroBatch();
  run.first = op.getFirst();
  run.places = places(buffers, op.getPlaces());
  plan::StepT result;
  result.label = op.getLabel().str();
  result.action.Set(std::move(run));
  return result;
}

plan::StepT step(exec::AllGatherOp op, const Buffers &buffers) {
  plan::AllGatherT gather;
  gather.group = groupOf(op->getParentOfType<exec::ProgramOp>(), op.getGroup());
  gather.src = place(buffers, op.getSrc());
  gather.dst = place(buffers, op.getDst());
  gather.count = op.getCount();
  gather.element = elementOf(op.getType());
  plan::StepT result;
  result.label = op.getLabel().str();
  result.action.Set(std::move(gather));
  return result;
}

plan::StepT step(exec::ReduceScatterOp op, const Buffers &buffers) {
  plan::ReduceScatterT scatter;
  scatter.group = groupOf(op->getParentOfType<exec::ProgramOp>(), op.getGroup());
  scatter.src = place(buffers, op.getSrc());
  scatter.dst = place(buffers, op.getDst());
  scatter.count = op.getCount();
  scatter.element = elementOf(op.getType());
  scatter.accumulate = op.getAccumulate();
  plan::StepT result;
  result.label = op.getLabel().str();
  result.action.Set(std::move(scatter));
  return result;
}

plan::StepT step(exec::AllReduceOp op, const Buffers &buffers) {
  plan::AllReduceT reduce;
  reduce.group = groupOf(op->getParentOfType<exec::ProgramOp>(), op.getGroup());
  reduce.place = place(buffers, op.getPlace());
  reduce.count = op.getCount();
  reduce.element = elementOf(op.getType());
  plan::StepT result;
  result.label = op.getLabel().str();
  result.action.Set(std::move(reduce));
  return result;
}

plan::StepT step(exec::ReleaseOp op, const Buffers &buffers) {
  plan::ReleaseT release;
  release.place = place(buffers, op.getPlace());
  release.bytes = op.getBytes();
  plan::StepT result;
  result.label = op.getLabel().str();
  result.action.Set(std::move(release));
  return result;
}

FailureOr<plan::StepT> step(exec::LoadOp op, const plan::PlanT &plan) {
  plan::LoadT load;
  load.micro_batch = op.getMicroBatch();
  for (auto name : op.getInputs().getAsRange<StringAttr>()) {
    auto input = llvm::find_if(plan.inputs, [&](auto &candidate) { return name.getValue() == candidate->name; });
    if (input == plan.inputs.end())
      return op.emitError() << "loads '" << name.getValue() << "', which is not an input of the plan";
    load.inputs.push_back(input - plan.inputs.begin());
  }
  load.places = places(plan.buffers, op.getPlaces());
  plan::StepT result;
  result.label = "load micro-batch " + std::to_string(op.getMicroBatch());
  result.action.Set(std::move(load));
  return result;
}

} // namespace

plan::Element xlc::elementOf(Type type) {
  if (isa<FloatType>(type))
    return type.isF64() ? plan::Element::F64 : plan::Element::F32;
  return type.isInteger(64) ? plan::Element::I64 : type.isInteger(32) ? plan::Element::I32 : plan::Element::I1;
}

plan::Place xlc::resolvePlace(exec::ProgramOp program, exec::PlaceAttr place) {
  int64_t begin = 0;
  for (auto buffer : program.getBody().getOps<exec::BufferOp>())
    if ((int64_t)buffer.getId() == place.getBuffer())
      begin = buffer.getOffset();
  return plan::Place(begin + place.getOffset(), place.getStride(), place.getBuffer());
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
  return op.emitError() << "names buffer " << bad << " of a program that has " << buffers;
}

LogicalResult xlc::fillSteps(exec::ProgramOp program, const std::map<StringRef, unsigned> &functions,
                             plan::PlanT &plan) {
  for (Operation &op : program.getBody().front()) {
    if (isa<exec::BufferOp>(op))
      continue;
    if (failed(checkPlaces(op, plan.buffers.size())))
      return failure();
    FailureOr<plan::StepT> made =
        TypeSwitch<Operation *, FailureOr<plan::StepT>>(&op)
            .Case<exec::BeginOp, exec::AllGatherOp, exec::ReduceScatterOp, exec::AllReduceOp, exec::ReleaseOp>(
                [&](auto action) { return FailureOr<plan::StepT>(step(action, plan.buffers)); })
            .Case([&](exec::LoadOp load) { return step(load, plan); })
            .Case([&](exec::RunOp run) -> FailureOr<plan::StepT> {
              auto function = functions.find(run.getFunction());
              if (function == functions.end())
                return run.emitError() << "runs '" << run.getFunction() << "', which is not a function of the module";
              return step(run, plan.buffers, function->second);
            })
            .Default([](Operation *other) -> FailureOr<plan::StepT> {
              return other->emitError("is not an action that the runtime knows");
            });
    if (failed(made))
      return failure();
    plan.steps.push_back(std::make_unique<plan::StepT>(std::move(*made)));
  }
  return success();
}
