// What the programs of a verification have in common: the model as Differentiate leaves it, and
// the data of a run, drawn by logical key.
//
// Every number is a function of its name, its logical index and the seed: element k of a
// parameter, row r of step s of an input. So each program can ask for what it needs, in whatever
// order and however it is cut, and gets the same numbers.
#ifndef XLC_LIB_INTERPRET_RANKS_MODEL_H
#define XLC_LIB_INTERPRET_RANKS_MODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "xlc/Dialect/Graph/Update.h"
#include "xlc/Interpret/Interpret.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

namespace xlc::interpret {

/// @micro_batch, @scalars and @update, read.
struct Model {
  struct Parameter {
    std::string name;
    Shape shape;
    bool isFrozen = false;
    bool isBuffer = false;           ///< replaced in forward, by each rank for itself
    std::vector<std::string> states; ///< "w/m", "w/v", in the order of the optimizer step
  };
  struct Input {
    std::string name;
    mlir::RankedTensorType type; ///< of one micro-batch; rows are dimension 0
    std::string wholeOf;         ///< the input of which this holds the rows of a whole step; empty: its own
    int64_t limit = 2;           ///< integers lie in [0, limit)
    std::optional<int64_t> ignore;
    bool isSampleNumber = false; ///< of each row within the global batch
  };

  mlir::func::FuncOp microBatch, scalars, update;
  mlir::func::FuncOp evaluation; ///< null: there is none
  std::vector<Parameter> parameters;
  std::vector<Input> inputs;
  std::vector<graph::OptimizerGroup> groups;
  runtime::RateSchedule schedule; ///< of learning rates

  /// The model of a module after Differentiate, or an error that says what is missing.
  static llvm::FailureOr<Model> read(mlir::ModuleOp module);
  const Parameter *findParameter(llvm::StringRef name) const;
  const Input *findInput(llvm::StringRef name) const;
};

/// Named tensors: what a step leaves behind ("@loss", "@norm", "w", "w/m").
template <class E> using Values = std::map<std::string, Datum<E>>;
inline constexpr llvm::StringLiteral kLoss = "@loss";
inline constexpr llvm::StringLiteral kNorm = "@norm";
/// Behind the name of a parameter: its master, which must equal it.
inline constexpr llvm::StringLiteral kMaster = "/master";
inline std::string nameOfEqual(llvm::StringRef held) {
  held.consume_back(kMaster);
  return held.str();
}

/// What a rank of a dp index gives of an output of the model in a micro-batch: "logits of micro-batch 1, dp index 0".
inline std::string nameOfPart(llvm::StringRef output, int64_t microBatch, int64_t dpIndex) {
  return llvm::formatv("{0} of micro-batch {1}, dp index {2}", output, microBatch, dpIndex);
}

/// Numbers of a real run, in the place of drawn ones: what parameters begin with, and of each input the rows of its
/// steps.
struct GivenData {
  std::map<std::string, Datum<double>> parameters, rows; ///< by name
  int64_t globalBatch;                                   ///< rows of a step
};

/// The data of a run.
template <class E> struct Source {
  uint64_t seed;
  const GivenData *given = nullptr; ///< null: drawn

  /// A buffer may be a variance, so among the reals it is not negative.
  Tensor<E> parameter(const Model::Parameter &parameter) const {
    if constexpr (std::is_same_v<E, double>)
      if (given)
        return std::get<Tensor<double>>(given->parameters.at(parameter.name));
    Tensor<E> value = randomTensor<E>(parameter.shape, parameter.name, seed);
    if (parameter.isBuffer && !std::is_same_v<E, Field>)
      for (E &element : value.elements)
        element = larger(element, -element);
    return value;
  }
  /// The rows of one micro-batch, beginning at `firstRow` of the global batch of `step`.
  Datum<E> rows(const Model::Input &input, int64_t step, int64_t firstRow) const;
  /// The same of the evaluation behind a step, of whose global batch of `all` rows the data have a part.
  Datum<E> rowsOfEvaluation(const Model::Input &input, int64_t step, int64_t firstRow, int64_t all) const;
};

/// The numbers of an optimizer group (StepNumbers.h) at step t = 1, 2, ..., by formulas of the interpreter's own, but
/// for those of schedules, which unittests/Spec compares with the libraries'; 0 stands for the factor on the gradients,
/// which is known when the norm is.
template <class E>
Tensor<E> groupNumbers(const graph::OptimizerGroup &group, const runtime::RateSchedule &schedule, int64_t t);

/// One program under verification.
template <class E> class Runner {
public:
  virtual ~Runner() = default;
  /// Runs step t = 1, 2, ...
  virtual llvm::LogicalResult step(int64_t t) = 0;
  /// What a rank holds after the step, with the ranks that it shares pieces with, one tensor at a time.
  using Visit = llvm::function_ref<void(int64_t rank, llvm::StringRef name, const Datum<E> &value)>;
  virtual llvm::LogicalResult forEachHeld(Visit visit) = 0;
  /// Evaluates behind step t, where the model has an evaluation: what a rank has as its sums, "@loss_sum", and gives of
  /// outputs of the model (nameOfPart).
  virtual llvm::LogicalResult evaluate(int64_t t, Visit visit) = 0;
};

/// The program that others are compared with: all it holds is at hand.
template <class E> class Reference : public Runner<E> {
public:
  /// What the rank of a dp index should hold under a name; null: nothing.
  virtual const Datum<E> *find(int64_t row, const std::string &name) const = 0;
  virtual const Values<E> &valuesOf(int64_t row) const = 0;
};

/// How the global batch is cut.
struct Cut {
  int64_t ranks = 1, microBatches = 1;
  /// Rows of the global batch, of an input that has those of a micro-batch.
  int64_t allRows(const Model::Input &input) const { return ranks * microBatches * input.type.getDimSize(0); }
  /// The first row of a micro-batch of a rank, in rows of the global batch.
  int64_t firstRow(const Model::Input &input, int64_t rank, int64_t microBatch) const {
    return input.wholeOf.empty() ? (microBatch * ranks + rank) * input.type.getDimSize(0) : 0;
  }
};

/// The unpartitioned program: all micro-batches of all ranks in order, contributions summed.
template <class E>
std::unique_ptr<Reference<E>> makeUnpartitioned(const Model &model, const Source<E> &source, Cut cut,
                                                const Options &options);

} // namespace xlc::interpret

#endif
