// Passes of the reference interpreter.
#ifndef XLC_INTERPRET_PASSES_TD
#define XLC_INTERPRET_PASSES_TD

include "mlir/Pass/PassBase.td"

def InterpretPass : Pass<"xlc-interpret", "::mlir::ModuleOp"> {
  let summary = "evaluates functions and prints their results";
  let description = [{
    Evaluates every public function, or `function`, and prints each result as a comment line on the standard output. An
    argument has random elements that depend only on the seed and its name (`graph.param`, `graph.input` or `argN`);
    integers are below its `graph.limit` (2 without). The program is not changed.

    A result with the attribute `graph.expect` is compared with that constant: floating point
    within 1e-6 (f64) or 1e-4 (f32) of the larger one or of 1, the field exactly.

    ```mlir
    func.func @double() -> (tensor<2xf32> {graph.expect = dense<[2.0, 4.0]> : tensor<2xf32>}) {
      %x = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %y = graph.add %x, %x : tensor<2xf32>
      return %y : tensor<2xf32>
    }
    // double.0: tensor<2xf32> [2, 4]
    ```
  }];
  let options = [
    Option<"arithmetic", "arithmetic", "std::string", "\"f64\"", "f64, f32 or field">,
    Option<"seed", "seed", "uint64_t", "0", "chooses arguments and the field's functions">,
    Option<"function", "function", "std::string", "\"\"", "evaluate this function only">,
  ];
}

def VerifyAgainstPass : Pass<"xlc-verify-against", "::mlir::ModuleOp"> {
  let summary = "runs a partitioned program on simulated ranks against the unpartitioned one";
  let description = [{
    The module contains a `sched.timeline` or an `exec.program`; `reference` names a file with the module after
    Differentiate (without: this module also has @micro_batch, @scalars and @update). Both run `steps` steps from the
    same random parameters on the same random rows. Loss, norm, parameters and optimizer states of every rank are
    compared after every step; a difference is an error. The compared values are printed as a comment on the standard
    output. `orders` runs an `exec.program` again in this number of random orders of its streams.
  }];
  let options = [
    Option<"arithmetic", "arithmetic", "std::string", "\"field\"", "f64, f32 or field">,
    Option<"seed", "seed", "uint64_t", "0", "chooses the data and the field's functions">,
    Option<"steps", "steps", "int64_t", "2", "optimizer steps to run">,
    Option<"heldParameters", "held-parameters", "int64_t", "1 << 25", "a program with more is compared by digests">,
    Option<"reference", "reference", "std::string", "\"\"", "file with the unpartitioned program">,
    Option<"orders", "orders", "int64_t", "0", "random orders to run beside that of the program">,
  ];
}

def ReplayPass : Pass<"xlc-replay", "::mlir::ModuleOp"> {
  let summary = "runs the unpartitioned program in float64 on given numbers";
  let description = [{
    The module must be one after Differentiate, with types of float32. `data` is a folder with a file for each parameter
    and each input, with its name: elements as float64 or int64, contiguous; for inputs the rows of all steps. Loss and
    gradient norm of each step are printed as comments on the standard output:

        // step 1 loss 2.3025850929940455e+00 norm 1.0e+00
  }];
  let options = [
    Option<"data", "data", "std::string", "\"\"", "folder of parameters and rows">,
    Option<"steps", "steps", "int64_t", "1", "optimizer steps to run">,
    Option<"batch", "batch", "int64_t", "1", "rows of a step">,
  ];
}

#endif // XLC_INTERPRET_PASSES_TD
