// Convolutions and pools: the library call that an op becomes, run, against the interpreter's value of the op.
#include "Cpu/Convolution.h"
#include "Cpu/MaxPool.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Interpret/Interpret.h"
#include "xlc/Kernels/LibraryCalls.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;

namespace {

struct Sample {
  std::string op, operands, result, how;
};

class WindowCalls : public testing::Test {
protected:
  WindowCalls() { context.loadDialect<func::FuncDialect, graph::GraphDialect>(); }

  /// A function of one op.
  func::FuncOp parse(const Sample &sample) {
    bool isUnary = !StringRef(sample.operands).contains(',');
    std::string arguments = "%a: " + StringRef(sample.operands).split(", ").first.str();
    arguments += isUnary ? "" : ", %b: " + StringRef(sample.operands).split(", ").second.str();
    std::string text = "func.func @f(" + arguments + ") -> " + sample.result + " {\n%y = graph." + sample.op +
                       (isUnary ? " %a " : " %a, %b ") + sample.how + " : (" + sample.operands + ") -> " +
                       sample.result + "\nreturn %y : " + sample.result + "\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return *module->getOps<func::FuncOp>().begin();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

std::vector<float> run(Operation *op, ArrayRef<MemRefType> memory, std::vector<std::vector<float>> operands,
                       int64_t elements) {
  std::vector<float> result(elements, 9);
  operands.resize(2);
  if (op->getName().getStringRef().contains("max_pool")) {
    std::optional<PoolShape> found = findPoolShape(op, memory);
    runtime::MaxPoolShape shape{found->backward, found->planes, found->dims};
    if (shape.backward)
      maxPoolBackward(shape, operands[0].data(), operands[1].data(), result.data(), false, 0, shape.planes);
    else
      maxPool(shape, operands[0].data(), result.data(), false, 0, shape.planes);
    return result;
  }
  std::optional<runtime::ConvolutionShape> shape = findConvolutionShape(op, memory);
  using Kind = runtime::ConvolutionShape::Kind;
  float *a = operands[0].data(), *b = operands[1].data(), *y = result.data();
  runtime::ConvolutionOperands addresses = shape->kind == Kind::Forward     ? runtime::ConvolutionOperands{a, b, y}
                                           : shape->kind == Kind::Transpose ? runtime::ConvolutionOperands{y, b, a}
                                                                            : runtime::ConvolutionOperands{a, y, b};
  std::vector<char> scratch(convolutionScratch(*shape) + 64);
  char *aligned = (char *)(((uintptr_t)scratch.data() + 63) / 64 * 64);
  for (int64_t item = 0; item < convolutionItems(*shape); ++item)
    runConvolution(*shape, addresses, item, false, aligned);
  return result;
}

TEST_F(WindowCalls, AgreeWithTheInterpreter) {
  const std::string skewed = "groups 2 by [2, 1] dilations [1, 2] pads [1, 0]";
  const std::string x = "tensor<2x4x5x4xf32>", w = "tensor<6x2x3x2xf32>", y = "tensor<2x6x3x2xf32>";
  const std::string line = "tensor<2x3x8xf32>", lineW = "tensor<5x3x3xf32>", lineY = "tensor<2x5x8xf32>";
  const std::string solid = "tensor<1x2x3x4x5xf32>", solidW = "tensor<3x2x2x1x3xf32>", solidY = "tensor<1x3x2x4x3xf32>";
  const std::string plain = "groups 1 by [1] dilations [1] pads [1]",
                    ones = "groups 1 by [1, 1, 1] dilations [1, 1, 1] pads [0, 0, 0]";
  const std::string pool = "window [3, 2] by [2, 1] dilations [1, 2] pads [1, 0]";
  std::vector<Sample> samples = {{"max_pool", x, "tensor<2x4x3x2xf32>", pool},
                                 {"max_pool_backward", x + ", tensor<2x4x3x2xf32>", x, pool}};
  for (auto [in, weight, out, how] :
       {std::array{x, w, y, skewed}, {line, lineW, lineY, plain}, {solid, solidW, solidY, ones}}) {
    samples.push_back({"convolution", in + ", " + weight, out, how});
    samples.push_back({"convolution_transpose", out + ", " + weight, in, how});
    samples.push_back({"convolution_weight_backward", in + ", " + out, weight, how});
  }
  for (const Sample &sample : samples) {
    SCOPED_TRACE(sample.op + " " + sample.how);
    func::FuncOp function = parse(sample);
    SmallVector<interpret::Datum<float>> arguments, expected;
    std::vector<std::vector<float>> operands;
    SmallVector<MemRefType> memory;
    auto addMemory = [&](Type type) {
      memory.push_back(MemRefType::get(cast<RankedTensorType>(type).getShape(), Float32Type::get(&context)));
    };
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      auto drawn = interpret::randomTensor<float>(cast<RankedTensorType>(type).getShape(), std::to_string(i), 1);
      operands.push_back(drawn.elements);
      arguments.push_back(std::move(drawn));
      addMemory(type);
    }
    addMemory(function.getResultTypes()[0]);
    ASSERT_TRUE(succeeded(interpret::evaluate<float>(function, arguments, {}, expected)));
    const std::vector<float> &wanted = std::get<interpret::Tensor<float>>(expected[0]).elements;
    std::vector<float> found = run(&function.front().front(), memory, operands, wanted.size());
    for (auto [mine, other] : llvm::zip_equal(found, wanted))
      ASSERT_NEAR(mine, other, 1e-5);
  }
}

/// The library takes what lies one after the other; anything else is copied first.
TEST_F(WindowCalls, WantContiguousOperands) {
  func::FuncOp function = parse({"convolution", "tensor<1x1x3xf32>, tensor<1x1x1xf32>", "tensor<1x1x3xf32>",
                                 "groups 1 by [1] dilations [1] pads [0]"});
  Type f32 = Float32Type::get(&context);
  auto whole = MemRefType::get({1, 1, 3}, f32), one = MemRefType::get({1, 1, 1}, f32);
  auto strided = MemRefType::get({1, 1, 3}, f32, StridedLayoutAttr::get(&context, 0, {6, 6, 2}));
  Operation *op = &function.front().front();
  EXPECT_TRUE(findConvolutionShape(op, {whole, one, whole}));
  EXPECT_FALSE(findConvolutionShape(op, {strided, one, whole}));
  auto narrow = MemRefType::get({1, 1, 3}, BFloat16Type::get(&context));
  EXPECT_FALSE(findConvolutionShape(op, {narrow, one, narrow}));
}

} // namespace
