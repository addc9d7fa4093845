// What the ranks of a stage hold between steps: how it begins, and how it is put together again for comparison.
//
//   parameter --layout--> piece of a tensor-parallel rank --bucket--> its place there --extent--> whole, or a shard
#include "Pieces.h"
#include "StageProgram.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

template <class E>
LogicalResult StageProgram<E>::forEachHolding(llvm::function_ref<LogicalResult(const Holding &)> visit) {
  auto places = op->getAttrOfType<ArrayAttr>(exec::kBuckets);
  if (!places)
    return op.emitOpError("does not say where its buckets are: it needs the attribute exec.buckets");
  for (auto entry : places.template getAsRange<DictionaryAttr>()) {
    auto symbol = entry.template getAs<FlatSymbolRefAttr>("bucket");
    auto params = entry.template getAs<exec::PlaceAttr>("params");
    auto bucket = symbol ? symbols.lookup<sched::BucketOp>(symbol.getValue()) : sched::BucketOp();
    if (!bucket || !params)
      return op.emitOpError() << "has an entry of exec.buckets without a bucket or its place: " << entry;
    auto states = entry.template getAs<ArrayAttr>("states");
    auto master = entry.template getAs<exec::PlaceAttr>("master");
    if (bool(master) != bucket.getMasterType().has_value())
      return op.emitOpError() << "has " << (master ? "a" : "no") << " master in the entry of exec.buckets of '"
                              << bucket.getSymName() << "', which has " << (master ? "none" : "one");
    for (auto [member, name] : llvm::enumerate(bucket.getMembers().template getAsRange<StringAttr>())) {
      const Model::Parameter *parameter = model.findParameter(name.getValue());
      if (!parameter)
        return bucket.emitOpError() << "has member '" << name.getValue() << "', which is not a parameter";
      Type read = bucket.getTypeOfParameters(), updated = bucket.getTypeOfUpdated(), ofState = bucket.getTypeOfStates();
      if (failed(visit({bucket, parameter->name, int64_t(member), params, bucket.getParams(), read})))
        return failure();
      if (master && failed(visit({bucket, parameter->name + kMaster.str(), int64_t(member), master, bucket.getStates(),
                                  updated})))
        return failure();
      for (auto [state, place] : llvm::zip(parameter->states, states ? states.getValue() : ArrayRef<Attribute>()))
        if (failed(visit({bucket, state, int64_t(member), cast<exec::PlaceAttr>(place), bucket.getStates(), ofState})))
          return failure();
    }
  }
  return success();
}

/// Elements of a bucket that a rank keeps.
template <class E> int64_t StageProgram<E>::sliceSize(const Holding &holding) const {
  sched::BucketOp bucket = holding.bucket;
  return bucket.getElements() /
         (holding.extent == sched::Extent::shard ? exec::ProgramOp(op).getMesh().getShards() : 1);
}

template <class E> LogicalResult StageProgram<E>::initialize() {
  Type i64 = IntegerType::get(op.getContext(), 64);
  dist::MeshAttr mesh = op.getMesh();
  if (auto applied = op->getAttrOfType<exec::PlaceAttr>(exec::kApplied))
    for (int64_t rank = 0; rank < stageRanks; ++rank) {
      Span span = memory.spanAt(applied, rank, 1, Float32Type::get(op.getContext()));
      if (failed(memory.write({op, "start", rank}, span, Tensor<E>({1}, fromDouble<E>(1)), false)))
        return failure();
    }
  if (auto indices = op->getAttrOfType<ArrayAttr>(exec::kIndices))
    for (auto entry : indices.template getAsRange<DictionaryAttr>())
      for (int64_t rank = 0; rank < stageRanks; ++rank) {
        Span span = memory.spanAt(entry.template getAs<exec::PlaceAttr>("place"), rank, 1, i64);
        int64_t index = entry.template getAs<dist::GroupAttr>("group").indexOf(mesh, firstRank + rank);
        if (failed(memory.write({op, "start", rank}, span, Integers({1}, index), false)))
          return failure();
      }
  return forEachHolding([&](const Holding &holding) -> LogicalResult {
    // The whole bucket with this member in it; every rank keeps its piece. Padding is zero.
    sched::BucketOp bucket = holding.bucket;
    int64_t size = sliceSize(holding);
    dist::LayoutAttr layout = sched::getLayout(bucket, holding.member);
    const Model::Parameter *parameter = model.findParameter(nameOfEqual(holding.name));
    Tensor<E> whole = parameter ? source.parameter(*parameter) : Tensor<E>();
    for (int64_t rank = 0; rank < stageRanks; ++rank) {
      Tensor<E> value(ArrayRef<int64_t>{bucket.getSizes()[holding.member]});
      if (parameter)
        value = pieceOf(whole, layout, layout ? layout.getGroup().indexOf(mesh, firstRank + rank) : 0);
      Access access{op, "start", rank};
      Span piece = memory.spanAt(holding.place, rank, size, holding.element);
      if (holding.member == 0 && failed(memory.write(access, piece, Tensor<E>({size}), false)))
        return failure();
      // Elements [first, last) of the piece lie in what the rank keeps.
      int64_t begin = holding.extent == sched::Extent::shard ? mesh.shardOf(rank) * size : 0;
      int64_t at = bucket.getOffsets()[holding.member] - begin, count = value.elements.size();
      int64_t first = std::max<int64_t>(0, -at), last = std::min(count, size - at);
      if (!parameter || first >= last)
        continue;
      Tensor<E> own({last - first});
      std::copy_n(value.elements.begin() + first, last - first, own.elements.begin());
      roundTo<E>(holding.element, own.elements);
      Span cells{piece.buffer, piece.address + holding.getBytes(at + first), holding.element, {last - first}, {1}};
      if (failed(memory.write(access, cells, std::move(own), false)))
        return failure();
    }
    return success();
  });
}

/// A rank's piece of a parameter or state, from itself or from those it shares shards with.
template <class E> LogicalResult StageProgram<E>::collectPiece(const Holding &holding, int64_t rank, Tensor<E> &piece) {
  dist::MeshAttr mesh = op.getMesh();
  sched::BucketOp bucket = holding.bucket;
  int64_t slices = holding.extent == sched::Extent::shard ? mesh.getShards() : 1, size = sliceSize(holding);
  int64_t offset = bucket.getOffsets()[holding.member], count = bucket.getSizes()[holding.member];
  piece = Tensor<E>(ArrayRef<int64_t>{count});
  for (int64_t i = 0; i < slices; ++i) {
    int64_t begin = std::max(offset, i * size), end = std::min(offset + count, (i + 1) * size);
    if (begin >= end)
      continue;
    int64_t firstHolder = mesh.dpOf(rank) / slices * slices;
    int64_t holder = mesh.rankOf(0, firstHolder + (slices == 1 ? 0 : i), mesh.tpOf(rank));
    Span span = memory.spanAt(holding.place, holder, end - begin, holding.element);
    span.address += holding.getBytes(begin - i * size);
    Datum<E> slice;
    if (failed(memory.read({op, "end", holder}, span, slice)))
      return failure();
    llvm::copy(std::get<Tensor<E>>(slice).elements, piece.elements.begin() + (begin - offset));
  }
  return success();
}

template <class E> LogicalResult StageProgram<E>::collect(int64_t rank, Runner<E>::Visit visit) {
  Type f32 = Float32Type::get(op.getContext());
  dist::MeshAttr mesh = op.getMesh();
  for (auto [attribute, name] : {std::pair{exec::kLoss, kLoss}, std::pair{exec::kNorm, kNorm}})
    if (auto place = op->getAttrOfType<exec::PlaceAttr>(attribute)) {
      Span span = memory.spanAt(place, rank, 1, f32);
      span.sizes = span.strides = {};
      Datum<E> value;
      if (failed(memory.read({op, "end", rank}, span, value)))
        return failure();
      visit(firstRank + rank, name, value);
    }
  return forEachHolding([&](const Holding &holding) -> LogicalResult {
    dist::LayoutAttr layout = sched::getLayout(holding.bucket, holding.member);
    SmallVector<int64_t> owners{firstRank + rank};
    if (layout)
      owners = layout.getGroup().members(mesh, firstRank + rank);
    int64_t elements = sched::BucketOp(holding.bucket).getSizes()[holding.member];
    Tensor<E> whole(ArrayRef<int64_t>{layout ? countOf(layout.getShape()) : elements});
    for (auto [index, owner] : llvm::enumerate(owners)) {
      Tensor<E> piece;
      if (failed(collectPiece(holding, owner - firstRank, piece)))
        return failure();
      placePiece(whole, piece, layout, index);
    }
    visit(firstRank + rank, holding.name, std::move(whole));
    return success();
  });
}

#define XLC_INSTANTIATE(E)                                                                                             \
  template LogicalResult StageProgram<E>::initialize();                                                                \
  template LogicalResult StageProgram<E>::collect(int64_t, typename Runner<E>::Visit);
XLC_INSTANTIATE(double)
XLC_INSTANTIATE(float)
XLC_INSTANTIATE(Field)
