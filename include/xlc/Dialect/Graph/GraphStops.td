// The op of the `graph` dialect that only Import and Differentiate use: Differentiate removes it. (It has a header of
// its own so that its class is not visible to later phases.)
#ifndef XLC_GRAPH_STOPS_TD
#define XLC_GRAPH_STOPS_TD

include "xlc/Dialect/Graph/GraphOps.td"

def Graph_StopGradientOp : Graph_Unary<"stop_gradient", Graph_Float, "y = x, and no gradient flows back"> {
  let description = [{
    PyTorch's `detach`. It is an op so that passes before Differentiate that merge or match ops do not look through it.
    Differentiate replaces it by x in its last step.

        %y = graph.stop_gradient %x : tensor<4xf32>
  }];
}

#endif // XLC_GRAPH_STOPS_TD
