// See Epilogues.h.
#include "Epilogues.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;
using runtime::Activation;

namespace {

Type elementOf(Value value) { return typeOf(value).getElementType(); }

/// The op that alone reads `value`, if it is an OpT.
template <class OpT> OpT onlyReader(Value value) {
  return value.hasOneUse() ? dyn_cast<OpT>(*value.user_begin()) : OpT();
}

class EpilogueFinder {
public:
  explicit EpilogueFinder(ContractOp contract) : sum(contract.getY()), narrow(elementOf(contract.getA())) {}

  SmallVector<EpilogueOps, 2> run() {
    addBias();
    if (!isNarrow(narrow)) {
      if (bias.epilogue.bias)
        finish(bias, sum);
      return found;
    }
    findResidual();
    findGelu();
    findGeluBackward();
    if (bias.epilogue.bias)
      rounded(bias, sum);
    return found;
  }

private:
  void finish(EpilogueOps made, Value result) {
    made.result = result;
    found.push_back(std::move(made));
  }

  /// Ends where `value` is rounded and nothing else becomes of it.
  void rounded(EpilogueOps made, Value value) {
    auto cast = onlyReader<CastOp>(value);
    if (!cast || elementOf(cast.getY()) != narrow)
      return;
    made.ops.push_back(cast);
    finish(std::move(made), cast.getY());
  }

  void addBias() {
    auto add = onlyReader<AddOp>(sum);
    Value vector = add ? findRepeatedVector(otherOperand(add)) : Value();
    if (!vector || elementOf(vector) != narrow)
      return;
    bias.epilogue.bias = true, bias.bias = vector;
    bias.ops.push_back(add);
    sum = add.getY();
  }

  void findResidual() {
    auto add = onlyReader<AddOp>(sum);
    EpilogueOps made = bias;
    made.beside = add ? findWidened(otherOperand(add)) : Value();
    if (!made.beside)
      return;
    made.epilogue.residual = true;
    made.ops.push_back(add);
    rounded(std::move(made), add.getY());
  }

  void findGelu() {
    CastOp h;
    GeluOp gelu;
    for (Operation *user : sum.getUsers())
      if (auto cast = dyn_cast<CastOp>(user); cast && !h && elementOf(cast.getY()) == narrow)
        h = cast;
      else if (auto isGelu = dyn_cast<GeluOp>(user); isGelu && !gelu && isGelu.getKind() == GeluKind::tanh)
        gelu = isGelu;
      else
        return;
    if (!h || !gelu || h->use_empty())
      return;
    EpilogueOps made = bias;
    made.epilogue.activation = Activation::Gelu, made.beside = h.getY();
    made.ops.append({h, gelu});
    rounded(std::move(made), gelu.getY());
  }

  void findGeluBackward() {
    auto backward = onlyReader<GeluBackwardOp>(sum);
    EpilogueOps made;
    made.beside = backward && backward.getDy() == sum && backward.getKind() == GeluKind::tanh
                      ? findWidened(backward.getX())
                      : Value();
    if (!made.beside || bias.epilogue.bias)
      return;
    made.epilogue.activation = Activation::GeluBackward;
    made.ops.push_back(backward);
    rounded(std::move(made), backward->getResult(0));
  }

  Value otherOperand(AddOp add) { return add.getA() == sum ? add.getB() : add.getA(); }

  /// What `value` is in sixteen bits; null where it is not.
  Value findWidened(Value value) {
    auto cast = value.getDefiningOp<CastOp>();
    bool isAlike = cast && elementOf(cast.getX()) == narrow && !findRepeatedVector(value);
    return isAlike ? cast.getX() : Value();
  }

  Value sum; ///< with the bias
  Type narrow;
  EpilogueOps bias; ///< of the bias alone; empty without
  SmallVector<EpilogueOps, 2> found;
};

} // namespace

SmallVector<EpilogueOps, 2> xlc::findEpilogues(ContractOp contract) { return EpilogueFinder(contract).run(); }
