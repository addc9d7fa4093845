// See Entry.h.
#include "xlc/Dialect/Graph/Entry.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

static PurposeAttr purposeOf(func::FuncOp function) { return function->getAttrOfType<PurposeAttr>(kEntry); }

Entry Entry::find(ModuleOp module, Purpose purpose) {
  for (auto function : module.getOps<func::FuncOp>())
    if (PurposeAttr own = purposeOf(function); own && own.getValue() == purpose)
      return Entry(function);
  return {};
}

SmallVector<Entry, 2> Entry::all(ModuleOp module) {
  SmallVector<Entry, 2> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (purposeOf(function))
      entries.push_back(Entry(function));
  return entries;
}

Entry Entry::make(func::FuncOp function, Purpose purpose) {
  function->setAttr(kEntry, PurposeAttr::get(function.getContext(), purpose));
  return Entry(function);
}

Purpose Entry::getPurpose() const { return purposeOf(function).getValue(); }

BlockArgument Entry::findParameter(StringRef name) const {
  for (BlockArgument argument : function.getArguments())
    if (StringAttr own = Argument(argument).getParameter(); own && own.getValue() == name)
      return argument;
  return {};
}

BlockArgument Entry::findInput(StringRef name) const {
  for (BlockArgument argument : function.getArguments())
    if (StringAttr own = Argument(argument).getInput(); own && own.getValue() == name)
      return argument;
  return {};
}

OpOperand &Entry::returned(unsigned number) const { return function.front().getTerminator()->getOpOperand(number); }

StringAttr Entry::getGradientName(OpOperand &value) const {
  return Result(function, value.getOperandNumber()).getGradient();
}

StringAttr Entry::getBufferName(OpOperand &value) const {
  return Result(function, value.getOperandNumber()).getBuffer();
}

StringAttr Entry::getSumName(OpOperand &value) const { return Result(function, value.getOperandNumber()).getSum(); }

StringAttr Entry::getOutputName(OpOperand &value) const {
  return Result(function, value.getOperandNumber()).getOutput();
}

/// Those of the values that a function returns which have a name.
static SmallVector<OpOperand *> selectReturned(func::FuncOp function,
                                               llvm::function_ref<StringAttr(OpOperand &)> name) {
  SmallVector<OpOperand *> values;
  for (OpOperand &value : function.front().getTerminator()->getOpOperands())
    if (name(value))
      values.push_back(&value);
  return values;
}

SmallVector<OpOperand *> Entry::getSums() const {
  return selectReturned(function, [this](OpOperand &value) { return getSumName(value); });
}

SmallVector<OpOperand *> Entry::getOutputs() const {
  return selectReturned(function, [this](OpOperand &value) { return getOutputName(value); });
}

SmallVector<OpOperand *> Entry::getBuffers() const {
  return selectReturned(function, [this](OpOperand &value) { return getBufferName(value); });
}

SmallVector<OpOperand *> Entry::getGradients() const {
  return selectReturned(function, [this](OpOperand &value) { return getGradientName(value); });
}
