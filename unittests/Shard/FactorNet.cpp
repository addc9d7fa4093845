// See FactorNet.h.
#include "FactorNet.h"
#include "Shard/LocalOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Dialect/Graph/InputAttributes.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;

Claims Claims::of(const FactorRow &row) {
  Claims claims{row.spread, {}, row.linear};
  if (row.spreadBatch)
    claims.spreadBatch = row.spreadBatch;
  return claims;
}

FactorNet::FactorNet() {
  context.loadDialect<func::FuncDialect, graph::GraphDialect, dist::DistDialect>();
  for (const std::string &sample : getSamples())
    addSample(sample);
}

static SmallVector<Datum<Field>> randomArguments(func::FuncOp function) {
  SmallVector<Datum<Field>> arguments;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    std::string key = "argument " + std::to_string(i);
    auto limit = function.getArgAttrOfType<IntegerAttr>(i, graph::kLimit);
    if (tensor.getElementType().isInteger())
      arguments.push_back(interpret::randomIntegers(tensor.getShape(), key, 5, limit ? limit.getInt() : 2));
    else
      arguments.push_back(interpret::randomTensor<Field>(tensor.getShape(), key, 5));
  }
  return arguments;
}

/// None where the interpreter needs more than a function, as for numbers that a step holds.
FactorNet::Values FactorNet::evaluate(func::FuncOp function, const Values &arguments) {
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  Values results;
  return succeeded(interpret::evaluate<Field>(function, arguments, {}, results)) ? results : Values();
}

/// The op's operands are what @op returns, without the op; its results are what @op returns.
void FactorNet::addSample(const std::string &text) {
  Sample sample;
  sample.module = parseSourceString<ModuleOp>(text, &context);
  if (!sample.module)
    llvm::report_fatal_error(("a sample cannot be read: " + text).c_str());
  auto function = sample.module->lookupSymbol<func::FuncOp>("op"),
       prepare = sample.module->lookupSymbol<func::FuncOp>("prepare");
  Operation *returned = function.front().getTerminator();
  sample.op = returned->getPrevNode();
  Values arguments = prepare ? evaluate(prepare, randomArguments(prepare)) : randomArguments(function);
  sample.results = evaluate(function, arguments);
  func::FuncOp operands = function.clone();
  sample.module->push_back(operands);
  Operation *end = operands.front().getTerminator();
  end->setOperands(end->getPrevNode()->getOperands());
  operands.setFunctionType(FunctionType::get(&context, function.getArgumentTypes(), end->getOperandTypes()));
  sample.operands = evaluate(operands, arguments);
  operands.erase();
  samples[sample.op->getName().getStringRef().str()].push_back(std::move(sample));
}

std::vector<std::string> FactorNet::getOps() const {
  std::vector<std::string> ops;
  for (auto &[op, ofOp] : samples)
    ops.push_back(op);
  return ops;
}

//===----------------------------------------------------------------------===//
// One claim
//===----------------------------------------------------------------------===//

func::FuncOp FactorNet::writeLocal(Sample &sample, const Spread &spread, const Writer &write) {
  OpBuilder builder(sample.module->getBodyRegion());
  SmallVector<Type> types;
  for (auto [operand, layout] : llvm::zip(sample.op->getOperands(), spread.operands))
    types.push_back(localType(operand.getType(), layout));
  auto function = func::FuncOp::create(builder, sample.op->getLoc(), "local", builder.getFunctionType(types, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  SmallVector<Value> results = write(builder, SmallVector<Value>(function.getArguments()));
  func::ReturnOp::create(builder, sample.op->getLoc(), results);
  function.setFunctionType(builder.getFunctionType(types, ValueRange(results).getTypes()));
  return function;
}

static SmallVector<Value> valuesOf(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  return values;
}

std::string FactorNet::check(Sample &sample, const Spread &spread, int64_t tp, const Writer &write) {
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  for (auto [value, layout] :
       llvm::zip(valuesOf(sample.op), llvm::concat<const Layout>(spread.operands, spread.results)))
    if (ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
        layout.dim >= int64_t(shape.size()) || (layout.isSplit() && shape[layout.dim] % layout.outer != 0))
      return "names a dimension, or runs of it, that are none";
  func::FuncOp local = writeLocal(sample, spread, write);
  std::string wrong;
  llvm::raw_string_ostream out(wrong);
  auto complain = [&](const Twine &what) { out << what << "\n" << *sample.op << "\non " << tp << " ranks\n" << local; };
  std::vector<Values> arguments(tp), found;
  for (int64_t rank = 0; rank < tp; ++rank)
    for (auto [i, operand, layout] : llvm::enumerate(sample.operands, spread.operands))
      arguments[rank].push_back(localOf(&context, operand, layout, tp, rank, std::to_string(i)));
  if (failed(verify(local)) || failed(interpret::evaluateRanks<Field>(local, arguments, {}, found))) {
    complain("one rank's op is none");
  } else {
    for (auto [i, whole, layout] : llvm::enumerate(sample.results, spread.results)) {
      std::vector<Datum<Field>> ranks;
      for (auto &own : found)
        ranks.push_back(own[i]);
      if (!isLaidOut(&context, ranks, whole, layout, tp)) {
        complain("result " + Twine(i) + " does not lie so");
        break;
      }
    }
  }
  bool asks = false;
  local.walk([&](dist::AxisIndexOp) { asks = true; });
  if (wrong.empty() && asks != spread.isPlaced)
    complain(asks ? "asks for the rank's place, and does not say so" : "says that it asks for the rank's place");
  local.erase();
  return wrong;
}

std::string FactorNet::checkSplit(Sample &sample, const Spread &spread, int64_t tp) {
  return check(sample, spread, tp, [&](OpBuilder &builder, ArrayRef<Value> operands) {
    // Backward of a loss over split classes uses what forward leaves.
    LocalOps local(builder, tp);
    SmallVector<Value> used(operands);
    if (auto loss = dyn_cast<graph::CrossEntropyBackwardOp>(sample.op)) {
      Operation *forward = loss.getLse().getDefiningOp();
      Spread before{{spread.operands[0], Layout()}, SmallVector<Layout, 6>(3)};
      used[2] = local.write(forward, {operands[0], operands[1]}, before, forward)[2];
    }
    return local.write(sample.op, used, spread, sample.op);
  });
}

//===----------------------------------------------------------------------===//
// All claims
//===----------------------------------------------------------------------===//

/// Whether blocks are full, or the op is one that masks the tail of what it indexes.
static bool isTried(Operation *op, const Spread &spread, int64_t tp) {
  bool masks = isa<graph::GatherOp, graph::ScatterAddOp, graph::CrossEntropyOp, graph::CrossEntropyBackwardOp>(op);
  auto even = [](auto pair) {
    return isEven(cast<RankedTensorType>(std::get<0>(pair).getType()).getShape(), std::get<1>(pair));
  };
  bool isEvenly = llvm::all_of(llvm::zip(op->getOperands(), spread.operands), even) &&
                  llvm::all_of(llvm::zip(op->getResults(), spread.results), even);
  bool isWholeSum = !spread.isSum || llvm::all_of(spread.operands, [&](const Layout &layout) {
    return !layout.isSplit() || layout.parts == tp;
  });
  return isWholeSum && (isEvenly || masks);
}

/// The dimensions that a factor has in each value; the factor of all its splits.
static std::string nameFactor(const Spread &spread) {
  std::string name = spread.isSum ? "sum" : "";
  for (const Layout &layout : llvm::concat<const Layout>(spread.operands, spread.results))
    name += " " + std::to_string(layout.dim);
  return name;
}

/// Terms of a sum in what a linear set names, cut as the spread says.
static Spread withTerms(Spread spread, uint32_t set, int64_t tp) {
  for (auto [number, layout] : llvm::enumerate(spread.operands))
    if (set >> number & 1)
      layout = layout.unsummed();
  for (Layout &layout : spread.results)
    layout = spread.isSum ? Layout::partial() : layout.parts == tp ? layout : layout.unsummed();
  return spread;
}

std::string FactorNet::findWrongSplit(Sample &sample, const Claims &claims, std::set<std::string> &stated,
                                      std::set<std::string> &tried) {
  for (int64_t tp : {2, 3, 4})
    for (auto [number, value] : llvm::enumerate(valuesOf(sample.op)))
      for (const Layout &layout : layoutsOf(cast<RankedTensorType>(value.getType()).getShape(), tp)) {
        if (!layout.isSplit() || layout.isPartial)
          continue;
        std::optional<Spread> found = claims.spread(sample.op, {unsigned(number), layout, tp});
        if (!found)
          continue;
        if (sample.results.empty())
          return "states a factor that the interpreter cannot judge";
        stated.insert(nameFactor(*found));
        std::string wrong;
        if (isTried(sample.op, *found, tp)) {
          tried.insert(nameFactor(*found));
          wrong = checkSplit(sample, *found, tp);
        }
        bool isEvenly = layout.parts < tp && tp % layout.parts == 0;
        Spread even = *found;
        even.isSum = false; // copies share the terms
        if (wrong.empty() && isEvenly && isTried(sample.op, even, tp))
          for (uint32_t set : claims.linear(sample.op))
            if (wrong.empty() && carriesTerms(sample.op, *found, set))
              wrong = checkSplit(sample, withTerms(*found, set, tp), tp);
        if (!wrong.empty())
          return wrong;
      }
  return "";
}

std::string FactorNet::findWrongBatch(Sample &sample, const Claims &claims, std::set<std::string> &tried) {
  for (auto [number, value] : llvm::enumerate(valuesOf(sample.op)))
    for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(value.getType()).getShape())) {
      if (size == 1)
        continue;
      Seed seed{unsigned(number), Layout::split(dim, 1, size), size};
      std::optional<Spread> found = claims.spreadBatch ? claims.spreadBatch(sample.op, seed) : std::nullopt;
      if (!found)
        continue;
      tried.insert(nameFactor(*found));
      auto write = [&](OpBuilder &builder, ArrayRef<Value> operands) {
        IRMapping mapping;
        mapping.map(sample.op->getOperands(), operands);
        Operation *local = builder.clone(*sample.op, mapping);
        for (auto [result, layout] : llvm::zip(local->getResults(), found->results))
          result.setType(localType(result.getType(), layout));
        return SmallVector<Value>(local->getResults());
      };
      if (std::string wrong = check(sample, *found, size, write); !wrong.empty())
        return wrong;
    }
  return "";
}

std::string FactorNet::findWrongSum(Sample &sample, const Claims &claims) {
  for (uint32_t set : claims.linear(sample.op)) {
    Spread terms;
    for (unsigned number = 0; number < sample.op->getNumOperands(); ++number)
      terms.operands.push_back(set >> number & 1 ? Layout::partial() : Layout());
    terms.results.assign(sample.op->getNumResults(), Layout::partial());
    if (std::string wrong = checkSplit(sample, terms, 3); !wrong.empty())
      return wrong;
  }
  return "";
}

std::string FactorNet::findWrong(StringRef op, const Claims &claims) {
  std::set<std::string> stated, tried, rows;
  for (Sample &sample : samples[op.str()]) {
    std::string wrong = findWrongSplit(sample, claims, stated, tried);
    if (wrong.empty())
      wrong = findWrongBatch(sample, claims, rows);
    if (wrong.empty())
      wrong = findWrongSum(sample, claims);
    if (!wrong.empty())
      return wrong;
  }
  for (const std::string &factor : stated)
    if (!tried.count(factor))
      return "no sample is cut by the factor" + factor;
  if (claims.spreadBatch && rows.empty())
    return "no sample is cut into rows";
  return "";
}
