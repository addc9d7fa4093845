// The last pass of the phase Import. It works on @forward.
#ifndef XLC_UNITS_PASSES_TD
#define XLC_UNITS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignUnitsPass : Pass<"assign-units", "::mlir::func::FuncOp"> {
  let summary = "find the repeated layers and give every op its unit";
  let description = [{
    A place in the order of ops where one value alone carries everything on is a cut; between cuts lie
    atoms. The longest repetition of equal atoms (same ops, attributes, types and wiring) is the
    class "layer"; what stands before is "embed", after "head"; a second repetition is "layer2". A
    model that repeats nothing is one unit, "model", or, where a pipeline needs several, each atom with
    a matrix of parameters begins one, "block", "block2" ...

        ids ─► gather ─┬─► [attention][mlp] ─┬─► [attention][mlp] ─┬─► norm ─► contract ─► loss
               embed   cut     layer 0       cut     layer 1       cut          head

    What depends on constants, inputs or parameters alone is copied into each unit that uses it; what
    computes something from parameters that several units read is made once, by the unit before them.

    A value that crosses every layer from one place on, as the encoder's result crosses a decoder,
    hinders no cut where more of the model repeats without it:

        encoder ─► memory ─┬──────────────┬──────────────┐
        ids ─► gather ─────┴► [layer2 0] ─┴► [layer2 1] ─┴► norm ─► contract ─► loss
  }];
  let options = [Option<"blocks", "blocks", "bool", /*default=*/"false",
                        "Whether a model that repeats nothing is cut into blocks.">];
  let dependentDialects = ["::xlc::graph::GraphDialect"];
}

#endif // XLC_UNITS_PASSES_TD
