// See BucketStates.h.
#include "BucketStates.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Runtime/States.h"
#include <map>

using namespace mlir;
using namespace xlc;
using exec::Beginning;
using exec::StateKind;

std::string BucketState::nameBuffer(StringRef bucket) const {
  std::string own = name.empty() ? stringifyStateKind(kind).str() : name.str();
  return isRead(kind) ? bucket.str() : (bucket + "/" + own).str();
}

exec::Cause BucketState::getCause() const {
  if (kind == StateKind::members)
    return exec::Cause::workspace;
  return isRead(kind) ? exec::Cause::parameters : exec::Cause::optimizer;
}

int64_t BucketState::countElements(sched::BucketOp bucket, int64_t shards) const {
  if (kind == StateKind::members)
    return runtime::elementsOfMemberTable(int64_t(bucket.getMembers().size()));
  return int64_t(bucket.getElements()) / (extent == sched::Extent::shard ? shards : 1);
}

SmallVector<BucketState> xlc::statesOf(sched::BucketOp bucket, ArrayRef<graph::OptimizerGroup> groups) {
  int64_t group = bucket.getGroup();
  StateKind read = group == sched::kBufferGroup ? StateKind::running_average : StateKind::value;
  SmallVector<BucketState> states{{read, "", bucket.getParams(), bucket.getTypeOfParameters(), Beginning::parameters}};
  if (bucket.getMasterType())
    states.push_back({StateKind::master, "", bucket.getStates(), bucket.getTypeOfUpdated(), Beginning::parameters});
  if (group >= 0)
    for (StringRef name : groups[group].getStateNames())
      states.push_back({StateKind::optimizer, name, bucket.getStates(), bucket.getTypeOfState(name),
                        name == graph::kAverage ? Beginning::parameters : Beginning::zero});
  if (bucket.getStochastic())
    states.push_back(
        {StateKind::members, "", bucket.getStates(), IntegerType::get(bucket.getContext(), 64), Beginning::members});
  return states;
}

namespace {

/// The states that a program stores, by bucket, kind and name.
using StoredStates = std::map<std::tuple<StringRef, StateKind, StringRef>, exec::StateOp>;

StoredStates findStored(exec::ProgramOp program) {
  StoredStates stored;
  for (auto state : program.getBody().front().getOps<exec::StateOp>())
    if (std::optional<StringRef> bucket = state.getBucket())
      stored.try_emplace({*bucket, state.getKind(), state.getName().value_or("")}, state);
  return stored;
}

LogicalResult verifyState(exec::ProgramOp program, const StoredStates &stored, sched::BucketOp bucket,
                          const BucketState &wanted) {
  auto found = stored.find({bucket.getSymName(), wanted.kind, wanted.name});
  if (found == stored.end())
    return program.emitOpError() << "has no place for '" << wanted.nameBuffer(bucket.getSymName())
                                 << "', a state of bucket '" << bucket.getSymName() << "'";
  exec::StateOp state = found->second;
  int64_t elements = wanted.countElements(bucket, program.getMesh().getShards());
  if (state.getElements() == elements && state.getType() == wanted.type && state.getBegins() == wanted.begins)
    return success();
  return state.emitOpError() << "does not match bucket '" << bucket.getSymName() << "', which requires " << elements
                             << " elements of " << wanted.type << " with initial values '"
                             << stringifyBeginning(wanted.begins) << "'";
}

} // namespace

LogicalResult xlc::verifyBucketStates(exec::ProgramOp program) {
  auto module = program->getParentOfType<ModuleOp>();
  std::vector<graph::OptimizerGroup> groups = graph::OptimizerGroup::of(module);
  StoredStates stored = findStored(program);
  for (auto bucket : module.getOps<sched::BucketOp>())
    if (sched::isOnStage(bucket, program.getStage()))
      for (const BucketState &state : statesOf(bucket, groups))
        if (failed(verifyState(program, stored, bucket, state)))
          return failure();
  return success();
}
