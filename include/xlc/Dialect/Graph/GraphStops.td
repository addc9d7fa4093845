// The op of the `graph` dialect that only Import and Differentiate know: Differentiate leaves none of it. (It stands apart
// so that later phases do not even see its class.)
#ifndef XLC_GRAPH_STOPS_TD
#define XLC_GRAPH_STOPS_TD

include "xlc/Dialect/Graph/GraphOps.td"

def Graph_StopGradientOp : Graph_Unary<"stop_gradient", Graph_Float, "y = x, and no gradient flows back"> {
  let description = [{
    PyTorch's `detach`. It is an op so that nothing that is merged or recognised on the way to Differentiate sees x in it.
    Differentiate replaces it by x at its end.

        %y = graph.stop_gradient %x : tensor<4xf32>
  }];
}

#endif // XLC_GRAPH_STOPS_TD
