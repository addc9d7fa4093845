// See UpdateKernel.h.
#include "UpdateKernel.h"
#include "MemberBits.h"
#include "xlc/Runtime/States.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;
using sched::kMemberAlignment;

/// "_bf16": what sets the name of a kernel apart from that for f32.
static std::string suffixOf(Type element) {
  std::string text;
  if (!element.isF32())
    llvm::raw_string_ostream(text) << '_' << element;
  return text;
}

UpdateKernel::UpdateKernel(sched::BucketOp bucket, OptimizerGroup rule, int64_t elements)
    : bucket(bucket), rule(rule), elements(elements) {
  assert((!bucket.getStochastic() || elements % kMemberAlignment == 0) && "AssignBuckets aligns members and shards");
}

std::string UpdateKernel::getName() const {
  std::string name = "update_" + std::to_string(int64_t(bucket.getGroup())) + "_" + std::to_string(elements) +
                     suffixOf(bucket.getTypeOfUpdated());
  if (isNarrow(bucket.getTypeOfGradients()))
    name += "_gradients" + suffixOf(bucket.getTypeOfGradients());
  if (isNarrow(bucket.getTypeOfStates()))
    name += "_states" + suffixOf(bucket.getTypeOfStates());
  if (hasMaster())
    name += "_with_master";
  if (isStochastic())
    name += "_stochastic" + MemberForm::of(bucket).getSuffix();
  return name;
}

/// What is rounded stochastically is seen as rows, each of one member.
RankedTensorType UpdateKernel::typeOf(Type element) const {
  if (isStochastic())
    return RankedTensorType::get({elements / kMemberAlignment, kMemberAlignment}, element);
  return RankedTensorType::get({elements}, element);
}

SmallVector<Type> UpdateKernel::getOperandTypes() const {
  MLIRContext *context = bucket.getContext();
  Type i64 = IntegerType::get(context, 64);
  SmallVector<Type> types{typeOf(bucket.getTypeOfUpdated()), typeOf(bucket.getTypeOfGradients()),
                          RankedTensorType::get({runtime::kGroupNumbers}, Float32Type::get(context))};
  for (StringRef name : rule.getStateNames())
    types.push_back(typeOf(bucket.getTypeOfState(name)));
  if (isStochastic()) {
    types.push_back(RankedTensorType::get({runtime::kMemberColumns, MemberForm::of(bucket).count}, i64));
    types.push_back(RankedTensorType::get({}, i64));
  }
  return types;
}

SmallVector<Type> UpdateKernel::getResultTypes() const {
  SmallVector<Type> types{typeOf(bucket.getTypeOfUpdated())};
  for (StringRef name : rule.getStateNames())
    types.push_back(typeOf(bucket.getTypeOfState(name)));
  if (hasMaster())
    types.push_back(typeOf(bucket.getTypeOfParameters()));
  return types;
}

void UpdateKernel::write(OpBuilder &builder, Location loc, Block &block) const {
  ValueRange operands = block.getArguments();
  Value bits;
  if (isStochastic())
    bits = createMemberBits(builder, loc, MemberForm::of(bucket), operands.drop_back().back(), operands.back(),
                            elements / kMemberAlignment);
  SmallVector<Value> made = rule.createRoundedStep(builder, loc, operands[0], operands[1], operands[2],
                                                   operands.slice(3, rule.getStateNames().size()), bits);
  if (hasMaster())
    made.push_back(CastOp::create(builder, loc, getResultTypes().back(), made[0]));
  func::ReturnOp::create(builder, loc, made);
}
