// Verification of a plan: the partitioned program on N simulated ranks against the unpartitioned one.
//
// Both start from the same random parameters and zero optimizer state and use the same random rows. After every step
// the loss, the norm, every parameter and every optimizer state of every rank are compared element by element: in the
// finite field for equality.
#ifndef XLC_INTERPRET_VERIFY_H
#define XLC_INTERPRET_VERIFY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>
#include <vector>

namespace xlc::interpret {

enum class Arithmetic { F64, F32, Field };

/// An order of an exec program's actions other than that of the program: each stream proceeds independently, an action
/// can start once all actions in its `after` have ended, and the next of those that can start is drawn at random.
struct Order {
  uint64_t seed = 0;
  /// The action (stage, number in its program) that starts only if no other can.
  std::optional<std::pair<int64_t, int64_t>> delayed;
};

struct VerifyOptions {
  Arithmetic arithmetic = Arithmetic::Field;
  uint64_t seed = 0;
  int64_t steps = 2;
  /// The maximum number of differences listed in the report; all are counted.
  size_t maximalDifferences = 10;
  /// In the field, for a program with more parameters than this, only digests are kept for comparison with the other
  /// program.
  int64_t heldParameters = 1 << 25;
  /// None: the order of the program.
  std::optional<Order> order;
};

/// The programs to compare.
struct Programs {
  /// After Differentiate: @micro_batch, @scalars and @update.
  mlir::ModuleOp unpartitioned;
  /// After DataParallel or Schedule (a `sched.timeline` with its buckets and functions), after Memory (an
  /// `exec.program` with its functions), or after Stage (@micro_batch made of calls; run for two micro-batches).
  mlir::ModuleOp partitioned;
};

/// The work of evaluating a function.
struct Work {
  double products = 0; ///< multiply-adds of contractions, convolutions and attentions
  double elements = 0; ///< of all results
};
Work countWork(mlir::func::FuncOp function);

/// An estimate of the work of a verification, available before it starts.
struct VerifyCost {
  double multiplyAdds = 0; ///< of both programs, all ranks and steps
  double seconds = 0;      ///< on one core, accurate to a factor of about two
  std::string toString() const;
};
VerifyCost estimateCost(const Programs &programs, const VerifyOptions &options);

struct VerifyReport {
  int64_t steps = 0, ranks = 0, microBatches = 0;
  bool evaluates = false; ///< after each step
  int64_t tensors = 0;    ///< compared, on all ranks and in all steps
  int64_t elements = 0;   ///< likewise
  int64_t differing = 0;
  bool byDigest = false; ///< elements were compared by one digest per tensor
  /// "step 1, rank 2: 'wte.weight' element 17 is 5, should be 6", the first of each tensor.
  std::vector<std::string> differences;
  /// Names of the compared values, each once.
  std::vector<std::string> names;

  bool isEqual() const { return differing == 0; }
  /// The compared values, and the arithmetic.
  std::string summary(const VerifyOptions &options) const;
};

/// Runs both programs and compares, in `count` random orders of streams. Returns the first report with a difference, or
/// the last. In the field the unpartitioned program runs once, and leaves digests.
llvm::FailureOr<VerifyReport> verifyOrders(const Programs &programs, const VerifyOptions &options, int64_t count);

/// Runs both programs and compares. A program that cannot be run (it reads missing data, or an op has no rule) is an
/// error at the place in its IR; a difference is not an error but is listed in the report.
llvm::FailureOr<VerifyReport> verify(const Programs &programs, const VerifyOptions &options);

} // namespace xlc::interpret

#endif
