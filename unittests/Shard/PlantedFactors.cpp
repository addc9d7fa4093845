// The net of FactorNet.h catches: a wrong factor is planted in each row of the factor table, one at a time and in every way
// below that changes what the row says, and each is found. A plant that changes nothing is none.
//
//     build/bin/ShardTests --gtest_filter='PlantedFactors.*'
#include "FactorNet.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;

namespace {

/// Makes a row's claims wrong; `isPlanted` becomes true where they are asked for and differ.
struct Plant {
  const char *name;
  Claims (*plant)(const Claims &right, bool &isPlanted);
};

ArrayRef<int64_t> shapeAt(Operation *op, unsigned value) {
  Value at = value < op->getNumOperands() ? op->getOperand(value) : op->getResult(value - op->getNumOperands());
  return cast<RankedTensorType>(at.getType()).getShape();
}

Layout &layoutAt(Spread &spread, unsigned value) {
  size_t operands = spread.operands.size();
  return value < operands ? spread.operands[value] : spread.results[value - operands];
}

size_t countValues(const Spread &spread) { return spread.operands.size() + spread.results.size(); }

/// Claims whose splits `change` has changed, where it says so.
template <typename Change> Claims changed(const Claims &right, bool &isPlanted, Change change) {
  Claims wrong = right;
  wrong.spread = [=, &isPlanted](Operation *op, const Seed &seed) {
    std::optional<Spread> found = right.spread(op, seed);
    if (found && change(op, seed, *found))
      isPlanted = true;
    return found;
  };
  return wrong;
}

/// Claims that split along a dimension that the row has no factor for.
template <typename Claim> Claims added(const Claims &right, bool &isPlanted, Claim claim) {
  Claims wrong = right;
  wrong.spread = [=, &isPlanted](Operation *op, const Seed &seed) {
    std::optional<Spread> found = right.spread(op, seed);
    if (!found && seed.layout.outer == 1 && isEven(shapeAt(op, seed.value), seed.layout)) {
      found.emplace();
      found->operands.resize(op->getNumOperands());
      found->results.resize(op->getNumResults());
      isPlanted |= claim(op, seed, *found);
    }
    return found;
  };
  return wrong;
}

/// A value that is split with the seed is said to be whole.
Claims loseSplit(const Claims &right, bool &isPlanted) {
  return changed(right, isPlanted, [](Operation *, const Seed &seed, Spread &spread) {
    for (unsigned value = countValues(spread); value-- > 0;)
      if (Layout &layout = layoutAt(spread, value); value != seed.value && layout.isSplit()) {
        layout = Layout();
        return true;
      }
    return false;
  });
}

/// The results' blocks are said to lie in twice as many runs.
Claims loseRuns(const Claims &right, bool &isPlanted) {
  return changed(right, isPlanted, [](Operation *op, const Seed &, Spread &spread) {
    bool isChanged = false;
    for (auto [result, layout] : llvm::zip(op->getResults(), spread.results)) {
      Layout runs = Layout::split(layout.dim, 2 * layout.outer, layout.parts);
      ArrayRef<int64_t> shape = cast<RankedTensorType>(result.getType()).getShape();
      if (layout.isSplit() && !layout.isPartial && isEven(shape, runs))
        layout = runs, isChanged = true;
    }
    return isChanged;
  });
}

/// The results are said to be split along another dimension of the same size.
Claims moveDimension(const Claims &right, bool &isPlanted) {
  return changed(right, isPlanted, [](Operation *op, const Seed &, Spread &spread) {
    for (auto [result, layout] : llvm::zip(op->getResults(), spread.results)) {
      ArrayRef<int64_t> shape = cast<RankedTensorType>(result.getType()).getShape();
      for (int64_t dim = 0; layout.isSplit() && dim < int64_t(shape.size()); ++dim)
        if (dim != layout.dim && shape[dim] == shape[layout.dim]) {
          layout.dim = dim;
          return true;
        }
    }
    return false;
  });
}

/// What is a sum over the ranks is said to be whole on each.
Claims loseSum(const Claims &right, bool &isPlanted) {
  return changed(right, isPlanted, [](Operation *, const Seed &, Spread &spread) {
    if (!spread.isSum)
      return false;
    spread.isSum = false;
    spread.results.assign(spread.results.size(), Layout());
    return true;
  });
}

/// What asks for the rank's place is said not to, and the other way around.
Claims misplace(const Claims &right, bool &isPlanted) {
  return changed(right, isPlanted, [](Operation *, const Seed &, Spread &spread) {
    spread.isPlaced = !spread.isPlaced;
    return true;
  });
}

/// A dimension that must be whole is said to be split in this value alone.
Claims splitAlone(const Claims &right, bool &isPlanted) {
  return added(right, isPlanted, [](Operation *, const Seed &seed, Spread &spread) {
    layoutAt(spread, seed.value) = seed.layout;
    return true;
  });
}

/// A dimension that must be whole is said to pass, as in an elementwise op.
Claims splitAlike(const Claims &right, bool &isPlanted) {
  return added(right, isPlanted, [](Operation *op, const Seed &seed, Spread &spread) {
    int64_t dim = seed.layout.dim, size = shapeAt(op, seed.value)[dim];
    for (unsigned value = 0; value < countValues(spread); ++value)
      if (ArrayRef<int64_t> shape = shapeAt(op, value); dim < int64_t(shape.size()) && shape[dim] == size)
        layoutAt(spread, value) = seed.layout;
    return true;
  });
}

/// The op is said to be linear in all its floats together or, where it is, in the first alone.
Claims mistakeLinear(const Claims &right, bool &isPlanted) {
  Claims wrong = right;
  wrong.linear = [=, &isPlanted](Operation *op) {
    uint32_t all = 0;
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      all |= uint32_t(isa<FloatType>(cast<RankedTensorType>(operand.getType()).getElementType())) << number;
    LinearSets sets = right.linear(op);
    uint32_t set = llvm::is_contained(sets, all) ? all & -all : all;
    bool isFloat = isa<FloatType>(cast<RankedTensorType>(op->getResult(0).getType()).getElementType());
    if (set && isFloat && !llvm::is_contained(sets, set)) {
      isPlanted = true;
      sets.push_back(set);
    }
    return sets;
  };
  return wrong;
}

/// Rows of the batch are said to be those of the dimension behind it.
Claims moveBatch(const Claims &right, bool &isPlanted) {
  Claims wrong = right;
  if (right.spreadBatch)
    wrong.spreadBatch = [=, &isPlanted](Operation *op, const Seed &seed) {
      Seed before = seed;
      --before.layout.dim;
      std::optional<Spread> found = before.layout.dim >= 0 ? right.spreadBatch(op, before) : std::nullopt;
      for (unsigned value = 0; found && value < countValues(*found); ++value)
        if (Layout &layout = layoutAt(*found, value); layout.isSplit())
          ++layout.dim, isPlanted = true;
      return found;
    };
  return wrong;
}

constexpr Plant plants[] = {
    {"loses a split", loseSplit},         {"loses runs", loseRuns},
    {"moves a dimension", moveDimension}, {"loses a sum", loseSum},
    {"mistakes a place", misplace},       {"splits one value alone", splitAlone},
    {"splits values alike", splitAlike},  {"mistakes linear", mistakeLinear},
    {"moves the batch", moveBatch},
};

/// What a plant claims and is no mistake, or the interpreter cannot tell.
struct Harmless {
  const char *plant, *op, *why;
};
constexpr Harmless harmless[] = {
    {"loses runs", "graph.constant", "all elements are equal"},
    {"mistakes linear", "graph.pad", "true, and not stated: what is padded with is a constant"},
    {"mistakes linear", "graph.stop_gradient", "true, and not stated"},
    {"mistakes linear", "graph.stochastic_cast", "the field does not round"},
    {"moves the batch", "graph.max_pool", "true, and not stated: channels lie as samples do"},
};

bool isHarmless(const Plant &plant, StringRef op) {
  return llvm::any_of(harmless,
                      [&](const Harmless &row) { return plant.name == StringRef(row.plant) && row.op == op; });
}

TEST(PlantedFactors, AreFound) {
  MLIRContext context;
  context.loadDialect<graph::GraphDialect>();
  FactorNet net;
  for (const std::string &op : net.getOps()) {
    int found = 0;
    for (const Plant &plant : plants) {
      bool isPlanted = false;
      Claims wrong = plant.plant(Claims::of(*findFactorRow(OperationName(op, &context))), isPlanted);
      bool isFound = !net.findWrong(op, wrong).empty();
      found += isFound;
      EXPECT_EQ(isFound, isPlanted && !isHarmless(plant, op)) << op << " " << plant.name;
    }
    bool hasNone = op == "graph.step_number" || op == "graph.site"; // numbers
    EXPECT_EQ(found == 0, hasNone) << op;
  }
}

} // namespace
