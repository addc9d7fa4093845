// The order of the compiler, defined in this one place. docs/Phases.md describes it (a test compares the two);
// --stop-after and --dump-phases take their names from here.
//
// Reasons for the order: the graph is differentiated before it is partitioned, so that one set of rules gives the
// collectives of forward and backward. Units are cut into functions before data parallelism, which gathers and reduces
// *between* them. Memory follows when every action has its place in time, and completes the plan. The later phases turn
// the plan into a program. Within Stage, the ops to recompute in backward are selected before stages are balanced,
// which depends on the residuals that remain and on the states of @update.
#include "xlc/Phases/Phases.h"
#include "CompileProgram.h"
#include "DescribePlan.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "xlc/DataParallel/DataParallel.h"
#include "xlc/Differentiate/Differentiate.h"
#include "xlc/Import/Passes.h"
#include "xlc/Kernels/Kernels.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Memory/Memory.h"
#include "xlc/Phases/Forks.h"
#include "xlc/Phases/Threads.h"
#include "xlc/Precision/Precision.h"
#include "xlc/Schedule/Schedule.h"
#include "xlc/Search/ChooseZero.h"
#include "xlc/Shard/Shard.h"
#include "xlc/Spec/SpecPlace.h"
#include "xlc/Stage/Stage.h"
#include "xlc/Support/Bytes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;

namespace {

/// The passes of a phase. Those of one tensor-parallel rank's program are each followed by the rules of partial sums.
struct Passes {
  void addPass(std::unique_ptr<Pass> pass) {
    manager.addPass(std::move(pass));
    if (isSharded)
      manager.addPass(createVerifyShardedPass());
  }

  /// Nothing is verified in a trial: see Forks.h.
  void addGate(std::unique_ptr<Pass> pass) {
    if (!isTrial)
      addPass(std::move(pass));
  }

  PassManager manager;
  bool isSharded; ///< the program is that of one tensor-parallel rank, and looked at
  bool isTrial;
};

/// What is verified after a phase: what its passes change, which takes as long as a pass does.
enum class Scope {
  Module,
  AllButFunctions,
  Nothing, ///< the phases that follow change the same functions and verify them, or a gate looks closer
};

LogicalResult verifyChanged(ModuleOp module, Scope scope) {
  if (scope == Scope::Module)
    return verify(module);
  return success(scope == Scope::Nothing || llvm::all_of(*module.getBody(), [](Operation &op) {
                   return isa<func::FuncOp>(op) || succeeded(verify(&op));
                 }));
}

LogicalResult runPasses(Compilation &compilation, llvm::function_ref<void(Passes &)> build, bool isSharded = false,
                        Scope scope = Scope::Module) {
  bool isTrial = compilation.isTrial;
  Passes passes{PassManager(&compilation.context), isSharded && !isTrial, isTrial};
  build(passes);
  passes.manager.enableVerifier(
      false); // once a phase, and not after every pass: of a long plan that is a fifth of the time
  return success(succeeded(passes.manager.run(*compilation.module)) &&
                 (isTrial || succeeded(verifyChanged(*compilation.module, scope))));
}

LogicalResult spec(Compilation &compilation) {
  std::optional<Spec> spec = readSpec(compilation.specPath, compilation.diagnostics, compilation.targetName);
  if (!spec)
    return failure();
  compilation.spec = std::move(*spec);
  if (!compilation.target)
    compilation.target = compilation.chooseTarget(compilation.spec);
  return success(compilation.target != nullptr);
}

LogicalResult import(Compilation &compilation) {
  std::optional<ImportedModel> model = importModel(compilation.modelPath, compilation.spec, compilation.importing,
                                                   compilation.context, compilation.diagnostics);
  if (!model)
    return failure();
  compilation.module = std::move(model->module);
  setMesh(*compilation.module, compilation.spec);
  compilation.parameters = std::move(model->parameters);
  compilation.absentConstants = std::move(model->absentConstants);
  compilation.module->walk([&](graph::AttentionOp op) { compilation.dropsAttention |= op.getRatio().has_value(); });
  compilation.externalData = std::move(model->files);
  return success();
}

LogicalResult differentiate(Compilation &compilation) {
  if (failed(placeCuts(*compilation.module, compilation.spec, compilation.diagnostics)) ||
      failed(assignOptimizerGroups(*compilation.module, compilation.spec, compilation.diagnostics)))
    return failure();
  LogicalResult result = runPasses(
      compilation,
      [](Passes &passes) {
        passes.addPass(createDifferentiatePass());
        passes.addPass(createCSEPass());
        passes.addPass(createAppendUpdatePass());
        passes.addGate(createVerifyDifferentiatedPass());
      },
      /*isSharded=*/false, compilation.isPlanAlone ? Scope::Nothing : Scope::Module); // nobody sees it before Stage
  bool isForked = compilation.spec.deviceMemory || compilation.spec.precision.isMixed();
  if (succeeded(result) && !compilation.isTrial && (isForked || !compilation.isPlanAlone))
    compilation.unpartitioned = compilation.module->clone();
  return result;
}

LogicalResult precision(Compilation &compilation) {
  const PrecisionSpec &precision = compilation.spec.precision;
  if (!precision.isMixed())
    return success();
  if (failed(keepParameters(*compilation.module, compilation.spec, compilation.diagnostics)))
    return failure();
  std::string compute = PrecisionSpec::getElementName(precision.compute).str();
  bool masterless = precision.masterless, gradients = precision.narrowGradients, states = precision.narrowStates;
  bool stochastic = !precision.roundsToNearest;
  if (std::optional<LossScale> scale = precision.getLossScale())
    (*compilation.module)->setAttr(graph::kLossScale, scale->toAttribute(&compilation.context));
  return runPasses(compilation, [&](Passes &passes) {
    passes.addPass(createScaleLossPass());
    passes.addPass(createNarrowUpdatePass({compute, masterless, gradients, states, stochastic}));
    passes.addPass(createInsertCastsPass({compute, precision.wideStream}));
    passes.addGate(createVerifyPrecisionPass({compute, masterless, gradients, states, stochastic}));
  });
}

/// Whether the model has units for the stages of the spec. Cuts, of which its module would tell, are the same.
LogicalResult checkStages(ModuleOp module, const Spec &spec, Diagnostics &diagnostics) {
  OwningOpRef<ModuleOp> copy; // cuts are written into the module
  if (!spec.pipeline.cuts.empty())
    module = *(copy = module.clone());
  return placeCuts(module, spec, diagnostics);
}

/// By rows, where the spec says so or memory asks for it.
LogicalResult chunkLoss(Compilation &compilation) {
  const Spec &spec = compilation.spec;
  bool isAsked = spec.loss.chunk.value_or(0) > 0;
  if (!isAsked && (spec.loss.chunk || !spec.deviceMemory || compilation.isTrial))
    return success();
  shard::LossRows found = shard::findLossRows(*compilation.module);
  if (isAsked && found.rows == 0) {
    std::string place = findPlace(spec, "loss.chunk").value_or(compilation.specPath);
    compilation.diagnostics.error(place, "the loss cannot be computed in chunks of rows: " + found.obstacle);
    return failure();
  }
  Threads threads(compilation.context);
  compilation.chunk = chooseChunk(spec, found.rows, Forks::getPlanners(compilation, threads.count()));
  compilation.spec.loss.chunk = compilation.chunk.rows; // for what plans this spec again
  if (compilation.chunk.rows == 0)
    return success();
  return runPasses(compilation, [&](Passes &passes) {
    passes.addPass(createChunkLossPass({compilation.chunk.rows}));
    passes.addPass(createCSEPass());
  });
}

/// Cuts the matrices between the ranks of a tensor-parallel group.
LogicalResult splitTensors(Compilation &compilation) {
  if (failed(runPasses(compilation, [](Passes &passes) { passes.addPass(createGroupSumsPass()); })) ||
      failed(shardModule(*compilation.module, compilation.spec, compilation.modelPath, compilation.diagnostics)))
    return failure();
  if (failed(runPasses(compilation, [](Passes &passes) { passes.addPass(createCSEPass()); }, /*isSharded=*/true)))
    return failure();
  return checkCuts(*compilation.module, compilation.spec, compilation.diagnostics);
}

LogicalResult shard(Compilation &compilation) {
  bool isSharded = compilation.spec.tp > 1;
  if (failed(chunkLoss(compilation)) || (isSharded && failed(splitTensors(compilation))))
    return failure();
  if (!compilation.spec.precision.isMixed())
    return success();
  auto round = [&](Passes &passes) {
    passes.addPass(createRoundBiasedOncePass());
    if (compilation.spec.isDeterministic) // then all but products has the bits of CPUs
      return;
    passes.addPass(createRoundEpiloguesOncePass(compilation.getTarget()));
    passes.addPass(createNarrowConvolutionsPass(compilation.getTarget()));
  };
  return runPasses(compilation, round, isSharded);
}

LogicalResult stage(Compilation &compilation) {
  const Spec &spec = compilation.spec;
  const PipelineSchedule &schedule = getSchedule(spec);
  AssignStagesPassOptions stages;
  stages.chunks = spec.chunksPerRank();
  stages.schedule = schedule.name.str();
  stages.microBatches = spec.microBatches();
  stages.flopsPerByte = compilation.getTarget().flopsPerByte();
  return runPasses(
      compilation,
      [&](Passes &passes) {
        passes.addPass(createHoistLossGradientPass());
        passes.addPass(createRematerializeCheapOpsPass());
        passes.addPass(createAssignStagesPass(stages));
        passes.addPass(createCopyIntoChunksPass());
        passes.addPass(createInsertZeroGradientsPass());
        passes.addPass(createOutlineUnitsPass({schedule.splitsBackward}));
        passes.addGate(createVerifyStagedPass());
      },
      spec.tp > 1);
}

/// What the spec leaves open about ZeRO, decided by plans that fork from what Stage left.
ZeroChoice decideZero(Compilation &compilation) {
  Forks forks(compilation);
  return chooseZero(compilation.spec, forks.getPlanner(), [&](const std::string &obstacle) {
    if (compilation.importing.notes)
      *compilation.importing.notes << "note: a candidate of 'zero: auto' cannot be planned: " << obstacle << "\n";
  });
}

LogicalResult dataParallel(Compilation &compilation) {
  const Spec &spec = compilation.spec;
  const ZeroChoice &zero = compilation.zero = decideZero(compilation);
  AssignBucketsPassOptions buckets;
  buckets.stage = spec.zeroStage;
  buckets.bucketBytes = spec.zero.bucketBytes;
  buckets.persistenceThreshold = spec.zero.persistenceThreshold;
  buckets.reducePerStep = zero.reducesPerStep;
  buckets.wire = PrecisionSpec::getElementName(spec.precision.reduce);
  InsertActionsPassOptions actions;
  actions.schedule = getSchedule(spec).name.str();
  actions.microBatches = spec.microBatches();
  actions.keepGathered = zero.keepsGathered;
  return runPasses(
      compilation,
      [&](Passes &passes) {
        passes.addPass(createAssignBucketsPass(buckets));
        passes.addPass(createInsertActionsPass(actions));
        passes.addGate(createVerifyTimelinePass());
      },
      spec.tp > 1, Scope::AllButFunctions);
}

LogicalResult schedule(Compilation &compilation) {
  const ZeroSpec &zero = compilation.spec.zero;
  PrefetchGathersPassOptions prefetch;
  // Where messages run beside computations, windows say how early gathers may begin.
  int64_t ahead = compilation.spec.overlaps() ? 0 : 1;
  prefetch.units = zero.prefetch == ZeroSpec::Prefetch::Auto ? ahead : 1;
  if (zero.prefetch == ZeroSpec::Prefetch::Units)
    prefetch.units = zero.prefetchAmount;
  prefetch.bytes = zero.prefetch == ZeroSpec::Prefetch::Bytes ? zero.prefetchAmount : 0;
  return runPasses(
      compilation,
      [&](Passes &passes) {
        passes.addPass(createPrefetchGathersPass(prefetch));
        passes.addGate(createVerifyTimelinePass());
      },
      compilation.spec.tp > 1, Scope::AllButFunctions);
}

/// Beyond it offsets would not fit into 64 bits.
LogicalResult refuseArena(Compilation &compilation, exec::ProgramOp program) {
  compilation.diagnostics.error(
      findPlace(compilation.spec, "batch.micro").value_or(compilation.specPath),
      llvm::formatv("each rank of pipeline stage {0} would need more than {1}, the largest arena that a plan can "
                    "describe; reduce the number of micro-batches in flight or batch.micro, or use more ranks",
                    program.getStage(), formatBytes(kLargestArena)));
  return failure();
}

void addProgram(Passes &passes, const Compilation &compilation) {
  passes.addPass(createNormalizeReductionsPass(compilation.getTarget(), compilation.spec.hasFusedAttention()));
  passes.addPass(createFormKernelsPass(compilation.getTarget()));
  passes.addPass(createSplitReductionsPass(compilation.getTarget()));
  passes.addPass(createMergeSumsPass(compilation.getTarget()));
  const Spec &spec = compilation.spec;
  if (spec.weightsBeside)
    passes.addPass(createSetProductsApartPass());
  passes.addPass(createLowerToExecPass(compilation.getTarget(), spec.threadsPerRankOrDefault()));
  passes.addPass(createAssignStreamsPass({spec.weightsBeside}));
  bool isAuto = spec.zero.prefetch == ZeroSpec::Prefetch::Auto;
  if (spec.overlaps())
    passes.addPass(createAssignWindowsPass(spec.deviceOrCpu(), spec.threadsPerRankOrDefault(), /*gathers=*/isAuto));
}

LogicalResult memory(Compilation &compilation) {
  Threads threads(compilation.context); // the programs of stages are placed, and looked at, beside each other
  if (failed(runPasses(compilation, [&](Passes &passes) {
        addProgram(passes, compilation);
        passes.addPass(createAssignOffsetsPass({compilation.getTarget().arenaAlignment()}));
      })))
    return failure();
  // Only then: what follows adds to offsets.
  for (auto program : compilation.module->getOps<exec::ProgramOp>())
    if ((int64_t)program.getArena() > kLargestArena)
      return refuseArena(compilation, program);
  return runPasses(
      compilation,
      [](Passes &passes) {
        passes.addPass(createAssignDependenciesPass());
        passes.addGate(createVerifyPlacementPass());
        passes.addGate(createVerifyStreamsPass());
      },
      /*isSharded=*/false, Scope::Nothing);
}

/// What cannot be a program is refused before there is code.
LogicalResult lower(Compilation &compilation) {
  if (failed(checkProgram(compilation)))
    return failure();
  compilation.fingerprint = makeFingerprint(compilation);
  return runPasses(compilation, [&](Passes &passes) {
    compilation.getTarget().backend().addLowering(passes.manager);
    passes.addPass(createVerifyLoweredPass());
  });
}

constexpr Phase phases[] = {
    {"Spec", "YAML", "one checked struct", "all", "nothing; it parses and validates", "each value is legal on its own",
     Fault::User, spec},
    {"Import", "ONNX", "graph",
     "batch.micro, dims, micro-batches of all ranks, loss, init, dropout, eval, trainable, padding, tie, untie",

     "static shapes for one micro-batch of one data-parallel rank; the rewrites of exporters to revert; the patterns "
     "to raise; the units",
     "every op is of the graph dialect and has static shapes, a source name and a unit", Fault::User, import},
    {"Differentiate", "graph", "graph", "pipeline.cuts, optimizer, trainable",
     "backward by one rule per op, and the optimizer's update",
     "every trainable parameter has a gradient; every op has a role", Fault::User, differentiate, checkStages},
    {"Precision", "graph", "graph", "precision",
     "the sixteen-bit values, and the place where each is rounded; the parameters with a float32 master",
     "products have narrow operands; no statistic, no loss and no gradient of a parameter is rounded; each parameter "
     "has one master",
     Fault::Compiler, precision},
    {"Shard", "graph", "graph + dist",
     "tp, sequence_parallel, layout, pipeline.cuts, loss.chunk, cluster.device_memory, precision, "
     "runtime.deterministic",

     "the computation of the loss, as a whole or by rows; the dimension in which tp splits each parameter, and from "
     "it the layout of every value and the collectives; the products that are rounded after their bias, or after other "
     "operations that the target's library fuses with them",
     "no partial sum is used as a complete sum, or returned without a declaration as partial; gradients have the "
     "layouts of their parameters",
     Fault::Compiler, shard},
    {"Stage", "graph", "graph", "pp, tp, pipeline, micro-batches",

     "the units of each pipeline stage; unit functions with explicit boundaries and residuals",
     "`@micro_batch` only calls unit functions, each unit once in forward and once in backward", Fault::Compiler,
     stage},
    {"DataParallel", "graph", "sched",
     "dp, pp, tp, pipeline, micro-batches, zero_stage, dp_shard, zero, cluster.device_memory, precision",

     "buckets; the places of parameters, gradients and states; the actions that gather, release and reduce; the order "
     "of the pipeline's slots and messages",
     "parameters are read only while they are whole; each micro-batch's contribution to each gradient is summed "
     "exactly once over dp",
     Fault::Compiler, dataParallel},
    {"Schedule", "sched", "sched", "tp, zero, runtime.overlap", "the distance between a gather's start and its use",
     "as for DataParallel; all ranks' timelines run to the end in the rendezvous simulator", Fault::Compiler, schedule},
    {"Memory", "sched", "exec",
     "dp, pp, tp, zero, cluster.device, runtime.overlap, runtime.weight_gradients, runtime.threads_per_rank, "
     "runtime.attention, runtime.deterministic",
     "the ops of each kernel; the windows of messages; lifetimes and offsets of buffers in one arena per rank, and the "
     "values that share a buffer; the actions that may run concurrently",
     "no two live buffers overlap; every byte is written before it is read; actions that access the same byte are "
     "ordered",
     Fault::Compiler, memory},
    {"Lower", "exec", "exec + @kernels", "init", "the target's code for each kernel that no library computes",
     "each call of a generated kernel has code for its memory layout", Fault::Compiler, lower},
    {"Emit", "exec + @kernels", "program", "batch.micro, runtime.threads_per_rank, data, eval, init",
     "nothing; it writes the plan as data, an object file of code and plan, and the program",
     "the plan passes the program's own check", Fault::Compiler, emitProgram},
};

} // namespace

void xlc::setMesh(ModuleOp module, const Spec &spec) {
  auto mesh = dist::MeshAttr::get(module.getContext(), spec.pp, spec.dp, spec.tp, spec.dpShardOrAll());
  module->setAttr(dist::kMesh, mesh);
}

LogicalResult xlc::lowerToPrograms(Compilation &compilation) {
  return runPasses(compilation, [&](Passes &passes) { addProgram(passes, compilation); }, /*isSharded=*/false);
}

ArrayRef<Phase> xlc::getPhases() { return phases; }
