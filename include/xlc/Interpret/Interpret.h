// The reference interpreter: the meaning of a program of xlc, computed directly.
//
// Every phase is verified against it, so it shares no code with the lowering and is written for readability. One table
// (lib/Interpret/Ops/Table.cpp) has the rules of ops. An op without a rule is evaluated by the formula that Lower
// emits, and is then verified only by PyTorch's runs. Rules are templates over the element type: double, float, or the
// finite field. In the field equal programs give equal elements, and unequal programs, almost surely, do not.
#ifndef XLC_INTERPRET_INTERPRET_H
#define XLC_INTERPRET_INTERPRET_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Interpret/Tensor.h"
#include <optional>

namespace xlc::interpret {

struct Options {
  /// Selects the pseudo-random functions that represent exp, sqrt, ... in the finite field.
  uint64_t seed = 0;
  /// The step to interpret, for the results of graph.step_number.
  runtime::StepClock clock{};
};

/// Evaluates `function` on `arguments` and appends its results. Calls are followed. An op without a rule, or with
/// operands that its rule rejects, is an error at the op's location. A value is freed after its last use, as is an
/// argument that is moved in. E is double, float, Bounded or Field.
template <class E>
llvm::LogicalResult evaluate(mlir::func::FuncOp function, llvm::SmallVector<Datum<E>> arguments, const Options &options,
                             llvm::SmallVectorImpl<Datum<E>> &results);

/// The same for arguments that remain owned by the caller.
template <class E>
llvm::LogicalResult evaluateLent(mlir::func::FuncOp function, llvm::ArrayRef<const Datum<E> *> arguments,
                                 const Options &options, llvm::SmallVectorImpl<Datum<E>> &results);

/// The same for all ranks of a tensor-parallel group in lockstep: `arguments[t]` and `results[t]` are those of rank t,
/// and the ranks communicate in the ops of `dist`.
template <class E>
llvm::LogicalResult evaluateRanks(mlir::func::FuncOp function, std::vector<llvm::SmallVector<Datum<E>>> arguments,
                                  const Options &options, std::vector<llvm::SmallVector<Datum<E>>> &results);

/// The sixteen-bit type of floats; none for wider types and other elements.
std::optional<Narrow> findNarrow(mlir::Type element);
/// Rounds elements that are stored in sixteen bits, if the arithmetic is one of floats; otherwise changes nothing.
template <class E> void roundTo(mlir::Type element, llvm::MutableArrayRef<E> elements);
template <class E> void roundTo(mlir::Type element, Datum<E> &value) {
  if (auto *tensor = std::get_if<Tensor<E>>(&value))
    roundTo<E>(element, llvm::MutableArrayRef(tensor->elements));
}

/// The elements of a constant of type `type`.
template <class E> Datum<E> fromAttribute(mlir::ElementsAttr attribute);

/// Whether the interpreter has a rule for the op of this name.
bool hasInterpretation(llvm::StringRef opName);

/// Random elements, each a function of key, seed and position only; the first element has position `first`. Reals are
/// in [-1, 1), integers in [0, limit), elements of the field arbitrary.
template <class E>
Tensor<E> randomTensor(llvm::ArrayRef<int64_t> shape, llvm::StringRef key, uint64_t seed, int64_t first = 0);
Integers randomIntegers(llvm::ArrayRef<int64_t> shape, llvm::StringRef key, uint64_t seed, int64_t limit,
                        int64_t first = 0);

} // namespace xlc::interpret

#endif
