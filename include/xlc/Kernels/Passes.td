// Passes that make kernels, in the order in which they run: the last runs in Lower, the others in Memory.
#ifndef XLC_KERNELS_PASSES_TD
#define XLC_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def NormalizeReductionsPass : Pass<"xlc-normalize-reductions", "::mlir::ModuleOp"> {
  let summary = "rewrites every reduction to one over the last dimension, over all but the last, or over all";
  let description = [{
    These three are the supported kinds of kernel. Cross-entropy is expanded into small ops, because it is two kernels:
    one over rows, one over all. If a contraction sums letters that are not adjacent and the target has no library that
    supports this, they are moved together. If it has no library for attention, attention becomes products and kernels
    over the rows of the scores. If its library does not support queries whose keys are all masked
    (`Target::seesWithoutKeys`), their contribution is removed from backward and added separately; if they attend to no
    key, forward's result becomes zero there.

        %y = graph.reduce sum %x dims [0] : tensor<8x32x64xf32> -> tensor<32x64xf32>

    becomes

        %0 = graph.reshape %x : tensor<8x32x64xf32> -> tensor<8x2048xf32>
        %1 = graph.reduce sum %0 dims [0] : tensor<8x2048xf32> -> tensor<2048xf32>
        %y = graph.reshape %1 : tensor<2048xf32> -> tensor<32x64xf32>
  }];
  let constructor = "::xlc::createNormalizeReductionsPass(target)";
  let dependentDialects = ["::xlc::graph::GraphDialect"];
}

def FormKernelsPass : Pass<"xlc-form-kernels", "::mlir::ModuleOp"> {
  let summary = "groups the ops of unit functions into kernels";
  let description = [{
    The target decides which ops a library supports with their layouts. Afterwards a unit function consists of calls of
    kernel functions, of views (reshape, transpose, slice that are strides) and of concats whose operands can be
    computed in place. Only results of kernels take memory. Kinds (`exec.kind`): library calls contract (with bias),
    attention, attention_backward, scatter_add; generated loop, rows (reductions over the last dimension), columns (over
    all others), all (to scalars).

        %0 = graph.contract "ab,bc->ac" %x, %w
        %1 = graph.broadcast %b
        %2 = graph.add %0, %1
        %3 = graph.gelu tanh %2

    becomes

        func.func private @kernel_0(%x, %w, %b) attributes {exec.kind = #exec.kernel<library>} { ... }
        func.func private @kernel_1(%x) attributes {exec.kind = #exec.kernel<loop>} { graph.gelu ... }
        %0 = call @kernel_0(%x, %w, %b)
        %1 = call @kernel_1(%0)

    Equal kernels are one function.
  }];
  let constructor = "::xlc::createFormKernelsPass(target)";
  let dependentDialects = ["::xlc::graph::GraphDialect", "::xlc::exec::ExecDialect", "::mlir::func::FuncDialect"];
}

def SplitReductionsPass : Pass<"xlc-split-reductions", "::mlir::ModuleOp"> {
  let summary = "splits sums over columns and over all elements into partial sums, for targets with many threads";
  let description = [{
    Applies to kernels of the kind columns or all with enough elements: the target defines the minimum for a chunk. The
    number of chunks follows from that and the shape, never from the number of threads.

        func.func private @kernel_0(%x) attributes {exec.kind = #exec.kernel<columns>} {
          %y = graph.reduce sum %x dims [0] : tensor<4096x64xf32> -> tensor<64xf32>

    becomes

        func.func private @kernel_0_partial(%x) attributes {exec.kind = #exec.kernel<columns>} {
          %0 = graph.reshape %x : tensor<4096x64xf32> -> tensor<128x32x64xf32>
          %y = graph.reduce sum %0 dims [1] : tensor<128x32x64xf32> -> tensor<128x64xf32>
        func.func private @kernel_0(%partial) attributes {exec.kind = #exec.kernel<columns>} {
          %y = graph.reduce sum %partial dims [0] : tensor<128x64xf32> -> tensor<64xf32>

    A kernel of the kind rows that also sums columns makes partial sums of them; another kernel, of the kind columns,
    combines them:

        func.func private @kernel_1(%x) attributes {exec.kind = #exec.kernel<rows>} {
          %y = graph.softmax %x : tensor<4096x64xf32>
          %s = graph.reduce sum %y dims [0] : tensor<4096x64xf32> -> tensor<64xf32>

    becomes

        func.func private @kernel_1(%x) attributes {exec.kind = #exec.kernel<rows>} {
          %y = (softmax in small ops)
          %0 = graph.reshape %y : tensor<4096x64xf32> -> tensor<512x8x64xf32>
          %s = graph.reduce sum %0 dims [1] : tensor<512x8x64xf32> -> tensor<512x64xf32>
        func.func private @kernel_1_sums(%partial) attributes {exec.kind = #exec.kernel<columns>} {
          %s = graph.reduce sum %partial dims [0] : tensor<512x64xf32> -> tensor<64xf32>
  }];
  let constructor = "::xlc::createSplitReductionsPass(target)";
  let dependentDialects = ["::xlc::graph::GraphDialect", "::xlc::exec::ExecDialect", "::mlir::func::FuncDialect"];
}

def MergeSumsPass : Pass<"xlc-merge-sums", "::mlir::ModuleOp"> {
  let summary = "merges sums over few rows whose results leave the function into one kernel at its end";
  let description = [{
    For targets that split sums over columns. The sums may have several lengths.

        %0 = call @kernel_0(%partial0) : (tensor<128x64xf32>) -> tensor<64xf32>
        ...
        %1 = call @kernel_1_sums(%partial1) : (tensor<512x96xf32>) -> tensor<96xf32>
        ...
        return %0, %1

    becomes

        ...
        %0:2 = call @kernel_0_merged(%partial0, %partial1)
        return %0#0, %0#1
  }];
  let constructor = "::xlc::createMergeSumsPass(target)";
  let dependentDialects = ["::xlc::graph::GraphDialect", "::xlc::exec::ExecDialect", "::mlir::func::FuncDialect"];
}

def ExpandNamedOpsPass : Pass<"xlc-expand-named-ops", "::mlir::ModuleOp"> {
  let summary = "expands gelu, softmax, layer_norm, cross_entropy, optimizer steps ... into small ops";
  let description = [{
    Applies to every kernel function (`exec.kind`) that is not a library call. One table row per named op.

        %y = graph.scale %x by 1 over 4 : tensor<8xf32>

    becomes

        %c = graph.constant dense<2.5e-01> : tensor<f32>
        %b = graph.broadcast %c : tensor<f32> -> tensor<8xf32>
        %y = graph.mul %x, %b : tensor<8xf32>
  }];
  let dependentDialects = ["::xlc::graph::GraphDialect"];
}

#endif // XLC_KERNELS_PASSES_TD
