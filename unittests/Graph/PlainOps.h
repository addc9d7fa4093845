// Ops of which a test can write a sample from their definition alone.
#ifndef XLC_UNITTESTS_GRAPH_PLAINOPS_H
#define XLC_UNITTESTS_GRAPH_PLAINOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Dialect/Graph/Graph.h"

namespace xlc {

/// An elementwise op without attributes, whose operands and result have one type: `graph.add %0, %1 : TYPE`.
struct PlainOp {
  std::string name; ///< "add"
  size_t operands;
  bool isLogical; ///< of i1; else it takes floats

  std::string text(const std::string &type) const {
    return "%y = graph." + name + (operands == 1 ? " %0 : " : " %0, %1 : ") + type;
  }
};

inline std::vector<PlainOp> getPlainOps() {
  mlir::MLIRContext context;
  context.loadDialect<mlir::func::FuncDialect, graph::GraphDialect>();
  mlir::ScopedDiagnosticHandler silent(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  std::vector<PlainOp> ops;
  for (mlir::RegisteredOperationName op : context.getRegisteredOperationsByDialect("graph")) {
    bool isUnary = op.hasTrait<mlir::OpTrait::OneOperand>(),
         isBinary = op.hasTrait<mlir::OpTrait::NOperands<2>::Impl>();
    bool isOfOneType = op.hasTrait<graph::Elementwise>() && op.hasTrait<mlir::OpTrait::SameOperandsAndResultType>();
    if (!isOfOneType || !(isUnary || isBinary) || !op.getAttributeNames().empty())
      continue;
    PlainOp plain{op.stripDialect().str(), isUnary ? 1u : 2u, false};
    std::string floats =
        "func.func @f(%0: tensor<2xf32>, %1: tensor<2xf32>) {\n" + plain.text("tensor<2xf32>") + "\nreturn\n}";
    plain.isLogical = !mlir::parseSourceString<mlir::ModuleOp>(floats, &context);
    ops.push_back(plain);
  }
  return ops;
}

} // namespace xlc

#endif
