// The part of a step that does not belong to a unit: clearing the padding of gradients, norms, scalars, updates. Each
// is a function of one kernel, created once per length.
#include "ProgramBuilder.h"
#include "UpdateKernel.h"
#include "mlir/IR/IRMapping.h"
#include "xlc/Differentiate/Differentiate.h"
#include "xlc/Kernels/LibraryCalls.h"
#include "xlc/Kernels/SplitReductions.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;
using runtime::StepNumber;

func::FuncOp ProgramBuilder::makeKernel(const std::string &name, exec::KernelKind kind, ArrayRef<Type> inputs,
                                        ArrayRef<Type> results, llvm::function_ref<void(OpBuilder &, Block &)> write) {
  OpBuilder builder(program);
  Location loc = NameLoc::get(builder.getStringAttr(name));
  auto kernel = func::FuncOp::create(builder, loc, "kernel_" + name, builder.getFunctionType(inputs, results));
  kernel.setPrivate();
  exec::setKernelKind(kernel, kind);
  Block *block = kernel.addEntryBlock();
  OpBuilder body = OpBuilder::atBlockEnd(block);
  write(body, *block);
  return kernel;
}

/// A function with one call of `kernel` on slots of exactly its types.
static func::FuncOp wrapKernel(func::FuncOp kernel, StringRef name, ArrayRef<int32_t> accumulate) {
  OpBuilder builder(kernel->getContext());
  builder.setInsertionPointAfter(kernel);
  SmallVector<Type> types;
  for (Type type : llvm::concat<const Type>(kernel.getArgumentTypes(), kernel.getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    types.push_back(MemRefType::get(tensor.getShape(), tensor.getElementType()));
  }
  auto function = func::FuncOp::create(builder, kernel.getLoc(), name, builder.getFunctionType(types, {}));
  function.setPrivate();
  OpBuilder body = OpBuilder::atBlockEnd(function.addEntryBlock());
  ValueRange slots = function.getArguments();
  unsigned ins = kernel.getNumArguments();
  exec::CallOp::create(body, kernel.getLoc(), FlatSymbolRefAttr::get(kernel.getSymNameAttr()), slots.take_front(ins),
                       slots.slice(ins, kernel.getNumResults()), Value(), body.getDenseI32ArrayAttr(accumulate));
  func::ReturnOp::create(body, kernel.getLoc());
  return function;
}

func::FuncOp ProgramBuilder::cachedKernel(const std::string &name, exec::KernelKind kind, ArrayRef<Type> inputs,
                                          ArrayRef<Type> results, ArrayRef<int32_t> accumulate,
                                          llvm::function_ref<void(OpBuilder &, Block &)> write) {
  func::FuncOp &function = shared.functions[name];
  if (!function)
    function = wrapKernel(makeKernel(name, kind, inputs, results, write), name, accumulate);
  return function;
}

void ProgramBuilder::runFunction(func::FuncOp function, const Twine &text, ArrayRef<Attribute> places, bool first) {
  int64_t last = (int64_t)timeline.getMicroBatches() - 1;
  act<exec::RunOp>(FlatSymbolRefAttr::get(function.getSymNameAttr()), label(text), actions.getI64IntegerAttr(last),
                   actions.getArrayAttr(places), actions.getBoolAttr(first),
                   RoleAttr::get(module.getContext(), Role::U));
}

/// "_bf16": what sets the name of a kernel apart from that for f32.
static std::string suffixOf(Type element) {
  std::string text;
  if (!element.isF32())
    llvm::raw_string_ostream(text) << '_' << element;
  return text;
}

func::FuncOp ProgramBuilder::zeros(RankedTensorType type, StringRef name) {
  auto kind = type.getRank() == 0 ? exec::KernelKind::all : exec::KernelKind::loop;
  return cachedKernel(name.str(), kind, {}, {type}, {0}, [&](OpBuilder &b, Block &) {
    Attribute zero = b.getZeroAttr(type.getElementType());
    Value made = ConstantOp::create(b, timeline.getLoc(), type, DenseElementsAttr::get(type, zero));
    func::ReturnOp::create(b, timeline.getLoc(), made);
  });
}

/// Gives a bucket's gradients memory, and zeros to what pads them: sums and norms run over the padding too.
void ProgramBuilder::openGradients(BucketMemory &bucket) {
  if (bucket.grads >= 0)
    return;
  bucket.grads = addBuffer((bucket.op.getSymName() + "/gradient").str(), exec::Cause::gradients,
                           bucket.op.getGradientBytes(bucket.op.getElements()));
  int64_t end = 0;
  auto clear = [&](int64_t upTo) {
    if (upTo == end)
      return;
    auto type = RankedTensorType::get({upTo - end}, bucket.op.getTypeOfGradients());
    func::FuncOp zero = zeros(type, "zero_" + std::to_string(upTo - end) + suffixOf(type.getElementType()));
    runFunction(zero, "clear padding of " + bucket.op.getSymName(),
                {place(bucket.grads, bucket.op.getGradientBytes(end))}, true);
  };
  for (auto [offset, size] : llvm::zip(bucket.op.getOffsets(), bucket.op.getSizes())) {
    clear(offset);
    end = offset + size;
  }
  clear(bucket.op.getElements());
}

/// A stage without the loss contributes zero to it.
void ProgramBuilder::translate(sched::ZeroScalarsOp zero) {
  for (Attribute attribute : zero.getScalars()) {
    StringRef name = cast<StringAttr>(attribute).getValue();
    std::string named = ("zero_" + name.drop_front()).str();
    func::FuncOp function = zeros(scalarType(name), trains() ? named : named + "_of_evaluation");
    runFunction(function, "clear " + name.drop_front(), {scalar(name)}, true);
  }
}

void ProgramBuilder::translate(sched::NormOp norm) {
  BucketMemory &bucket = memoryOf(norm.getBucketAttr());
  Piece piece = gradientPiece(bucket, false);
  auto type = RankedTensorType::get({piece.count}, bucket.op.getTypeOfGradients());
  auto f64 = RankedTensorType::get({}, actions.getF64Type());
  int64_t copies = norm.getCopies();
  std::string name = "norm_" + std::to_string(piece.count) + suffixOf(type.getElementType());
  if (copies > 1)
    name += "_of_" + std::to_string(copies);
  auto later = (int32_t)exec::Accumulate::later;
  func::FuncOp &function = shared.functions[name], &partial = shared.functions[name + "_partial"];
  if (!function) {
    auto kernel = makeKernel(name, exec::KernelKind::all, {type}, {f64}, [&](OpBuilder &b, Block &block) {
      Value gradients = block.getArgument(0);
      if (isNarrow(type.getElementType()))
        gradients = CastOp::create(b, norm.getLoc(), type.clone(b.getF32Type()), gradients);
      Value squares = SumSquaresOp::create(b, norm.getLoc(), f64, gradients);
      if (copies > 1)
        squares = ScaleOp::create(b, norm.getLoc(), squares, 1, copies);
      func::ReturnOp::create(b, norm.getLoc(), squares);
    });
    if (auto split = splitReductions(kernel, shared.target.fewestSummed()))
      partial = wrapKernel(split->partial, name + "_partial", {0});
    function = wrapKernel(kernel, name, {later});
  }
  exec::PlaceAttr squared = piece.place;
  if (partial) {
    auto sums = cast<MemRefType>(partial.getArgumentTypes().back());
    int64_t buffer = addBuffer((bucket.op.getSymName() + "/partial sums").str(), exec::Cause::workspace,
                               getByteSize(sums.getElementType(), sums.getNumElements()));
    runFunction(partial, "norm " + bucket.op.getSymName() + " in parts", {piece.place, place(buffer)}, true);
    squared = place(buffer); // of the next action
  }
  runFunction(function, "norm " + bucket.op.getSymName(), {squared, scalar(sched::kSumSquares)}, !norm.getAccumulate());
}

/// Loss, norm and, once for each optimizer group, the factor on the gradients and whether the step is applied.
void ProgramBuilder::translate(sched::ScalarsOp op) {
  hasScalars = true;
  auto source = module.lookupSymbol<func::FuncOp>(op.getFunction());
  auto forEachGroup = [&](auto values) {
    SmallVector<typename decltype(values)::value_type> all(values.take_front(2));
    for (int64_t i = 0; i < groupCount; ++i)
      llvm::append_range(all, values.drop_front(2));
    return all;
  };
  SmallVector<Type> results = forEachGroup(source.getResultTypes());
  SmallVector<int32_t> accumulate(results.size(), 0);
  SmallVector<Type> inputs(source.getArgumentTypes());
  auto function = cachedKernel("step_scalars", exec::KernelKind::loop, inputs, results, accumulate,
                               [&](OpBuilder &b, Block &block) {
                                 IRMapping mapping;
                                 mapping.map(source.getArguments(), block.getArguments());
                                 for (Operation &inside : source.front().without_terminator())
                                   b.clone(inside, mapping);
                                 SmallVector<Value> returned;
                                 for (Value value : source.front().getTerminator()->getOperands())
                                   returned.push_back(mapping.lookup(value));
                                 func::ReturnOp::create(b, op.getLoc(), forEachGroup(ArrayRef<Value>(returned)));
                               });
  SmallVector<Attribute> places;
  for (StringRef name : {sched::kLossSum, sched::kLossCount, sched::kSumSquares})
    places.push_back(scalar(name));
  places.push_back(hasLossScale ? stepNumber(StepNumber::LossScale) : stepNumber(0, StepNumber::Applied));
  for (StringRef name : {"@loss", "@norm"})
    places.push_back(scalar(name));
  for (int64_t i = 0; i < groupCount; ++i) {
    places.push_back(stepNumber(i, StepNumber::GradientFactor));
    places.push_back(stepNumber(i, StepNumber::Applied));
  }
  runFunction(function, "scalars", places, true);
}

void ProgramBuilder::translate(sched::StoreOp store) {
  SmallVector<Attribute> places = llvm::map_to_vector(
      store.getValues(), [&](Value value) -> Attribute { return place(activations.find(value)->second); });
  act<exec::StoreOp>(store.getMicroBatch(), store.getOutputs(), actions.getArrayAttr(places),
                     actions.getTypeArrayAttr(store.getValues().getTypes()));
}

/// Where there is a master, it is what moves; what units read is rounded from it.
void ProgramBuilder::translate(sched::UpdateOp update) {
  BucketMemory &bucket = memoryOf(update.getBucketAttr());
  int64_t group = bucket.op.getGroup();
  bool isSliced = bucket.op.getStates() == sched::Extent::shard, hasMaster = bucket.master() >= 0;
  Piece grads = gradientPiece(bucket, !isSliced);
  int64_t stride =
      isSliced && bucket.op.getParams() == sched::Extent::whole ? bucket.op.getParameterBytes(bucket.slice) : 0;
  SmallVector<int64_t, 2> stateBuffers = bucket.states();
  UpdateKernel kernel(bucket.op, OptimizerGroup::of(module)[group], grads.count);
  SmallVector<Type> results = kernel.getResultTypes();
  auto function = cachedKernel(kernel.getName(), exec::KernelKind::loop, kernel.getOperandTypes(), results,
                               SmallVector<int32_t>(results.size(), 0),
                               [&](OpBuilder &b, Block &block) { kernel.write(b, update.getLoc(), block); });
  exec::PlaceAttr params = place(bucket.params(), 0, stride);
  SmallVector<Attribute> moved{hasMaster ? place(bucket.master()) : params}, places;
  for (int64_t state : stateBuffers)
    moved.push_back(place(state));
  places = {moved[0], grads.place, groupScalars(group)};
  places.append(moved.begin() + 1, moved.end());
  if (kernel.isStochastic())
    places.append({place(bucket.members()), stepNumber(StepNumber::RandomKey)});
  llvm::append_range(places, moved);
  if (hasMaster)
    places.push_back(params);
  runFunction(function, "update " + bucket.op.getSymName(), places, true);
}
