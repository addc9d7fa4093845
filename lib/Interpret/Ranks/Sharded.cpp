// Takes wholes apart for the ranks of a group, and puts together what they return.
#include "Sharded.h"
#include "Pieces.h"
#include "xlc/Dialect/Graph/Signature.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {

/// tp: every split parameter's pieces, times the ranks that share one, are all ranks.
int64_t countRanks(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto layout = function.getArgAttrOfType<dist::LayoutAttr>(i, dist::kLayout))
      if (DenseI64ArrayAttr digits = layout.getGroup().getDigits(); digits.size() == 2)
        return digits[0] * digits[1];
  return 1;
}

template <class T> bool isSame(const Tensor<T> &a, const Tensor<T> &b) {
  return llvm::all_of(llvm::zip(a.elements, b.elements), [](auto pair) {
    auto [x, y] = pair;
    return x == y || (isUndefined(x) && isUndefined(y));
  });
}

/// What all ranks return for one result, as one value.
template <class E> class Assembly {
public:
  Assembly(func::FuncOp function, unsigned number, dist::MeshAttr mesh)
      : function(function), number(number), mesh(mesh) {
    gradient = graph::Result(function, number).getGradient();
    isPartial = bool(function.getResultAttr(number, dist::kPartial));
    for (unsigned i = 0; gradient && i < function.getNumArguments(); ++i)
      if (graph::Argument(function, i).getParameter() == gradient)
        layout = function.getArgAttrOfType<dist::LayoutAttr>(i, dist::kLayout);
  }

  FailureOr<Datum<E>> run(ArrayRef<Datum<E> *> values) {
    return std::visit([&](auto &first) { return assemble(first, values); }, *values.front());
  }

private:
  template <class T> FailureOr<Datum<E>> assemble(const Tensor<T> &first, ArrayRef<Datum<E> *> values) {
    std::map<int64_t, Tensor<T>> pieces; // by index
    for (auto [rank, value] : llvm::enumerate(values)) {
      const Tensor<T> &own = std::get<Tensor<T>>(*value);
      auto [it, isFirst] = pieces.try_emplace(layout ? layout.getGroup().indexOf(mesh, rank) : 0, own);
      if (!isFirst && isPartial)
        for (auto [sum, element] : llvm::zip(it->second.elements, own.elements))
          sum = sum + element;
      else if (!isFirst && !isSame(it->second, own))
        return function.emitError() << "rank " << rank << " returns a different value than the previous ranks for "
                                    << (gradient ? "the gradient of '" + gradient.getValue().str() + "'"
                                                 : "result " + std::to_string(number));
    }
    Tensor<T> whole(layout ? layout.getShape().asArrayRef() : ArrayRef<int64_t>(first.shape));
    for (auto &[index, piece] : pieces)
      placePiece(whole, piece, layout, index);
    return Datum<E>(std::move(whole));
  }

  func::FuncOp function;
  unsigned number;
  dist::MeshAttr mesh;
  StringAttr gradient;
  bool isPartial;
  dist::LayoutAttr layout;
};

} // namespace

namespace xlc::interpret {

template <class E>
LogicalResult runMicroBatch(func::FuncOp function, ArrayRef<const Datum<E> *> arguments, const Options &options,
                            SmallVectorImpl<Datum<E>> &results) {
  int64_t tp = countRanks(function);
  if (tp == 1)
    return evaluateLent<E>(function, arguments, options, results);
  auto mesh = dist::MeshAttr::get(function.getContext(), 1, 1, tp, 1);
  std::vector<SmallVector<Datum<E>>> given(tp), returned;
  for (int64_t rank = 0; rank < tp; ++rank)
    for (auto [i, argument] : llvm::enumerate(arguments)) {
      auto layout = function.getArgAttrOfType<dist::LayoutAttr>(i, dist::kLayout);
      given[rank].push_back(
          layout ? Datum<E>(pieceOf(std::get<Tensor<E>>(*argument), layout, layout.getGroup().indexOf(mesh, rank)))
                 : *argument);
    }
  if (failed(evaluateRanks<E>(function, std::move(given), options, returned)))
    return failure();
  for (unsigned number = 0; number < function.getNumResults(); ++number) {
    SmallVector<Datum<E> *> values;
    for (auto &own : returned)
      values.push_back(&own[number]);
    FailureOr<Datum<E>> whole = Assembly<E>(function, number, mesh).run(values);
    if (failed(whole))
      return failure();
    results.push_back(std::move(*whole));
  }
  return success();
}
template LogicalResult runMicroBatch(func::FuncOp, ArrayRef<const Datum<double> *>, const Options &,
                                     SmallVectorImpl<Datum<double>> &);
template LogicalResult runMicroBatch(func::FuncOp, ArrayRef<const Datum<float> *>, const Options &,
                                     SmallVectorImpl<Datum<float>> &);
template LogicalResult runMicroBatch(func::FuncOp, ArrayRef<const Datum<Field> *>, const Options &,
                                     SmallVectorImpl<Datum<Field>> &);

} // namespace xlc::interpret
