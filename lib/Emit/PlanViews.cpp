// See PlanViews.h.
#include "PlanViews.h"
#include "PlanParts.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace xlc;

uint32_t ViewTable::add(Value value) {
  auto type = cast<MemRefType>(value.getType());
  auto [known, isNew] = numbers.insert({type, plan.views.size()});
  if (!isNew)
    return known->second;
  auto made = std::make_unique<plan::ViewT>();
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset); // the verifier of views refuses others
  made->element = elementOf(type.getElementType());
  made->sizes.assign(type.getShape().begin(), type.getShape().end());
  made->strides.assign(strides.begin(), strides.end());
  plan.views.push_back(std::move(made));
  return known->second;
}

bool xlc::writesInfinity(func::FuncOp kernel) {
  auto isInfinite = [](graph::ConstantOp constant) {
    auto values = dyn_cast<DenseFPElementsAttr>(constant.getValue());
    return values && llvm::any_of(values.isSplat() ? llvm::make_range(values.begin(), std::next(values.begin()))
                                                   : llvm::make_range(values.begin(), values.end()),
                                  [](const APFloat &number) { return number.isInfinity(); });
  };
  return !kernel.isExternal() && llvm::any_of(kernel.front().getOps<graph::ConstantOp>(), isInfinite);
}

std::string xlc::describeKernel(func::FuncOp kernel) {
  llvm::SetVector<StringRef> computes, others;
  if (!kernel.isExternal())
    for (Operation &op : kernel.front().without_terminator()) {
      bool moves =
          op.hasTrait<graph::Reshaping>() || op.hasTrait<OpTrait::ConstantLike>() || isa<graph::BroadcastOp>(op);
      (moves ? others : computes).insert(op.getName().stripDialect());
    }
  return (kernel.getName() + ": " + llvm::join(computes.empty() ? others : computes, ", ")).str();
}
