// Gradients of whole models, as exported, against central differences in double precision: for models of which there is
// no trace to compare with (norms in inference form), and for those where rules meet in ways that no sample has.
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "xlc/Dialect/Graph/InputAttributes.h"
#include "xlc/Differentiate/Differentiate.h"
#include "xlc/Import/Import.h"
#include "xlc/Interpret/Interpret.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;
using Reals = interpret::Tensor<double>;
using Arguments = SmallVector<interpret::Datum<double>>;

namespace {

Arguments evaluate(func::FuncOp function, const Arguments &arguments) {
  Arguments results;
  EXPECT_TRUE(succeeded(interpret::evaluate<double>(function, arguments, {}, results)));
  return results;
}

bool isTrained(func::FuncOp function, unsigned i) {
  return function.getArgAttr(i, graph::kParam) && !function.getArgAttr(i, graph::kFrozen);
}

/// Random arguments; running averages lie in [0.5, 1.5), since some are variances.
Arguments drawArguments(func::FuncOp function) {
  Arguments arguments;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    std::string key = "argument" + std::to_string(i);
    if (cast<RankedTensorType>(type).getElementType().isInteger()) {
      auto limit = function.getArgAttrOfType<IntegerAttr>(i, graph::kLimit);
      arguments.push_back(interpret::randomIntegers(shape, key, 1, limit ? limit.getInt() : 2));
      continue;
    }
    Reals x = interpret::randomTensor<double>(shape, key, 1);
    for (double &element : x.elements)
      element = function.getArgAttr(i, graph::kBuffer) ? 1 + element / 2 : element;
    arguments.push_back(std::move(x));
  }
  return arguments;
}

double lossAt(func::FuncOp forward, Arguments arguments, const Arguments &direction, double step) {
  for (auto [x, d] : llvm::zip(arguments, direction))
    if (auto *by = std::get_if<Reals>(&d))
      for (auto [element, change] : llvm::zip(std::get<Reals>(x).elements, by->elements))
        element += step * change;
  return std::get<Reals>(evaluate(forward, arguments)[0]).elements[0];
}

/// Along a direction in which only parameter `argument` moves, or all of them (-1).
Arguments drawDirection(func::FuncOp function, const Arguments &arguments, int argument) {
  Arguments direction;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto *x = std::get_if<Reals>(&arguments[i]);
    bool moves = x && isTrained(function, i) && (argument < 0 || argument == (int)i);
    direction.push_back(!x      ? interpret::Datum<double>(interpret::Integers())
                        : moves ? interpret::randomTensor<double>(x->shape, "direction" + std::to_string(i), 2)
                                : Reals(x->shape));
  }
  return direction;
}

double slopeByRules(func::FuncOp microBatch, const Arguments &results, const Arguments &direction) {
  double slope = 0;
  for (unsigned i = 2; i < results.size(); ++i)
    for (unsigned argument = 0; argument < microBatch.getNumArguments(); ++argument)
      if (auto name = microBatch.getResultAttrOfType<StringAttr>(i, graph::kGrad);
          name && name == microBatch.getArgAttr(argument, graph::kParam))
        for (auto [d, g] :
             llvm::zip_equal(std::get<Reals>(direction[argument]).elements, std::get<Reals>(results[i]).elements))
          slope += d * g;
  return slope;
}

class ModelGradients : public testing::TestWithParam<const char *> {};

TEST_P(ModelGradients, AgreeWithCentralDifferences) {
  MLIRContext context;
  Spec spec;
  spec.microBatch = 2;
  spec.loss.type = LossSpec::Type::CrossEntropy;
  spec.loss.logits = "logits", spec.loss.labels = "y";
  Diagnostics diagnostics(llvm::errs());
  auto model = importModel(std::string(XLC_MODELS "/") + GetParam(), spec, {}, context, diagnostics);
  ASSERT_TRUE(model);
  OwningOpRef<ModuleOp> differentiated = model->module->clone();
  PassManager passes(&context);
  passes.addPass(createDifferentiatePass());
  ASSERT_TRUE(succeeded(passes.run(*differentiated)));
  auto forward = model->module->lookupSymbol<func::FuncOp>("forward");
  auto microBatch = differentiated->lookupSymbol<func::FuncOp>("micro_batch");
  double nominal = (*model->module)->getAttrOfType<IntegerAttr>(graph::kNominalCount).getInt();

  Arguments arguments = drawArguments(forward), results = evaluate(microBatch, arguments);
  for (int moved = -1; moved < (int)forward.getNumArguments(); ++moved) {
    if (moved >= 0 && !isTrained(forward, moved))
      continue;
    Arguments direction = drawDirection(forward, arguments, moved);
    constexpr double h = 1e-6;
    double measured =
        (lossAt(forward, arguments, direction, h) - lossAt(forward, arguments, direction, -h)) / (2 * h * nominal);
    EXPECT_NEAR(slopeByRules(microBatch, results, direction), measured, 1e-7 * std::max(1.0, std::abs(measured)))
        << "along argument " << moved;
  }
}

INSTANTIATE_TEST_SUITE_P(Cnn, ModelGradients,
                         testing::Values("cnn/logits-unoptimized.onnx", "cnn/logits-torchscript-train.onnx"));

} // namespace
