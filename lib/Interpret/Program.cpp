// Runs an `exec` program on all ranks in one process, each with an arena of its own.
//
// The ranks share the program and run in lockstep. A call is evaluated by its kernel's graph body:
// read the ins, evaluate, write or add to the outs. What is wrong with the memory (read after release, written over,
// out of a buffer) is an error at the action; what is wrong with the values is seen by comparison.
#include "Memory.h"
#include "Partitioned.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {
/// The words by which an action is known.
StringRef labelOf(Operation *action) {
  auto label = action->getAttrOfType<StringAttr>("label");
  return label ? label.getValue() : action->getName().stripDialect();
}

/// A rank's piece of a bucket between steps.
struct Holding {
  std::string name; ///< parameter or state
  int64_t member;   ///< of the bucket
  exec::PlaceAttr place;
  sched::Extent extent;
};

template <class E> class Program : public Runner<E> {
public:
  Program(exec::ProgramOp op, const Model &model, const Source<E> &source, const Options &options)
      : op(op), model(model), source(source), options(options), symbols(op->getParentOfType<ModuleOp>()), memory(op) {}

  LogicalResult step(int64_t t, std::vector<Values<E>> &values) override {
    if (t == 1 && failed(initialize()))
      return failure();
    now = t;
    int64_t time = 0;
    for (Operation &action : op.getBody().front()) {
      if (isa<exec::BufferOp>(action))
        continue;
      if (failed(run(action)))
        return failure();
      memory.expire(time++);
    }
    values.assign(op.getMesh().getDp(), {});
    for (auto [rank, held] : llvm::enumerate(values))
      if (failed(collect(rank, held)))
        return failure();
    return success();
  }

private:
  LogicalResult initialize();
  LogicalResult collect(int64_t rank, Values<E> &values);
  LogicalResult forEachHolding(llvm::function_ref<LogicalResult(sched::BucketOp, const Holding &)> visit);
  LogicalResult run(Operation &action);
  LogicalResult act(exec::BeginOp);
  LogicalResult act(exec::LoadOp);
  LogicalResult act(exec::RunOp);
  LogicalResult act(exec::AllGatherOp);
  LogicalResult act(exec::ReduceScatterOp);
  LogicalResult act(exec::AllReduceOp);
  LogicalResult act(exec::ReleaseOp);
  LogicalResult view(const Access &access, exec::ViewOp op, DenseMap<Value, Span> &spans);
  LogicalResult call(const Access &access, exec::CallOp op, bool isFirst, const DenseMap<Value, Span> &spans);
  LogicalResult sumOver(Operation *action, ArrayRef<int64_t> members, exec::PlaceAttr place, int64_t first,
                        int64_t count, Type type, Cargo<E> &total);

  int64_t shards() const { return exec::ProgramOp(op).getMesh().getShards(); }
  int64_t rankCount() const { return exec::ProgramOp(op).getMesh().getDp(); }
  /// The ranks of a collective that rank r takes part in, and r's index among them.
  SmallVector<int64_t> groupOf(dist::GroupAttr group, int64_t r) const {
    return group.members(exec::ProgramOp(op).getMesh(), r);
  }
  int64_t indexIn(dist::GroupAttr group, int64_t r) const { return group.indexOf(exec::ProgramOp(op).getMesh(), r); }

  exec::ProgramOp op;
  const Model &model;
  Source<E> source;
  Options options;
  SymbolTable symbols;
  Memory<E> memory;
  int64_t now = 0;
};

template <class E>
LogicalResult Program<E>::forEachHolding(llvm::function_ref<LogicalResult(sched::BucketOp, const Holding &)> visit) {
  auto places = op->getAttrOfType<ArrayAttr>("exec.buckets");
  if (!places)
    return op.emitOpError("does not say where its buckets are: it needs the attribute exec.buckets");
  for (auto entry : places.template getAsRange<DictionaryAttr>()) {
    auto symbol = entry.template getAs<FlatSymbolRefAttr>("bucket");
    auto params = entry.template getAs<exec::PlaceAttr>("params");
    auto bucket = symbol ? symbols.lookup<sched::BucketOp>(symbol.getValue()) : sched::BucketOp();
    if (!bucket || !params)
      return op.emitOpError() << "has an entry of exec.buckets without a bucket or its place: " << entry;
    auto states = entry.template getAs<ArrayAttr>("states");
    for (auto [member, name] : llvm::enumerate(bucket.getMembers().template getAsRange<StringAttr>())) {
      const Model::Parameter *parameter = model.findParameter(name.getValue());
      if (!parameter)
        return bucket.emitOpError() << "has member '" << name.getValue() << "', which is not a parameter";
      if (failed(visit(bucket, {parameter->name, int64_t(member), params, bucket.getParams()})))
        return failure();
      for (auto [state, place] : llvm::zip(parameter->states, states ? states.getValue() : ArrayRef<Attribute>()))
        if (failed(visit(bucket, {state, int64_t(member), cast<exec::PlaceAttr>(place), bucket.getStates()})))
          return failure();
    }
  }
  return success();
}

template <class E> LogicalResult Program<E>::initialize() {
  Type f32 = Float32Type::get(op.getContext());
  return forEachHolding([&](sched::BucketOp bucket, const Holding &holding) -> LogicalResult {
    // The whole bucket with this member in it; every rank keeps its piece. Padding is zero.
    int64_t size = bucket.getElements() / (holding.extent == sched::Extent::shard ? shards() : 1);
    const Model::Parameter *parameter = model.findParameter(holding.name);
    Tensor<E> value = parameter ? source.parameter(*parameter) : Tensor<E>({bucket.getSizes()[holding.member]});
    for (int64_t rank = 0; rank < rankCount(); ++rank) {
      Access access{op, "start", rank};
      Span piece = memory.spanAt(holding.place, rank, size, f32);
      if (holding.member == 0 && failed(memory.write(access, piece, Tensor<E>({size}), false)))
        return failure();
      int64_t begin = holding.extent == sched::Extent::shard ? rank % shards() * size : 0;
      for (auto [k, element] : llvm::enumerate(value.elements)) {
        int64_t place = bucket.getOffsets()[holding.member] + k - begin;
        Span cell{piece.buffer, piece.address + place * 4, f32, {}, {}};
        if (place >= 0 && place < size && failed(memory.write(access, cell, Tensor<E>({}, element), false)))
          return failure();
      }
    }
    return success();
  });
}

template <class E> LogicalResult Program<E>::collect(int64_t rank, Values<E> &values) {
  Type f32 = Float32Type::get(op.getContext());
  for (auto [attribute, name] : {std::pair{"exec.loss", kLoss}, std::pair{"exec.norm", kNorm}})
    if (auto place = op->getAttrOfType<exec::PlaceAttr>(attribute)) {
      Span span = memory.spanAt(place, rank, 1, f32);
      span.sizes = span.strides = {};
      if (failed(memory.read({op, "end", rank}, span, values[name.str()])))
        return failure();
    }
  return forEachHolding([&](sched::BucketOp bucket, const Holding &holding) -> LogicalResult {
    int64_t slices = holding.extent == sched::Extent::shard ? shards() : 1, size = bucket.getElements() / slices;
    int64_t offset = bucket.getOffsets()[holding.member], count = bucket.getSizes()[holding.member];
    Tensor<E> value({count});
    for (int64_t i = 0; i < slices; ++i) {
      int64_t begin = std::max(offset, i * size), end = std::min(offset + count, (i + 1) * size);
      if (begin >= end)
        continue;
      int64_t holder = slices == 1 ? rank : rank / shards() * shards() + i;
      Span span = memory.spanAt(holding.place, holder, end - begin, f32);
      span.address += (begin - i * size) * 4;
      Datum<E> piece;
      if (failed(memory.read({op, "end", holder}, span, piece)))
        return failure();
      llvm::copy(std::get<Tensor<E>>(piece).elements, value.elements.begin() + (begin - offset));
    }
    values[holding.name] = std::move(value);
    return success();
  });
}

template <class E> LogicalResult Program<E>::run(Operation &action) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&action)
      .Case<exec::BeginOp, exec::LoadOp, exec::RunOp, exec::AllGatherOp, exec::ReduceScatterOp, exec::AllReduceOp,
            exec::ReleaseOp>([&](auto known) { return act(known); })
      .Default([](Operation *other) { return other->emitError() << "the interpreter does not know this action"; });
}

template <class E> LogicalResult Program<E>::act(exec::BeginOp begin) {
  for (auto [group, place] : llvm::enumerate(begin.getPlaces())) {
    if (group >= model.groups.size())
      return begin.emitOpError() << "has places for " << begin.getPlaces().size() << " optimizer groups of "
                                 << model.groups.size();
    Tensor<E> scalars = groupScalars<E>(cast<DictionaryAttr>(model.groups[group]), now);
    for (int64_t rank = 0; rank < rankCount(); ++rank)
      for (int64_t i : {0, 2, 3}) { // element 1 is known when the norm is
        Span span = memory.spanAt(cast<exec::PlaceAttr>(place), rank, 1, Float32Type::get(op.getContext()));
        span.address += i * 4;
        if (failed(memory.write({begin, labelOf(begin), rank}, span, Tensor<E>({1}, scalars.elements[i]), false)))
          return failure();
      }
  }
  return success();
}

template <class E> LogicalResult Program<E>::act(exec::LoadOp load) {
  Cut cut{rankCount(), int64_t(op.getMicroBatches())};
  for (auto [name, place] : llvm::zip(load.getInputs(), load.getPlaces())) {
    const Model::Input *input = model.findInput(cast<StringAttr>(name).getValue());
    if (!input)
      return load.emitOpError() << "the model has no input " << name;
    for (int64_t rank = 0; rank < rankCount(); ++rank) {
      Span span =
          memory.spanAt(cast<exec::PlaceAttr>(place), rank, input->type.getNumElements(), input->type.getElementType());
      Datum<E> rows = source.rows(*input, now, cut.firstRow(*input, rank, load.getMicroBatch()));
      if (failed(memory.write({load, labelOf(load), rank}, span, rows, false)))
        return failure();
    }
  }
  return success();
}

template <class E> LogicalResult Program<E>::act(exec::RunOp run) {
  auto function = symbols.lookup<func::FuncOp>(run.getFunction());
  if (!function || function.isExternal() || function.getNumArguments() != run.getPlaces().size())
    return run.emitOpError() << "has " << run.getPlaces().size() << " places for a function that takes "
                             << (function ? function.getNumArguments() : 0);
  for (int64_t rank = 0; rank < rankCount(); ++rank) {
    Access access{run, run.getLabel(), rank};
    DenseMap<Value, Span> spans;
    for (auto [slot, place] : llvm::zip(function.getArguments(), run.getPlaces())) {
      auto type = cast<MemRefType>(slot.getType());
      Span span = memory.spanAt(cast<exec::PlaceAttr>(place), rank, 0, type.getElementType());
      span.sizes = Shape(type.getShape());
      span.strides = stridesOf(type.getShape());
      spans[slot] = span;
    }
    for (Operation &inner : function.front().without_terminator()) {
      LogicalResult outcome = llvm::TypeSwitch<Operation *, LogicalResult>(&inner)
                                  .Case([&](exec::ViewOp op) { return view(access, op, spans); })
                                  .Case([&](exec::CallOp op) { return call(access, op, run.getFirst(), spans); })
                                  .Default([](Operation *other) {
                                    return other->emitError() << "the interpreter does not know this op of a function";
                                  });
      if (failed(outcome))
        return failure();
    }
  }
  return success();
}

template <class E>
LogicalResult Program<E>::view(const Access &access, exec::ViewOp viewOp, DenseMap<Value, Span> &spans) {
  auto type = cast<MemRefType>(viewOp.getView().getType());
  Span span = spans.find(viewOp.getSlot())->second;
  span.element = type.getElementType();
  span.address += int64_t(viewOp.getOffset()) * span.elementBytes();
  span.sizes = Shape(type.getShape());
  int64_t ignored; // the view's own offset says where it begins
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, ignored)))
    return viewOp.emitOpError("needs a strided layout");
  span.strides.assign(strides.begin(), strides.end());
  spans[viewOp.getView()] = span;
  return success();
}

template <class E>
LogicalResult Program<E>::call(const Access &access, exec::CallOp call, bool isFirst,
                               const DenseMap<Value, Span> &spans) {
  auto kernel = symbols.lookup<func::FuncOp>(call.getKernel());
  if (!kernel || kernel.getNumArguments() != call.getIns().size() || kernel.getNumResults() != call.getOuts().size())
    return call.emitOpError() << "does not fit its kernel '" << call.getKernel() << "'";
  SmallVector<Datum<E>> arguments, results;
  for (auto [in, type] : llvm::zip(call.getIns(), kernel.getArgumentTypes())) {
    const Span &span = spans.find(in)->second;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    if (countOf(span.sizes) != countOf(shape))
      return call.emitOpError() << "reads [" << ArrayRef<int64_t>(span.sizes) << "] for an argument " << type;
    if (failed(memory.read(access, span, arguments.emplace_back())))
      return failure();
    std::visit([&](auto &tensor) { tensor.shape = Shape(shape); }, arguments.back());
  }
  if (failed(evaluate<E>(kernel, arguments, options, results)))
    return failure();
  if (Value workspace = call.getWorkspace()) { // scratch: what was there is gone
    const Span &span = spans.find(workspace)->second;
    if (failed(memory.check(access, span)))
      return failure();
    memory.forget(access.rank, span.address, countOf(span.sizes) * span.elementBytes());
  }
  for (auto [i, out] : llvm::enumerate(call.getOuts())) {
    const Span &span = spans.find(out)->second;
    auto mode = exec::Accumulate(call.getAccumulate()[i]);
    bool adds = mode == exec::Accumulate::always || (mode == exec::Accumulate::later && !isFirst);
    if (countOf(span.sizes) != cast<RankedTensorType>(kernel.getResultTypes()[i]).getNumElements())
      return call.emitOpError() << "writes [" << ArrayRef<int64_t>(span.sizes) << "] from a result "
                                << kernel.getResultTypes()[i];
    if (failed(memory.write(access, span, results[i], adds)))
      return failure();
  }
  return success();
}

template <class E> LogicalResult Program<E>::act(exec::AllGatherOp gather) {
  std::vector<Cargo<E>> pieces(rankCount());
  for (int64_t rank = 0; rank < rankCount(); ++rank)
    if (failed(memory.load({gather, labelOf(gather), rank},
                           memory.spanAt(gather.getSrc(), rank, gather.getCount(), gather.getType()), pieces[rank])))
      return failure();
  for (int64_t rank = 0; rank < rankCount(); ++rank)
    for (auto [i, peer] : llvm::enumerate(groupOf(gather.getGroup(), rank))) {
      Span span = memory.spanAt(gather.getDst(), rank, gather.getCount(), gather.getType());
      span.address += i * gather.getCount() * span.elementBytes();
      if (failed(memory.store({gather, labelOf(gather), rank}, span, pieces[peer], false)))
        return failure();
    }
  return success();
}

/// The sum over `members`, in rank order, of elements [first, first + count) from a place.
template <class E>
LogicalResult Program<E>::sumOver(Operation *action, ArrayRef<int64_t> members, exec::PlaceAttr place, int64_t first,
                                  int64_t count, Type type, Cargo<E> &total) {
  for (auto [i, member] : llvm::enumerate(members)) {
    Span span = memory.spanAt(place, member, count, type);
    span.address += first * span.elementBytes();
    Cargo<E> term;
    if (failed(memory.load({action, labelOf(action), member}, span, term)))
      return failure();
    if (i == 0)
      total = std::move(term);
    else
      addTo(total, term);
  }
  return success();
}

template <class E> LogicalResult Program<E>::act(exec::ReduceScatterOp scatter) {
  int64_t count = scatter.getCount();
  std::vector<Cargo<E>> sums(rankCount());
  for (int64_t rank = 0; rank < rankCount(); ++rank)
    if (failed(sumOver(scatter, groupOf(scatter.getGroup(), rank), scatter.getSrc(),
                       indexIn(scatter.getGroup(), rank) * count, count, scatter.getType(), sums[rank])))
      return failure();
  for (int64_t rank = 0; rank < rankCount(); ++rank) {
    Span dst = memory.spanAt(scatter.getDst(), rank, count, scatter.getType());
    Span src =
        memory.spanAt(scatter.getSrc(), rank, count * groupOf(scatter.getGroup(), rank).size(), scatter.getType());
    // In place, the other slices are other ranks' now.
    int64_t bytes = countOf(src.sizes) * src.elementBytes();
    if (dst.address >= src.address && dst.address < src.address + bytes)
      memory.forget(rank, src.address, bytes);
    if (failed(memory.store({scatter, labelOf(scatter), rank}, dst, sums[rank], scatter.getAccumulate())))
      return failure();
  }
  return success();
}

template <class E> LogicalResult Program<E>::act(exec::AllReduceOp reduce) {
  std::vector<Cargo<E>> sums(rankCount());
  for (int64_t rank = 0; rank < rankCount(); ++rank)
    if (failed(sumOver(reduce, groupOf(reduce.getGroup(), rank), reduce.getPlace(), 0, reduce.getCount(),
                       reduce.getType(), sums[rank])))
      return failure();
  for (int64_t rank = 0; rank < rankCount(); ++rank)
    if (failed(memory.store({reduce, labelOf(reduce), rank},
                            memory.spanAt(reduce.getPlace(), rank, reduce.getCount(), reduce.getType()), sums[rank],
                            false)))
      return failure();
  return success();
}

template <class E> LogicalResult Program<E>::act(exec::ReleaseOp release) {
  for (int64_t rank = 0; rank < rankCount(); ++rank) {
    Span span = memory.spanAt(release.getPlace(), rank, release.getBytes(), IntegerType::get(op.getContext(), 8));
    if (failed(memory.check({release, labelOf(release), rank}, span)))
      return failure();
    memory.forget(rank, span.address, release.getBytes());
  }
  return success();
}
} // namespace

namespace xlc::interpret {
template <class E>
std::unique_ptr<Runner<E>> makeProgram(exec::ProgramOp op, const Model &model, const Source<E> &source,
                                       const Options &options) {
  return std::make_unique<Program<E>>(op, model, source, options);
}
template std::unique_ptr<Runner<double>> makeProgram(exec::ProgramOp, const Model &, const Source<double> &,
                                                     const Options &);
template std::unique_ptr<Runner<float>> makeProgram(exec::ProgramOp, const Model &, const Source<float> &,
                                                    const Options &);
template std::unique_ptr<Runner<Field>> makeProgram(exec::ProgramOp, const Model &, const Source<Field> &,
                                                    const Options &);
} // namespace xlc::interpret
