// Passes of the phase Memory, in the order in which they run.
#ifndef XLC_MEMORY_PASSES_TD
#define XLC_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def SetProductsApartPass : Pass<"xlc-set-products-apart", "::mlir::ModuleOp"> {
  let summary = "products that make gradients of parameters come last in a function of backward, and run apart";
  let description = [{
    A call that is one product, whose results are stored as they are and which nothing of the function reads, moves to its end;
    `exec.apart` counts these. LowerToExec makes a function of them, and a run of it, W, after each run of B.

        func.func private @layer_B(%dy, %x, %w) {              func.func private @layer_B(%dy, %x, %w)
          %dw = call @kernel_0(%x, %dy)    // stored               attributes {exec.apart = 1} {
          %dx = call @kernel_1(%dy, %w)                  =>      %dx = call @kernel_1(%dy, %w)
          %db = call @kernel_2(%dy)        // no product         %db = call @kernel_2(%dy)
          return %dx, %dw, %db                                   %dw = call @kernel_0(%x, %dy)
        }                                                        return %dx, %dw, %db
                                                               }
  }];
}

def LowerToExecPass : Pass<"xlc-lower-to-exec", "::mlir::ModuleOp"> {
  let summary = "unit functions on slots of memory, and the timeline as actions on buffers";
  let description = [{
    A unit function's slots are its arguments, its results, its temporaries and workspace. Every activation, every
    temporary of a run, every bucket's parameters, gradients and states become a buffer; offsets are still 0. The target
    says how much workspace a call has, for a library or for random bits, and which types there are.

        func.func private @layer_F(%0: memref<8x64xf32>, ...) {
          exec.call @kernel_0 ins(%0, %1, %2 : ...) outs(%3 : ...) accumulate [0]
        }
        exec.program @train ... {
          exec.buffer 0 parameters "bucket_0" size 4096 offset 0 live 0 to 12 persistent
          exec.run @layer_F "layer[0] F" micro 0 first true [#exec.place<0 + 0 + 0>, ...]
        }
  }];
  let options = [Option<"threads", "threads", "int64_t", "1", "threads of a rank: each needs its own workspace">];
  let constructor = "::xlc::createLowerToExecPass(target)";
  let dependentDialects = ["::xlc::exec::ExecDialect", "::mlir::func::FuncDialect"];
}

def AssignStreamsPass : Pass<"xlc-assign-streams", "::mlir::ModuleOp"> {
  let summary = "puts what ranks exchange, and the rows that they read, on streams beside the computations";
  let description = [{
    The stream follows from what an action does: an all_gather is on `gather`, sums over ranks on `reduce`, transfers on
    `send` and `receive`, loads on `copy`, everything else on `compute`. Without this pass all actions are on `compute`,
    and run in the order of the program. With `weights-beside` runs of W are on `weights`, but those in which ranks
    exchange something.

        exec.exchange all_gather "all_gather b" ...       =>      exec.exchange all_gather "all_gather b" ... on gather
  }];
  let options = [Option<"weightsBeside", "weights-beside", "bool", "false", "gradients of weights beside other computations">];
}

def AssignWindowsPass : Pass<"xlc-assign-windows", "::mlir::ModuleOp"> {
  let summary = "keeps the bytes of messages so long that computations hide them";
  let description = [{
    A gather or a receive has its bytes to itself from an earlier action on, a reduction or a send until a later one: the
    fewest actions whose computations take 1.5 times as long as the message on the device, with what other streams move
    meanwhile. Messages between persistent buffers need none. Without this pass messages run beside computations only
    as far as bytes happen to be free. A run on `weights` keeps its bytes until other computations have taken 1.5 times as long.

        exec.exchange all_gather "all_gather b" ... on gather      =>      exec.exchange all_gather "all_gather b" ... on gather early 3
  }];
  let options = [
    Option<"device", "device", "std::string", "\"h100\"", "name of the device that it is timed for">,
    Option<"threads", "threads", "int64_t", "1", "threads of a rank, on a CPU">,
    Option<"gathers", "gathers", "bool", "true", "gathers too; false where the spec says how far ahead they start">
  ];
}

def AssignOffsetsPass : Pass<"xlc-assign-offsets", "::mlir::ModuleOp"> {
  let summary = "places every buffer in the arena";
  let description = [{
    Lifetimes are counted in calls: a buffer is live from the call that defines it to the one that reads it last.
    An action that has a window keeps its buffers live through it. Persistent buffers lie at the bottom. Writes offsets, the
    arena's size and the lower bound.
  }];
  let options = [Option<"alignment", "alignment", "int64_t", "64", "bytes: the target's; offsets are multiples of it">];
}

def VerifyPlacementPass : Pass<"xlc-verify-placement", "::mlir::ModuleOp"> {
  let summary = "gate: no two live buffers overlap, nothing is read before it is written";
  let description = [{
    Shares nothing with the placement: it replays the program call by call and keeps, for every byte of the arena,
    which buffer wrote it last. A call may only read bytes that still belong to the buffer it names. It may read no sum that
    its own function adds to, overwrite no contribution to a gradient that nothing has read, and write over its operands
    only element by element. Places lie in their buffers, views in their slots.
  }];
}

def AssignDependenciesPass : Pass<"xlc-assign-dependencies", "::mlir::ModuleOp"> {
  let summary = "says after which actions of other streams each action comes";
  let description = [{
    By the bytes that actions touch, in the order of the program and at their offsets: who reads comes after the last that
    wrote, who writes after the last that wrote and all that have read since. So memory that is used again costs a wait,
    and never a race. What follows from a stream's own order, or from another `after`, is left out.

        exec.exchange all_gather "all_gather b" ... <1 + 0 + 0> ... on gather                  // action 4
        exec.run @layer_F ... [<1 + 0 + 0>, ...]          =>      exec.run @layer_F ... after [4]
  }];
}

def VerifyStreamsPass : Pass<"xlc-verify-streams", "::mlir::ModuleOp"> {
  let summary = "gate: of two actions that touch one byte, and do not both read it, one comes after the other";
  let description = [{
    Replays each program with a vector clock for each stream, and keeps for every byte who wrote it last and who has read
    it since. An action comes after what its stream ran before, what `after` names, and what these came after. An error
    names both actions, their streams, the bytes and the buffers.
  }];
}

#endif // XLC_MEMORY_PASSES_TD
