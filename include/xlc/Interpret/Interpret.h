// The reference interpreter: what a program of xlc means, computed straightforwardly.
//
// It is the judge of every phase, so it shares no code with the lowering and is written to be
// read. One table (lib/Interpret/Ops/Table.cpp) names a rule for an op; one that has none there is
// evaluated by the formula that Lower emits, and only PyTorch's runs judge that. Rules are templates
// over the element type: double, float, or the finite field in which equal programs give
// equal elements and unequal ones, almost surely, do not.
#ifndef XLC_INTERPRET_INTERPRET_H
#define XLC_INTERPRET_INTERPRET_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Interpret/Tensor.h"
#include <optional>

namespace xlc::interpret {

struct Options {
  /// Chooses the pseudo-random functions that stand for exp, sqrt, ... in the finite field.
  uint64_t seed = 0;
  /// The step that is interpreted: what graph.step_number gives.
  runtime::StepClock clock{};
};

/// Evaluates `function` on `arguments` and appends its results. Calls are followed. An op that
/// has no rule, or operands that a rule refuses, are errors at the op's location. A value is freed after its last use,
/// an argument that is moved in too. E is double, float, Bounded or Field.
template <class E>
llvm::LogicalResult evaluate(mlir::func::FuncOp function, llvm::SmallVector<Datum<E>> arguments, const Options &options,
                             llvm::SmallVectorImpl<Datum<E>> &results);

/// The same on arguments that stay the caller's.
template <class E>
llvm::LogicalResult evaluateLent(mlir::func::FuncOp function, llvm::ArrayRef<const Datum<E> *> arguments,
                                 const Options &options, llvm::SmallVectorImpl<Datum<E>> &results);

/// The same for all ranks of a tensor-parallel group in lockstep: `arguments[t]` and `results[t]` are those of rank t,
/// and the ranks meet in the ops of `dist`.
template <class E>
llvm::LogicalResult evaluateRanks(mlir::func::FuncOp function, std::vector<llvm::SmallVector<Datum<E>>> arguments,
                                  const Options &options, std::vector<llvm::SmallVector<Datum<E>>> &results);

/// The sixteen bits that a type keeps of a float; none: more, or no float.
std::optional<Narrow> findNarrow(mlir::Type element);
/// Rounds what is kept in sixteen bits, where the arithmetic is one of floats; leaves everything else as it is.
template <class E> void roundTo(mlir::Type element, llvm::MutableArrayRef<E> elements);
template <class E> void roundTo(mlir::Type element, Datum<E> &value) {
  if (auto *tensor = std::get_if<Tensor<E>>(&value))
    roundTo<E>(element, llvm::MutableArrayRef(tensor->elements));
}

/// The elements of a constant of type `type`.
template <class E> Datum<E> fromAttribute(mlir::ElementsAttr attribute);

/// Whether the interpreter has a rule for the op of this name.
bool hasInterpretation(llvm::StringRef opName);

/// Random elements, each a function of key, seed and place only; the first element stands at place `first`. Reals lie
/// in [-1, 1), integers in [0, limit), elements of the field anywhere.
template <class E>
Tensor<E> randomTensor(llvm::ArrayRef<int64_t> shape, llvm::StringRef key, uint64_t seed, int64_t first = 0);
Integers randomIntegers(llvm::ArrayRef<int64_t> shape, llvm::StringRef key, uint64_t seed, int64_t limit,
                        int64_t first = 0);

} // namespace xlc::interpret

#endif
