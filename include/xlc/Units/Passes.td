// The last pass of the phase Import. It works on @forward.
#ifndef XLC_UNITS_PASSES_TD
#define XLC_UNITS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignUnitsPass : Pass<"assign-units", "::mlir::func::FuncOp"> {
  let summary = "find the repeated layers and give every op its unit";
  let description = [{
    A cut is a place in the order of ops that only a single value crosses; between cuts are atoms. The longest
    repetition of equal atoms (same ops, attributes, types and wiring) is the class "layer"; the part before it is
    "embed", the part after it "head"; a second repetition is "layer2". A model without repetitions is one unit,
    "model". If a pipeline requires several, each atom with a matrix of parameters starts a unit, "block", "block2" ...

        ids ─► gather ─┬─► [attention][mlp] ─┬─► [attention][mlp] ─┬─► norm ─► contract ─► loss
               embed   cut     layer 0       cut     layer 1       cut          head

    Ops that depend only on constants, inputs or parameters are copied into each unit that uses them. Values computed
    from parameters that several units read are computed once, by the unit before them.

    A value that crosses every layer from one place on, such as the encoder's result in a decoder, does not prevent a
    cut if more of the model repeats without it:

        encoder ─► memory ─┬──────────────┬──────────────┐
        ids ─► gather ─────┴► [layer2 0] ─┴► [layer2 1] ─┴► norm ─► contract ─► loss
  }];
  let options = [Option<"blocks", "blocks", "bool", /*default=*/"false",
                        "Whether a model that repeats nothing is cut into blocks.">];
  let dependentDialects = ["::xlc::graph::GraphDialect"];
}

#endif // XLC_UNITS_PASSES_TD
