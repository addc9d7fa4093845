// --xlc-interpret: evaluates functions and prints their results, for tests.
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Interpret/Interpret.h"
#include "xlc/Interpret/Passes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace xlc::interpret {
#define GEN_PASS_DEF_INTERPRETPASS
#include "xlc/Interpret/Passes.h.inc"
} // namespace xlc::interpret

namespace {
/// The name that data for an argument is generated under.
std::string nameOf(func::FuncOp function, unsigned i) {
  graph::Argument argument(function, i);
  for (StringAttr name : {argument.getParameter(), argument.getInput(), argument.getState()})
    if (name)
      return name.str();
  return ("arg" + Twine(i)).str();
}

template <class E> Datum<E> randomArgument(func::FuncOp function, unsigned i, uint64_t seed) {
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
  if (!type.getElementType().isInteger()) {
    Tensor<E> x = randomTensor<E>(type.getShape(), nameOf(function, i), seed);
    roundTo<E>(type.getElementType(), x.elements);
    return x;
  }
  int64_t limit = graph::Argument(function, i).getLimit().value_or(2);
  return randomIntegers(type.getShape(), nameOf(function, i), seed, limit);
}

/// Whether two elements agree, to the rounding that a short formula in this arithmetic may have.
template <class E> bool agree(E a, E b) {
  E tolerance = sizeof(E) == sizeof(float) ? 1e-4 : 1e-6;
  return a == b || (a != a && b != b) || std::abs(a - b) <= tolerance * std::max({E(1), std::abs(a), std::abs(b)});
}
bool agree(Field a, Field b) { return a == b || (a.isUndefined() && b.isUndefined()); }
bool agree(int64_t a, int64_t b) { return a == b; }

template <class E>
LogicalResult expect(func::FuncOp function, unsigned i, const Datum<E> &result, ElementsAttr expected) {
  if (expected.getType() != function.getResultTypes()[i])
    return function.emitError() << "result " << i << " is " << function.getResultTypes()[i] << ", expected "
                                << expected.getType();
  Datum<E> wanted = fromAttribute<E>(expected);
  return std::visit(
      [&](auto &actual) -> LogicalResult {
        auto &other = std::get<std::decay_t<decltype(actual)>>(wanted);
        for (size_t k = 0; k < actual.elements.size(); ++k)
          if (!agree(actual.elements[k], other.elements[k]))
            return function.emitError() << "result " << i << ", element " << k << " is " << toString(actual.elements[k])
                                        << ", expected " << toString(other.elements[k]);
        return success();
      },
      result);
}

template <class E> void print(StringRef name, Type type, const Datum<E> &result) {
  llvm::outs() << "// " << name << ": " << type << " [";
  std::visit(
      [](auto &tensor) {
        llvm::interleaveComma(tensor.elements, llvm::outs(), [](auto x) { llvm::outs() << toString(x); });
      },
      result);
  llvm::outs() << "]\n";
}

template <class E> LogicalResult interpretFunction(func::FuncOp function, uint64_t seed) {
  SmallVector<Datum<E>> arguments, results;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.push_back(randomArgument<E>(function, i, seed));
  if (failed(evaluate<E>(function, arguments, Options{seed}, results)))
    return failure();
  for (auto [i, result] : llvm::enumerate(results)) {
    auto gradient = graph::Result(function, i).getGradient();
    std::string name = (function.getName() + "." + (gradient ? gradient.getValue().str() : std::to_string(i))).str();
    print<E>(name, function.getResultTypes()[i], result);
    auto expected = function.getResultAttrOfType<ElementsAttr>(i, "graph.expect");
    if (expected && failed(expect<E>(function, i, result, expected)))
      return failure();
  }
  return success();
}

struct InterpretPass : interpret::impl::InterpretPassBase<InterpretPass> {
  using InterpretPassBase::InterpretPassBase;

  void runOnOperation() override {
    auto run = llvm::StringSwitch<LogicalResult (*)(func::FuncOp, uint64_t)>(arithmetic)
                   .Case("f64", interpretFunction<double>)
                   .Case("f32", interpretFunction<float>)
                   .Case("field", interpretFunction<Field>)
                   .Default(nullptr);
    if (!run) {
      getOperation().emitError() << "arithmetic must be f64, f32 or field, not '" << arithmetic << "'";
      return signalPassFailure();
    }
    bool isFound = false;
    for (auto candidate : getOperation().getOps<func::FuncOp>()) {
      if (function.empty() ? !candidate.isPublic() : candidate.getName() != function)
        continue;
      isFound = true;
      if (failed(run(candidate, seed)))
        return signalPassFailure();
    }
    if (!isFound) {
      getOperation().emitError() << "there is no function '" << function << "' to interpret";
      signalPassFailure();
    }
  }
};
} // namespace
