// Assigns parameters to buckets. Backward completes the gradients in a fixed order, and that order is the order of the
// buckets and of their members:
//
//   bucket_0 [ ln_f.bias | ln_f.weight | pad ]        head, reduced first
//   bucket_1 [ h.1.mlp.c_proj.bias | ... ]            layer 1
//   bucket_2 [ h.0. ... ]                             layer 0
//   bucket_3 [ wpe | wte | pad ]                      embed: the last to contribute to the tied wte
//
// Under pipeline parallelism a bucket belongs to one chunk; parameters tied across chunks have buckets of their own.
#include "xlc/DataParallel/DataParallel.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Differentiate/Differentiate.h"
#include "xlc/Stage/Stage.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"
#include <set>

namespace xlc {
#define GEN_PASS_DEF_ASSIGNBUCKETSPASS
#include "xlc/DataParallel/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

/// Of a parameter as units read it, as the optimizer updates it, of its gradient and of its states. What @update does
/// not know is as units read it, or null.
struct ElementTypes {
  Type read, updated, gradient, state;
  bool isStochastic = false; ///< it, or its states, are rounded so

  bool hasMaster() const { return updated && updated != read; }
  auto asTuple() const { return std::tuple(read, updated, gradient, state, int(isStochastic)); }
};

struct Parameter {
  StringAttr name;
  RankedTensorType type;
  int64_t group;            ///< of the optimizer, or sched::kFrozenGroup or kBufferGroup
  dist::LayoutAttr layout;  ///< null: all of it
  dist::GroupAttr partial;  ///< over which its gradient is a partial sum, or null
  DenseI64ArrayAttr chunks; ///< that use it
  ElementTypes elements;
};

/// What the members of a bucket agree in: optimizer group, whether they stay resident, chunks, partial sums, how many
/// pieces tensor parallelism makes of them, and types.
using Kind = std::tuple<int64_t, int, Attribute, Attribute, int64_t, std::tuple<Type, Type, Type, Type, int>>;

struct Bucket {
  Kind kind;
  SmallVector<Parameter> members;
  int64_t bytes = 0;
};

/// How the calls of @micro_batch use a parameter.
struct Usage {
  std::set<int64_t> chunks; ///< that read it or contribute to its gradient
  dist::GroupAttr partial;
};
using Usages = llvm::DenseMap<Attribute, Usage>;

Usages findUsages(func::FuncOp function) {
  Usages usages;
  for (BlockArgument argument : function.getArguments())
    if (Attribute name = Argument(argument).getParameter())
      for (Operation *user : argument.getUsers())
        usages[name].chunks.insert(getChunk(user));
  for (OpOperand &returned : function.front().getTerminator()->getOpOperands()) {
    unsigned index = returned.getOperandNumber();
    Attribute name = Result(function, index).getGradient();
    if (!name || !returned.get().getDefiningOp())
      continue;
    usages[name].chunks.insert(getChunk(returned.get().getDefiningOp()));
    if (auto partial = function.getResultAttrOfType<dist::GroupAttr>(index, dist::kPartial))
      usages[name].partial = partial;
  }
  return usages;
}

/// Types of each parameter's elements as @update has them.
llvm::StringMap<ElementTypes> findUpdated(ModuleOp module) {
  llvm::StringMap<ElementTypes> updated;
  if (auto update = findUpdate(module)) {
    for (OpOperand &returned : update.front().getTerminator()->getOpOperands())
      if (returned.get().getDefiningOp<StochasticCastOp>()) {
        Result what(update, returned.getOperandNumber());
        StringAttr parameter = what.getParameter();
        updated[parameter ? parameter.getValue() : getOwnerOf(what.getState().getValue())].isStochastic = true;
      }
    for (BlockArgument argument : update.getArguments()) {
      Argument what(argument);
      Type element = typeOf(argument).getElementType();
      if (StringAttr name = what.getParameter())
        updated[name.getValue()].updated = element;
      else if (StringAttr name = what.getGradient())
        updated[name.getValue()].gradient = element;
      else if (StringAttr state = what.getState(); state && !isAverage(state))
        updated[what.getOwner()].state = element;
    }
  }
  return updated;
}

Parameter describe(func::FuncOp function, const Usages &usages, const llvm::StringMap<ElementTypes> &updated,
                   unsigned index) {
  auto type = cast<RankedTensorType>(function.getArgument(index).getType());
  Argument argument(function, index);
  StringAttr name = argument.getParameter();
  auto usage = usages.find(name);
  DenseI64ArrayAttr chunks = DenseI64ArrayAttr::get(
      function.getContext(), usage == usages.end() ? SmallVector<int64_t>{} : llvm::to_vector(usage->second.chunks));
  ElementTypes elements = updated.lookup(name.getValue());
  elements.read = type.getElementType();
  return {name,
          type,
          argument.isBuffer()   ? sched::kBufferGroup
          : argument.isFrozen() ? sched::kFrozenGroup
                                : argument.getGroup().value_or(0),
          function.getArgAttrOfType<dist::LayoutAttr>(index, dist::kLayout),
          usage == usages.end() ? dist::GroupAttr() : usage->second.partial,
          chunks,
          elements};
}

/// Parameters by owner unit, in the order in which their gradients are complete; frozen ones by their last use.
SmallVector<SmallVector<Parameter>> byOwner(func::FuncOp function) {
  llvm::StringMap<unsigned> argument;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = Argument(function, i).getParameter())
      argument[name.getValue()] = i;
  auto calls = llvm::to_vector(function.front().getOps<func::CallOp>());
  DenseMap<Value, StringAttr> contribution;
  auto terminator = function.front().getTerminator();
  for (OpOperand &returned : terminator->getOpOperands())
    if (auto name = Result(function, returned.getOperandNumber()).getGradient())
      contribution[returned.get()] = name;

  Usages usages = findUsages(function);
  llvm::StringMap<ElementTypes> updated = findUpdated(function->getParentOfType<ModuleOp>());
  llvm::DenseMap<Attribute, Operation *> last; // parameter -> call that completes it
  for (func::CallOp call : calls)
    for (Value result : call.getResults())
      if (StringAttr name = contribution.lookup(result))
        last[name] = call;
  SmallVector<SmallVector<Parameter>> owners;
  llvm::DenseSet<unsigned> placed;
  for (func::CallOp call : calls) {
    SmallVector<Parameter> owned;
    for (Value result : call.getResults())
      if (StringAttr name = contribution.lookup(result); name && last.lookup(name) == call)
        if (unsigned index = argument.lookup(name.getValue()); placed.insert(index).second)
          owned.push_back(describe(function, usages, updated, index));
    if (!owned.empty())
      owners.push_back(std::move(owned));
  }
  for (func::CallOp call : llvm::reverse(calls)) { // what has no gradient
    SmallVector<Parameter> owned;
    for (Value operand : call.getOperands())
      if (auto block = dyn_cast<BlockArgument>(operand))
        if (Argument(block).getParameter() && placed.insert(block.getArgNumber()).second)
          owned.push_back(describe(function, usages, updated, block.getArgNumber()));
    if (!owned.empty())
      owners.push_back(std::move(owned));
  }
  return owners;
}

class Packer {
public:
  Packer(int64_t bucketBytes, int64_t residentElements)
      : bucketBytes(bucketBytes), residentElements(residentElements) {}

  /// Adds a unit's parameters: to the open buckets if all of a kind fit, else to new ones.
  void addUnit(ArrayRef<Parameter> parameters) {
    llvm::MapVector<Kind, SmallVector<Parameter>> kinds;
    for (const Parameter &parameter : parameters) { // a rank's buffers are its own: there is nothing to gather
      bool isResident = parameter.type.getNumElements() <= residentElements || parameter.group == sched::kBufferGroup;
      int64_t pieces = parameter.layout ? parameter.layout.getGroup().size() : 1;
      kinds[{parameter.group, isResident, parameter.chunks, parameter.partial, pieces, parameter.elements.asTuple()}]
          .push_back(parameter);
    }
    for (auto &[kind, members] : kinds) {
      int64_t bytes = 0;
      for (const Parameter &parameter : members)
        bytes += getByteSize(parameter.type);
      size_t *current = find(kind);
      if (!current || buckets[*current].bytes + bytes > bucketBytes)
        open(kind);
      for (const Parameter &parameter : members) {
        Bucket *bucket = &buckets[*find(kind)];
        if (!bucket->members.empty() && bucket->bytes + getByteSize(parameter.type) > bucketBytes) {
          open(kind);
          bucket = &buckets.back();
        }
        bucket->members.push_back(parameter);
        bucket->bytes += getByteSize(parameter.type);
      }
    }
  }

  ArrayRef<Bucket> getBuckets() const { return buckets; }

private:
  size_t *find(Kind kind) {
    auto it = current.find(kind);
    return it == current.end() ? nullptr : &it->second;
  }
  void open(Kind kind) {
    current[kind] = buckets.size();
    buckets.push_back({kind, {}, 0});
  }

  int64_t bucketBytes, residentElements;
  SmallVector<Bucket> buckets;
  llvm::MapVector<Kind, size_t> current;
};

struct AssignBucketsPass : xlc::impl::AssignBucketsPassBase<AssignBucketsPass> {
  using AssignBucketsPassBase::AssignBucketsPassBase;

  int64_t shards() { return dist::getMesh(getOperation()).getShards(); }

  void runOnOperation() override {
    func::FuncOp function = Entry::find(getOperation(), Purpose::train).getFunction();
    if (!function)
      return;
    bool isSharding = shards() > 1;
    Packer packer(bucketBytes, isSharding && stage == 3 ? persistenceThreshold : -1);
    for (ArrayRef<Parameter> owned : byOwner(function))
      packer.addUnit(owned);
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    for (auto [index, bucket] : llvm::enumerate(packer.getBuckets()))
      create(builder, index, bucket, isSharding ? (int64_t)stage : 0);
  }

private:
  /// Null where every member is whole.
  static ArrayAttr layoutsOf(Builder &builder, const Bucket &bucket) {
    if (llvm::none_of(bucket.members, [](const Parameter &parameter) { return bool(parameter.layout); }))
      return {};
    return builder.getArrayAttr(llvm::map_to_vector(bucket.members, [&](const Parameter &parameter) {
      return parameter.layout ? Attribute(parameter.layout) : builder.getUnitAttr();
    }));
  }

  TypeAttr typeOnWire(Type gradient) {
    bool isWide = gradient && gradient.isF32();
    if (isWide && wire == "bf16")
      return TypeAttr::get(BFloat16Type::get(&getContext()));
    return isWide && wire == "f16" ? TypeAttr::get(Float16Type::get(&getContext())) : TypeAttr();
  }

  static TypeAttr unlessF32(Type type) { return !type || type.isF32() ? TypeAttr() : TypeAttr::get(type); }

  void create(OpBuilder &builder, size_t index, const Bucket &bucket, int64_t level) {
    using sched::Extent;
    SmallVector<Attribute> members;
    SmallVector<int64_t> offsets, sizes;
    int64_t end = 0;
    for (const Parameter &parameter : bucket.members) {
      members.push_back(parameter.name);
      offsets.push_back(end);
      sizes.push_back(parameter.type.getNumElements());
      end = llvm::alignTo(end + parameter.type.getNumElements(), sched::kMemberAlignment);
    }
    auto [group, isResident, chunks, partial, pieces, types] = bucket.kind;
    const ElementTypes &elements = bucket.members.front().elements;
    ArrayRef<int64_t> users = cast<DenseI64ArrayAttr>(chunks).asArrayRef();
    SmallVector<int64_t> stages =
        llvm::map_to_vector(users, [&](int64_t chunk) { return getStage(getOperation(), chunk); });
    llvm::sort(stages);
    stages.erase(llvm::unique(stages), stages.end());
    bool canReduceOften = !reducePerStep && stages.size() == users.size();
    auto from = [&](int64_t first, bool also = true) { return level >= first && also ? Extent::shard : Extent::whole; };
    sched::BucketOp::create(
        builder, getOperation().getLoc(), "bucket_" + std::to_string(index), builder.getArrayAttr(members), offsets,
        sizes, llvm::alignTo(end, sched::kMemberAlignment * shards()), group, from(3, !isResident),
        from(2, canReduceOften), from(1), layoutsOf(builder, bucket), cast_or_null<dist::GroupAttr>(partial),
        getOperation()->hasAttr(kStages) ? builder.getDenseI64ArrayAttr(stages) : DenseI64ArrayAttr(),
        unlessF32(elements.read), elements.hasMaster() ? TypeAttr::get(elements.updated) : TypeAttr(),
        unlessF32(elements.gradient), unlessF32(elements.state), typeOnWire(elements.gradient), elements.isStochastic);
  }
};

} // namespace
