// Observes the simulated ranks and compares the results of each call and each message with the expected ones.
//
// The location of operands is read from the `exec` program, not from the plan that the runtime follows: a wrong
// address, stride or order of operands by Emit is a difference too.
#ifndef XLC_LIB_VERIFY_JUDGE_H
#define XLC_LIB_VERIFY_JUDGE_H

#include "Device/Observer.h"
#include "Expected.h"
#include "mlir/IR/SymbolTable.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Verify/VerifyKernels.h"
#include <mutex>
#include <set>

namespace xlc::verify {

/// A collective from the view of a participating rank.
struct Rendezvous : exec::Exchange {
  Operand src, dst;
};

class Judge : public runtime::Observer {
public:
  /// Judges the programs for a purpose. `arenas` by rank, filled in before the ranks start. Judges of several purposes
  /// may share a report if their programs run alternately.
  Judge(mlir::ModuleOp program, graph::Purpose purpose, const std::vector<char *> &arenas, const KernelOptions &options,
        KernelReport &report);

  void call(const runtime::Position &at, const char *workspace, const std::function<void()> &run) override;
  void exchange(const runtime::Position &at, const std::function<void()> &run) override;
  void transfer(const runtime::Position &at, const std::function<void()> &run) override;
  void act(const runtime::Position &at, const std::function<void()> &run) override;

  /// Whether a kernel could not be evaluated; a diagnostic gives the reason.
  bool isFailed() const { return hasFailed; }

private:
  /// The program of a rank's stage, its actions, and the ops of the functions that they run.
  struct Stage {
    exec::ProgramOp op;
    std::vector<exec::BufferOp> buffers;
    std::vector<mlir::Operation *> actions;
  };
  using Bytes = std::vector<char>;

  Stage &stageOf(int rank) { return stages[rank / mesh.getStageRanks()]; }
  mlir::Operation *actionAt(const runtime::Position &at) { return stageOf(at.rank).actions[at.action]; }
  mlir::Operation *innerAt(const runtime::Position &at);
  char *addressOf(exec::PlaceAttr place, int rank);
  /// The memory of a value of a function that `run` binds on `rank`.
  Operand operandOf(mlir::Value value, exec::RunOp run, int rank);
  Rendezvous rendezvousAt(const runtime::Position &at);

  void compare(const runtime::Position &at, llvm::StringRef what, const Operand &actual, const Expected &expected,
               size_t result, const Operand *before);
  void compareRendezvous(const runtime::Position &at, const Rendezvous &rendezvous, llvm::ArrayRef<Operand> sources,
                         const Operand &before);
  /// Records a difference, the first of each kernel or message.
  void note(const runtime::Position &at, llvm::StringRef what, std::string difference);
  std::string describe(const runtime::Position &at);

  mlir::SymbolTable symbols;
  const graph::Purpose purpose;
  dist::MeshAttr mesh;
  std::vector<Stage> stages;
  const std::vector<char *> &arenas;
  const KernelOptions &options;
  KernelReport &report;
  Kernels kernels;
  std::mutex mutex, reporting;
  bool hasFailed = false;
  std::set<std::string> noted;                                             // looked up only
  llvm::DenseMap<mlir::Operation *, std::vector<mlir::Operation *>> inner; // calls and collectives, by function
  /// The data that ranks contribute to a message, until all have seen it: by message, then by rank.
  std::map<std::string, std::map<int64_t, Bytes>> given;
  std::map<std::string, int64_t> seen;                    // how many ranks are done with a message
  std::map<std::pair<int64_t, std::string>, int64_t> met; // messages of a rank in a group so far
};

} // namespace xlc::verify

#endif
