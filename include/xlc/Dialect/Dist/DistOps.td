// Operations of the `dist` dialect: exchanges between the tensor-parallel ranks of a unit function. All ranks of a
// group run the same function, each with its own values. See docs/rationale/Dist.md.
#ifndef XLC_DIST_OPS_TD
#define XLC_DIST_OPS_TD

include "xlc/Dialect/Dist/DistEnums.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Dist_Collective : OpInterface<"Collective"> {
  let description = "An action of the ranks of a group, or a query of one rank about the group.";
  let cppNamespace = "::xlc::dist";
  let methods = [InterfaceMethod<"The group.", "::xlc::dist::GroupAttr", "getGroup">];
}

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, !listconcat([Pure, Dist_Collective], traits)>;

def Dist_AllReduceOp : Dist_Op<"all_reduce", [SameOperandsAndResultType]> {
  let summary = "y = sum or maximum of the group's x, in the order of their index";
  let description = "Floats of sixteen bits (bf16, f16) are summed in f32, and the sum is rounded once.";
  let arguments = (ins Dist_ReductionAttr:$kind, AnyStaticShapeTensor:$x, Dist_GroupAttr:$group);
  let results = (outs AnyStaticShapeTensor:$y);
  let assemblyFormat = "$kind $x `over` $group attr-dict `:` type($y)";
}

class Dist_Regroup<string mnemonic> : Dist_Op<mnemonic, [AllElementTypesMatch<["x", "y"]>]> {
  let arguments = (ins AnyStaticShapeTensor:$x, I64Attr:$dim, I64Attr:$outer, Dist_GroupAttr:$group);
  let results = (outs AnyStaticShapeTensor:$y);
  let assemblyFormat = "$x `dim` $dim `outer` $outer `over` $group attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}
def Dist_AllGatherOp : Dist_Regroup<"all_gather"> {
  let summary = "y = the group's blocks of dimension `dim`, concatenated";
  let description = "Dimension `dim` of y is [outer, ranks, block], that of x [outer, block].";
}
def Dist_ReduceScatterOp : Dist_Regroup<"reduce_scatter"> {
  let summary = "y = this rank's blocks of the sum of the group's x";
  let description = "Dimension `dim` of x is [outer, ranks, block], that of y [outer, block]. Sums are those of all_reduce.";
}

def Dist_AllToAllOp : Dist_Op<"all_to_all", [AllElementTypesMatch<["x", "y"]>]> {
  let summary = "a split of dimension `from` becomes a split of dimension `to`";
  let description = [{
    Dimension `from` of x has this rank's blocks, [from_outer, block], and that of y the blocks of all ranks,
    [from_outer, ranks, block]; dimension `to` is reversed. Each rank sends a different ranks-th of its x to every other
    rank.

    On two ranks, a split sequence of 8 becomes whole, and the 6 columns are split instead:

        %0 = dist.all_gather %x dim 1 outer 1 over <tp, [2, 1], []> : tensor<2x4x6xf32> -> tensor<2x8x6xf32>
        %1 = dist.axis_index over <tp, [2, 1], []> : tensor<i64>
        %2 = graph.mul %1, %three : tensor<i64>
        ...                               // this rank's places: iota + %2
        %y = graph.gather %0 at %places dim 2 : (tensor<2x8x6xf32>, tensor<3xi64>) -> tensor<2x8x3xf32>

    is, with half of the bytes (of n ranks, an n-th),

        %y = dist.all_to_all %x from 1 outer 1 to 2 outer 1 over <tp, [2, 1], []>
            : tensor<2x4x6xf32> -> tensor<2x8x3xf32>
  }];
  let arguments = (ins AnyStaticShapeTensor:$x, I64Attr:$from, I64Attr:$from_outer, I64Attr:$to, I64Attr:$to_outer,
      Dist_GroupAttr:$group);
  let results = (outs AnyStaticShapeTensor:$y);
  let assemblyFormat = [{
    $x `from` $from `outer` $from_outer `to` $to `outer` $to_outer `over` $group attr-dict `:` type($x) `->` type($y)
  }];
  let hasVerifier = 1;
}

def Dist_AxisIndexOp : Dist_Op<"axis_index"> {
  let summary = "y = this rank's index in the group";
  let arguments = (ins Dist_GroupAttr:$group);
  let results = (outs 0DTensorOf<[I64]>:$y);
  let assemblyFormat = "`over` $group attr-dict `:` type($y)";
}

#endif // XLC_DIST_OPS_TD
