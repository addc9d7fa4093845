// What is part of an op belongs to its unit and role, and stands where the op's source stands.
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "xlc/Dialect/Graph/Formula.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc::graph;

TEST(PartOf, HasUnitRoleAndLocation) {
  MLIRContext context;
  context.loadDialect<GraphDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  Formula plain(builder, NameLoc::get(builder.getStringAttr("fc1/Gemm")), Spelling::Plain);
  Value x = plain.scalar(2, builder.getF32Type());
  x.getDefiningOp()->setAttr(kUnit, ModelUnitAttr::get(&context, builder.getStringAttr("layer"), 3));
  x.getDefiningOp()->setAttr(kRole, RoleAttr::get(&context, Role::W));

  PartOf part(x.getDefiningOp(), builder, Spelling::AsModels);
  Operation *made = part.mul(x, x).getDefiningOp(), *bare = plain.add(x, x).getDefiningOp();
  EXPECT_EQ(getUnit(made), getUnit(x.getDefiningOp()));
  EXPECT_EQ(getRole(made), Role::W);
  EXPECT_EQ(made->getLoc(), x.getLoc());
  EXPECT_EQ(made->getNextNode(), bare) << "both build at the end of the block";
  EXPECT_FALSE(getUnit(bare));
  part.adopt(bare);
  EXPECT_EQ(getRole(bare), Role::W);
}
