// What a row of the factor table claims, run on samples of its op: an op is split every way that is claimed, run on all
// ranks, and what they hold is compared with what the claim says they hold of the whole result.
#ifndef XLC_UNITTESTS_SHARD_FACTORNET_H
#define XLC_UNITTESTS_SHARD_FACTORNET_H

#include "Samples.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Factors/FactorRules.h"
#include <functional>
#include <map>
#include <set>

namespace xlc::shard {

/// What a row says; a test may say something else.
struct Claims {
  using Rule = std::function<std::optional<Spread>(mlir::Operation *, const Seed &)>;

  Rule spread, spreadBatch; ///< `spreadBatch` is empty where `spread` speaks for the batch too
  std::function<LinearSets(mlir::Operation *)> linear;

  static Claims of(const FactorRow &row);
};

class FactorNet {
public:
  FactorNet();

  /// Ops that have samples, by name.
  std::vector<std::string> getOps() const;

  /// The first thing that is wrong with the claims about an op, on its samples; empty where all is right.
  std::string findWrong(llvm::StringRef op, const Claims &claims);

private:
  using Values = llvm::SmallVector<Datum<Field>>;

  struct Sample {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    mlir::Operation *op = nullptr; ///< the last of @op
    Values operands, results;      ///< none where the interpreter does not evaluate it
  };

  void addSample(const std::string &text);
  Values evaluate(mlir::func::FuncOp function, const Values &arguments);
  std::string findWrongSplit(Sample &sample, const Claims &claims, std::set<std::string> &stated,
                             std::set<std::string> &tried);
  std::string findWrongBatch(Sample &sample, const Claims &claims, std::set<std::string> &tried);
  std::string findWrongSum(Sample &sample, const Claims &claims);
  /// Writes one rank's op; LocalOps does for a split of tp.
  using Writer = std::function<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, llvm::ArrayRef<mlir::Value>)>;
  mlir::func::FuncOp writeLocal(Sample &sample, const Spread &spread, const Writer &write);
  std::string check(Sample &sample, const Spread &spread, int64_t tp, const Writer &write);
  std::string checkSplit(Sample &sample, const Spread &spread, int64_t tp);

  mlir::MLIRContext context;
  std::map<std::string, std::vector<Sample>> samples; ///< by op
};

} // namespace xlc::shard

#endif
