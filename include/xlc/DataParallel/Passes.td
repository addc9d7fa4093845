// Passes of the phase DataParallel, in the order in which they run.
#ifndef XLC_DATAPARALLEL_PASSES_TD
#define XLC_DATAPARALLEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignBucketsPass : Pass<"xlc-assign-buckets", "::mlir::ModuleOp"> {
  let summary = "lays parameters out in buckets, in reverse order of use";
  let description = [{
    A bucket contains parameters of one unit, or of neighbouring small units of its chunk up to `bucket-bytes`, of one
    optimizer group; a larger unit has several. A parameter belongs to the unit that contributes last to its gradient.
    At stage 3, parameters of up to `persistence-threshold` elements stay whole, in buckets of their own. Members and
    slices start on 64-element boundaries (ZeRO: Rajbhandari et al., 2020).

    `stages` are the pp ranks with the bucket. Parameters that several chunks use (tied ones) are in buckets of their
    own; if two chunks of one rank contribute to a gradient it stays whole between micro-batches. `layouts` and
    `partial` come from @micro_batch's attributes `dist.layout` and `dist.partial`.

        sched.bucket @bucket_0 ["ln_f.bias", "ln_f.weight"] at [0, 64] sizes [64, 64] elements 512
          group 0 params whole grads shard states shard
  }];
  let options = [
    Option<"stage", "stage", "int64_t", "0", "ZeRO stage, 0 to 3">,
    Option<"bucketBytes", "bucket-bytes", "int64_t", "26214400", "largest bucket of several units">,
    Option<"persistenceThreshold", "persistence-threshold", "int64_t", "100000", "elements up to which a parameter stays whole">,
    Option<"reducePerStep", "reduce-per-step", "bool", "false", "keep whole gradients between micro-batches at stages 2 and 3">,
    Option<"wire", "wire", "std::string", "\"f32\"", "f32, bf16 or f16: in which gradients of f32 cross ranks">
  ];
  let dependentDialects = ["::xlc::sched::SchedDialect"];
}

#endif // XLC_DATAPARALLEL_PASSES_TD
