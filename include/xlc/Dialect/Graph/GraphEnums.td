// Enumerations of the `graph` dialect.
#ifndef XLC_GRAPH_ENUMS_TD
#define XLC_GRAPH_ENUMS_TD

include "xlc/Dialect/Graph/GraphDialect.td"

def Graph_Role : I32EnumAttr<"Role", "what an op is for in a training step", [
    I32EnumAttrCase<"F", 0>,   // forward
    I32EnumAttrCase<"I", 1>,   // gradient of inputs
    I32EnumAttrCase<"W", 2>,   // gradient of weights
    I32EnumAttrCase<"U", 3>,   // update
    I32EnumAttrCase<"B", 4>]> { // of a run: I and W together
  let cppNamespace = "::xlc::graph";
  let genSpecializedAttr = 0;
}
def Graph_RoleAttr : EnumAttr<Graph_Dialect, Graph_Role, "role"> {
  let assemblyFormat = "`<` $value `>`";
}

def Graph_Purpose : I32EnumAttr<"Purpose", "what a function of a micro-batch, a timeline or a program is run for", [
    I32EnumAttrCase<"train", 0>,        // a step: forward, backward, update
    I32EnumAttrCase<"evaluate", 1>]> {  // forward only: the loss at the current parameters
  let cppNamespace = "::xlc::graph";
  let genSpecializedAttr = 0;
}
def Graph_PurposeAttr : EnumAttr<Graph_Dialect, Graph_Purpose, "purpose"> {
  let assemblyFormat = "`<` $value `>`";
}

def Graph_Predicate : I32EnumAttr<"Predicate", "how two elements are compared", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
    I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::xlc::graph";
  let genSpecializedAttr = 0;
}
def Graph_PredicateAttr : EnumAttr<Graph_Dialect, Graph_Predicate, "predicate">;

def Graph_Reduction : I32EnumAttr<"Reduction", "how elements are combined", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>,
    I32EnumAttrCase<"min", 2>, I32EnumAttrCase<"prod", 3>]> {
  let cppNamespace = "::xlc::graph";
  let genSpecializedAttr = 0;
}
def Graph_ReductionAttr : EnumAttr<Graph_Dialect, Graph_Reduction, "reduction">;

def Graph_Scatter : I32EnumAttr<"Scatter", "what an element becomes where updates name it", [
    I32EnumAttrCase<"last", 0>,   // the last update of the element, in the order of the indices
    I32EnumAttrCase<"max", 1>,    // the largest of the previous value and all updates of the element
    I32EnumAttrCase<"min", 2>]> { // the smallest
  let cppNamespace = "::xlc::graph";
  let genSpecializedAttr = 0;
}
def Graph_ScatterAttr : EnumAttr<Graph_Dialect, Graph_Scatter, "scatter">;

def Graph_Mask : I32EnumAttr<"Mask", "which keys a query may attend to", [
    I32EnumAttrCase<"none", 0>,      // all
    I32EnumAttrCase<"causal", 1>]> { // key index <= query index
  let cppNamespace = "::xlc::graph";
  let genSpecializedAttr = 0;
}
def Graph_MaskAttr : EnumAttr<Graph_Dialect, Graph_Mask, "mask">;

def Graph_Gelu : I32EnumAttr<"GeluKind", "which GELU", [
    I32EnumAttrCase<"erf", 0>,       // x/2 (1 + erf(x/sqrt 2))
    I32EnumAttrCase<"tanh", 1>]> {   // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  let cppNamespace = "::xlc::graph";
  let genSpecializedAttr = 0;
}
def Graph_GeluAttr : EnumAttr<Graph_Dialect, Graph_Gelu, "gelu">;

#endif // XLC_GRAPH_ENUMS_TD
