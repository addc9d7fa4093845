// Traits of `graph` ops, for TableGen. Traits.h documents each of them.
#ifndef XLC_GRAPH_TRAITS_TD
#define XLC_GRAPH_TRAITS_TD

include "mlir/IR/OpBase.td"

// The elements that an op reads (Traits.h). An op with neither trait may read any element.
class Graph_Trait<string name> : NativeOpTrait<name> { let cppNamespace = "::xlc::graph"; }
def Graph_ReadsOwnElement : Graph_Trait<"ReadsOwnElement">;
def Graph_ReadsOwnDimensions : Graph_Trait<"ReadsOwnDimensions">;

// The kind of an op (Traits.h).
def Graph_ElementwiseTrait : Graph_Trait<"Elementwise">;
def Graph_Elementwise : TraitList<[Graph_ElementwiseTrait, Graph_ReadsOwnElement]>;
def Graph_Movement : Graph_Trait<"Movement">;
def Graph_ViewTrait : Graph_Trait<"View">;
def Graph_View : TraitList<[Graph_ViewTrait, Graph_Movement]>;
def Graph_Additive : Graph_Trait<"Additive">;
def Graph_Rowwise : Graph_Trait<"Rowwise">;
def Graph_LibraryKernel : Graph_Trait<"LibraryKernel">;
def Graph_Convolution : Graph_Trait<"Convolution">;
def Graph_Attention : Graph_Trait<"Attention">;
def Graph_MaxPool : Graph_Trait<"MaxPool">;
def Graph_ScatterAdd : Graph_Trait<"ScatterAdd">;
def Graph_CrossEntropy : Graph_Trait<"CrossEntropy">;
def Graph_Norm : Graph_Trait<"Norm">;
def Graph_Columnwise : Graph_Trait<"Columnwise">;
def Graph_Reshaping : Graph_Trait<"Reshaping">;
def Graph_Sum : Graph_Trait<"Sum">;
def Graph_Held : Graph_Trait<"Held">;
def Graph_Extremum : Graph_Trait<"Extremum">;

#endif // XLC_GRAPH_TRAITS_TD
