// Actions and calls of a stage, for all its ranks. An error of memory (read after release, overwritten, out of a
// buffer) is reported at the action; an error of values is detected by comparison.
#include "StageProgram.h"
#include "Aliasing.h"
#include "xlc/Dialect/Graph/LossScale.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;
using runtime::StepNumber;

StringRef interpret::labelOf(Operation *action) { return cast<exec::Action>(action).getLabel(); }

template <class E>
StageProgram<E>::StageProgram(exec::ProgramOp op, const Model &model, const Source<E> &source, const Options &options,
                              KernelResults<E> *known)
    : op(op), stageRanks(op.getMesh().getStageRanks()), memory(op), firstRank(op.getStage() * stageRanks), model(model),
      source(source), options(options), known(known), symbols(op->getParentOfType<ModuleOp>()) {}

template <class E> LogicalResult StageProgram<E>::run(Operation &action, int64_t step) {
  now = step;
  return llvm::TypeSwitch<Operation *, LogicalResult>(&action)
      .Case<exec::BeginOp, exec::LoadOp, exec::StoreOp, exec::RunOp, exec::ExchangeOp, exec::ReleaseOp>(
          [&](auto known) { return act(known); })
      .Default([](Operation *other) { return other->emitError() << "the interpreter does not support this action"; });
}

template <class E> LogicalResult StageProgram<E>::act(exec::BeginOp begin) {
  for (auto [group, place] : llvm::enumerate(begin.getPlaces())) {
    if (group >= model.groups.size())
      return begin.emitOpError() << "has places for " << begin.getPlaces().size()
                                 << " optimizer groups, but the model has " << model.groups.size();
    Tensor<E> numbers = groupNumbers<E>(model.groups[group], model.schedule, now);
    bool hasFailed = false;
    runtime::forEachHostNumberOfGroup([&](const runtime::StepNumberRow &row) {
      Tensor<E> number({1}, numbers.elements[runtime::indexInGroup(row.number)]);
      hasFailed |= failed(writeNumber(begin, cast<exec::PlaceAttr>(place), runtime::offsetInGroup(row.number),
                                      Float32Type::get(op.getContext()), number));
    });
    if (hasFailed)
      return failure();
  }
  auto scale = LossScale::of(op->getParentOfType<ModuleOp>());
  runtime::StepClock clock{.step = uint64_t(now), .seed = source.seed, .lossScale = scale ? scale->initial : 1};
  bool hasScale = false, hasFailed = false;
  begin.forEachNumber([&](StepNumber number, exec::PlaceAttr place) {
    hasScale |= number == StepNumber::LossScale;
    runtime::StepValue value = runtime::valueOf(number, {}, clock);
    const auto *integer = std::get_if<int64_t>(&value);
    Datum<E> given =
        integer ? Datum<E>(Integers({1}, *integer)) : Tensor<E>({1}, fromDouble<E>(std::get<double>(value)));
    Type type = integer ? Type(IntegerType::get(op.getContext(), 64)) : Float32Type::get(op.getContext());
    hasFailed |= failed(writeNumber(begin, place, 0, type, given));
  });
  if (bool(scale) != hasScale)
    return begin.emitOpError() << (scale ? "has no place for the loss scale"
                                         : "has a place for a loss scale, but the model has none");
  return failure(hasFailed);
}

/// On all ranks of the stage.
template <class E>
LogicalResult StageProgram<E>::writeNumber(exec::BeginOp begin, exec::PlaceAttr place, int64_t offset, Type type,
                                           const Datum<E> &value) {
  for (int64_t rank = 0; rank < stageRanks; ++rank) {
    Span span = memory.spanAt(place, rank, 1, type);
    span.address += offset;
    if (failed(memory.write({begin, labelOf(begin), rank}, span, value, false)))
      return failure();
  }
  return success();
}

template <class E> LogicalResult StageProgram<E>::act(exec::LoadOp load) {
  dist::MeshAttr mesh = op.getMesh();
  Cut cut{mesh.getDp(), int64_t(op.getMicroBatches())};
  for (auto [name, place] : llvm::zip(load.getInputs(), load.getPlaces())) {
    const Model::Input *input = model.findInput(cast<StringAttr>(name).getValue());
    if (!input)
      return load.emitOpError() << "loads " << name << ", which is not an input of the model";
    for (int64_t rank = 0; rank < stageRanks; ++rank) {
      Span span =
          memory.spanAt(cast<exec::PlaceAttr>(place), rank, input->type.getNumElements(), input->type.getElementType());
      int64_t first = cut.firstRow(*input, mesh.dpOf(rank), load.getMicroBatch());
      bool trains = op.getPurpose() == graph::Purpose::train;
      Datum<E> rows =
          trains ? source.rows(*input, now, first) : source.rowsOfEvaluation(*input, now, first, cut.allRows(*input));
      if (failed(memory.write({load, labelOf(load), rank}, span, rows, false)))
        return failure();
    }
  }
  return success();
}

template <class E> LogicalResult StageProgram<E>::act(exec::StoreOp store) {
  bool hasFailed = false;
  store.forEachOutput([&](StringAttr name, exec::PlaceAttr place, RankedTensorType type) {
    for (int64_t rank = 0; rank < stageRanks && !hasFailed; ++rank) {
      Span span = memory.spanAt(place, rank, type.getNumElements(), type.getElementType());
      std::string part = nameOfPart(name, store.getMicroBatch(), op.getMesh().dpOf(firstRank + rank));
      hasFailed = failed(memory.read({store, labelOf(store), rank}, span, outputs[rank][part]));
    }
  });
  return failure(hasFailed);
}

template <class E> LogicalResult StageProgram<E>::act(exec::RunOp run) {
  auto function = symbols.lookup<func::FuncOp>(run.getFunction());
  if (!function || function.isExternal() || function.getNumArguments() != run.getPlaces().size())
    return run.emitOpError() << "has " << run.getPlaces().size() << " places, but its function takes "
                             << (function ? function.getNumArguments() : 0) << " arguments";
  std::vector<DenseMap<Value, Span>> spans(stageRanks);
  for (int64_t rank = 0; rank < stageRanks; ++rank)
    for (auto [slot, place] : llvm::zip(function.getArguments(), run.getPlaces())) {
      auto type = cast<MemRefType>(slot.getType());
      Span span = memory.spanAt(cast<exec::PlaceAttr>(place), rank, 0, type.getElementType());
      span.sizes = Shape(type.getShape());
      span.strides = stridesOf(type.getShape());
      spans[rank][slot] = span;
    }
  for (Operation &inner : function.front().without_terminator()) {
    if (auto exchanged = dyn_cast<exec::CollectiveOp>(inner)) {
      if (failed(collective(run, exchanged, spans)))
        return failure();
      continue;
    }
    for (int64_t rank = 0; rank < stageRanks; ++rank) {
      Access access{run, run.getLabel(), rank};
      LogicalResult outcome = llvm::TypeSwitch<Operation *, LogicalResult>(&inner)
                                  .Case([&](exec::ViewOp op) { return view(op, spans[rank]); })
                                  .Case([&](exec::CallOp op) { return call(access, op, run.getFirst(), spans[rank]); })
                                  .Default([](Operation *other) {
                                    return other->emitError()
                                           << "the interpreter does not support this op in a function";
                                  });
      if (failed(outcome))
        return failure();
    }
  }
  return success();
}

template <class E> LogicalResult StageProgram<E>::view(exec::ViewOp viewOp, DenseMap<Value, Span> &spans) {
  auto type = cast<MemRefType>(viewOp.getView().getType());
  Span span = spans.find(viewOp.getSlot())->second;
  span.element = type.getElementType();
  span.address += int64_t(viewOp.getOffset()) * span.elementBytes();
  span.sizes = Shape(type.getShape());
  int64_t ignored; // the view's own offset says where it begins
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, ignored)))
    return failure(); // which the verifier refuses
  span.strides.assign(strides.begin(), strides.end());
  spans[viewOp.getView()] = span;
  return success();
}

template <class E>
LogicalResult StageProgram<E>::call(const Access &access, exec::CallOp call, bool isFirst,
                                    const DenseMap<Value, Span> &spans) {
  auto kernel = symbols.lookup<func::FuncOp>(call.getKernel());
  if (!kernel || kernel.getNumArguments() != call.getIns().size() || kernel.getNumResults() != call.getOuts().size())
    return call.emitOpError() << "has " << call.getIns().size() << " ins and " << call.getOuts().size()
                              << " outs, which do not match the signature of kernel '" << call.getKernel() << "'";
  SmallVector<Datum<E>> arguments, results;
  SmallVector<Span> ins, outs;
  for (auto [in, type] : llvm::zip(call.getIns(), kernel.getArgumentTypes())) {
    const Span &span = ins.emplace_back(spans.find(in)->second);
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    if (countOf(span.sizes) != countOf(shape))
      return call.emitOpError() << "reads shape [" << ArrayRef<int64_t>(span.sizes) << "] for an argument of type "
                                << type;
    if (failed(memory.read(access, span, arguments.emplace_back())))
      return failure();
    std::visit([&](auto &tensor) { tensor.shape = Shape(shape); }, arguments.back());
  }
  auto lent = llvm::map_to_vector(arguments, [](const Datum<E> &argument) { return &argument; });
  if (failed(known ? known->evaluate(kernel, lent, options, results) : evaluateLent<E>(kernel, lent, options, results)))
    return failure();
  for (auto [out, type] : llvm::zip(call.getOuts(), kernel.getResultTypes()))
    if (const Span &span = outs.emplace_back(spans.find(out)->second);
        countOf(span.sizes) != cast<RankedTensorType>(type).getNumElements())
      return call.emitOpError() << "writes shape [" << ArrayRef<int64_t>(span.sizes) << "] for a result of type "
                                << type;
  if (failed(verifyInPlace<E>(memory, access, {kernel, ins, outs, arguments, results}, options)))
    return failure();
  if (Value workspace = call.getWorkspace()) { // scratch: what was there is gone
    const Span &span = spans.find(workspace)->second;
    if (failed(memory.check(access, span)))
      return failure();
    memory.forget(access.rank, span.address, countOf(span.sizes) * span.elementBytes());
  }
  for (auto [i, span] : llvm::enumerate(outs)) {
    auto mode = exec::Accumulate(call.getAccumulate()[i]);
    bool adds = mode == exec::Accumulate::always || (mode == exec::Accumulate::later && !isFirst);
    if (failed(memory.write(access, span, results[i], adds)))
      return failure();
  }
  return success();
}

template <class E>
LogicalResult StageProgram<E>::exchangeInGroups(const Exchange &what,
                                                llvm::function_ref<Participant<E>(int64_t rank)> participate) {
  dist::MeshAttr mesh = op.getMesh();
  for (int64_t rank = 0; rank < stageRanks; ++rank) {
    if (what.group.indexOf(mesh, firstRank + rank) != 0)
      continue;
    std::vector<Participant<E>> participants;
    for (int64_t member : what.group.members(mesh, firstRank + rank))
      participants.push_back(participate(member - firstRank));
    if (failed(exchange<E>(what, participants)))
      return failure();
  }
  return success();
}

template <class E>
LogicalResult StageProgram<E>::collective(exec::RunOp run, exec::CollectiveOp collective,
                                          ArrayRef<DenseMap<Value, Span>> spans) {
  Exchange what = collective.getExchange();
  auto spanOf = [&](Value value, int64_t rank, int64_t elements) {
    Span span = spans[rank].find(value)->second;
    span.sizes = {elements}, span.strides = {1};
    return span;
  };
  return exchangeInGroups(what, [&](int64_t rank) {
    return Participant<E>{&memory,
                          {run, run.getLabel(), rank},
                          spanOf(collective.getSrc(), rank, what.sourceElements()),
                          spanOf(collective.getDst(), rank, what.resultElements())};
  });
}

template <class E> Participant<E> StageProgram<E>::participant(exec::ExchangeOp exchange, int64_t rank) {
  Exchange what = exchange.getExchange();
  return {&memory,
          {exchange, labelOf(exchange), rank},
          memory.spanAt(exchange.getSrc(), rank, what.sourceElements(), what.element),
          memory.spanAt(exchange.getDst(), rank, what.resultElements(), what.element)};
}

template <class E> LogicalResult StageProgram<E>::act(exec::ExchangeOp exchange) {
  return exchangeInGroups(exchange.getExchange(), [&](int64_t rank) { return participant(exchange, rank); });
}

template <class E> LogicalResult StageProgram<E>::act(exec::ReleaseOp release) {
  for (int64_t rank = 0; rank < stageRanks; ++rank) {
    Span span = memory.spanAt(release.getPlace(), rank, release.getBytes(), IntegerType::get(op.getContext(), 8));
    if (failed(memory.check({release, labelOf(release), rank}, span)))
      return failure();
    memory.forget(rank, span.address, release.getBytes());
  }
  return success();
}

// Members of this file; the others are Holdings.cpp's.
#define XLC_INSTANTIATE(E)                                                                                             \
  template StageProgram<E>::StageProgram(exec::ProgramOp, const Model &, const Source<E> &, const Options &,           \
                                         KernelResults<E> *);                                                          \
  template LogicalResult StageProgram<E>::run(Operation &, int64_t);                                                   \
  template Participant<E> StageProgram<E>::participant(exec::ExchangeOp, int64_t);
XLC_INSTANTIATE(double)
XLC_INSTANTIATE(float)
XLC_INSTANTIATE(Field)
