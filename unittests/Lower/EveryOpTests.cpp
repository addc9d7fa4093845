// Every op that can stand in a generated kernel, in every kind of kernel, compiled and compared with the interpreter:
// alone in a loop, flattened where it may be and on strided memory where it may not, over its own operand where its
// trait says that it reads its own element, and below a reduction to rows, to columns and to a scalar; on the threads of
// a simulated GPU too. The list of ops is the dialect's: an op without a sample fails.
#include "../Graph/PlainOps.h"
#include "CompiledKernel.h"
#include "SimulatedKernel.h"
#include "mlir/IR/MLIRContext.h"
#include "xlc/Dialect/Graph/Stops.h"
#include "xlc/Kernels/LibraryCalls.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace xlc;
using namespace xlc::test;

namespace {

/// A kernel of one op, with what it needs to have operands; its value is %y.
struct Sample {
  std::string op;
  std::vector<Operand> ins;
  Operand out;
  std::string body, kind = "loop";
  std::vector<size_t> own = {}; ///< operands of the out's type that it reads element by element
  bool flattens = false;        ///< whether shapes do not matter to it
};

constexpr int64_t rows = 3, width = 37; // more than two vectors of 16, with a rest

Operand of(const std::string &element, std::vector<int64_t> shape = {rows, width}) { return {element, shape}; }
Operand f32(std::vector<int64_t> shape = {rows, width}) { return of("f32", shape); }

/// y = op(operands), all of one type.
Sample elementwise(const std::string &op, size_t operands, const std::string &how = "", const char *element = "f32") {
  Sample sample{"graph." + op, {}, of(element), "%y = graph." + op + " ", "loop", {}, true};
  for (size_t i = 0; i < operands; ++i) {
    sample.ins.push_back(of(element));
    sample.own.push_back(i);
    sample.body += (i ? ", %" : "%") + std::to_string(i);
  }
  sample.body += how + " : tensor<3x37x" + element + ">";
  return sample;
}

std::vector<Sample> elementwiseSamples() {
  std::vector<Sample> samples;
  for (const PlainOp &op : getPlainOps())
    if (!graph::isGoneAfterDifferentiate("graph." + op.name))
      samples.push_back(elementwise(op.name, op.operands, "", op.isLogical ? "i1" : "f32"));
  samples.push_back(elementwise("gelu tanh", 1));
  samples.push_back(elementwise("gelu_backward erf", 2));
  for (Sample &sample : samples)
    sample.op = sample.op.substr(0, sample.op.find(' '));
  samples.push_back(elementwise("scale", 1, " by 3 over 7"));
  samples.push_back({"graph.is_nan",
                     {f32()},
                     of("i1"),
                     "%q = graph.log %0 : tensor<3x37xf32>\n%y = graph.is_nan %q : tensor<3x37xf32> -> tensor<3x37xi1>",
                     "loop",
                     {},
                     true});
  samples.push_back({"graph.cast",
                     {f32()},
                     of("i64"),
                     "%y = graph.cast %0 : tensor<3x37xf32> -> tensor<3x37xi64>",
                     "loop",
                     {},
                     true});
  samples.push_back({"graph.compare",
                     {f32(), f32()},
                     of("i1"),
                     "%y = graph.compare le %0, %1 : tensor<3x37xf32> -> tensor<3x37xi1>",
                     "loop",
                     {},
                     true});
  samples.push_back({"graph.select",
                     {of("i1"), f32(), f32()},
                     f32(),
                     "%y = graph.select %0, %1, %2 : tensor<3x37xi1>, tensor<3x37xf32>",
                     "loop",
                     {1, 2},
                     true});
  samples.push_back({"graph.cross_entropy_backward",
                     {f32(), of("i64", {rows}), f32({rows}), f32({})},
                     f32(),
                     "%a = graph.abs %1 : tensor<3xi64>\n"
                     "%y = graph.cross_entropy_backward %0, %a, %2, %3 ignore 1 : "
                     "(tensor<3x37xf32>, tensor<3xi64>, tensor<3xf32>, tensor<f32>) -> tensor<3x37xf32>",
                     "loop",
                     {0}});
  return samples;
}

std::vector<Sample> updateSamples() {
  std::vector<Sample> samples;
  samples.push_back({"graph.optimizer_step",
                     {f32(), f32(), f32({6}), f32()},
                     f32(),
                     "%y, %m = graph.optimizer_step sgd %0, %1, %2 states %3 {momentum = 0.9 : f64, weight_decay = 0.1 "
                     ": f64} : (tensor<3x37xf32>, tensor<3x37xf32>, tensor<6xf32>, tensor<3x37xf32>) -> "
                     "(tensor<3x37xf32>, tensor<3x37xf32>)",
                     "loop",
                     {0, 1, 3},
                     true});
  const char *bits = "%b = graph.random_bits %0, %1, %2 : tensor<3x37xi32>\n"
                     "%y = graph.cast %b : tensor<3x37xi32> -> tensor<3x37xf32>";
  samples.push_back({"graph.random_bits", {of("i64"), of("i64"), of("i64")}, f32(), bits, "loop", {}, true});
  samples.push_back(
      {"graph.stochastic_cast",
       {f32(), of("i32")},
       f32(),
       "%e = graph.floor %0 : tensor<3x37xf32>\n" // which bf16 holds: the interpreter's double rounds nothing
       "%n = graph.stochastic_cast %e, %1 draw 0 : (tensor<3x37xf32>, tensor<3x37xi32>) -> tensor<3x37xbf16>\n"
       "%y = graph.cast %n : tensor<3x37xbf16> -> tensor<3x37xf32>",
       "loop",
       {0},
       true});
  return samples;
}

std::vector<Sample> movingSamples() {
  const std::string x = "tensor<3x37xf32>", places = "%a = graph.abs %1 : tensor<";
  return {
      {"graph.constant",
       {f32()},
       f32({2, 3}),
       "%y = graph.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>"},
      {"graph.iota", {f32()}, of("i64"), "%y = graph.iota dim 1 : tensor<3x37xi64>"},
      {"graph.broadcast",
       {f32({rows, 1})},
       f32({2, rows, width}),
       "%y = graph.broadcast %0 : tensor<3x1xf32> -> tensor<2x3x37xf32>"},
      {"graph.reshape",
       {f32()},
       f32({width, rows}),
       "%y = graph.reshape %0 : " + x + " -> tensor<37x3xf32>",
       "loop",
       {},
       true},
      {"graph.transpose",
       {f32()},
       f32({width, rows}),
       "%y = graph.transpose %0 [1, 0] : " + x + " -> tensor<37x3xf32>"},
      {"graph.slice",
       {f32()},
       f32({2, 18}),
       "%y = graph.slice %0 from [2, 36] by [-1, -2] : " + x + " -> tensor<2x18xf32>"},
      {"graph.slice", {f32()}, f32(), "%y = graph.slice %0 from [2, 36] by [-1, -1] : " + x + " -> " + x},
      {"graph.concat",
       {f32(), f32({rows, 5})},
       f32({rows, 42}),
       "%y = graph.concat %0, %1 dim 1 : (" + x + ", tensor<3x5xf32>) -> tensor<3x42xf32>"},
      {"graph.pad",
       {f32(), f32({})},
       f32({5, 40}),
       "%y = graph.pad %0, %1 low [1, 2] high [1, 1] : (" + x + ", tensor<f32>) -> tensor<5x40xf32>"},
      {"graph.gather",
       {f32(), of("i64", {rows})},
       f32(),
       places + "3xi64>\n%y = graph.gather %0, %a dim 0 : (" + x + ", tensor<3xi64>) -> " + x},
      {"graph.gather_elements",
       {f32(), of("i64")},
       f32(),
       places + "3x37xi64>\n%y = graph.gather_elements %0, %a dim 1 : (" + x + ", tensor<3x37xi64>) -> " + x},
  };
}

std::vector<Sample> reducingSamples() {
  const std::string x = "tensor<3x37xf32>", w = "tensor<37xf32>", r = "tensor<3xf32>";
  Operand weight = f32({width}), row = f32({rows});
  return {
      {"graph.reduce", {f32()}, row, "%y = graph.reduce sum %0 dims [1] : " + x + " -> " + r, "rows"},
      {"graph.reduce", {f32()}, weight, "%y = graph.reduce max %0 dims [0] : " + x + " -> " + w, "columns"},
      {"graph.reduce", {f32()}, f32({}), "%y = graph.reduce min %0 dims [0, 1] : " + x + " -> tensor<f32>", "all"},
      {"graph.sum_squares", {f32()}, of("f64", {}), "%y = graph.sum_squares %0 : " + x + " -> tensor<f64>", "all"},
      {"graph.softmax", {f32()}, f32(), "%y = graph.softmax %0 : " + x, "rows"},
      {"graph.layer_norm",
       {f32(), weight, weight},
       f32(),
       "%y, %m, %r = graph.layer_norm %0, %1, %2 {epsilon = 1.0e-05 : f64} : (" + x + ", " + w + ", " + w + ") -> (" +
           x + ", " + r + ", " + r + ")",
       "rows"},
      {"graph.layer_norm_backward",
       {f32(), weight, row, row, f32()},
       f32(),
       "%y = graph.layer_norm_backward %0, %1, %2, %3, %4 : (" + x + ", " + w + ", " + r + ", " + r + ", " + x +
           ") -> " + x,
       "rows"},
      {"graph.layer_norm_weight_backward",
       {f32(), row, row, f32()},
       weight,
       "%y, %b = graph.layer_norm_weight_backward %0, %1, %2, %3 : (" + x + ", " + r + ", " + r + ", " + x + ") -> (" +
           w + ", " + w + ")",
       "columns"},
      {"graph.rms_norm",
       {f32(), weight},
       f32(),
       "%y, %r = graph.rms_norm %0, %1 {epsilon = 1.0e-05 : f64} : (" + x + ", " + w + ") -> (" + x + ", " + r + ")",
       "rows"},
      {"graph.rms_norm_backward",
       {f32(), weight, row, f32()},
       f32(),
       "%y = graph.rms_norm_backward %0, %1, %2, %3 : (" + x + ", " + w + ", " + r + ", " + x + ") -> " + x,
       "rows"},
      {"graph.rms_norm_weight_backward",
       {f32(), row, f32()},
       weight,
       "%y = graph.rms_norm_weight_backward %0, %1, %2 : (" + x + ", " + r + ", " + x + ") -> " + w,
       "columns"},
      {"graph.cross_entropy",
       {f32(), of("i64", {rows})},
       row,
       "%a = graph.abs %1 : tensor<3xi64>\n%s, %c, %y = graph.cross_entropy %0, %a ignore 1 : (" + x +
           ", tensor<3xi64>) -> (tensor<f32>, tensor<i64>, " + r + ")",
       "rows"},
  };
}

std::vector<Sample> samples() {
  std::vector<Sample> all = elementwiseSamples();
  for (const std::vector<Sample> &more : {updateSamples(), movingSamples(), reducingSamples()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// What a loss saves of its logits.
void saveLogSumExp(Tensors &inputs) {
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t i = 0; i < width; ++i)
      sum += std::exp(inputs[0].values[r * width + i]);
    inputs[2].values[r] = (float)std::log(sum);
  }
}

void expectNear(const Tensor &found, const Tensor &expected) {
  ASSERT_EQ(found.values.size(), expected.values.size());
  for (size_t i = 0; i < expected.values.size(); ++i)
    if (std::isnan(expected.values[i]))
      EXPECT_TRUE(std::isnan(found.values[i])) << "element " << i;
    else
      ASSERT_NEAR(found.values[i], expected.values[i], 3e-6 * std::max(1.0, std::fabs(expected.values[i])))
          << "element " << i;
}

/// The same with gaps between the rows of whatever has rows.
Operand spread(Operand operand) {
  int64_t stride = 1;
  operand.strides.assign(operand.shape.size(), 1);
  for (size_t d = operand.shape.size(); d-- > 0; stride *= operand.shape[d] + 3)
    operand.strides[d] = stride;
  return operand;
}

KernelText textOf(const Sample &sample, bool isSpread) {
  KernelText text{sample.kind, sample.ins, {sample.out}, sample.body + " => %y"};
  for (auto *operands : {&text.ins, &text.outs})
    for (Operand &operand : *operands)
      if (isSpread && operand.shape.size() > 1)
        operand = spread(operand);
  return text;
}

/// The largest along the last dimension, along all others, or of all elements of the sample's value.
KernelText reducedText(const Sample &sample, const std::string &kind) {
  KernelText text = textOf(sample, /*isSpread=*/true);
  const std::vector<int64_t> &shape = sample.out.shape;
  std::vector<int64_t> kept;
  std::string dimensions;
  for (size_t d = 0; d < shape.size(); ++d)
    if (kind == "all" || (kind == "rows") == (d + 1 == shape.size()))
      dimensions += (dimensions.empty() ? "" : ", ") + std::to_string(d);
    else
      kept.push_back(shape[d]);
  Operand number = of(sample.out.element == "f64" ? "f64" : "f32", shape), out = of(number.element, kept);
  text.kind = kind, text.outs = {out};
  text.body = sample.body + "\n%f = graph.cast %y : " + of(sample.out.element, shape).tensorType() + " -> " +
              number.tensorType() + "\n%z = graph.reduce max %f dims [" + dimensions + "] : " + number.tensorType() +
              " -> " + out.tensorType() + " => %z";
  return text;
}

class EveryOp : public testing::Test {
protected:
  void check(const KernelText &text, const Sample &sample) {
    SCOPED_TRACE(text.body + " in a kernel of kind " + text.kind);
    Tensors inputs = makeInputs(text);
    if (sample.op == "graph.cross_entropy_backward")
      saveLogSumExp(inputs);
    CompiledKernel kernel(text);
    Tensor expected = evaluate(text, inputs).front(), found = kernel.run(inputs).front();
    expectNear(found, expected);
    expectSameOnGpu(text, inputs, found);
    if (text.kind != "loop" || !text.outs[0].strides.empty())
      return;
    EXPECT_EQ(kernel.extent() == expected.size(), sample.flattens) << "whether it is one flat loop";
    for (size_t operand : sample.own)
      expectNear(kernel.run(inputs, {}, 3, /*add=*/false, /*over=*/operand).front(), expected);
  }
};

TEST_F(EveryOp, HasASampleOrIsALibraryCall) {
  mlir::MLIRContext context;
  context.loadDialect<graph::GraphDialect>();
  std::vector<Sample> known = samples();
  for (mlir::RegisteredOperationName name : context.getRegisteredOperationsByDialect("graph")) {
    llvm::StringRef op = name.getStringRef();
    bool isLibrary = name.hasTrait<graph::LibraryKernel>();
    bool isKnown = llvm::any_of(known, [&](const Sample &sample) { return sample.op == op; });
    if (graph::isGoneAfterDifferentiate(op) || name.hasTrait<graph::Held>()) // the runtime writes it
      continue;
    EXPECT_NE(isLibrary, isKnown) << op.str() << " needs a sample here, unless a library does it";
  }
}

TEST_F(EveryOp, AloneFlatOrStridedOrInPlace) {
  for (const Sample &sample : samples())
    for (bool isSpread : {false, true})
      check(textOf(sample, isSpread), sample);
}

TEST_F(EveryOp, BelowAReduction) {
  for (const Sample &sample : samples())
    for (const char *kind : {"rows", "columns", "all"})
      if (sample.out.shape.size() > 1 || (kind == std::string("all") && !sample.out.shape.empty()))
        check(reducedText(sample, kind), sample);
}

/// What the samples say of their operands is what the ops say.
TEST_F(EveryOp, ReadsItsOwnElementWhereItSaysSo) {
  for (const Sample &sample : samples()) {
    KernelText text = textOf(sample, false);
    for (size_t i = 0; i < text.ins.size(); ++i) {
      bool isOwn = llvm::is_contained(sample.own, i);
      bool isSameType = text.ins[i].element == sample.out.element && text.ins[i].shape == sample.out.shape;
      EXPECT_EQ(isSameType && readsOwnElements(text, i), isOwn) << sample.op << ", operand " << i;
    }
  }
}

/// The elements of the kernel's value that change where element `at` of all operands with its rows does.
std::vector<size_t> findChanged(const KernelText &text, Tensors inputs, size_t at) {
  Tensor before = evaluate(text, inputs).front();
  for (Tensor &input : inputs)
    if (at < input.values.size() && input.shape.front() == before.shape.front())
      input.values[at] = input.values[at] == 0;
  Tensor after = evaluate(text, inputs).front();
  std::vector<size_t> changed;
  for (size_t i = 0; i < before.values.size(); ++i)
    if (before.values[i] != after.values[i] && !(std::isnan(before.values[i]) && std::isnan(after.values[i])))
      changed.push_back(i);
  return changed;
}

bool isElementwise(const KernelText &text, const Tensors &inputs) {
  auto isLikeResult = [&](const Operand &operand) { return operand.shape == text.outs[0].shape; };
  auto isOwn = [&](size_t at) {
    return llvm::all_of(findChanged(text, inputs, at), [&](size_t i) { return i == at; });
  };
  return !text.ins.empty() && llvm::all_of(text.ins, isLikeResult) && isOwn(0) && isOwn(width) && isOwn(2 * width + 5);
}

bool isAdditive(const KernelText &text, const Tensors &a) {
  Tensors b = a, sum = a;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a[i].values.size(); ++j) {
      b[i].values[j] = std::trunc(7 * a[i].values[a[i].values.size() - 1 - j]);
      sum[i].values[j] += b[i].values[j];
    }
  Tensor ofA = evaluate(text, a).front(), ofB = evaluate(text, b).front(), ofSum = evaluate(text, sum).front();
  for (size_t i = 0; i < ofSum.values.size(); ++i)
    if (std::fabs(ofA.values[i] + ofB.values[i] - ofSum.values[i]) > 1e-4)
      return false;
  return true;
}

/// A trait that says too much is a wrong program; one that is missing is mostly a slow one, and for `Elementwise` seen.
TEST_F(EveryOp, IsOfTheSortsThatItSays) {
  mlir::MLIRContext context;
  context.loadDialect<graph::GraphDialect>();
  for (const Sample &sample : samples()) {
    SCOPED_TRACE(sample.body);
    auto name = *mlir::RegisteredOperationName::lookup(sample.op, &context);
    KernelText text = textOf(sample, /*isSpread=*/false);
    Tensors inputs = makeInputs(text), outputs = evaluate(text, inputs);
    if (!name.hasTrait<mlir::OpTrait::ZeroOperands>())
      EXPECT_EQ(name.hasTrait<graph::Elementwise>(), isElementwise(text, inputs));
    if (name.hasTrait<graph::Additive>() && sample.out.element == "f32")
      EXPECT_TRUE(isAdditive(text, inputs));
    if (name.hasTrait<graph::Movement>())
      for (double value : outputs.front().values)
        EXPECT_TRUE(llvm::is_contained(inputs[0].values, value));
    if (name.hasTrait<graph::Rowwise>())
      for (size_t changed : findChanged(text, inputs, 0))
        EXPECT_LT(changed, (size_t)sample.out.shape.back());
  }
}

} // namespace
