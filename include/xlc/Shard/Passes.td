// Passes of the phase Shard, in the order in which they run.
#ifndef XLC_SHARD_PASSES_TD
#define XLC_SHARD_PASSES_TD

include "mlir/Pass/PassBase.td"

def ChunkLossPass : Pass<"xlc-chunk-loss", "::mlir::ModuleOp"> {
  let summary = "computes the head's product, its loss and their gradients in chunks of rows, without the full logits";
  let description = [{
    All of it runs in backward: forward keeps the rows that enter the product, and no logits. A gradient of a parameter
    is returned as one contribution per chunk. With `rows = 2`,

        %y = graph.contract "ab,cb->ac" %x, %w {role = F} : ... -> tensor<4x9xf32>
        %sum, %count, %lse = graph.cross_entropy %y, %labels {role = F}
        %dy = graph.cross_entropy_backward %y, %labels, %lse, %seed {role = I}
        %dx = graph.contract "ac,cb->ab" %dy, %w {role = I}
        %dw = graph.contract "ab,ac->cb" %x, %dy {role = W}

    becomes, twice and in backward,

        %x0 = graph.slice %x from [0, 0] by [1, 1] : tensor<4x8xf32> -> tensor<2x8xf32>
        %y0 = graph.contract "ab,cb->ac" %x0, %w : ... -> tensor<2x9xf32>
        ...
        %dx = graph.concat %dx0, %dx1 dim 0
        %sum = graph.add %sum0, %sum1

    If a loss is not chunked, a remark states the reason: an op between the product and the loss that mixes rows, or
    another reader of the logits. A loss with at most `rows` rows is not chunked either.
  }];
  let options = [Option<"rows", "rows", "int64_t", "128", "rows of a chunk, at most">];
  let dependentDialects = ["::xlc::graph::GraphDialect"];
}

def GroupSumsPass : Pass<"xlc-group-sums", "::mlir::ModuleOp"> {
  let summary = "in sums of three or more terms, adds products first";
  let description = [{
    Products of split operands are partial sums, and partial sums can be added before they are reduced, at no cost.

        %1 = graph.add %x, %product_a
        %2 = graph.add %1, %product_b

    becomes

        %1 = graph.add %product_a, %product_b
        %2 = graph.add %1, %x

    Applies within one unit and role. Sums of floats round differently in another order, as for any change of order.
  }];
}

def PartitionPass : Pass<"xlc-partition", "::mlir::ModuleOp"> {
  let summary = "rewrites @micro_batch for one tensor-parallel rank";
  let description = [{
    Finds the layouts of the matrices of repeated units and of the vocabulary, propagates them, and rewrites every op
    with its local shapes, with collectives where a layout changes.

        func.func @micro_batch(%x: tensor<4x8xf32>, %w: tensor<8x6xf32> {graph.param = "w"}, ...) {
          %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>

    becomes, for tp = 2 and if this product follows one whose result is split,

        func.func @micro_batch(%x: tensor<4x4xf32>, %w: tensor<4x6xf32> {graph.param = "w",
                               dist.layout = #dist.layout<[8, 6] dim 0 outer 1 over <tp, [2, 1], []>>}, ...) {
          %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
          %1 = dist.all_reduce sum %0 over <tp, [2, 1], []> : tensor<4x6xf32>

    The compiler takes options and diagnostics from the spec; the options of this pass are for tests.
  }];
  let dependentDialects = ["::xlc::dist::DistDialect"];
  let options = [
    Option<"sequence", "sequence", "std::string", "\"auto\"", "on, off or auto">,
    ListOption<"pins", "pins", "std::string", "PARAMETER:DIMENSION to split">,
  ];
}

def VerifyShardedPass : Pass<"xlc-verify-sharded", "::mlir::ModuleOp"> {
  let summary = "gate: a partial sum is never used as a whole value, nor returned undeclared by a unit function";
  let description = [{
    Runs after every pass from Shard to Schedule. Reads @micro_batch, or the timelines that DataParallel makes of it: a
    value sent between stages has the same state on both sides.
  }];
  let dependentDialects = ["::xlc::dist::DistDialect"];
}

#endif // XLC_SHARD_PASSES_TD
