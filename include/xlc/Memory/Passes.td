// Passes of the phase Memory, in the order in which they run.
#ifndef XLC_MEMORY_PASSES_TD
#define XLC_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def SetProductsApartPass : Pass<"xlc-set-products-apart", "::mlir::ModuleOp"> {
  let summary = "moves products that make gradients of parameters to the end of a backward function, to run apart";
  let description = [{
    Moves a call to the end of its function if it is a single product whose results are stored unchanged and are not
    read within the function. `exec.apart` counts these calls. LowerToExec makes a function of them, and a run of it, W,
    after each run of B.

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
  let summary = "lowers unit functions to slots of memory, and the timeline to actions on buffers";
  let description = [{
    A unit function's slots are its arguments, its results, its temporaries and workspace. Every activation, every
    temporary of a run, every bucket's parameters, gradients and states become a buffer; offsets are still 0. The target
    defines the workspace of a call, for a library or for random bits, and the available types.

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
  let summary = "assigns exchanges between ranks and loads of rows to streams beside the computations";
  let description = [{
    The stream follows from the kind of action: an all_gather is on `gather`, sums over ranks on `reduce`, transfers on
    `send` and `receive`, loads on `copy`, all others on `compute`. Without this pass all actions are on `compute`, and
    run in the order of the program. With `weights-beside`, runs of W without exchanges are on `weights`.

        exec.exchange all_gather "all_gather b" ...       =>      exec.exchange all_gather "all_gather b" ... on gather
  }];
  let options = [Option<"weightsBeside", "weights-beside", "bool", "false", "gradients of weights beside other computations">];
}

def AssignWindowsPass : Pass<"xlc-assign-windows", "::mlir::ModuleOp"> {
  let summary = "keeps the bytes of messages live long enough that computations hide the messages";
  let description = [{
    The bytes of a gather or a receive are reserved from an earlier action on, those of a reduction or a send until a
    later one. The window is the smallest number of actions whose computations take 1.5 times as long as the message on
    the device, including the bytes that other streams move meanwhile. Messages between persistent buffers need no
    window. Without this pass messages overlap with computations only as far as their bytes happen to be free. A run on
    `weights` keeps its bytes until other computations have taken 1.5 times as long.

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
    Lifetimes are counted in calls: a buffer is live from the call that defines it to the last call that reads it. The
    buffers of an action with a window are live through the window. Persistent buffers are placed at the bottom. Writes
    offsets, the arena's size and the lower bound.
  }];
  let options = [Option<"alignment", "alignment", "int64_t", "64", "bytes: the target's; offsets are multiples of it">];
}

def VerifyPlacementPass : Pass<"xlc-verify-placement", "::mlir::ModuleOp"> {
  let summary = "gate: no two live buffers overlap, nothing is read before it is written";
  let description = [{
    Shares no code with the placement. Replays the program call by call and stores, for every byte of the arena, the
    buffer that wrote it last. A call may only read bytes that still belong to the buffer it names. It must not read a
    sum that its own function adds to, or overwrite a contribution to a gradient before it was read, and it may
    overwrite its operands only element by element. Places are within their buffers, views within their slots.
  }];
}

def AssignDependenciesPass : Pass<"xlc-assign-dependencies", "::mlir::ModuleOp"> {
  let summary = "states for each action the actions of other streams that it must follow";
  let description = [{
    Dependencies follow from the bytes that actions touch, in the order of the program and at their offsets. A reader
    follows the last writer; a writer follows the last writer and all readers since. Reused memory may therefore add a
    wait, but never a race. Dependencies implied by a stream's own order, or by another `after`, are omitted.

        exec.exchange all_gather "all_gather b" ... <1 + 0 + 0> ... on gather                  // action 4
        exec.run @layer_F ... [<1 + 0 + 0>, ...]          =>      exec.run @layer_F ... after [4]
  }];
}

def VerifyStreamsPass : Pass<"xlc-verify-streams", "::mlir::ModuleOp"> {
  let summary = "gate: two actions that touch the same byte are ordered, unless both only read it";
  let description = [{
    Replays each program with a vector clock for each stream, and stores for every byte its last writer and the readers
    since. An action follows the previous actions of its stream, those in its `after`, and the predecessors of both. An
    error names both actions, their streams, the bytes and the buffers.
  }];
}

#endif // XLC_MEMORY_PASSES_TD
