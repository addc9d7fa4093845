// The gate of Precision. It checks the types of a micro-batch independently of the passes that assigned them.
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Dialect/Graph/LossScale.h"
#include "xlc/Precision/Precision.h"
#include "xlc/Support/Diagnostics.h"

namespace xlc {
#define GEN_PASS_DEF_VERIFYPRECISIONPASS
#include "xlc/Precision/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

Type elementOf(Value value) { return typeOf(value).getElementType(); }
bool isNarrow(Value value) { return graph::isNarrow(elementOf(value)); }

/// Whether an op makes the value beside its result proper: sums and statistics, of which backward needs every bit.
bool isStatistic(Value value) {
  auto result = dyn_cast<OpResult>(value);
  return result && (result.getResultNumber() > 0 || isa<CrossEntropyOp, SumSquaresOp>(result.getOwner())) &&
         !isa<AttentionBackwardOp, LayerNormWeightBackwardOp>(result.getOwner()); // whose results are all gradients
}

struct VerifyPrecisionPass : xlc::impl::VerifyPrecisionPassBase<VerifyPrecisionPass> {
  using VerifyPrecisionPassBase::VerifyPrecisionPassBase;

  void runOnOperation() override {
    for (Entry entry : Entry::all(getOperation())) {
      func::FuncOp function = entry.getFunction();
      narrow = findNarrowType(function, compute);
      if (!narrow)
        return signalPassFailure();
      for (Operation &op : function.front().without_terminator())
        verify(&op);
      verifyGradients(entry);
      verifyScale(entry);
    }
    if (func::FuncOp trained = Entry::find(getOperation(), Purpose::train).getFunction())
      verifyUpdate(trained);
    if (hasFailed)
      signalPassFailure();
  }

private:
  InFlightDiagnostic complain(Operation *op) {
    hasFailed = true;
    return blame(Fault::Compiler, op->emitError()) << "gate of Precision: ";
  }

  void verify(Operation *op) {
    for (Value result : op->getResults())
      if (isNarrow(result) && elementOf(result) != narrow)
        complain(op) << "produces " << elementOf(result) << ", but the narrow type is " << narrow;
    bool isProduct = getPrecisionClass(op) == PrecisionClass::Product;
    if (isProduct && elementOf(op->getOperand(0)) != narrow) // its other operands have the same type
      complain(op) << "multiplies " << elementOf(op->getOperand(0)) << "; operands of products must be " << narrow;
    if (isa<CastOp>(op) && isNarrow(op->getResult(0)) && isStatistic(op->getOperand(0)))
      complain(op) << "rounds a statistic, which backward needs unrounded";
  }

  /// Contributions add up as they are: one that was rounded before would be rounded once for each micro-batch and rank.
  void verifyGradients(Entry entry) {
    for (OpOperand *returned : entry.getGradients()) {
      if (gradients && isNarrow(returned->get())) // verifyUpdate knows which
        continue;
      Operation *op = returned->get().getDefiningOp();
      bool isWidened = isa_and_nonnull<CastOp>(op) && isNarrow(op->getOperand(0)) &&
                       !op->getOperand(0).getDefiningOp<AttentionBackwardOp>(); // whose results are narrow
      if (!elementOf(returned->get()).isF32() || isWidened)
        complain(op ? op : entry.getFunction())
            << "a contribution to the gradient of '" << entry.getGradientName(*returned).getValue()
            << "' is rounded before all contributions are added up";
    }
  }

  /// What @update has of each parameter that is trained, and that it has it once.
  void verifyUpdate(func::FuncOp function) {
    struct Known {
      SmallVector<Type> updated, gradient, states;
    };
    llvm::StringMap<Known> known;
    if (auto update = findUpdate(getOperation()))
      for (BlockArgument argument : update.getArguments()) {
        Argument what(argument);
        if (StringAttr name = what.getParameter())
          known[name.getValue()].updated.push_back(elementOf(argument));
        else if (StringAttr name = what.getGradient())
          known[name.getValue()].gradient.push_back(elementOf(argument));
        else if (StringAttr state = what.getState(); state && !isAverage(state))
          known[what.getOwner()].states.push_back(elementOf(argument));
      }
    Type f32 = Float32Type::get(&getContext());
    for (BlockArgument argument : function.getArguments()) {
      Argument what(argument);
      if (!what.isTrained() || what.isBuffer())
        continue;
      StringRef name = what.getParameter().getValue();
      bool mayNarrow = elementOf(argument) == narrow;
      const Known &own = known[name];
      auto expect = [&](ArrayRef<Type> types, bool isNarrow, StringRef words) {
        Type wanted = isNarrow && mayNarrow ? narrow : f32;
        for (Type type : types)
          if (type != wanted)
            complain(function) << "parameter '" << name << "' is updated with " << words << " of type " << type
                               << ", but the type must be " << wanted;
      };
      bool isMaster = mayNarrow && !masterless;
      if (own.updated.size() != 1)
        complain(function) << "parameter '" << name << "' is updated " << own.updated.size()
                           << " times; the required number is 1";
      expect(own.updated, masterless, isMaster ? "a master" : "values");
      expect(own.gradient, gradients, "a gradient");
      expect(own.states, states, "a state");
      for (OpOperand &returned : function.front().getTerminator()->getOpOperands())
        if (Result(function, returned.getOperandNumber()).getGradient() == what.getParameter())
          expect(elementOf(returned.get()), gradients, "contributions");
    }
  }

  /// The subsequence of random bits, where it is a constant.
  static std::optional<int64_t> findSubsequence(RandomBitsOp bits) {
    auto constant = bits.getSubsequence().getDefiningOp<ConstantOp>();
    auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    return elements && elements.isSplat() ? std::optional(elements.getSplatValue<APInt>().getSExtValue())
                                          : std::nullopt;
  }

  /// What @update keeps in sixteen bits it rounds once, all alike: by random bits of its own parameter, each draw once.
  void verifyRounding(func::FuncOp update) {
    llvm::DenseSet<std::pair<StringRef, int64_t>> drawn;
    for (OpOperand &returned : update.front().getTerminator()->getOpOperands()) {
      if (!isNarrow(returned.get()))
        continue;
      Operation *op = returned.get().getDefiningOp();
      Result what(update, returned.getOperandNumber());
      StringAttr state = what.getState(), parameter = what.getParameter();
      StringRef name = parameter ? parameter.getValue() : state ? state.getValue() : "";
      auto cast = dyn_cast_or_null<StochasticCastOp>(op);
      if (bool(cast) != stochastic || !isa_and_nonnull<CastOp, StochasticCastOp>(op))
        complain(op ? op : update) << "'" << name << "' must be rounded "
                                   << (stochastic ? "stochastically" : "to nearest") << ", as set in the spec";
      if (!cast)
        continue;
      StringRef owner = parameter ? name : getOwnerOf(name);
      auto bits = cast.getBits().getDefiningOp<RandomBitsOp>();
      if (!bits || findSubsequence(bits) != int64_t(runtime::hashName(owner)))
        complain(cast) << "'" << name << "' is rounded by random bits that do not belong to '" << owner << "'";
      else if (!drawn.insert({owner, int64_t(cast.getDraw())}).second)
        complain(cast) << "'" << name << "' is rounded by the same random bits as another value";
    }
  }

  /// The seed is read by its product with the scale alone, and the scale by that product alone.
  void verifyScale(Entry entry) {
    func::FuncOp function = entry.getFunction();
    int64_t wanted = LossScale::of(getOperation()) && entry.isTraining() ? 1 : 0, scaled = 0;
    function.walk([&](StepNumberOp scale) {
      if (scale.getStepNumber() != runtime::StepNumber::LossScale)
        return;
      for (Operation *user : scale->getUsers()) {
        bool multiplies =
            isa<MulOp>(user) && llvm::any_of(user->getOperands(), [](Value operand) {
              return operand.hasOneUse() && operand.getDefiningOp() && operand.getDefiningOp()->hasAttr(kSeed);
            });
        if (!multiplies)
          complain(user) << "uses the loss scale, which may only multiply backward's first gradient";
        ++scaled;
      }
    });
    if (scaled != wanted)
      complain(function) << "backward's first gradient is scaled " << scaled << " times; the required number is "
                         << wanted;
    if (auto update = findUpdate(getOperation()))
      verifyRounding(update);
  }

  Type narrow;
  bool hasFailed = false;
};

} // namespace
