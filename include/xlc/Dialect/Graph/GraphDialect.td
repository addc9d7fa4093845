// The `graph` dialect: the model's mathematics. See docs/rationale/Graph.md.
#ifndef XLC_GRAPH_DIALECT_TD
#define XLC_GRAPH_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::xlc::graph";
  let summary = "the mathematics of a model: static shapes, value semantics, no devices";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Graph_ModelUnitAttr : AttrDef<Graph_Dialect, "ModelUnit"> {
  let mnemonic = "unit";
  let summary = "the unit of the model an op belongs to: class name and instance index";
  let description = [{
    A unit is gathered, scheduled and repeated as a whole: a transformer layer, an embedding, a head. Instances of a
    class are structurally equal and share one function. Printed `#graph.unit<layer, 3>`.
  }];
  let parameters = (ins "::mlir::StringAttr":$className, "int64_t":$instance);
  let assemblyFormat = "`<` $className `,` $instance `>`";
}

// A #graph.role, for dialects that do not include GraphEnums.td: a file that includes an enum declares it again.
def Graph_RoleOfRunAttr : Attr<CPred<"::llvm::isa<::xlc::graph::RoleAttr>($_self)">, "role"> {
  let storageType = "::xlc::graph::RoleAttr";
  let returnType = "::xlc::graph::Role";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::xlc::graph::RoleAttr::get($_builder.getContext(), $0)";
}

// A #graph.purpose, likewise.
def Graph_PurposeOfTimelineAttr : Attr<CPred<"::llvm::isa<::xlc::graph::PurposeAttr>($_self)">, "purpose"> {
  let storageType = "::xlc::graph::PurposeAttr";
  let returnType = "::xlc::graph::Purpose";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::xlc::graph::PurposeAttr::get($_builder.getContext(), $0)";
}

#endif // XLC_GRAPH_DIALECT_TD
