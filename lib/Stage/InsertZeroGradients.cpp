// A parameter that several pipeline stages hold is updated on all of them by one sum, to which every stage contributes.
// A stage may have no contribution: it compares with the parameter, which has no gradient; or it reads a copy of a
// value computed from the parameter, whose gradient another unit completes. Such a stage contributes zero.
//
//     stage 0   %y = add %x, %w                 dw = ...
//     stage 1   %m = compare lt %z, %w          dw = 0
#include "xlc/Dialect/Dist/Dist.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Stage/Stage.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace xlc {
#define GEN_PASS_DEF_INSERTZEROGRADIENTSPASS
#include "xlc/Stage/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

/// The first op on each stage that reads the parameter, forward or backward.
std::map<int64_t, Operation *> findReaders(ModuleOp module, BlockArgument parameter) {
  std::map<int64_t, Operation *> readers;
  for (Operation *user : parameter.getUsers()) {
    if (isa<func::ReturnOp>(user))
      continue;
    Operation *&first = readers[getStage(module, getChunk(user))];
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  return readers;
}

struct InsertZeroGradientsPass : xlc::impl::InsertZeroGradientsPassBase<InsertZeroGradientsPass> {
  void runOnOperation() override {
    Entry entry = Entry::find(getOperation(), Purpose::train);
    if (!entry || !getOperation()->hasAttr(kStages))
      return;
    func::FuncOp function = entry.getFunction();
    llvm::DenseMap<Attribute, llvm::DenseSet<int64_t>> contributing; // parameter -> stages
    for (OpOperand *returned : entry.getGradients())
      if (Operation *op = returned->get().getDefiningOp())
        contributing[entry.getGradientName(*returned)].insert(getStage(getOperation(), getChunk(op)));
    for (BlockArgument argument : function.getArguments()) {
      Attribute name = Argument(argument).getParameter();
      auto known = name ? contributing.find(name) : contributing.end();
      if (known == contributing.end())
        continue;
      for (auto [stage, reader] : findReaders(getOperation(), argument))
        if (!known->second.contains(stage))
          contribute(function, argument, reader);
    }
  }

private:
  /// A further contribution, made in the reader's unit.
  void contribute(func::FuncOp function, BlockArgument parameter, Operation *reader) {
    Operation *terminator = function.front().getTerminator();
    OpBuilder builder(terminator);
    Attribute name = Argument(parameter).getParameter();
    auto type = cast<RankedTensorType>(function.getResultTypes()[findContribution(function, name)]);
    Attribute element = builder.getFloatAttr(type.getElementType(), 0.0);
    auto zero = ConstantOp::create(builder, reader->getLoc(), type, DenseElementsAttr::get(type, element));
    zero->setAttr(kUnit, getUnit(reader));
    zero->setAttr(kChunk, reader->getAttr(kChunk));
    zero->setAttr(kRole, RoleAttr::get(&getContext(), Role::W));
    SmallVector<NamedAttribute> attributes{{kGrad, name}};
    // what the other contributions are partial sums over, if they are
    if (Attribute partial = function.getResultAttr(findContribution(function, name), dist::kPartial))
      attributes.push_back({dist::kPartial, partial});
    unsigned index = function.getNumResults();
    (void)function.insertResult(index, type, builder.getDictionaryAttr(attributes));
    terminator->insertOperands(index, zero.getY());
  }

  /// The number of a result that contributes to the gradient of a parameter, which has one.
  static unsigned findContribution(func::FuncOp function, Attribute name) {
    unsigned index = 0;
    while (Result(function, index).getGradient() != name)
      ++index;
    return index;
  }
};

} // namespace
