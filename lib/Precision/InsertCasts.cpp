// Inserts the casts that Rounding.h selects. A narrow value is widened by a separate cast for each unit and direction
// that reads it: such a cast is not a kernel, and every kernel that reads the value recomputes it.
#include "Rounding.h"
#include "xlc/Dialect/Graph/Entry.h"

namespace xlc {
#define GEN_PASS_DEF_INSERTCASTSPASS
#include "xlc/Precision/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;
using Class = PrecisionClass;

namespace {

class Caster {
public:
  Caster(func::FuncOp function, Type narrow, bool wideStream)
      : function(function), gradientTypes(findGradientTypes(function)), rounding(function, {gradientTypes, wideStream}),
        narrow(narrow), builder(function.getContext()) {}

  void run() {
    for (BlockArgument argument : function.getArguments())
      if (isReadNarrow(argument))
        argument.setType(typeOf(argument).clone(narrow));
    for (Operation &op : llvm::make_early_inc_range(function.front().without_terminator()))
      rewrite(&op);
    Operation *terminator = function.front().getTerminator();
    for (OpOperand &returned : terminator->getOpOperands())
      give(returned);
    function.setType(builder.getFunctionType(function.front().getArgumentTypes(), terminator->getOperandTypes()));
  }

private:
  /// In which type @update reads the gradient of each parameter.
  static DenseMap<Attribute, Type> findGradientTypes(func::FuncOp function) {
    DenseMap<Attribute, Type> types;
    if (auto update = findUpdate(function->getParentOfType<ModuleOp>()))
      for (BlockArgument argument : update.getArguments())
        if (Attribute name = Argument(argument).getGradient())
          types[name] = typeOf(argument).getElementType();
    return types;
  }

  static bool isNarrow(Value value) { return graph::isNarrow(typeOf(value).getElementType()); }
  static bool isWide(Value value) { return typeOf(value).getElementType().isF32(); }
  static bool isFloat(Value value) { return isNarrow(value) || isWide(value); }

  static bool isReadNarrow(BlockArgument argument) {
    Argument what(argument);
    return what.getParameter() && !what.isBuffer() && !what.isKept() && isWide(argument);
  }

  /// What @micro_batch returns is f32, but for gradients that @update reads otherwise.
  void give(OpOperand &returned) {
    Operation *producer = returned.get().getDefiningOp(), *terminator = returned.getOwner();
    Attribute gradient = Result(function, returned.getOperandNumber()).getGradient();
    Type wanted = gradient ? gradientTypes.lookup(gradient) : Type();
    if (wanted && graph::isNarrow(wanted)) {
      Value twin = twins.lookup(returned.get());
      bool roundsItself = isa_and_nonnull<ScatterAddOp>(producer) && returned.get().hasOneUse();
      if (isWide(returned.get()) && roundsItself)
        returned.get().setType(typeOf(returned.get()).clone(wanted));
      else if (isWide(returned.get()))
        returned.set(twin ? twin : cast(returned.get(), wanted, producer, terminator));
    } else if (isNarrow(returned.get())) {
      returned.set(widen(returned.get(), producer, terminator));
    }
  }

  void rewrite(Operation *op) {
    Class is = getPrecisionClass(op);
    bool staysNarrow = is == Class::Movement && movesNarrow(op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isFloat(operand.get()))
        continue;
      if (staysNarrow || (is == Class::Product && isMultiplied(operand)))
        operand.set(getNarrow(operand.get(), op));
      else if (is == Class::Convolution)
        operand.set(widen(getNarrow(operand.get(), op), op, op));
      else
        operand.set(getWide(operand.get(), op));
    }
    for (OpResult result : op->getResults())
      if (isWide(result) && (staysNarrow || rounding.isRounded(result))) {
        if (staysNarrow || (is == Class::Product && !isWholeGradient(result)))
          result.setType(typeOf(result).clone(narrow));
        else
          round(result);
      }
  }

  /// Whether a product multiplies it. Attention also takes a bias and, in backward, what forward kept of its sums.
  static bool isMultiplied(OpOperand &operand) {
    unsigned number = operand.getOperandNumber();
    if (isa<AttentionOp>(operand.getOwner()))
      return number < 3;
    return !isa<AttentionBackwardOp>(operand.getOwner()) || number < 4 || number == 5;
  }

  /// A sum that is a gradient of one parameter and read for that of another (LoRA) is rounded for the second alone.
  bool isWholeGradient(Value value) { return value.getDefiningOp<ContractOp>() && rounding.isGradient(value); }

  /// A movement moves narrow elements where its result is to be narrow, or all that it moves is. One that is a
  /// gradient, and is read for another too, moves them as they are, and is rounded behind.
  bool movesNarrow(Operation *op) {
    Value result = op->getResult(0);
    if (!isWide(result) || rounding.isRounded(result))
      return isWide(result) && !rounding.isGradient(result);
    bool hasFloats = false;
    for (Value operand : op->getOperands()) {
      if (!isFloat(operand))
        continue;
      if (isWide(operand) && !twins.contains(operand))
        return false;
      hasFloats = true;
    }
    return hasFloats && !rounding.isGradient(result);
  }

  Value getNarrow(Value value, Operation *reader) {
    if (isNarrow(value))
      return value;
    if (Value twin = twins.lookup(value))
      return twin;
    return cast(value, narrow, reader, reader); // an argument, or what no op of this function rounds
  }

  Value getWide(Value value, Operation *reader) {
    if (isNarrow(value))
      return widen(value, reader, reader);
    Value twin = twins.lookup(value);
    return twin ? widen(twin, reader, reader) : value;
  }

  /// From now on all read the rounded value.
  void round(OpResult value) {
    builder.setInsertionPointAfter(value.getOwner());
    twins[value] = create(value, narrow, value.getOwner());
  }

  Value widen(Value value, Operation *like, Operation *before) {
    return cast(value, builder.getF32Type(), like, before);
  }

  /// One cast for all readers of a unit and a direction.
  Value cast(Value value, Type type, Operation *like, Operation *before) {
    Value &known = casts[{value, {like->getAttr(kUnit), like->getAttr(kRole)}}];
    if (!known) {
      builder.setInsertionPoint(before);
      known = create(value, type, like);
    }
    return known;
  }

  Value create(Value value, Type type, Operation *like) {
    auto made = CastOp::create(builder, value.getLoc(), typeOf(value).clone(type), value);
    for (StringRef name : {StringRef(kUnit), StringRef(kRole)})
      if (Attribute attribute = like->getAttr(name))
        made->setAttr(name, attribute);
    return made;
  }

  func::FuncOp function;
  DenseMap<Attribute, Type> gradientTypes; ///< as @update reads them, by parameter
  Rounding rounding;
  Type narrow;
  OpBuilder builder;
  DenseMap<Value, Value> twins; ///< f32 values and what they are rounded to
  DenseMap<std::pair<Value, std::pair<Attribute, Attribute>>, Value> casts;
};

struct InsertCastsPass : xlc::impl::InsertCastsPassBase<InsertCastsPass> {
  using InsertCastsPassBase::InsertCastsPassBase;

  void runOnOperation() override {
    for (Entry entry : Entry::all(getOperation())) {
      Type narrow = findNarrowType(entry.getFunction(), compute);
      if (!narrow)
        return signalPassFailure();
      Caster(entry.getFunction(), narrow, wideStream).run();
    }
  }
};

} // namespace
