// Verification of a plan: the partitioned program on N simulated ranks against the unpartitioned one.
//
// Both start from the same random parameters and zero optimizer state and see the same random
// rows; after every step the loss, the norm, every parameter and every optimizer state of every
// rank are compared element by element: in the finite field for equality.
#ifndef XLC_INTERPRET_VERIFY_H
#define XLC_INTERPRET_VERIFY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>
#include <vector>

namespace xlc::interpret {

enum class Arithmetic { F64, F32, Field };

/// An order of an exec program's actions other than that of the program: each stream goes on by itself, an action begins
/// once all that it comes `after` have ended, and which of those that can begin does so is drawn.
struct Order {
  uint64_t seed = 0;
  /// The action (stage, number in its program) that begins only when no other can.
  std::optional<std::pair<int64_t, int64_t>> delayed;
};

struct VerifyOptions {
  Arithmetic arithmetic = Arithmetic::Field;
  uint64_t seed = 0;
  int64_t steps = 2;
  /// Differences listed in the report; all are counted.
  size_t maximalDifferences = 10;
  /// In the field, of a program with more parameters than these only digests are kept for the other to be compared
  /// with.
  int64_t heldParameters = 1 << 25;
  /// None: that of the program.
  std::optional<Order> order;
};

/// What is compared.
struct Programs {
  /// After Differentiate: @micro_batch, @scalars and @update.
  mlir::ModuleOp unpartitioned;
  /// After DataParallel or Schedule (a `sched.timeline` with its buckets and functions), after Memory (an
  /// `exec.program` with its functions), or after Stage (@micro_batch made of calls; run for two micro-batches).
  mlir::ModuleOp partitioned;
};

/// What evaluating a function takes.
struct Work {
  double products = 0; ///< multiply-adds of contractions, convolutions and attentions
  double elements = 0; ///< of all results
};
Work countWork(mlir::func::FuncOp function);

/// What a verification will take: known before it starts.
struct VerifyCost {
  double multiplyAdds = 0; ///< of both programs, all ranks and steps
  double seconds = 0;      ///< on one core, to a factor of two or so
  std::string toString() const;
};
VerifyCost estimateCost(const Programs &programs, const VerifyOptions &options);

struct VerifyReport {
  int64_t steps = 0, ranks = 0, microBatches = 0;
  bool evaluates = false; ///< behind each step
  int64_t tensors = 0;    ///< compared, on all ranks and in all steps
  int64_t elements = 0;   ///< likewise
  int64_t differing = 0;
  bool byDigest = false; ///< elements were compared by a digest of each tensor
  /// "step 1, rank 2: 'wte.weight' element 17 is 5, should be 6", the first of each tensor.
  std::vector<std::string> differences;
  /// Names of what was compared, each once.
  std::vector<std::string> names;

  bool isEqual() const { return differing == 0; }
  /// What was compared, with what arithmetic.
  std::string summary(const VerifyOptions &options) const;
};

/// Runs both programs and compares, in `count` random orders of streams: the first report that is not equal, or the last. In
/// the field the unpartitioned program runs once, and leaves digests.
llvm::FailureOr<VerifyReport> verifyOrders(const Programs &programs, const VerifyOptions &options, int64_t count);

/// Runs both programs and compares. A program that cannot be run (it reads what is not there, an op
/// has no rule) is an error at the place in its IR; a difference is not an error but in the report.
llvm::FailureOr<VerifyReport> verify(const Programs &programs, const VerifyOptions &options);

} // namespace xlc::interpret

#endif
