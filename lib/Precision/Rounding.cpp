// See Rounding.h. Users follow definitions, so in one walk from the end all demands of its users on a value are known
// before the value itself is examined.
#include "Rounding.h"
#include "xlc/Dialect/Graph/Signature.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;
using Class = PrecisionClass;

namespace {

bool isFloat(Value value) { return typeOf(value).getElementType().isF32(); }

bool isForward(Operation *op) { return getRole(op) == Role::F; }

bool isProduct(Operation *op) {
  Class is = getPrecisionClass(op);
  return is == Class::Product || is == Class::Convolution;
}

/// Whether values pass from one op to the other through memory, whatever kernels there will be.
bool areApart(Operation *a, Operation *b) { return getUnit(a) != getUnit(b) || isForward(a) != isForward(b); }

} // namespace

Rounding::Rounding(func::FuncOp function, const Policy &policy) {
  findActivations(function);
  findLoss(function);
  findGradients(function, policy.gradients);
  if (policy.wideStream)
    findStream(function);
  findExtremes(function);
  for (Operation &op : llvm::reverse(function.front().without_terminator())) {
    Class is = getPrecisionClass(&op);
    for (OpResult result : op.getResults())
      if (isFloat(result) && rounds(result, is))
        rounded.insert(result);
    demand(&op);
  }
}

void Rounding::findActivations(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (isFloat(argument) && !Argument(argument).isBuffer())
      activations.insert(argument);
  for (Operation &op : function.front().without_terminator()) {
    bool isWide = getPrecisionClass(&op) == Class::Wide;
    bool depends = llvm::any_of(op.getOperands(), [&](Value operand) { return activations.contains(operand); });
    if (!isWide && depends) // of several results the first is the value; the others are statistics
      for (OpResult result : isa<AttentionBackwardOp>(op) ? op.getResults() : op.getResults().take_front())
        if (isFloat(result))
          activations.insert(result);
  }
}

void Rounding::findLoss(func::FuncOp function) {
  DenseSet<Operation *> reaching; // a product of forward
  for (Operation &op : llvm::reverse(function.front().without_terminator())) {
    if (!isForward(&op))
      continue;
    bool reaches =
        isProduct(&op) || llvm::any_of(op.getUsers(), [&](Operation *user) { return reaching.contains(user); });
    reaches ? reaching.insert(&op) : loss.insert(&op);
  }
  DenseSet<Operation *> behind; // a product of backward
  for (Operation &op : function.front().without_terminator()) {
    if (isForward(&op))
      continue;
    bool isBehind = isProduct(&op) || llvm::any_of(op.getOperands(), [&](Value operand) {
                      return behind.contains(operand.getDefiningOp());
                    });
    isBehind ? behind.insert(&op) : loss.insert(&op);
  }
}

void Rounding::findGradients(func::FuncOp function, const DenseMap<Attribute, Type> &types) {
  SmallVector<Value> work;
  for (OpOperand &returned : function.front().getTerminator()->getOpOperands())
    if (Attribute name = Result(function, returned.getOperandNumber()).getGradient()) {
      auto type = types.find(name);
      if (type == types.end() || !isNarrow(type->second))
        work.push_back(returned.get());
    }
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!isFloat(value) || !gradients.insert(value).second || !op)
      continue;
    Class is = getPrecisionClass(op);
    if (is == Class::Small || is == Class::Movement)
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          if (operand.hasOneUse() && !isForward(producer))
            work.push_back(operand);
  }
}

/// Sums of two activations of one shape: what is repeated (a bias) is no activation of that shape. A norm behind such a sum is
/// of the stream where a next sum reads it.
void Rounding::findStream(func::FuncOp function) {
  auto isOfStream = [&](Value value) { return activations.contains(value) && !value.getDefiningOp<BroadcastOp>(); };
  for (auto sum : function.getOps<AddOp>()) {
    if (!isFloat(sum.getY()) || !llvm::all_of(sum->getOperands(), isOfStream))
      continue;
    stream.insert(sum.getY());
    for (Value operand : sum->getOperands())
      if (Operation *norm = operand.getDefiningOp(); norm && norm->hasTrait<Rowwise>())
        stream.insert(operand);
  }
}

/// Backward compares the result of a maximum, also where its elements are moved, with the elements that it was taken
/// from, to find them. A rounded one would equal none of them.
void Rounding::findExtremes(func::FuncOp function) {
  for (auto compare : function.getOps<CompareOp>()) {
    if (compare.getPredicate() != Predicate::eq || isForward(compare))
      continue;
    for (Value value : compare->getOperands()) {
      SmallVector<Value> moved;
      for (; value.getDefiningOp() && getPrecisionClass(value.getDefiningOp()) == Class::Movement;
           value = value.getDefiningOp()->getOperand(0))
        moved.push_back(value);
      Operation *op = value.getDefiningOp();
      if (!op || !isForward(op) || isProduct(op) || op->hasTrait<Elementwise>())
        continue;
      exact.insert(value);
      exact.insert(moved.begin(), moved.end());
    }
  }
}

bool Rounding::rounds(OpResult result, Class is) const {
  if (stream.contains(result) || exact.contains(result))
    return false;
  if (is == Class::Product && isa<ContractOp>(result.getOwner()))
    return rounded.contains(result) || !gradients.contains(result);
  if (is == Class::Product)
    return true;
  if (rounded.contains(result))
    return true;
  Operation *op = result.getOwner();
  if (!activations.contains(result) || gradients.contains(result) || loss.contains(op))
    return false;
  if (is == Class::Named || is == Class::Convolution)
    return true;
  SmallVector<Operation *> readers;
  for (Operation *user : result.getUsers())
    if (!isa<func::ReturnOp>(user) && !llvm::is_contained(readers, user))
      readers.push_back(user);
  return readers.size() > 1 || (readers.size() == 1 && areApart(op, readers.front()));
}

void Rounding::demand(Operation *op) {
  SmallVector<Value> wanted;
  Class is = getPrecisionClass(op);
  if (auto attention = dyn_cast<AttentionOp>(op))
    wanted = {attention.getQ(), attention.getK(), attention.getV()};
  else if (auto attention = dyn_cast<AttentionBackwardOp>(op))
    wanted = {attention.getQ(), attention.getK(), attention.getV(), attention.getOut(), attention.getDout()};
  else if (is == Class::Product || is == Class::Convolution ||
           (is == Class::Movement && rounded.contains(op->getResult(0)) && !gradients.contains(op->getResult(0))))
    wanted = llvm::to_vector(op->getOperands());
  else if (op->hasTrait<CrossEntropy>())
    wanted = {op->getOperand(0)};
  for (Value value : wanted)
    if (isFloat(value) && !stream.contains(value) && !exact.contains(value))
      rounded.insert(value);
}
