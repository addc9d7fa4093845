// Enumerations of the `dist` dialect. The plan's (Plan.fbs) have the same numbers and names.
#ifndef XLC_DIST_ENUMS_TD
#define XLC_DIST_ENUMS_TD

include "xlc/Dialect/Dist/DistDialect.td"

def Dist_Axis : I32EnumAttr<"Axis", "the mesh axis along which the ranks of a group lie", [
    I32EnumAttrCase<"dp", 0>, I32EnumAttrCase<"tp", 1>, I32EnumAttrCase<"pp", 2>,
    I32EnumAttrCase<"world", 3>]> {  // along several axes
  let cppNamespace = "::xlc::dist";
  let genSpecializedAttr = 0;
}

def Dist_CollectiveKind : I32EnumAttr<"CollectiveKind", "what the ranks of a group exchange", [
    I32EnumAttrCase<"all_reduce", 0>,     // the sum of all
    I32EnumAttrCase<"all_reduce_max", 1>, // the largest of all
    I32EnumAttrCase<"all_gather", 2>,     // all blocks side by side
    I32EnumAttrCase<"reduce_scatter", 3>, // the rank's own block of the sum
    I32EnumAttrCase<"all_to_all", 4>]> {  // the rank's own block of every rank's value
  let cppNamespace = "::xlc::dist";
  let genSpecializedAttr = 0;
}
def Dist_CollectiveKindAttr : EnumAttr<Dist_Dialect, Dist_CollectiveKind, "collective_kind">;

def Dist_Reduction : I32EnumAttr<"Reduction", "how the values of a group are combined", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>]> {
  let cppNamespace = "::xlc::dist";
  let genSpecializedAttr = 0;
}
def Dist_ReductionAttr : EnumAttr<Dist_Dialect, Dist_Reduction, "reduction">;

#endif // XLC_DIST_ENUMS_TD
