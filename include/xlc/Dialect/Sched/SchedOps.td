// The `sched` dialect: buckets, and one timeline of actions per pipeline rank.
// See docs/rationale/Sched.md.
#ifndef XLC_SCHED_OPS_TD
#define XLC_SCHED_OPS_TD

include "xlc/Dialect/Dist/DistDialect.td"
include "xlc/Dialect/Graph/GraphDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"

def Sched_Dialect : Dialect {
  let name = "sched";
  let cppNamespace = "::xlc::sched";
  let summary = "the actions of every rank in a step, in order: buckets and timelines";
  let dependentDialects = ["::xlc::graph::GraphDialect", "::xlc::dist::DistDialect"];
  let useDefaultAttributePrinterParser = 1;
}

def Sched_Extent : I32EnumAttr<"Extent", "how much of a bucket a rank keeps", [
    I32EnumAttrCase<"whole", 0>,     // all of it
    I32EnumAttrCase<"shard", 1>]> {  // the slice with its index in the shard group
  let cppNamespace = "::xlc::sched";
  let genSpecializedAttr = 0;
}
def Sched_ExtentAttr : EnumAttr<Sched_Dialect, Sched_Extent, "extent">;

//===----------------------------------------------------------------------===//
// Interfaces of actions
//===----------------------------------------------------------------------===//

class Sched_Interface<string name, string what, list<InterfaceMethod> all> : OpInterface<name> {
  let description = what;
  let cppNamespace = "::xlc::sched";
  let methods = all;
}
def Sched_MicroBatchAction : Sched_Interface<"MicroBatchAction", "An action of one micro-batch.", [
  InterfaceMethod<"The micro-batch, from 0.", "uint64_t", "getMicroBatch">]>;
def Sched_BucketAction : Sched_Interface<"BucketAction", "An action on the memory of one bucket.", [
  InterfaceMethod<"The bucket's name.", "::mlir::FlatSymbolRefAttr", "getBucketAttr">]>;
def Sched_TransferAction : Sched_Interface<"TransferAction", "An end of a message between two stages.", [
  InterfaceMethod<"The message's number in the global order.", "uint64_t", "getMessage">,
  InterfaceMethod<"The stage of the other end.", "uint64_t", "getPeer">]>;
def Sched_CollectiveAction : Sched_Interface<"CollectiveAction", "An action that the ranks of a group do together.", [
  InterfaceMethod<"The group, on a mesh.", "::xlc::dist::GroupAttr", "getGroupOn", (ins "::xlc::dist::MeshAttr":$mesh),
                  "", "return $_op.getGroup();">]>;

class Sched_Op<string mnemonic, list<Trait> traits = []> : Op<Sched_Dialect, mnemonic, traits>;
class Sched_Action<string mnemonic, list<Trait> traits = []>
    : Sched_Op<mnemonic, !listconcat([HasParent<"::xlc::sched::TimelineOp">], traits)>;

/// An action that refers to another op of the module, which must exist.
def Sched_NamesSymbol : DeclareOpInterfaceMethods<SymbolUserOpInterface>;

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

def Sched_BucketOp : Sched_Op<"bucket", [Symbol]> {
  let summary = "parameters laid out contiguously, with one collective and one update for all of them";
  let description = [{
    `members` are PyTorch names; member i has `sizes[i]` elements from `offsets[i]`. `elements` is the padded length, a
    multiple of 64 times the number of shards. `group` is the index of the optimizer group, -1 for frozen parameters (no
    gradient, no state), -2 for buffers (always whole; each rank has its own). The extents state the part that a rank
    keeps *between* actions: `params`, `grads` and `states` are whole or its shard.

    | stage | params | grads | states |
    |---|---|---|---|
    | 0 | whole | whole | whole |
    | 1 | whole | whole | shard |
    | 2 | whole | shard | shard |
    | 3 | shard | shard | shard |

    Sizes are those of a rank's own pieces. Tensor and pipeline parallelism add: `layouts`, per member the piece of the
    parameter that a rank owns (a `#dist.layout`, or `unit` for all of it); `partial`, the tensor-parallel group over
    which its gradients are partial sums, to be summed once per step; `stages`, the pp indices that have the bucket
    (absent: 0), more than one for tied parameters on several stages. `element_type` is that of the parameters as units
    read them (absent: f32). With `master_type` the optimizer keeps, in addition to its states, a master of the
    parameters of that type, which it updates and rounds to the element type. `gradient_type` and `state_type` are those
    of gradients and states (absent: f32); gradients of f32 are exchanged between ranks as `wire_type` (absent:
    unchanged). An update rounds its values in sixteen bits to nearest, or, if it is `stochastic`, by random bits of
    each element.

        sched.bucket @b ["w"] at [0] sizes [64] elements 64 group 0 params whole grads whole states shard
            {element_type = bf16, master_type = f32}
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$members, DenseI64ArrayAttr:$offsets,
      DenseI64ArrayAttr:$sizes, I64Attr:$elements, I64Attr:$group,
      Sched_ExtentAttr:$params, Sched_ExtentAttr:$grads, Sched_ExtentAttr:$states,
      OptionalAttr<ArrayAttr>:$layouts, OptionalAttr<Dist_GroupAttr>:$partial, OptionalAttr<DenseI64ArrayAttr>:$stages,
      OptionalAttr<TypeAttrOf<AnyFloat>>:$element_type, OptionalAttr<TypeAttrOf<AnyFloat>>:$master_type,
      OptionalAttr<TypeAttrOf<AnyFloat>>:$gradient_type, OptionalAttr<TypeAttrOf<AnyFloat>>:$state_type,
      OptionalAttr<TypeAttrOf<AnyFloat>>:$wire_type, UnitAttr:$stochastic);
  let assemblyFormat = [{
    $sym_name $members `at` $offsets `sizes` $sizes `elements` $elements `group` $group
    `params` $params `grads` $grads `states` $states attr-dict
  }];
  let extraClassDeclaration = [{
    /// The type of an element of the parameters, as units read them.
    mlir::Type getTypeOfParameters();
    /// The type of the parameters as the optimizer updates them: that of the master, if there is one.
    mlir::Type getTypeOfUpdated();
    mlir::Type getTypeOfGradients();
    mlir::Type getTypeOfStates();
    /// The same for one state: an average of the parameters is f32.
    mlir::Type getTypeOfState(llvm::StringRef name);
    /// The type of gradients in exchanges between ranks.
    mlir::Type getTypeOnWire();
    /// Bytes of `elements` elements of the parameters, as units read them, or of the gradients.
    int64_t getParameterBytes(int64_t elements);
    int64_t getGradientBytes(int64_t elements);
  }];
  let hasVerifier = 1;
}

def Sched_TimelineOp : Sched_Op<"timeline", [Symbol, NoTerminator, SingleBlock, IsolatedFromAbove]> {
  let summary = "the actions of one pipeline stage's ranks for one step, in order";
  let description = [{
    Shared by all ranks of stage `stage`, which differ only in dp and tp: @train, or @train_0, @train_1, ... if there
    are several stages. Activations are SSA values; parameters, gradients and states are in buckets.

    A module may have timelines of several purposes (absent: train), each purpose for all stages. The one to run is
    selected between two steps, the same for all ranks. They read the same buckets, and number their messages
    separately.

    Timelines that evaluate have `sums`: the totals over all micro-batches of all ranks, by name, of `sum_types`. The
    host reads them after the last action.

        sched.timeline @evaluate stage 0 micro_batches 2 purpose evaluate
            attributes {sums = ["@loss_sum", "@targets"], sum_types = [tensor<f64>, tensor<i64>]} {
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$stage, I64Attr:$micro_batches,
      DefaultValuedAttr<Graph_PurposeOfTimelineAttr, "::xlc::graph::Purpose::train">:$purpose,
      OptionalAttr<StrArrayAttr>:$sums, OptionalAttr<TypeArrayAttr>:$sum_types);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `stage` $stage `micro_batches` $micro_batches (`purpose` $purpose^)? attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    /// The mesh of the module.
    ::xlc::dist::MeshAttr getMesh() { return ::xlc::dist::getMesh(getOperation()); }
    bool isTraining() { return getPurpose() == ::xlc::graph::Purpose::train; }
    /// The names of its sums, in their order; none if it trains.
    ::llvm::SmallVector<::mlir::StringAttr> listSums();
    /// The type of a sum; null if there is no sum of this name.
    ::mlir::RankedTensorType findSum(::llvm::StringRef name);
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

def Sched_LoadOp : Sched_Action<"load", [Sched_MicroBatchAction]> {
  let summary = "reads the rows of one micro-batch of this rank";
  let description = [{
    Row i of micro-batch k on dp index d is row (k * dp + d) * micro + i of the step's global batch.
  }];
  let arguments = (ins I64Attr:$micro_batch, StrArrayAttr:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "`micro` $micro_batch $inputs attr-dict `:` type($values)";
  let hasVerifier = 1;
}

def Sched_RunOp : Sched_Action<"run", [Sched_MicroBatchAction]> {
  let summary = "runs a unit function for one micro-batch";
  let description = [{
    The function's arguments are `values`, then the subsequences of `sites`, the nodes for which it draws random bits
    (graph.site), then the parameters named by `params`, read from their buckets. Its results are `outs`, then those
    named by `stores`: "@loss_sum", "@loss_count", another sum of the timeline, the gradient of a parameter, written
    into its bucket if `accumulate` is false and added if it is true, or a buffer, whose new value replaces the old.
    `role` is F, B, or I and W separately.
  }];
  let arguments = (ins FlatSymbolRefAttr:$function, Graph_ModelUnitAttr:$unit, I64Attr:$micro_batch,
      Variadic<AnyRankedTensor>:$values,
      StrArrayAttr:$params, StrArrayAttr:$stores, DenseBoolArrayAttr:$accumulate,
      DefaultValuedAttr<Graph_RoleOfRunAttr, "::xlc::graph::Role::F">:$role,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$sites);
  let results = (outs Variadic<AnyRankedTensor>:$outs);
  let assemblyFormat = [{
    $function $unit `micro` $micro_batch `(` $values `)` (`sites` $sites^)? `params` $params `stores` $stores
    `accumulate` $accumulate (`role` $role^)? attr-dict `:` functional-type($values, $outs)
  }];
  let hasVerifier = 1;
}

def Sched_StoreOp : Sched_Action<"store", [Sched_MicroBatchAction]> {
  let summary = "passes the rows of the model's outputs for one micro-batch of this rank to the host";
  let description = [{
    Rows are numbered as in `sched.load`; the number of rows of a value per sample is its dimension 0 divided by the
    micro-batch. Ranks that differ only in tp have the same values.

        sched.store micro 0 (%logits) as ["logits"] : tensor<2x32x50257xf32>
  }];
  let arguments = (ins I64Attr:$micro_batch, Variadic<AnyRankedTensor>:$values, StrArrayAttr:$outputs);
  let assemblyFormat = "`micro` $micro_batch `(` $values `)` `as` $outputs attr-dict `:` type($values)";
  let hasVerifier = 1;
}

def Sched_SendOp : Sched_Action<"send", [Sched_MicroBatchAction, Sched_TransferAction]> {
  let summary = "sends a value to the rank of equal dp and tp on stage `peer`";
  let description = [{
    A transfer is a rendezvous: sender and receiver meet, the bytes are copied, and both continue. `message` is the
    number of the transfer in the single global order of messages, which every rank follows.
  }];
  let arguments = (ins AnyRankedTensor:$value, I64Attr:$message, I64Attr:$peer, I64Attr:$micro_batch);
  let assemblyFormat = "$value `message` $message `to` $peer `micro` $micro_batch attr-dict `:` type($value)";
  let hasVerifier = 1;
}
def Sched_ReceiveOp : Sched_Action<"receive", [Sched_MicroBatchAction, Sched_TransferAction]> {
  let summary = "receives a value from the rank of equal dp and tp on stage `peer`";
  let arguments = (ins I64Attr:$message, I64Attr:$peer, I64Attr:$micro_batch);
  let results = (outs AnyRankedTensor:$value);
  let assemblyFormat = "`message` $message `from` $peer `micro` $micro_batch attr-dict `:` type($value)";
  let hasVerifier = 1;
}

class Sched_OnBucket<string mnemonic, string what, list<Trait> traits = []>
    : Sched_Action<mnemonic, !listconcat([Sched_BucketAction, Sched_NamesSymbol], traits)> {
  let summary = what;
  let arguments = (ins FlatSymbolRefAttr:$bucket);
  let assemblyFormat = "$bucket attr-dict";
}
def Sched_CollectiveOp : Sched_Action<"collective", [Sched_BucketAction, Sched_NamesSymbol, Sched_CollectiveAction]> {
  let summary = "ranks gather the parameters of a bucket, or sum its gradients";
  let description = [{
    | kind | over | what |
    |---|---|---|
    | all_gather | the shard group | the shards of the parameters become the whole on every rank |
    | reduce_scatter | the shard group | each rank gets the sum of its slice of the gradients: if the bucket's grads are `shard`, written into the shard, or added to it (`accumulate`); else in place |
    | all_reduce | `group` | gradients are summed in place: the whole, or the slice (`extent` shard) that a reduce_scatter has left on this rank |

        sched.collective all_gather @b
        sched.collective reduce_scatter @b accumulate
        sched.collective all_reduce @b of whole over <dp, [2, 1], []>
  }];
  let arguments = (ins Dist_KindOfCollectiveAttr:$kind, FlatSymbolRefAttr:$bucket, OptionalAttr<Sched_ExtentAttr>:$extent,
      OptionalAttr<Dist_GroupAttr>:$group, UnitAttr:$accumulate);
  let assemblyFormat = "$kind $bucket (`of` $extent^ `over` $group)? (`accumulate` $accumulate^)? attr-dict";
  let extraClassDeclaration = [{
    ::xlc::dist::GroupAttr getGroupOn(::xlc::dist::MeshAttr mesh) {
      return getGroupAttr() ? getGroupAttr() : ::xlc::dist::GroupAttr::shards(mesh);
    }
  }];
  let hasVerifier = 1;
}
def Sched_ReleaseOp : Sched_OnBucket<"release", "the whole parameters are given up, the shard stays">;
def Sched_NormOp : Sched_Action<"norm", [Sched_BucketAction, Sched_NamesSymbol]> {
  let summary = "adds the sum of squares of this rank's piece of the gradient to @sum_squares";
  let description = [{
    Counted once over all ranks: the first bucket writes, later ones add (`accumulate`). If every rank has the whole
    gradient (stage 0), or hybrid sharding replicates it, each rank counts only its slice. If `copies` ranks count the
    same elements (replicated over tp, tied between stages), each counts that fraction of them.
  }];
  let arguments = (ins FlatSymbolRefAttr:$bucket, I64Attr:$copies, BoolAttr:$accumulate);
  let assemblyFormat = "$bucket `copies` $copies `accumulate` $accumulate attr-dict";
  let hasVerifier = 1;
}
def Sched_AllReduceScalarsOp : Sched_Action<"all_reduce_scalars", [Sched_CollectiveAction]> {
  let summary = "sums scalars (@loss_sum, @loss_count, @sum_squares), or sums of the timeline, over a group";
  let arguments = (ins StrArrayAttr:$scalars, Dist_GroupAttr:$group);
  let assemblyFormat = "$scalars `over` $group attr-dict";
  let hasVerifier = 1;
}
def Sched_ZeroScalarsOp : Sched_Action<"zero_scalars"> {
  let summary = "sets to zero the scalars to which this stage does not contribute";
  let arguments = (ins StrArrayAttr:$scalars);
  let assemblyFormat = "$scalars attr-dict";
  let hasVerifier = 1;
}
def Sched_ScalarsOp : Sched_Action<"scalars", [Sched_NamesSymbol]> {
  let summary = "runs @scalars: loss, gradient norm, the factor on the gradients, and whether the step is applied";
  let arguments = (ins FlatSymbolRefAttr:$function);
  let assemblyFormat = "$function attr-dict";
}
def Sched_UpdateOp : Sched_OnBucket<"update", "one optimizer step on this rank's piece of a bucket">;

#endif // XLC_SCHED_OPS_TD
