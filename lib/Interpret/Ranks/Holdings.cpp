// The state of the ranks of a stage between steps: its initialization, and its reassembly for comparison.
//
//   parameter --layout--> piece of a tensor-parallel rank --bucket--> its place there --extent--> whole, or a shard
//
// The arithmetic of these places is shared with the runtime (States.h): a program begins and ends here as it does
// there. Code of the interpreter's own checks the steps in between.
#include "StageProgram.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Runtime/States.h"
#include <map>

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

/// What a bucket's state is called for a parameter: "w", "w/master", "w/m".
static std::string nameOf(exec::StateOp state, const Model::Parameter &parameter) {
  if (isRead(state.getKind()))
    return parameter.name;
  return graph::nameState(parameter.name, state.getName().value_or(stringifyStateKind(state.getKind())));
}

/// Each bucket of the stage needs a row for its parameters as units read them, and one for its master if it has one.
template <class E> LogicalResult StageProgram<E>::verifyStates() {
  std::map<std::string, int> found;
  for (auto state : op.getBody().template getOps<exec::StateOp>()) {
    if (!exec::isOfBucket(state.getKind()))
      continue;
    auto bucket = symbols.lookup<sched::BucketOp>(*state.getBucket());
    if (!bucket)
      return state.emitOpError() << "belongs to bucket '" << *state.getBucket() << "', which does not exist";
    bool isShard = (isRead(state.getKind()) ? bucket.getParams() : bucket.getStates()) == sched::Extent::shard;
    int64_t kept = bucket.getElements() / (isShard ? op.getMesh().getShards() : 1);
    if (state.getElements() != kept)
      return state.emitOpError() << "has " << state.getElements() << " elements, but a rank keeps " << kept
                                 << " elements of bucket '" << bucket.getSymName() << "'";
    found[bucket.getSymName().str()] |= 1 << int(state.getKind());
  }
  for (auto bucket : op->getParentOfType<ModuleOp>().template getOps<sched::BucketOp>()) {
    if (!sched::isOnStage(bucket, op.getStage()))
      continue;
    auto has = [&](exec::StateKind kind) { return (found[bucket.getSymName().str()] >> int(kind) & 1) != 0; };
    if (!has(exec::StateKind::value) && !has(exec::StateKind::running_average))
      return op.emitOpError() << "has no place for bucket '" << bucket.getSymName() << "'";
    if (bool hasMaster = has(exec::StateKind::master); hasMaster != bucket.getMasterType().has_value())
      return op.emitOpError() << "has " << (hasMaster ? "a" : "no") << " master for bucket '" << bucket.getSymName()
                              << "', which has " << (hasMaster ? "no" : "a") << " master type";
  }
  return success();
}

template <class E>
LogicalResult StageProgram<E>::forEachHolding(llvm::function_ref<LogicalResult(const Holding &)> visit) {
  if (failed(verifyStates()))
    return failure();
  for (auto state : op.getBody().template getOps<exec::StateOp>()) {
    if (!exec::isOfBucket(state.getKind()))
      continue;
    auto bucket = symbols.lookup<sched::BucketOp>(*state.getBucket());
    for (auto [member, name] : llvm::enumerate(bucket.getMembers().template getAsRange<StringAttr>())) {
      const Model::Parameter *parameter = model.findParameter(name.getValue());
      if (!parameter)
        return bucket.emitOpError() << "has member '" << name.getValue() << "', which is not a parameter";
      if (failed(visit({state, bucket, nameOf(state, *parameter), int64_t(member)})))
        return failure();
    }
  }
  return success();
}

/// A member of a bucket on a rank.
template <class E>
runtime::BucketMember StageProgram<E>::memberOf(sched::BucketOp bucket, int64_t member, int64_t rank) const {
  dist::LayoutAttr layout = sched::getLayout(bucket, member);
  auto begin = uint64_t(bucket.getOffsets()[member]), size = uint64_t(bucket.getSizes()[member]);
  if (!layout)
    return {begin, begin + size, 0, runtime::PieceShape::whole(size)};
  ArrayRef<int64_t> shape = layout.getShape();
  uint64_t index = layout.getGroup().indexOf(exec::ProgramOp(op).getMesh(), firstRank + rank);
  return {begin, begin + size, index,
          runtime::PieceShape::cut(shape[layout.getDim()], layout.getOuter(), layout.getGroup().size(),
                                   countOf(shape.drop_front(layout.getDim() + 1)))};
}

/// The first element of its bucket that a rank keeps of a state.
template <class E> int64_t StageProgram<E>::beginOf(exec::StateOp state, int64_t rank) const {
  return state.getShard() ? exec::ProgramOp(op).getMesh().shardOf(rank) * state.getElements() : 0;
}

/// Which elements of which parameters a rank updates of a bucket.
template <class E> LogicalResult StageProgram<E>::initializeTable(exec::StateOp state) {
  auto bucket = symbols.lookup<sched::BucketOp>(state.getBucket().value_or(""));
  auto count = bucket ? int64_t(bucket.getMembers().size()) : 0;
  if (!bucket || state.getElements() != runtime::elementsOfMemberTable(count))
    return state.emitOpError() << "has " << state.getElements() << " elements, but the table of " << count
                               << " members has " << runtime::elementsOfMemberTable(count);
  for (int64_t rank = 0; rank < stageRanks; ++rank) {
    dist::MeshAttr mesh = op.getMesh();
    int64_t first = state.getShard() ? mesh.shardOf(rank) * (int64_t(bucket.getElements()) / mesh.getShards()) : 0;
    Integers table(ArrayRef<int64_t>{state.getElements()});
    for (auto [i, name] : llvm::enumerate(bucket.getMembers().template getAsRange<StringAttr>()))
      runtime::putMember(memberOf(bucket, int64_t(i), rank), runtime::hashName(name.getValue()), uint64_t(first), i,
                         uint64_t(count), table.elements.data());
    Span span = memory.spanAt(state.getPlace(), rank, state.getElements(), state.getType());
    if (failed(memory.write({op, "start", rank}, span, std::move(table), false)))
      return failure();
  }
  return success();
}

/// Counters, indices, sites and tables of members.
template <class E> LogicalResult StageProgram<E>::initializeNumbers() {
  for (auto state : op.getBody().template getOps<exec::StateOp>())
    if (state.getKind() == exec::StateKind::members && failed(initializeTable(state)))
      return failure();
  for (auto state : op.getBody().template getOps<exec::StateOp>())
    for (int64_t rank = 0; rank < stageRanks; ++rank) {
      Span span = memory.spanAt(state.getPlace(), rank, 1, state.getType());
      Datum<E> first;
      if (state.getBegins() == exec::Beginning::index)
        first = Integers({1}, state.getGroup()->indexOf(op.getMesh(), firstRank + rank));
      else if (std::optional<uint64_t> site = state.getSite())
        first = Integers({1}, (int64_t)runtime::subsequenceOfSite(*site));
      else if (state.getBegins() == exec::Beginning::one)
        first = Tensor<E>({1}, fromDouble<E>(1));
      else
        continue;
      if (failed(memory.write({op, "start", rank}, span, std::move(first), false)))
        return failure();
    }
  return success();
}

template <class E> LogicalResult StageProgram<E>::initialize() {
  if (failed(initializeNumbers()))
    return failure();
  return forEachHolding([&](const Holding &holding) -> LogicalResult {
    // Every rank keeps its piece of the bucket. Padding is zero.
    exec::StateOp state = holding.state;
    int64_t count = state.getElements();
    const Model::Parameter *parameter = state.getBegins() != exec::Beginning::parameters ? nullptr
                                        : graph::isAverage(holding.name)
                                            ? model.findParameter(graph::getOwnerOf(holding.name))
                                            : model.findParameter(nameOfEqual(holding.name));
    Tensor<E> whole = parameter ? source.parameter(*parameter) : Tensor<E>();
    for (int64_t rank = 0; rank < stageRanks; ++rank) {
      Access access{op, "start", rank};
      Span kept = memory.spanAt(state.getPlace(), rank, count, state.getType());
      if (holding.member == 0 && failed(memory.write(access, kept, Tensor<E>({count}), false)))
        return failure();
      runtime::BucketMember member = memberOf(holding.bucket, holding.member, rank);
      int64_t begin = beginOf(state, rank);
      int64_t first = std::max(begin, int64_t(member.begin)), last = std::min(begin + count, int64_t(member.end));
      if (!parameter || first >= last)
        continue;
      Tensor<E> own({last - first});
      member.forEachRun(first, last, [&](uint64_t at, uint64_t inWhole, uint64_t some) {
        std::copy_n(whole.elements.begin() + inWhole, some, own.elements.begin() + (at - first));
      });
      roundTo<E>(state.getType(), own.elements);
      Span cells{kept.buffer, kept.address + holding.getBytes(first - begin), state.getType(), {last - first}, {1}};
      if (failed(memory.write(access, cells, std::move(own), false)))
        return failure();
    }
    return success();
  });
}

/// Puts a rank's piece of a parameter or state in its place, from itself and from those it shares shards with.
template <class E> LogicalResult StageProgram<E>::collectPiece(const Holding &holding, int64_t rank, Tensor<E> &whole) {
  dist::MeshAttr mesh = op.getMesh();
  exec::StateOp state = holding.state;
  int64_t slices = state.getShard() ? mesh.getShards() : 1, size = state.getElements();
  runtime::BucketMember member = memberOf(holding.bucket, holding.member, rank);
  for (int64_t i = 0; i < slices; ++i) {
    int64_t begin = std::max(int64_t(member.begin), i * size), end = std::min(int64_t(member.end), (i + 1) * size);
    if (begin >= end)
      continue;
    int64_t firstHolder = mesh.dpOf(rank) / slices * slices;
    int64_t holder = mesh.rankOf(0, firstHolder + (slices == 1 ? 0 : i), mesh.tpOf(rank));
    Span span = memory.spanAt(state.getPlace(), holder, end - begin, state.getType());
    span.address += holding.getBytes(begin - i * size);
    Datum<E> slice;
    if (failed(memory.read({op, "end", holder}, span, slice)))
      return failure();
    member.forEachRun(begin, end, [&](uint64_t at, uint64_t inWhole, uint64_t some) {
      std::copy_n(std::get<Tensor<E>>(slice).elements.begin() + (at - begin), some, whole.elements.begin() + inWhole);
    });
  }
  return success();
}

template <class E> LogicalResult StageProgram<E>::collectResults(int64_t rank, Runner<E>::Visit visit) {
  for (auto state : op.getBody().template getOps<exec::StateOp>()) {
    if (state.getKind() != exec::StateKind::result)
      continue;
    Span span = memory.spanAt(state.getPlace(), rank, state.getElements(), state.getType());
    if (state.getElements() == 1)
      span.sizes = span.strides = {};
    Datum<E> value;
    if (failed(memory.read({op, "end", rank}, span, value)))
      return failure();
    visit(firstRank + rank, ("@" + *state.getName()).str(), value);
  }
  for (const auto &[name, value] : outputs[rank])
    visit(firstRank + rank, name, value);
  return success();
}

template <class E> LogicalResult StageProgram<E>::collect(int64_t rank, Runner<E>::Visit visit) {
  dist::MeshAttr mesh = op.getMesh();
  if (failed(collectResults(rank, visit)))
    return failure();
  return forEachHolding([&](const Holding &holding) -> LogicalResult {
    dist::LayoutAttr layout = sched::getLayout(holding.bucket, holding.member);
    SmallVector<int64_t> owners{firstRank + rank};
    if (layout)
      owners = layout.getGroup().members(mesh, firstRank + rank);
    int64_t elements = sched::BucketOp(holding.bucket).getSizes()[holding.member];
    Tensor<E> whole(ArrayRef<int64_t>{layout ? countOf(layout.getShape()) : elements});
    for (int64_t owner : owners)
      if (failed(collectPiece(holding, owner - firstRank, whole)))
        return failure();
    visit(firstRank + rank, holding.name, std::move(whole));
    return success();
  });
}

#define XLC_INSTANTIATE(E)                                                                                             \
  template LogicalResult StageProgram<E>::initialize();                                                                \
  template LogicalResult StageProgram<E>::collectResults(int64_t, typename Runner<E>::Visit);                          \
  template LogicalResult StageProgram<E>::collect(int64_t, typename Runner<E>::Visit);
XLC_INSTANTIATE(double)
XLC_INSTANTIATE(float)
XLC_INSTANTIATE(Field)
