// The `exec` dialect: buffers with offsets, kernel calls on them, and the timeline of a rank. Reports, the embedded
// plan and the byte-exact interpreter are all made from it.
// See docs/rationale/Exec.md.
#ifndef XLC_EXEC_OPS_TD
#define XLC_EXEC_OPS_TD

include "xlc/Dialect/Dist/DistDialect.td"
include "xlc/Dialect/Graph/GraphDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::xlc::exec";
  let summary = "buffers at offsets of one arena, calls on them, and a rank's timeline";
  let dependentDialects = ["::xlc::graph::GraphDialect", "::xlc::dist::DistDialect"];
  let useDefaultAttributePrinterParser = 1;
}

def Exec_Cause : I32EnumAttr<"Cause", "why a buffer exists", [
    I32EnumAttrCase<"parameters", 0>, I32EnumAttrCase<"gradients", 1>,
    I32EnumAttrCase<"optimizer", 2>, I32EnumAttrCase<"residuals", 3>,
    I32EnumAttrCase<"workspace", 4>, I32EnumAttrCase<"communication", 5>]> {
  let cppNamespace = "::xlc::exec";
  let genSpecializedAttr = 0;
}
def Exec_CauseAttr : EnumAttr<Exec_Dialect, Exec_Cause, "cause">;

def Exec_Accumulate : I32EnumAttr<"Accumulate", "whether a call writes a result or adds to it", [
    I32EnumAttrCase<"never", 0>,     // writes
    I32EnumAttrCase<"always", 1>,    // adds
    I32EnumAttrCase<"later", 2>]> {  // writes if the action's `first` is true, else adds
  let cppNamespace = "::xlc::exec";
  let genSpecializedAttr = 0;
}

def Exec_KernelKind : I32EnumAttr<"KernelKind", "how a kernel is executed", [
    I32EnumAttrCase<"loop", 0>,     // each element of the results independently
    I32EnumAttrCase<"rows", 1>,     // reductions along the last dimension, row by row
    I32EnumAttrCase<"columns", 2>,  // along the dimensions before it
    I32EnumAttrCase<"all", 3>,      // over all elements
    I32EnumAttrCase<"library", 4>]> {  // its first op, executed by a library of the target
  let cppNamespace = "::xlc::exec";
  let genSpecializedAttr = 0;
}
/// `exec.kind` of a function: it is a kernel, and of this kind.
def Exec_KernelKindAttr : EnumAttr<Exec_Dialect, Exec_KernelKind, "kernel"> {
  let assemblyFormat = "`<` $value `>`";
}

/// A queue of actions with one role. A rank runs several queues concurrently, each in order. A target may have a thread
/// or device queue for each, or run all actions in the order of the program.
def Exec_Stream : I32Enum<"Stream", "on which of a rank's queues an action is", [
    I32EnumCase<"compute", 0>,  // runs of functions, and actions of this rank alone
    I32EnumCase<"gather", 1>,   // all_gathers of parameters
    I32EnumCase<"reduce", 2>,   // sums over ranks
    I32EnumCase<"send", 3>,
    I32EnumCase<"receive", 4>,
    I32EnumCase<"copy", 5>,     // rows of a micro-batch, from files
    I32EnumCase<"weights", 6>]> {  // gradients of weights, if they run beside other computations
  let cppNamespace = "::xlc::exec";
}

def Exec_StateKind : I32Enum<"StateKind", "what a state is", [
    I32EnumCase<"value", 0>,            // parameters as units read them
    I32EnumCase<"master", 1>,           // parameters as the optimizer updates them, if units read rounded ones
    I32EnumCase<"optimizer", 2>,        // a state of the optimizer's row, by its name
    I32EnumCase<"running_average", 3>,  // replaced by forward, separately on each rank
    I32EnumCase<"counter", 4>,          // a number that the next step reads
    I32EnumCase<"result", 5>,           // a number that is read between two steps
    I32EnumCase<"index", 6>,            // the rank's index in a group
    I32EnumCase<"members", 7>,          // maps elements of a bucket to elements of parameters (States.h)
    I32EnumCase<"site", 8>]> {          // the subsequence of a node that draws random bits (Philox.h)
  let cppNamespace = "::xlc::exec";
}

def Exec_Beginning : I32Enum<"Beginning", "what a state holds before the first step", [
    I32EnumCase<"nothing", 0>, I32EnumCase<"parameters", 1>, I32EnumCase<"zero", 2>, I32EnumCase<"one", 3>,
    I32EnumCase<"index", 4>, I32EnumCase<"members", 5>, I32EnumCase<"site", 6>]> {
  let cppNamespace = "::xlc::exec";
}

def Exec_PlaceAttr : AttrDef<Exec_Dialect, "Place"> {
  let mnemonic = "place";
  let summary = "an address in the arena: buffer, byte offset in it, bytes per shard index";
  let description = [{
    Address on a rank = offset of `buffer` + `offset` + (index of the shard) * `stride`, all in bytes. With the stride,
    ranks that differ only in dp share one plan.
  }];
  let parameters = (ins "int64_t":$buffer, "int64_t":$offset, "int64_t":$stride);
  let assemblyFormat = "`<` $buffer `+` $offset `+` $stride `>`";
}

def Exec_PlaceArrayAttr : TypedArrayAttrBase<Exec_PlaceAttr, "array of places">;

def Exec_Action : OpInterface<"Action"> {
  let description = "An action that the ranks of a program perform at one moment of a step.";
  let cppNamespace = "::xlc::exec";
  let methods = [
    InterfaceMethod<"Its name for people, in traces and faults.", "::llvm::StringRef", "getLabel", (ins), "",
                    "return $_op->getName().stripDialect();">,
    InterfaceMethod<"All memory that it names.", "void", "forEachPlace",
                    (ins "::llvm::function_ref<void(::xlc::exec::PlaceAttr)>":$visit)>,
    InterfaceMethod<"The queue that it is on.", "::xlc::exec::Stream", "getStream">,
    InterfaceMethod<"", "void", "setStream", (ins "::xlc::exec::Stream":$stream)>,
    InterfaceMethod<"Actions of other streams that end before it begins, by their numbers in the program, ascending.",
                    "::llvm::ArrayRef<int64_t>", "getAfter">,
    InterfaceMethod<"", "void", "setAfter", (ins "::llvm::ArrayRef<int64_t>":$actions)>,
    InterfaceMethod<"Its bytes are its own so many actions before it stands in the list, and after.", "int64_t",
                    "getEarly">,
    InterfaceMethod<"", "void", "setEarly", (ins "int64_t":$actions)>,
    InterfaceMethod<"", "int64_t", "getLate">,
    InterfaceMethod<"", "void", "setLate", (ins "int64_t":$actions)>];
}

def Exec_Transfer : OpInterface<"Transfer"> {
  let description = "An end of a message between two stages.";
  let cppNamespace = "::xlc::exec";
  let methods = [
    InterfaceMethod<"The message's number in the global order.", "uint64_t", "getMessage">,
    InterfaceMethod<"The stage of the other end.", "uint64_t", "getPeer">,
    InterfaceMethod<"How much crosses.", "uint64_t", "getBytes">];
}

/// Ops that a run of a function executes, one after the other (Exec.h).
def Exec_Inner : NativeOpTrait<"Inner"> { let cppNamespace = "::xlc::exec"; }

class Exec_Op<string mnemonic, list<Trait> traits = []> : Op<Exec_Dialect, mnemonic, traits>;

/// An action with arguments and a format of its `own`. It refers to the places of a list, in order, or to those that
/// `visits` enumerates.
class Exec_ActionOp<string mnemonic, dag own, string ownFormat,
                    string visits = "for (auto place : getPlaces().getAsRange<PlaceAttr>()) visit(place);",
                    string declared = "", list<Trait> traits = []>
    : Exec_Op<mnemonic, !listconcat([Exec_Action, HasParent<"::xlc::exec::ProgramOp">], traits)> {
  let arguments = !con(own, (ins DefaultValuedProp<EnumProp<Exec_Stream>, "::xlc::exec::Stream::compute">:$stream,
      DefaultValuedProp<IntArrayProp<I64Prop>, "::llvm::ArrayRef<int64_t>{}", "{}">:$after,
      DefaultValuedProp<I64Prop, "0">:$early, DefaultValuedProp<I64Prop, "0">:$late));
  let assemblyFormat = ownFormat # " (`on` $stream^)? (`early` $early^)? (`late` $late^)? (`after` $after^)? attr-dict";
  let extraClassDeclaration = "void forEachPlace(::llvm::function_ref<void(PlaceAttr)> visit) { " # visits # " } " # declared;
}
class Exec_OnePlaceOp<string mnemonic, dag own, string ownFormat, list<Trait> traits = []>
    : Exec_ActionOp<mnemonic, own, ownFormat, "visit(getPlace());", "", traits>;

//===----------------------------------------------------------------------===//
// Inside a function: slots, views, calls
//===----------------------------------------------------------------------===//

def Exec_ViewOp : Exec_Op<"view", [Pure]> {
  let summary = "elements of a slot under other sizes and strides";
  let description = [{
    The result's strided layout is relative to the slot's first element plus `offset` (in elements). Copies nothing.
  }];
  let arguments = (ins AnyMemRef:$slot, I64Attr:$offset);
  let results = (outs AnyMemRef:$view);
  let assemblyFormat = "$slot `from` $offset attr-dict `:` type($slot) `->` type($view)";
  let hasVerifier = 1;
}

def Exec_CallOp : Exec_Op<"call", [AttrSizedOperandSegments, Exec_Inner]> {
  let summary = "one kernel or library call";
  let description = [{
    `kernel` is a private function of `graph` ops from the tensors read at `ins` to the tensors written at `outs`. It
    defines the semantics; Lower selects the code. An out may be the same memory as an in. `accumulate[i]` is the
    Accumulate of out i. `workspace` is scratch memory for libraries that require it.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyMemRef>:$ins, Variadic<AnyMemRef>:$outs,
      Optional<AnyMemRef>:$workspace, DenseI32ArrayAttr:$accumulate);
  let assemblyFormat = [{
    $kernel (`ins` `(` $ins^ `:` type($ins) `)`)? `outs` `(` $outs `:` type($outs) `)`
    (`workspace` `(` $workspace^ `:` type($workspace) `)`)? `accumulate` $accumulate attr-dict
  }];
  let hasVerifier = 1;
}

def Exec_CollectiveOp : Exec_Op<"collective", [Exec_Inner]> {
  let summary = "an exchange between the tensor-parallel ranks within a unit function";
  let description = [{
    For an all_gather, src is [outer, chunk] and dst [outer, ranks, chunk]; for a reduce_scatter the shapes are
    reversed; for an all_reduce both are [outer, chunk], and may be the same memory. Sums are in the order of the ranks'
    index. For an all_to_all, src is [outer, rows, ranks, chunk] and dst [outer, ranks, rows, chunk], or reversed with
    `ranks_first`; `rows` is 1 for the others.
  }];
  let arguments = (ins Dist_KindOfCollectiveAttr:$kind, AnyMemRef:$src, AnyMemRef:$dst, Dist_GroupAttr:$group,
      I64Attr:$outer, I64Attr:$chunk, DefaultValuedAttr<I64Attr, "1">:$rows, UnitAttr:$ranks_first);
  let assemblyFormat = [{
    $kind $src `to` $dst `over` $group `outer` $outer (`rows` $rows^)? `chunk` $chunk (`ranks_first` $ranks_first^)?
    attr-dict `:` type($src) `,` type($dst)
  }];
  let extraClassDeclaration = "Exchange getExchange();";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The program of a rank
//===----------------------------------------------------------------------===//

def Exec_ProgramOp : Exec_Op<"program", [Symbol, NoTerminator, SingleBlock, IsolatedFromAbove]> {
  let summary = "buffers and timeline of the ranks of one pipeline stage";
  let description = [{
    Buffers come first, numbered from 0 in order; then the states; then the actions, whose times are 0, 1, ... in order.
    Executed in this order they are a program. If actions have streams and the earlier actions that they come `after`, a
    rank may also run the streams concurrently, each in its order: an action starts when those in its `after` have
    ended. A step ends when all streams have. The buffers of an action with a window (`early`, `late`) are live for that
    many additional actions, so that it can start earlier, or end later, than its position, and no action waits for its
    bytes. `arena` is the arena's size, `lower_bound` the largest sum of live buffers, both in bytes. Programs of one
    stage with several purposes (absent: train) run in turns in one arena: their persistent buffers are the same, and
    come first; the arena has the size of the largest program.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$stage, I64Attr:$micro_batches,
      I64Attr:$arena, I64Attr:$lower_bound,
      DefaultValuedAttr<Graph_PurposeOfTimelineAttr, "::xlc::graph::Purpose::train">:$purpose);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `stage` $stage `micro_batches` $micro_batches `arena` $arena `lower_bound` $lower_bound
    (`purpose` $purpose^)? attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    /// The mesh of the module.
    ::xlc::dist::MeshAttr getMesh() { return ::xlc::dist::getMesh(getOperation()); }
  }];
  let hasVerifier = 1;
}

def Exec_BufferOp : Exec_Op<"buffer", [HasParent<"::xlc::exec::ProgramOp">]> {
  let summary = "bytes of the arena, live from action `first` to action `last`";
  let description = [{
    `persistent` buffers keep their content from step to step and are live throughout.
  }];
  // Numbers that differ between buffers are not attributes, because the context keeps each attribute permanently.
  let arguments = (ins I64Prop:$id, Exec_CauseAttr:$cause, StrAttr:$name, I64Prop:$size, I64Prop:$offset,
      I64Prop:$first, I64Prop:$last, UnitAttr:$persistent);
  let assemblyFormat = [{
    $id $cause $name `size` $size `offset` $offset `live` $first `to` $last (`persistent` $persistent^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Exec_StateOp : Exec_Op<"state", [HasParent<"::xlc::exec::ProgramOp">]> {
  let summary = "data that outlives a step, and its place on a rank";
  let description = [{
    A row of the table between the buffers and the actions. A state of a bucket has `elements` elements on a rank: the
    whole bucket, or, as a `shard`, the slice of the rank's shard index; sched.bucket maps them to pieces of parameters.
    `members` is a bucket's table with this mapping for kernels (include/xlc/Runtime/States.h), for the piece that the
    rank updates. The other kinds are one number of the rank. `name` distinguishes states of one kind: states of the
    optimizer have the names of their row (Optimizers.h), counters and results those of include/xlc/Runtime/States.h.
    `number` is that of a site.

        exec.state value of @b 128 x bf16 begins parameters at <0 + 0 + 0>
        exec.state master of @b shard 64 x f32 begins parameters at <1 + 0 + 0>
        exec.state optimizer "m" of @b shard 64 x f32 begins zero at <2 + 0 + 0>
        exec.state counter "applied" 1 x f32 begins one at <3 + 336 + 0>
        exec.state index over <tp, [2, 1], []> 1 x i64 begins index at <4 + 0 + 0>
        exec.state members of @b shard 10 x i64 begins members at <5 + 0 + 0>
        exec.state site number 3 1 x i64 begins site at <6 + 0 + 0>
  }];
  let arguments = (ins EnumProp<Exec_StateKind>:$kind, OptionalAttr<StrAttr>:$name,
      OptionalAttr<FlatSymbolRefAttr>:$bucket, OptionalAttr<Dist_GroupAttr>:$group, OptionalAttr<I64Attr>:$site,
      UnitProp:$shard, I64Prop:$elements, TypeAttr:$type, EnumProp<Exec_Beginning>:$begins, Exec_PlaceAttr:$place);
  let assemblyFormat = [{
    $kind ($name^)? (`of` $bucket^)? (`over` $group^)? (`number` $site^)? (`shard` $shard^)? $elements `x` $type
    `begins` $begins `at` $place attr-dict
  }];
  let extraClassDeclaration = [{
    int64_t getBytes() { return ::xlc::graph::getByteSize(getType(), getElements()); }
  }];
  let hasVerifier = 1;
}

def Exec_BeginOp : Exec_ActionOp<"begin",
    (ins Exec_PlaceArrayAttr:$places, OptionalAttr<StrArrayAttr>:$numbers,
         OptionalAttr<Exec_PlaceArrayAttr>:$number_places),
    "$places (`numbers` $numbers^ `at` $number_places)?", [{
    for (auto place : getPlaces().getAsRange<PlaceAttr>()) visit(place);
    forEachNumber([&](::xlc::runtime::StepNumber, PlaceAttr place) { visit(place); });}], [{
    /// The numbers that occur once in a step, with their places.
    void forEachNumber(::llvm::function_ref<void(::xlc::runtime::StepNumber, PlaceAttr)> visit);
    /// The memory that it writes: `bytes` from `offset` after a place.
    void forEachWrite(::llvm::function_ref<void(PlaceAttr place, int64_t offset, int64_t bytes)> visit);
  }]> {
  let summary = "start of a step: the host writes its numbers";
  let description = [{
    The numbers of optimizer group i, in the order of include/xlc/Runtime/StepNumbers.h, are an array of f32 at
    places[i]; the kernel of @scalars writes the remaining numbers of the array later. `numbers` names those that occur
    once in a step, at `number_places`.

        exec.begin [<0 + 320 + 0>] numbers ["loss_scale", "random_key"] at [<0 + 384 + 0>, <0 + 448 + 0>]
  }];
  let hasVerifier = 1;
}

def Exec_LoadOp : Exec_ActionOp<"load",
    (ins I64Attr:$micro_batch, StrArrayAttr:$inputs, Exec_PlaceArrayAttr:$places),
    "`micro` $micro_batch $inputs `to` $places"> {
  let summary = "copies the rows of one micro-batch into buffers";
  let hasVerifier = 1;
}

def Exec_StoreOp : Exec_ActionOp<"store",
    (ins I64Attr:$micro_batch, StrArrayAttr:$outputs, Exec_PlaceArrayAttr:$places, TypeArrayAttr:$types),
    "`micro` $micro_batch $outputs `from` $places $types",
    declared = [{
    /// Calls `visit` for each output.
    void forEachOutput(::llvm::function_ref<void(::mlir::StringAttr name, PlaceAttr place,
                                                 ::mlir::RankedTensorType type)> visit);
  }]> {
  let summary = "passes the rows of the model's outputs for one micro-batch to the host";
  let description = [{
    `types` are those of the values, contiguous at `places`. Omitted in runs without outputs.

        exec.store micro 0 ["logits"] from [<3 + 0 + 0>] [tensor<2x32x50257xf32>]
  }];
  let hasVerifier = 1;
}

def Exec_RunOp : Exec_ActionOp<"run",
    (ins FlatSymbolRefAttr:$function, StrAttr:$label, I64Attr:$micro_batch, Exec_PlaceArrayAttr:$places,
         BoolAttr:$first,
         DefaultValuedAttr<Graph_RoleOfRunAttr, "::xlc::graph::Role::U">:$role),
    "$function $label `micro` $micro_batch `first` $first $places (`role` $role^)?",
    traits = [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a function: place i is the memory of its argument i";
  let description = [{
    `label` names the action in traces and faults ("layer[3] B"), for readers only. `first` selects writing or adding
    for results that accumulate `later`. `role` is that of the unit's run; U if it does not belong to a unit.

        exec.run @update_0_64 "update b" micro 1 first true [<0 + 0 + 0>, <1 + 0 + 0>, <2 + 320 + 0>, <0 + 0 + 0>]
  }];
}

def Exec_ExchangeOp : Exec_ActionOp<"exchange",
    (ins Dist_KindOfCollectiveAttr:$kind, StrAttr:$label, Dist_GroupAttr:$group, Exec_PlaceAttr:$src,
         Exec_PlaceAttr:$dst, I64Attr:$count, TypeAttr:$type, OptionalAttr<TypeAttr>:$wire, UnitAttr:$accumulate),
    "$kind $label `over` $group $src `to` $dst `count` $count $type (`as` $wire^)? (`accumulate` $accumulate^)?",
    "visit(getSrc()), visit(getDst());", "Exchange getExchange();"> {
  let summary = "an exchange of `count` elements at places between the ranks of a group, outside functions";
  let description = [{
    Like exec.collective with one run of `count` elements. For an all_gather, `src` is the place of each rank's piece
    (its stride applies) and `dst` the start of the whole. For a reduce_scatter they are reversed, and `dst` may be the
    slice itself (in place). For an all_reduce both are one place. `accumulate` adds a reduce_scatter's sum to `dst`
    instead of writing it. Only an all_reduce may span several stages. `as` on a sum of f32 means that elements are
    exchanged in sixteen bits: those of each rank are rounded and summed as f32 in the order of the ranks, and the sum
    is rounded.

        exec.exchange all_gather "all_gather b" over <dp, [2, 1], []> <0 + 0 + 256> to <1 + 0 + 0> count 64 f32
        exec.exchange all_reduce "all_reduce loss_sum" over <dp, [2, 1], []> <2 + 0 + 0> to <2 + 0 + 0> count 1 f32
  }];
  let hasVerifier = 1;
}

def Exec_SendOp : Exec_OnePlaceOp<"send",
    (ins StrAttr:$label, I64Attr:$message, I64Attr:$peer, Exec_PlaceAttr:$place, I64Attr:$bytes),
    "$label `message` $message `to` $peer $place `bytes` $bytes", [Exec_Transfer]> {
  let summary = "meets the rank of equal dp and tp on stage `peer`, which copies `bytes` from a place of this rank";
  let hasVerifier = 1;
}
def Exec_ReceiveOp : Exec_OnePlaceOp<"receive",
    (ins StrAttr:$label, I64Attr:$message, I64Attr:$peer, Exec_PlaceAttr:$place, I64Attr:$bytes),
    "$label `message` $message `from` $peer $place `bytes` $bytes", [Exec_Transfer]> {
  let summary = "meets the rank of equal dp and tp on stage `peer`, and copies `bytes` to a place of this rank";
  let hasVerifier = 1;
}

def Exec_ReleaseOp : Exec_OnePlaceOp<"release",
    (ins StrAttr:$label, Exec_PlaceAttr:$place, I64Attr:$bytes),
    "$label $place `bytes` $bytes"> {
  let summary = "the content of a place is undefined until it is written again";
  let hasVerifier = 1;
}

#endif // XLC_EXEC_OPS_TD
