// The gate of Import: the guarantees on which the later phases rely.
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Import/Passes.h"
#include "xlc/Support/Diagnostics.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace xlc;

static LogicalResult verifyOp(Operation *op) {
  if (op->getName().getDialectNamespace() != graph::GraphDialect::getDialectNamespace())
    return blame(Fault::Compiler, op->emitError()) << "only ops of the graph dialect may remain after Import";
  if (graph::getSourceName(op).empty())
    return blame(Fault::Compiler, op->emitError()) << "every op must have a source node of the model";
  if (!graph::getUnit(op))
    return blame(Fault::Compiler, op->emitError()) << "every op must belong to a unit";
  return success();
}

/// The next value of a buffer takes the place of the old one, which only the op that makes it may read.
static LogicalResult verifyBuffers(func::FuncOp forward) {
  llvm::StringMap<unsigned> replaced;
  for (unsigned i = 2; i < forward.getNumResults(); ++i)
    if (StringAttr buffer = graph::Result(forward, i).getBuffer(); buffer && ++replaced[buffer.getValue()] > 1)
      return blame(Fault::Compiler, forward.emitError()) << "buffer " << buffer << " is updated twice";
  for (BlockArgument argument : forward.getArguments()) {
    auto name = graph::Argument(argument).getParameter();
    if (name && replaced.contains(name.getValue()) && !argument.use_empty() && !argument.hasOneUse())
      return blame(Fault::Compiler, forward.emitError())
             << "buffer " << name << " must only be read by the op that updates it";
  }
  return success();
}

LogicalResult xlc::verifyImported(ModuleOp module) {
  auto forward = graph::findForward(module);
  bool areKnown = true; // behind loss and count: buffers, and outputs of one that becomes an evaluation
  for (unsigned i = 2; forward && i < forward.getNumResults(); ++i)
    areKnown &= graph::Result(forward, i).getBuffer() || graph::Result(forward, i).getOutput();
  if (!forward || forward.getNumResults() < 2 || !areKnown)
    return blame(Fault::Compiler, module.emitError())
           << "the module needs @forward, which returns the loss and the number of targets";
  if (failed(verifyBuffers(forward)))
    return failure();
  llvm::StringMap<std::map<int64_t, std::vector<StringRef>>> classes; // ops by class and instance
  for (Operation &op : forward.front().without_terminator()) {
    if (failed(verifyOp(&op)))
      return failure();
    graph::ModelUnitAttr unit = graph::getUnit(&op);
    classes[unit.getClassName().getValue()][unit.getInstance()].push_back(op.getName().getStringRef());
  }
  llvm::DenseSet<mlir::Attribute> compared;
  for (Operation &op : forward.front().without_terminator()) {
    graph::ModelUnitAttr unit = graph::getUnit(&op);
    if (!compared.insert(unit).second)
      continue;
    auto &instances = classes[unit.getClassName().getValue()];
    if (instances[unit.getInstance()] != instances.begin()->second)
      return blame(Fault::Compiler, op.emitError())
             << "instances " << instances.begin()->first << " and " << unit.getInstance() << " of unit class "
             << unit.getClassName() << " must have the same ops";
  }
  return success();
}
