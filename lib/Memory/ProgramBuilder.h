// The `exec` program under construction: buffers in order of creation, actions in order of time.
#ifndef XLC_LIB_MEMORY_PROGRAMBUILDER_H
#define XLC_LIB_MEMORY_PROGRAMBUILDER_H

#include "BucketStates.h"
#include "SlotFunction.h"
#include "mlir/IR/SymbolTable.h"
#include "xlc/Dialect/Graph/Update.h"

namespace xlc {

/// State shared by all stages, which have the same units, and whose buffers have the same numbers.
struct SharedByStages {
  const Target &target;
  int64_t threads;                               ///< of a rank
  llvm::StringMap<mlir::func::FuncOp> functions; ///< that are no unit's, by name
  std::vector<exec::PlaceAttr> begins;           ///< of the buffers, by number, as far as they were asked for
};

/// Translates one sched.timeline, action by action.
class ProgramBuilder {
public:
  /// `symbols` are those of the module.
  ProgramBuilder(mlir::ModuleOp module, const mlir::SymbolTable &symbols, sched::TimelineOp timeline,
                 SharedByStages &shared);

  /// Translates everything. Unit functions must be on slots.
  void build(const llvm::StringMap<Signature> &signatures);

private:
  struct Buffer {
    mlir::StringAttr name;
    exec::Cause cause;
    int64_t bytes;
    int64_t first, last;
    bool isPersistent;
  };
  /// The buffers of a bucket's tensors at the current action; -1: not allocated.
  struct BucketMemory {
    sched::BucketOp op;
    int64_t gathered = -1, grads = -1, gradShard = -1;
    llvm::SmallVector<std::pair<BucketState, int64_t>> kept; ///< its states, and their buffers
    int64_t slice = 0;                                       ///< elements of a shard

    /// Buffers of its states of a kind, in the order of the optimizer's row.
    llvm::SmallVector<int64_t, 2> find(llvm::function_ref<bool(exec::StateKind)> suits) const {
      llvm::SmallVector<int64_t, 2> buffers;
      for (const auto &[state, buffer] : kept)
        if (suits(state.kind))
          buffers.push_back(buffer);
      return buffers;
    }
    /// The parameters in the form that units read.
    int64_t params() const { return find(exec::isRead).front(); }
    int64_t master() const {
      auto found = find([](exec::StateKind kind) { return kind == exec::StateKind::master; });
      return found.empty() ? -1 : found.front();
    }
    llvm::SmallVector<int64_t, 2> states() const {
      return find([](exec::StateKind kind) { return kind == exec::StateKind::optimizer; });
    }
    /// The table of its members.
    int64_t members() const {
      return find([](exec::StateKind kind) { return kind == exec::StateKind::members; }).front();
    }
  };
  struct Piece {
    exec::PlaceAttr place;
    int64_t count;
  };
  /// The properties that the runs of a unit's function have in common, for all micro-batches.
  struct RunForm {
    struct Slot {
      mlir::StringAttr buffer;                   ///< the name of a buffer made for it
      dist::GroupAttr index;                     ///< it takes the rank's index in this group
      std::optional<runtime::StepNumber> number; ///< it takes this number of the step
      int64_t bytes;
    };
    mlir::StringAttr label;
    llvm::SmallVector<Slot> slots;
  };

  int64_t addBuffer(mlir::StringAttr name, exec::Cause cause, int64_t bytes, bool isPersistent = false);
  int64_t addBuffer(const llvm::Twine &name, exec::Cause cause, int64_t bytes, bool isPersistent = false) {
    return addBuffer(actions.getStringAttr(name), cause, bytes, isPersistent);
  }
  /// The first byte of a buffer.
  exec::PlaceAttr beginOf(int64_t buffer);
  /// An address that the current action touches.
  exec::PlaceAttr place(int64_t buffer, int64_t offset = 0, int64_t stride = 0);
  template <typename Op, typename... Args> void act(Args &&...args) {
    Op::create(actions, timeline.getLoc(), std::forward<Args>(args)...);
    ++time;
  }
  mlir::StringAttr label(const llvm::Twine &text) { return actions.getStringAttr(text); }

  const RunForm &formOf(sched::RunOp run, mlir::func::FuncOp function);
  void addPersistentBuffers();
  void addSums();
  void begin();
  void endBegin();
  int64_t shards() { return timeline.getMesh().getShards(); }
  void translate(sched::LoadOp);
  void translate(sched::StoreOp);
  void translate(sched::RunOp, const Signature &);
  /// Appends the part of a run that runs apart, directly after the run.
  void runApart(sched::RunOp run, const Apart &apart, llvm::ArrayRef<mlir::Attribute> ofWhole, bool isFirst);
  void translate(sched::SendOp);
  void translate(sched::ReceiveOp);
  /// A collective on the tensor with this name.
  void exchange(dist::CollectiveKind kind, llvm::StringRef name, dist::GroupAttr group, exec::PlaceAttr src,
                exec::PlaceAttr dst, int64_t count, mlir::Type type, mlir::TypeAttr wire = {}, bool adds = false);
  void translate(sched::CollectiveOp);
  void translate(sched::ReleaseOp);
  void gather(BucketMemory &bucket);
  void reduceScatter(BucketMemory &bucket, bool adds);
  void translate(sched::NormOp);
  void translate(sched::ZeroScalarsOp);
  void translate(sched::AllReduceScalarsOp);
  void translate(sched::ScalarsOp);
  void translate(sched::UpdateOp);
  void createBuffers();
  /// The table of the values that outlive a step.
  void createStates();

  exec::PlaceAttr scalar(llvm::StringRef name);
  /// The step's numbers of an optimizer group, or one of them.
  exec::PlaceAttr groupScalars(int64_t group, int64_t offset = 0);
  exec::PlaceAttr stepNumber(int64_t group, runtime::StepNumber which) {
    return groupScalars(group, int64_t(runtime::offsetInGroup(which)));
  }
  /// A number of the step; the first call adds it to the program.
  exec::PlaceAttr stepNumber(runtime::StepNumber which);
  exec::PlaceAttr parameter(mlir::Attribute name);
  exec::PlaceAttr gradient(mlir::Attribute name);
  /// The eight bytes that hold the rank's index in a group.
  exec::PlaceAttr index(dist::GroupAttr group);
  exec::PlaceAttr site(int64_t number);
  bool isBuffer(mlir::Attribute name);
  /// This rank's piece of the gradients; `whole`: all of them, if the rank keeps all.
  Piece gradientPiece(BucketMemory &bucket, bool whole);
  void openGradients(BucketMemory &bucket);
  mlir::func::FuncOp zeros(mlir::RankedTensorType type, llvm::StringRef name);
  /// The type of a scalar, or of a sum of the timeline.
  mlir::RankedTensorType scalarType(llvm::StringRef name);
  void runFunction(mlir::func::FuncOp function, const llvm::Twine &text, llvm::ArrayRef<mlir::Attribute> places,
                   bool first);
  mlir::func::FuncOp makeKernel(const std::string &name, exec::KernelKind kind, llvm::ArrayRef<mlir::Type> inputs,
                                llvm::ArrayRef<mlir::Type> results,
                                llvm::function_ref<void(mlir::OpBuilder &, mlir::Block &)> write);
  /// A function of one kernel, made once.
  mlir::func::FuncOp cachedKernel(const std::string &name, exec::KernelKind kind, llvm::ArrayRef<mlir::Type> inputs,
                                  llvm::ArrayRef<mlir::Type> results, llvm::ArrayRef<int32_t> accumulate,
                                  llvm::function_ref<void(mlir::OpBuilder &, mlir::Block &)> write);
  BucketMemory &memoryOf(mlir::FlatSymbolRefAttr bucket) { return buckets.find(bucket.getAttr())->second; }
  exec::Cause causeOf(mlir::Value activation);

  bool trains() { return timeline.getPurpose() == graph::Purpose::train; }

  mlir::ModuleOp module;
  const mlir::SymbolTable &symbols;
  sched::TimelineOp timeline;
  exec::ProgramOp program;
  mlir::OpBuilder actions;
  int64_t time = 0;
  int64_t runs = 0;
  std::vector<Buffer> buffers;
  llvm::MapVector<mlir::StringAttr, BucketMemory> buckets;
  llvm::DenseMap<mlir::Attribute, std::pair<mlir::StringAttr, int64_t>> memberOf;
  llvm::DenseMap<mlir::Value, int64_t> activations;
  llvm::MapVector<dist::GroupAttr, int64_t> indices; ///< buffers, by group
  llvm::MapVector<int64_t, int64_t> sites;           ///< buffers, by the number of a site
  SharedByStages &shared;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, RunForm> forms; ///< by unit and function
  int64_t scalars = -1, groupCount = 0;            ///< of one that evaluates: the buffer of its sums
  llvm::MapVector<mlir::StringAttr, int64_t> sums; ///< where they lie in it
  bool hasLossScale = false;
  llvm::SmallVector<runtime::StepNumber, 2> stepNumbers; ///< that a step has once and the program reads
  bool hasScalars = false;                               ///< whether loss and norm are worked out
};

} // namespace xlc

#endif
