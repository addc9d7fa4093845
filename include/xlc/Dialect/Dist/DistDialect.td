// The `dist` dialect's attributes: the mesh of ranks, groups of ranks, and the piece of a tensor that a rank owns.
// See docs/rationale/Dist.md.
#ifndef XLC_DIST_DIALECT_TD
#define XLC_DIST_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::xlc::dist";
  let summary = "ranks, their groups, and the values that they exchange inside a unit";
  let dependentDialects = ["::xlc::graph::GraphDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

// A kind of collective, for dialects that do not include DistEnums.td: a file that includes an enum declares it again.
def Dist_KindOfCollectiveAttr : Attr<CPred<"::llvm::isa<::xlc::dist::CollectiveKindAttr>($_self)">, "kind of collective"> {
  let storageType = "::xlc::dist::CollectiveKindAttr";
  let returnType = "::xlc::dist::CollectiveKind";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::xlc::dist::CollectiveKindAttr::get($_builder.getContext(), $0)";
}

def Dist_MeshAttr : AttrDef<Dist_Dialect, "Mesh"> {
  let mnemonic = "mesh";
  let summary = "the ranks of a job: pp x dp x tp, tp varying fastest";
  let description = [{
    Rank (p, d, t) has number (p * dp + d) * tp + t. `shards` neighbours in dp form a ZeRO group (dp_shard); ranks with
    the same shard are replicas of each other.

        module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 4, tp = 2, shards = 4>} { ... }
  }];
  let parameters = (ins "int64_t":$pp, "int64_t":$dp, "int64_t":$tp, "int64_t":$shards);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The number of ranks of the job, and of one pipeline stage.
    int64_t getRanks() const { return getPp() * getStageRanks(); }
    int64_t getStageRanks() const { return getDp() * getTp(); }
    int64_t rankOf(int64_t p, int64_t d, int64_t t) const { return (p * getDp() + d) * getTp() + t; }
    int64_t ppOf(int64_t rank) const { return rank / getStageRanks(); }
    int64_t dpOf(int64_t rank) const { return rank / getTp() % getDp(); }
    int64_t tpOf(int64_t rank) const { return rank % getTp(); }
    /// The index of the slice of a bucket that a rank keeps as its shard.
    int64_t shardOf(int64_t rank) const { return dpOf(rank) % getShards(); }
  }];
}

def Dist_GroupAttr : AttrDef<Dist_Dialect, "Group"> {
  let mnemonic = "group";
  let summary = "the ranks that take part in a collective";
  let description = [{
    `axis` is the axis in reports. `digits` are pairs (count, stride) over the number of a rank within its stage, the
    slowest first: ranks that differ only in these digits form one group. `stages` are the participating pp indices;
    empty: each stage has its own groups. A rank's index in its group is the position of its stage in `stages`, then its
    digits, read as one number.

    With tp = 4 and dp = 2: the tensor-parallel group is [4, 1], the data-parallel one [2, 4]; two key-value heads
    on four ranks are parts [2, 2] with copies [2, 1].

        #dist.group<tp, [4, 1], []>
  }];
  let parameters = (ins "Axis":$axis, "::mlir::DenseI64ArrayAttr":$digits, "::mlir::DenseI64ArrayAttr":$stages);
  let assemblyFormat = "`<` $axis `,` $digits `,` $stages `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The number of ranks in a group.
    int64_t size() const;
    /// The index of a rank in its group.
    int64_t indexOf(MeshAttr mesh, int64_t rank) const;
    /// The ranks of a rank's group, by index. The rank's stage must be one of `stages`, if there are any.
    ::llvm::SmallVector<int64_t> members(MeshAttr mesh, int64_t rank) const;

    /// All ranks of a stage with the same tensor-parallel piece; those of one ZeRO group; those with the same shard.
    static GroupAttr dataParallel(MeshAttr mesh);
    static GroupAttr shards(MeshAttr mesh);
    static GroupAttr replicas(MeshAttr mesh);
    /// The ranks of a tensor-parallel group, or those of a sub-axis of it.
    static GroupAttr tensorParallel(::mlir::MLIRContext *context, int64_t count, int64_t stride = 1);
    /// This group on each of several stages, as one group.
    GroupAttr across(Axis axis, ::llvm::ArrayRef<int64_t> stages) const;
    /// The group with the digits of both groups.
    GroupAttr with(Axis axis, GroupAttr other) const;
  }];
}

def Dist_LayoutAttr : AttrDef<Dist_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "the piece of a tensor that each rank of a group owns";
  let description = [{
    Dimension `dim` of the global `shape` is viewed as [outer, size / outer]. Each of the `outer` runs is cut into as
    many blocks as the group has ranks, of ceil(size / outer / ranks) elements, and the rank with index i owns block i
    of every run. The last blocks may be short or empty; locally they are padded, so that all ranks have one shape.

        #dist.layout<[64, 192] dim 1 outer 3 over <tp, [2, 1], []>>    // fused q, k, v, split by heads: [64, 96]
        #dist.layout<[257, 64] dim 0 outer 1 over <tp, [2, 1], []>>    // 129 and 128 rows: [129, 64]
  }];
  let parameters = (ins "::mlir::DenseI64ArrayAttr":$shape, "int64_t":$dim, "int64_t":$outer, "GroupAttr":$group);
  let assemblyFormat = "`<` $shape `dim` $dim `outer` $outer `over` $group `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The number of elements of a run, and of a block of it.
    int64_t run() const { return getShape().asArrayRef()[getDim()] / getOuter(); }
    int64_t block() const { return (run() + getGroup().size() - 1) / getGroup().size(); }
    /// The number of elements without padding in the block of the rank with this index.
    int64_t validOf(int64_t index) const { return std::clamp<int64_t>(run() - index * block(), 0, block()); }
    ::llvm::SmallVector<int64_t> localShape() const;
  }];
}

#endif // XLC_DIST_DIALECT_TD
