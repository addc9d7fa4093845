// Actions of the `exec` program as steps of the plan, one for one and in order.
#include "PlanParts.h"

using namespace mlir;
using namespace xlc;

namespace {

std::unique_ptr<plan::Place> place(exec::ProgramOp program, exec::PlaceAttr attribute) {
  return std::make_unique<plan::Place>(resolvePlace(program, attribute));
}

std::vector<plan::Place> places(exec::ProgramOp program, ArrayAttr attributes) {
  std::vector<plan::Place> result;
  for (auto attribute : attributes.getAsRange<exec::PlaceAttr>())
    result.push_back(resolvePlace(program, attribute));
  return result;
}

plan::Group group(exec::Group group) { return static_cast<plan::Group>(group); }

plan::StepT step(exec::BeginOp op, exec::ProgramOp program) {
  plan::BeginT begin;
  begin.places = places(program, op.getPlaces());
  plan::StepT result;
  result.label = "begin";
  result.action.Set(std::move(begin));
  return result;
}

plan::StepT step(exec::RunOp op, exec::ProgramOp program, unsigned function) {
  plan::RunT run;
  run.function = function;
  run.micro_batch = op.getMicroBatch();
  run.first = op.getFirst();
  run.places = places(program, op.getPlaces());
  plan::StepT result;
  result.label = op.getLabel().str();
  result.action.Set(std::move(run));
  return result;
}

plan::StepT step(exec::AllGatherOp op, exec::ProgramOp program) {
  plan::AllGatherT gather;
  gather.group = group(op.getGroup());
  gather.src = place(program, op.getSrc());
  gather.dst = place(program, op.getDst());
  gather.count = op.getCount();
  gather.element = elementOf(op.getType());
  plan::StepT result;
  result.label = op.getLabel().str();
  result.action.Set(std::move(gather));
  return result;
}

plan::StepT step(exec::ReduceScatterOp op, exec::ProgramOp program) {
  plan::ReduceScatterT scatter;
  scatter.group = group(op.getGroup());
  scatter.src = place(program, op.getSrc());
  scatter.dst = place(program, op.getDst());
  scatter.count = op.getCount();
  scatter.element = elementOf(op.getType());
  scatter.accumulate = op.getAccumulate();
  plan::StepT result;
  result.label = op.getLabel().str();
  result.action.Set(std::move(scatter));
  return result;
}

plan::StepT step(exec::AllReduceOp op, exec::ProgramOp program) {
  plan::AllReduceT reduce;
  reduce.group = group(op.getGroup());
  reduce.place = place(program, op.getPlace());
  reduce.count = op.getCount();
  reduce.element = elementOf(op.getType());
  plan::StepT result;
  result.label = op.getLabel().str();
  result.action.Set(std::move(reduce));
  return result;
}

plan::StepT step(exec::ReleaseOp op, exec::ProgramOp program) {
  plan::ReleaseT release;
  release.place = place(program, op.getPlace());
  release.bytes = op.getBytes();
  plan::StepT result;
  result.label = op.getLabel().str();
  result.action.Set(std::move(release));
  return result;
}

FailureOr<plan::StepT> step(exec::LoadOp op, exec::ProgramOp program, const plan::PlanT &plan) {
  plan::LoadT load;
  load.micro_batch = op.getMicroBatch();
  for (auto name : op.getInputs().getAsRange<StringAttr>()) {
    auto input = llvm::find_if(plan.inputs, [&](auto &candidate) { return name.getValue() == candidate->name; });
    if (input == plan.inputs.end())
      return op.emitError() << "loads '" << name.getValue() << "', which is not an input of the plan";
    load.inputs.push_back(input - plan.inputs.begin());
  }
  load.places = places(program, op.getPlaces());
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

LogicalResult xlc::fillSteps(exec::ProgramOp program, const std::map<StringRef, unsigned> &functions,
                             plan::PlanT &plan) {
  for (Operation &op : program.getBody().front()) {
    if (isa<exec::BufferOp>(op))
      continue;
    FailureOr<plan::StepT> made =
        TypeSwitch<Operation *, FailureOr<plan::StepT>>(&op)
            .Case<exec::BeginOp, exec::AllGatherOp, exec::ReduceScatterOp, exec::AllReduceOp, exec::ReleaseOp>(
                [&](auto action) { return FailureOr<plan::StepT>(step(action, program)); })
            .Case([&](exec::LoadOp load) { return step(load, program, plan); })
            .Case([&](exec::RunOp run) -> FailureOr<plan::StepT> {
              auto function = functions.find(run.getFunction());
              if (function == functions.end())
                return run.emitError() << "runs '" << run.getFunction() << "', which is not a function of the module";
              return step(run, program, function->second);
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
