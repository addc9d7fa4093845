// Operations of the `graph` dialect over windows of an image or a signal: convolutions and pools. Included by
// GraphOps.td, whose classes and types they use.
#ifndef XLC_GRAPH_WINDOW_OPS_TD
#define XLC_GRAPH_WINDOW_OPS_TD

// Windows over spatial dimensions. x: [batch, channels, spatial...], one to three spatial dimensions. Along a spatial
// dimension, output position o and window position k use element o * stride + k * dilation - pad of x. Elements outside
// of x are zero for convolutions and are ignored by pools. `pads` is the padding before x only; the number of outputs
// follows from the result's type.
class Graph_Windows<string mnemonic, dag operands, dag result, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([SameOperandsAndResultElementType, Graph_LibraryKernel], traits)> {
  let arguments = !con(operands, (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads));
  let results = result;
  let hasVerifier = 1;
}
class Graph_Convolving<string mnemonic, dag operands, dag result>
    : Graph_Windows<mnemonic, !con(operands, (ins I64Attr:$groups)), result, [Graph_Convolution]> {
  let assemblyFormat = [{
    operands `groups` $groups `by` $strides `dilations` $dilations `pads` $pads attr-dict `:`
    functional-type(operands, results)
  }];
}
def Graph_ConvolutionOp : Graph_Convolving<"convolution", (ins Graph_Multiplied:$x, Graph_Multiplied:$w), (outs Graph_Multiplied:$y)> {
  let summary = "y[n, f, o...] = sum over c, k... of x[n, c, o * stride + k * dilation - pad...] w[f, c, k...]";
  let description = [{
    x: [n, groups c, in...]; w: [groups f, c, window...]; y: [n, groups f, out...]; the features of a group depend only
    on its channels. Linear in x and in w, so this op and the next two are each other's gradients. Narrow elements
    (bf16, f16) are multiplied without conversion and summed in f32, and each sum is rounded once.
  }];
}
def Graph_ConvolutionTransposeOp : Graph_Convolving<"convolution_transpose", (ins Graph_Multiplied:$y, Graph_Multiplied:$w), (outs Graph_Multiplied:$x)> {
  let summary = "the transpose of convolution in x: its gradient, and ONNX's ConvTranspose";
}
def Graph_ConvolutionWeightBackwardOp : Graph_Convolving<"convolution_weight_backward", (ins Graph_Multiplied:$x, Graph_Multiplied:$dy), (outs Graph_Multiplied:$dw)> {
  let summary = "the gradient of convolution with respect to w";
}
class Graph_Pooling<string mnemonic, dag operands, dag result>
    : Graph_Windows<mnemonic, !con(operands, (ins DenseI64ArrayAttr:$window)), result, [Graph_MaxPool]> {
  let assemblyFormat = [{
    operands `window` $window `by` $strides `dilations` $dilations `pads` $pads attr-dict `:`
    functional-type(operands, results)
  }];
}
def Graph_MaxPoolOp : Graph_Pooling<"max_pool", (ins Graph_Float:$x), (outs Graph_Float:$y)> {
  let summary = "y[n, c, o...] = the largest element of x in the window at o (a NaN propagates)";
}
def Graph_MaxPoolBackwardOp : Graph_Pooling<"max_pool_backward", (ins Graph_Float:$x, Graph_Float:$dy), (outs Graph_Float:$dx)> {
  let summary = "dx = dy, added at the first of the largest elements of each window";
}

#endif // XLC_GRAPH_WINDOW_OPS_TD
