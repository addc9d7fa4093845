// Buffers and actions. Location and lifetime of each kind of buffer:
//
//   scalars    loss_sum | count | sum of squares | loss | norm | group 0: lr, factor, c1, c2, applied | ... | numbers
//              of the step (64 bytes each)
//   bucket     parameters (whole or shard), master and states persist; a gathered whole lives from gather to release
//   sites      the subsequences of nodes that draw
//   indices    this rank's index in a group of the tensor-parallel ranks, for functions that take it
//   gradients  from the first contribution to the update; if only the shard is kept, the whole lives within a
//              micro-batch
#include "ProgramBuilder.h"
#include "xlc/Differentiate/Differentiate.h"
#include "xlc/Kernels/LibraryCalls.h"
#include "xlc/Runtime/States.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace mlir;
using namespace xlc;
using exec::Beginning;
using exec::Cause;
using exec::StateKind;
using runtime::StepNumber;
using Kind = dist::CollectiveKind;

namespace {
constexpr int64_t kSlotBytes = 64; ///< of a scalar
constexpr StringRef scalarNames[] = {sched::kLossSum, sched::kLossCount, sched::kSumSquares, "@loss", "@norm"};

bool isShard(sched::Extent extent) { return extent == sched::Extent::shard; }

bool isBackward(sched::RunOp run) { return run.getRole() != graph::Role::F; }
} // namespace

ProgramBuilder::ProgramBuilder(ModuleOp module, const SymbolTable &symbols, sched::TimelineOp timeline,
                               SharedByStages &shared)
    : module(module), symbols(symbols), timeline(timeline), actions(module.getContext()), shared(shared) {}

int64_t ProgramBuilder::addBuffer(StringAttr name, Cause cause, int64_t bytes, bool isPersistent) {
  buffers.push_back({name, cause, bytes, time, time, isPersistent});
  return buffers.size() - 1;
}

exec::PlaceAttr ProgramBuilder::place(int64_t buffer, int64_t offset, int64_t stride) {
  buffers[buffer].last = time;
  return offset || stride ? exec::PlaceAttr::get(module.getContext(), buffer, offset, stride) : beginOf(buffer);
}

exec::PlaceAttr ProgramBuilder::beginOf(int64_t buffer) {
  if (shared.begins.size() <= size_t(buffer))
    shared.begins.resize(buffer + 1);
  exec::PlaceAttr &begin = shared.begins[buffer];
  return begin ? begin : begin = exec::PlaceAttr::get(module.getContext(), buffer, 0, 0);
}

void ProgramBuilder::build(const llvm::StringMap<Signature> &signatures) {
  OpBuilder builder(timeline);
  program = exec::ProgramOp::create(builder, timeline.getLoc(), timeline.getSymName(), timeline.getStage(),
                                    timeline.getMicroBatches(), 0, 0, timeline.getPurpose());
  actions.setInsertionPointToEnd(&program.getBody().emplaceBlock());
  addPersistentBuffers();
  if (trains())
    begin();
  for (Operation &op : timeline.getBody().front())
    llvm::TypeSwitch<Operation *>(&op)
        .Case<sched::RunOp>([&](auto run) { translate(run, signatures.find(run.getFunction())->second); })
        .Case<sched::LoadOp, sched::StoreOp, sched::SendOp, sched::ReceiveOp, sched::CollectiveOp, sched::ReleaseOp,
              sched::NormOp, sched::ZeroScalarsOp, sched::AllReduceScalarsOp, sched::ScalarsOp, sched::UpdateOp>(
            [&](auto action) { translate(action); });
  endBegin();
  createBuffers();
  createStates();
}

void ProgramBuilder::addPersistentBuffers() {
  std::vector<graph::OptimizerGroup> groups = graph::OptimizerGroup::of(module);
  for (auto bucket : module.getOps<sched::BucketOp>()) {
    if (!sched::isOnStage(bucket, timeline.getStage()))
      continue;
    BucketMemory &memory = buckets[bucket.getSymNameAttr()];
    memory.op = bucket;
    memory.slice = (int64_t)bucket.getElements() / shards();
    for (const BucketState &state : statesOf(bucket, groups)) {
      int64_t buffer = addBuffer(state.nameBuffer(bucket.getSymName()), state.getCause(),
                                 graph::getByteSize(state.type, state.countElements(bucket, shards())), true);
      memory.kept.push_back({state, buffer});
    }
    for (auto [i, member] : llvm::enumerate(bucket.getMembers()))
      memberOf[member] = {bucket.getSymNameAttr(), i};
  }
  if (!trains())
    return addSums();
  groupCount = groups.size(), hasLossScale = module->hasAttr(graph::kLossScale);
  scalars = addBuffer("scalars", Cause::workspace, kSlotBytes * (std::size(scalarNames) + groupCount), true);
}

/// The host reads them when the step has ended, so they lie where nothing else does.
void ProgramBuilder::addSums() {
  int64_t bytes = 0;
  for (StringAttr name : timeline.listSums()) {
    sums[name] = bytes;
    bytes += llvm::alignTo(graph::getByteSize(timeline.findSum(name)), kSlotBytes);
  }
  scalars = addBuffer("sums", Cause::workspace, bytes, true);
}

exec::PlaceAttr ProgramBuilder::scalar(StringRef name) {
  if (!trains())
    return place(scalars, sums.find(actions.getStringAttr(name))->second);
  return place(scalars, kSlotBytes * (llvm::find(scalarNames, name) - std::begin(scalarNames)));
}

exec::PlaceAttr ProgramBuilder::groupScalars(int64_t group, int64_t offset) {
  return place(scalars, kSlotBytes * (std::size(scalarNames) + group) + offset);
}

exec::PlaceAttr ProgramBuilder::stepNumber(StepNumber which) {
  int64_t before = llvm::find(stepNumbers, which) - stepNumbers.begin();
  if (before == int64_t(stepNumbers.size())) {
    stepNumbers.push_back(which);
    buffers[scalars].bytes += kSlotBytes;
  }
  return groupScalars(groupCount + before);
}

/// Which numbers the program reads is known when all actions are there: `endBegin` says it.
void ProgramBuilder::begin() {
  SmallVector<Attribute> places;
  for (int64_t i = 0; i < groupCount; ++i)
    places.push_back(groupScalars(i));
  if (hasLossScale)
    stepNumber(StepNumber::LossScale);
  act<exec::BeginOp>(actions.getArrayAttr(places), ArrayAttr(), ArrayAttr());
}

void ProgramBuilder::endBegin() {
  SmallVector<Attribute> names, places;
  for (StepNumber number : stepNumbers) {
    names.push_back(actions.getStringAttr(StringRef(runtime::rowOf(number).name)));
    places.push_back(stepNumber(number));
  }
  if (names.empty())
    return;
  auto begin = *program.getBody().front().getOps<exec::BeginOp>().begin();
  begin.setNumbersAttr(actions.getArrayAttr(names));
  begin.setNumberPlacesAttr(actions.getArrayAttr(places));
}

/// Saved for backward, on its way from or to another stage, or only between two runs of one pass.
Cause ProgramBuilder::causeOf(Value activation) {
  for (Operation *user : activation.getUsers())
    if (auto run = dyn_cast<sched::RunOp>(user); run && isBackward(run))
      return Cause::residuals;
  bool isSent = llvm::any_of(activation.getUsers(), [](Operation *user) { return isa<sched::SendOp>(user); });
  return isSent || activation.getDefiningOp<sched::ReceiveOp>() ? Cause::communication : Cause::workspace;
}

void ProgramBuilder::translate(sched::SendOp send) {
  int64_t bytes = graph::getByteSize(cast<RankedTensorType>(send.getValue().getType()));
  act<exec::SendOp>(label(llvm::formatv("send {0} to {1}", send.getMessage(), send.getPeer())), send.getMessage(),
                    send.getPeer(), place(activations.find(send.getValue())->second), bytes);
}

void ProgramBuilder::translate(sched::ReceiveOp receive) {
  int64_t bytes = graph::getByteSize(cast<RankedTensorType>(receive.getValue().getType()));
  std::string text = llvm::formatv("receive {0} from {1}", receive.getMessage(), receive.getPeer());
  int64_t buffer = addBuffer(text, causeOf(receive.getValue()), bytes);
  activations[receive.getValue()] = buffer;
  act<exec::ReceiveOp>(label(text), receive.getMessage(), receive.getPeer(), place(buffer), bytes);
}

void ProgramBuilder::translate(sched::LoadOp load) {
  SmallVector<Attribute> places;
  for (auto [name, value] : llvm::zip(load.getInputs(), load.getValues())) {
    int64_t bytes = graph::getByteSize(cast<RankedTensorType>(value.getType()));
    activations[value] = addBuffer(cast<StringAttr>(name).getValue(), Cause::residuals, bytes);
    places.push_back(place(activations[value]));
  }
  act<exec::LoadOp>(load.getMicroBatch(), load.getInputs(), actions.getArrayAttr(places));
}

exec::PlaceAttr ProgramBuilder::parameter(Attribute name) {
  auto [symbol, index] = memberOf.find(name)->second;
  BucketMemory &bucket = buckets.find(symbol)->second;
  return place(isShard(bucket.op.getParams()) ? bucket.gathered : bucket.params(),
               bucket.op.getParameterBytes(bucket.op.getOffsets()[index]));
}

bool ProgramBuilder::isBuffer(Attribute name) {
  return (int64_t)buckets.find(memberOf.find(name)->second.first)->second.op.getGroup() == sched::kBufferGroup;
}

exec::PlaceAttr ProgramBuilder::gradient(Attribute name) {
  auto [symbol, index] = memberOf.find(name)->second;
  BucketMemory &bucket = buckets.find(symbol)->second;
  return place(bucket.grads, bucket.op.getGradientBytes(bucket.op.getOffsets()[index]));
}

exec::PlaceAttr ProgramBuilder::index(dist::GroupAttr group) {
  auto [it, isNew] = indices.try_emplace(group, -1);
  if (isNew)
    it->second = addBuffer((stringifyAxis(group.getAxis()) + " index").str(), Cause::workspace, 8, true);
  return place(it->second);
}

exec::PlaceAttr ProgramBuilder::site(int64_t number) {
  auto [it, isNew] = sites.try_emplace(number, -1);
  if (isNew)
    it->second = addBuffer("site " + std::to_string(number), Cause::workspace, 8, true);
  return place(it->second);
}

/// As people read it: "layer[3] B".
static std::string describe(graph::ModelUnitAttr unit, graph::Role role) {
  return llvm::formatv("{0}[{1}] {2}", unit.getClassName().getValue(), unit.getInstance(), stringifyRole(role));
}

const ProgramBuilder::RunForm &ProgramBuilder::formOf(sched::RunOp run, func::FuncOp function) {
  auto [it, isNew] = forms.try_emplace({run.getUnit(), run.getFunctionAttr()});
  RunForm &form = it->second;
  if (!isNew)
    return form;
  graph::ModelUnitAttr unit = run.getUnit();
  form.label = label(describe(unit, run.getRole()));
  for (BlockArgument argument : function.getArguments()) {
    unsigned slot = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(slot, exec::kSlotName);
    auto number = function.getArgAttrOfType<StringAttr>(slot, exec::kStepNumber);
    form.slots.push_back({label(form.label.getValue() + "/" + (name ? name.getValue() : "")),
                          function.getArgAttrOfType<dist::GroupAttr>(slot, exec::kIndex),
                          number ? runtime::findStepNumber(number.getValue()) : std::nullopt,
                          graph::getByteSize(cast<MemRefType>(argument.getType()))});
  }
  return form;
}

void ProgramBuilder::translate(sched::RunOp run, const Signature &signature) {
  const RunForm &form = formOf(run, symbols.lookup<func::FuncOp>(run.getFunction()));
  for (Attribute store : run.getStores())
    if (memberOf.contains(store) && !isBuffer(store))
      openGradients(buckets.find(memberOf[store].first)->second);
  SmallVector<Attribute> places;
  for (Value value : run.getValues())
    places.push_back(place(activations.find(value)->second));
  for (int64_t number : run.getSites())
    places.push_back(site(number));
  for (Attribute param : run.getParams())
    places.push_back(parameter(param));
  for (Value out : run.getOuts()) {
    const RunForm::Slot &slot = form.slots[places.size()];
    activations[out] = addBuffer(slot.buffer, causeOf(out), slot.bytes);
    places.push_back(place(activations[out]));
  }
  for (Attribute store : run.getStores())
    places.push_back(!memberOf.contains(store) ? scalar(cast<StringAttr>(store).getValue())
                     : isBuffer(store)         ? parameter(store)
                                               : gradient(store));
  for (const RunForm::Slot &slot : ArrayRef(form.slots).drop_front(places.size()))
    places.push_back(slot.index    ? index(slot.index)
                     : slot.number ? stepNumber(*slot.number)
                                   : place(addBuffer(slot.buffer, Cause::workspace, slot.bytes)));
  bool isFirst = true;
  for (auto [accumulates, kind] : llvm::zip(run.getAccumulate(), signature.accumulate))
    if (kind == (int32_t)exec::Accumulate::later)
      isFirst = !accumulates;
  act<exec::RunOp>(run.getFunctionAttr(), form.label, run.getMicroBatchAttr(), actions.getArrayAttr(places),
                   actions.getBoolAttr(isFirst), run.getRoleAttr());
  if (signature.apart)
    runApart(run, *signature.apart, places, isFirst);
}

void ProgramBuilder::runApart(sched::RunOp run, const Apart &apart, ArrayRef<Attribute> ofWhole, bool isFirst) {
  SmallVector<Attribute> places = llvm::map_to_vector(apart.slots, [&](unsigned slot) { return ofWhole[slot]; });
  for (Attribute touched : places)
    buffers[cast<exec::PlaceAttr>(touched).getBuffer()].last = time;
  act<exec::RunOp>(apart.function, label(describe(run.getUnit(), graph::Role::W)), run.getMicroBatchAttr(),
                   actions.getArrayAttr(places), actions.getBoolAttr(isFirst),
                   graph::RoleAttr::get(module.getContext(), graph::Role::W));
}

void ProgramBuilder::exchange(Kind kind, StringRef name, dist::GroupAttr group, exec::PlaceAttr src,
                              exec::PlaceAttr dst, int64_t count, Type type, TypeAttr wire, bool adds) {
  act<exec::ExchangeOp>(kind, label(stringifyCollectiveKind(kind) + " " + name), group, src, dst, count, type, wire,
                        adds);
}

void ProgramBuilder::translate(sched::CollectiveOp collective) {
  BucketMemory &bucket = memoryOf(collective.getBucketAttr());
  if (collective.getKind() == Kind::all_gather)
    return gather(bucket);
  if (collective.getKind() == Kind::reduce_scatter)
    return reduceScatter(bucket, collective.getAccumulate());
  Piece piece = gradientPiece(bucket, collective.getExtent() == sched::Extent::whole);
  exchange(Kind::all_reduce, bucket.op.getSymName(), collective.getGroupAttr(), piece.place, piece.place, piece.count,
           bucket.op.getTypeOfGradients(), bucket.op.getWireTypeAttr());
}

void ProgramBuilder::gather(BucketMemory &bucket) {
  int64_t bytes = bucket.op.getParameterBytes(bucket.slice);
  bool isSharded = isShard(bucket.op.getParams());
  if (isSharded)
    bucket.gathered = addBuffer((bucket.op.getSymName() + " gathered").str(), Cause::communication,
                                bucket.op.getParameterBytes(bucket.op.getElements()));
  exec::PlaceAttr src = isSharded ? place(bucket.params()) : place(bucket.params(), 0, bytes);
  exec::PlaceAttr dst = place(isSharded ? bucket.gathered : bucket.params());
  exchange(Kind::all_gather, bucket.op.getSymName(), dist::GroupAttr::shards(timeline.getMesh()), src, dst,
           bucket.slice, bucket.op.getTypeOfParameters());
}

void ProgramBuilder::translate(sched::ReleaseOp release) {
  BucketMemory &bucket = memoryOf(release.getBucketAttr());
  act<exec::ReleaseOp>(label("release " + bucket.op.getSymName()), place(bucket.gathered),
                       bucket.op.getParameterBytes(bucket.op.getElements()));
  bucket.gathered = -1;
}

void ProgramBuilder::reduceScatter(BucketMemory &bucket, bool adds) {
  bool keepsShard = isShard(bucket.op.getGrads());
  int64_t bytes = bucket.op.getGradientBytes(bucket.slice);
  if (keepsShard && bucket.gradShard < 0)
    bucket.gradShard = addBuffer((bucket.op.getSymName() + "/gradient shard").str(), Cause::gradients, bytes);
  exec::PlaceAttr dst = keepsShard ? place(bucket.gradShard) : place(bucket.grads, 0, bytes);
  exchange(Kind::reduce_scatter, bucket.op.getSymName(), dist::GroupAttr::shards(timeline.getMesh()),
           place(bucket.grads), dst, bucket.slice, bucket.op.getTypeOfGradients(), bucket.op.getWireTypeAttr(), adds);
  if (keepsShard)
    bucket.grads = -1;
}

RankedTensorType ProgramBuilder::scalarType(StringRef name) {
  if (!trains())
    return timeline.findSum(name);
  if (name == sched::kLossCount) // a number of targets, or a sum of weights
    return cast<RankedTensorType>(symbols.lookup<func::FuncOp>("scalars").getArgumentTypes()[1]);
  return RankedTensorType::get({}, name == sched::kSumSquares ? Type(actions.getF64Type()) : actions.getF32Type());
}

void ProgramBuilder::translate(sched::AllReduceScalarsOp reduce) {
  for (Attribute name : reduce.getScalars()) {
    StringRef text = cast<StringAttr>(name).getValue();
    RankedTensorType type = scalarType(text);
    exchange(Kind::all_reduce, text.drop_front(), reduce.getGroup(), scalar(text), scalar(text), type.getNumElements(),
             type.getElementType());
  }
}

ProgramBuilder::Piece ProgramBuilder::gradientPiece(BucketMemory &bucket, bool whole) {
  if (isShard(bucket.op.getGrads()))
    return {place(bucket.gradShard), bucket.slice};
  if (whole)
    return {place(bucket.grads), (int64_t)bucket.op.getElements()};
  return {place(bucket.grads, 0, bucket.op.getGradientBytes(bucket.slice)), bucket.slice};
}

void ProgramBuilder::createStates() {
  Type f32 = actions.getF32Type();
  auto create = [&](StateKind kind, StringRef name, FlatSymbolRefAttr bucket, dist::GroupAttr group, bool isShard,
                    int64_t elements, Type type, Beginning begins, exec::PlaceAttr place, IntegerAttr site = {}) {
    StringAttr named = name.empty() ? StringAttr() : actions.getStringAttr(name);
    exec::StateOp::create(actions, timeline.getLoc(), kind, named, bucket, group, site, isShard, elements, type, begins,
                          place);
  };
  for (auto &[name, memory] : buckets)
    for (const auto &[state, buffer] : memory.kept)
      create(state.kind, state.name, FlatSymbolRefAttr::get(name), {}, isShard(state.extent),
             state.countElements(memory.op, shards()), state.type, state.begins, beginOf(buffer));
  auto number = [&](StateKind kind, StringRef name, Beginning begins, exec::PlaceAttr place) {
    create(kind, name, {}, {}, false, 1, f32, begins, place);
  };
  for (auto [name, offset] : sums) {
    RankedTensorType type = timeline.findSum(name);
    create(StateKind::result, name.getValue().drop_front(), {}, {}, false, type.getNumElements(), type.getElementType(),
           Beginning::nothing, scalar(name));
  }
  if (hasScalars) {
    number(StateKind::result, runtime::kLossResult, Beginning::nothing, scalar("@loss"));
    number(StateKind::result, runtime::kNormResult, Beginning::nothing, scalar("@norm"));
    number(StateKind::counter, runtime::kAppliedCounter, Beginning::one, stepNumber(0, StepNumber::Applied));
  }
  for (auto [group, buffer] : indices)
    create(StateKind::index, "", {}, group, false, 1, actions.getI64Type(), Beginning::index, beginOf(buffer));
  for (auto [number, buffer] : sites)
    create(StateKind::site, "", {}, {}, false, 1, actions.getI64Type(), Beginning::site, beginOf(buffer),
           actions.getI64IntegerAttr(number));
}

void ProgramBuilder::createBuffers() {
  actions.setInsertionPointToStart(&program.getBody().front());
  std::map<Cause, exec::CauseAttr> causes; // looked up here: millions of times in the context are seconds
  for (auto [id, buffer] : llvm::enumerate(buffers)) {
    exec::CauseAttr &cause = causes[buffer.cause];
    if (!cause)
      cause = exec::CauseAttr::get(module.getContext(), buffer.cause);
    int64_t first = buffer.isPersistent ? 0 : buffer.first, last = buffer.isPersistent ? time - 1 : buffer.last;
    exec::BufferOp::create(actions, timeline.getLoc(), int64_t(id), cause, buffer.name, buffer.bytes, 0, first, last,
                           buffer.isPersistent ? actions.getUnitAttr() : UnitAttr());
  }
}
