// The `sched` dialect: buckets, and one timeline of actions per pipeline rank.
// See docs/rationale/Sched.md.
#ifndef XLC_SCHED_OPS_TD
#define XLC_SCHED_OPS_TD

include "xlc/Dialect/Graph/GraphDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"

def Sched_Dialect : Dialect {
  let name = "sched";
  let cppNamespace = "::xlc::sched";
  let summary = "what every rank does in a step, in order: buckets and timelines of actions";
  let dependentDialects = ["::xlc::graph::GraphDialect"];
  let useDefaultAttributePrinterParser = 1;
}

def Sched_Extent : I32EnumAttr<"Extent", "how much of a bucket a rank keeps", [
    I32EnumAttrCase<"whole", 0>,     // all of it
    I32EnumAttrCase<"shard", 1>]> {  // the slice of its index in the shard group
  let cppNamespace = "::xlc::sched";
  let genSpecializedAttr = 0;
}
def Sched_ExtentAttr : EnumAttr<Sched_Dialect, Sched_Extent, "extent">;

class Sched_Op<string mnemonic, list<Trait> traits = []> : Op<Sched_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

def Sched_BucketOp : Sched_Op<"bucket", [Symbol]> {
  let summary = "parameters laid out contiguously, served by one collective and one update";
  let description = [{
    `members` are PyTorch names, member i takes `sizes[i]` elements from `offsets[i]`. `elements` is the padded
    length, a multiple of 64 times the number of shards. `group` is the index of the optimizer group,
    -1 for frozen parameters (no gradient, no state), -2 for buffers (always whole; each rank has its own). The extents say what a rank keeps
    *between* actions: `params`, `grads` and `states` are whole or its shard.

    | stage | params | grads | states |
    |---|---|---|---|
    | 0 | whole | whole | whole |
    | 1 | whole | whole | shard |
    | 2 | whole | shard | shard |
    | 3 | shard | shard | shard |
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$members, DenseI64ArrayAttr:$offsets,
      DenseI64ArrayAttr:$sizes, I64Attr:$elements, I64Attr:$group,
      Sched_ExtentAttr:$params, Sched_ExtentAttr:$grads, Sched_ExtentAttr:$states);
  let assemblyFormat = [{
    $sym_name $members `at` $offsets `sizes` $sizes `elements` $elements `group` $group
    `params` $params `grads` $grads `states` $states attr-dict
  }];
  let hasVerifier = 1;
}

def Sched_TimelineOp : Sched_Op<"timeline", [Symbol, NoTerminator, SingleBlock, IsolatedFromAbove]> {
  let summary = "the actions of one rank for one step, in order";
  let description = [{
    All ranks that differ only in dp share it. `ranks` is dp, `shards` the ranks of one shard group
    (dp_shard); ranks r with equal r / shards form a shard group, ranks with equal r % shards a replica group.
    Activations are SSA values; parameters, gradients and states live in buckets.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$ranks, I64Attr:$shards, I64Attr:$micro_batches);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `ranks` $ranks `shards` $shards `micro_batches` $micro_batches attr-dict-with-keyword $body";
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

def Sched_LoadOp : Sched_Op<"load"> {
  let summary = "reads the rows of one micro-batch of this rank";
  let description = [{
    Row i of micro-batch k on rank r is row (k * ranks + r) * micro + i of the step's global batch.
  }];
  let arguments = (ins I64Attr:$micro_batch, StrArrayAttr:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "`micro` $micro_batch $inputs attr-dict `:` type($values)";
}

def Sched_RunOp : Sched_Op<"run"> {
  let summary = "runs a unit function for one micro-batch";
  let description = [{
    The function's arguments are `values`, then the parameters named by `params`, read from their buckets. Its
    results are `outs`, then what `stores` names: "@loss_sum", "@loss_count", the gradient of a parameter, written into
    its bucket where `accumulate` is false and added where it is true, or a buffer, whose new value replaces the old.
  }];
  let arguments = (ins FlatSymbolRefAttr:$function, Graph_ModelUnitAttr:$unit, I64Attr:$micro_batch,
      Variadic<AnyRankedTensor>:$values,
      StrArrayAttr:$params, StrArrayAttr:$stores, DenseBoolArrayAttr:$accumulate);
  let results = (outs Variadic<AnyRankedTensor>:$outs);
  let assemblyFormat = [{
    $function $unit `micro` $micro_batch `(` $values `)` `params` $params `stores` $stores
    `accumulate` $accumulate attr-dict `:` functional-type($values, $outs)
  }];
}

class Sched_BucketAction<string mnemonic, string what> : Sched_Op<mnemonic> {
  let summary = what;
  let arguments = (ins FlatSymbolRefAttr:$bucket);
  let assemblyFormat = "$bucket attr-dict";
}
def Sched_AllGatherOp : Sched_BucketAction<"all_gather", "the shards of the parameters become the whole on every rank of the shard group">;
def Sched_ReleaseOp : Sched_BucketAction<"release", "the whole parameters are given up, the shard stays">;
def Sched_NormOp : Sched_Op<"norm"> {
  let summary = "adds the sum of squares of this rank's piece of the gradient to @sum_squares";
  let description = [{
    Counted once over all ranks: the first bucket writes, later ones add (`accumulate`). Where every rank holds the whole
    gradient (stage 0), or hybrid sharding replicates it, each rank counts its slice only.
  }];
  let arguments = (ins FlatSymbolRefAttr:$bucket, BoolAttr:$accumulate);
  let assemblyFormat = "$bucket `accumulate` $accumulate attr-dict";
}
def Sched_ReduceScatterOp : Sched_Op<"reduce_scatter"> {
  let summary = "each rank of the shard group gets the sum of its slice of the gradients";
  let description = "Where the bucket's grads are `shard`, the sum is written into the shard, or added to it (`accumulate`); else in place.";
  let arguments = (ins FlatSymbolRefAttr:$bucket, BoolAttr:$accumulate);
  let assemblyFormat = "$bucket `accumulate` $accumulate attr-dict";
}
def Sched_AllReduceOp : Sched_Op<"all_reduce"> {
  let summary = "sums gradients: over the replica group after a reduce_scatter, over all ranks otherwise";
  let arguments = (ins FlatSymbolRefAttr:$bucket, UnitAttr:$replicas);
  let assemblyFormat = "$bucket (`replicas` $replicas^)? attr-dict";
}
def Sched_AllReduceScalarsOp : Sched_Op<"all_reduce_scalars"> {
  let summary = "sums @loss_sum, @loss_count and @sum_squares over all ranks";
  let arguments = (ins StrArrayAttr:$scalars);
  let assemblyFormat = "$scalars attr-dict";
}
def Sched_ScalarsOp : Sched_Op<"scalars"> {
  let summary = "runs @scalars: loss, gradient norm and the factor on the gradients";
  let arguments = (ins FlatSymbolRefAttr:$function);
  let assemblyFormat = "$function attr-dict";
}
def Sched_UpdateOp : Sched_BucketAction<"update", "one optimizer step on this rank's piece of a bucket">;

#endif // XLC_SCHED_OPS_TD
