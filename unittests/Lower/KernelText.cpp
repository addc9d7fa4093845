// See KernelText.h.
#include "KernelText.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Interpret/Interpret.h"
#include "xlc/Runtime/Narrow.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace xlc;
using namespace xlc::test;

static std::string join(const std::vector<int64_t> &sizes, StringRef separator) {
  std::string result;
  for (int64_t size : sizes)
    result += std::to_string(size) + separator.str();
  return result;
}

static std::vector<int64_t> stridesOf(const Operand &operand) {
  if (!operand.strides.empty())
    return operand.strides;
  std::vector<int64_t> strides(operand.shape.size(), 1);
  for (int64_t i = (int64_t)strides.size() - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * operand.shape[i + 1];
  return strides;
}

int64_t Tensor::size() const {
  int64_t size = 1;
  for (int64_t dimension : shape)
    size *= dimension;
  return size;
}

std::string Operand::tensorType() const { return "tensor<" + join(shape, "x") + element + ">"; }

std::string Operand::memoryType() const {
  std::string layout;
  if (!strides.empty()) {
    layout = join(strides, ", ");
    layout = ", strided<[" + layout.substr(0, layout.size() - 2) + "]>";
  }
  return "memref<" + join(shape, "x") + element + layout + ">";
}

std::string xlc::test::moduleText(const KernelText &text) {
  std::string parameters, ins, inTypes, outs, outTypes, slots, results, accumulate;
  auto append = [](std::string &list, const std::string &item) { list += (list.empty() ? "" : ", ") + item; };
  for (auto [i, in] : llvm::enumerate(text.ins)) {
    append(parameters, llvm::formatv("%{0}: {1}", i, in.tensorType()));
    append(slots, llvm::formatv("%{0}: {1}", i, in.memoryType()));
    append(ins, llvm::formatv("%{0}", i));
    append(inTypes, in.memoryType());
  }
  for (auto [i, out] : llvm::enumerate(text.outs)) {
    append(results, out.tensorType());
    append(slots, llvm::formatv("%o{0}: {1}", i, out.memoryType()));
    append(outs, llvm::formatv("%o{0}", i));
    append(outTypes, out.memoryType());
    append(accumulate, std::to_string(text.accumulate));
  }
  size_t arrow = text.body.rfind("=> ");
  std::string code = text.body.substr(0, arrow), values = text.body.substr(arrow + 3);
  return llvm::formatv(
      "func.func private @k({0}) -> ({1}) attributes {{exec.kind = #exec.kernel<{2}>} {{\n{3}\nreturn {4} : {1}\n}\n"
      "func.func @f({5}) {{\nexec.call @k ins({6} : {7}) outs({8} : {9}) accumulate [{10}]\nreturn\n}\n",
      parameters, results, text.kind, code, values, slots, ins, inTypes, outs, outTypes, accumulate);
}

/// Bytes of an element, and conversion between them and a number.
static int64_t bytesOf(const std::string &element) {
  if (element == "bf16" || element == "f16")
    return 2;
  return element == "i1" ? 1 : element == "f64" || element == "i64" ? 8 : 4;
}

template <typename T> static double access(char *at, const double *written) {
  if (written)
    *(T *)at = (T)*written;
  return (double)*(T *)at;
}

static double accessNarrow(const std::string &element, char *at, const double *written) {
  bool isBf16 = element == "bf16";
  if (written)
    *(uint16_t *)at = isBf16 ? runtime::toBf16((float)*written) : runtime::toHalf((float)*written);
  return isBf16 ? runtime::fromBf16(*(uint16_t *)at) : runtime::fromHalf(*(uint16_t *)at);
}

static double access(const std::string &element, char *at, const double *written) {
  if (element == "bf16" || element == "f16")
    return accessNarrow(element, at, written);
  if (element == "f32")
    return access<float>(at, written);
  if (element == "f64")
    return access<double>(at, written);
  if (element == "i64")
    return access<int64_t>(at, written);
  return element == "i32" ? access<int32_t>(at, written) : access<int8_t>(at, written);
}

/// Memory of an operand; what no element occupies is filled with NaN-like bytes.
static std::vector<char> allocate(const Operand &operand) {
  int64_t last = 0;
  auto strides = stridesOf(operand);
  for (size_t i = 0; i < strides.size(); ++i)
    last += (operand.shape[i] - 1) * strides[i];
  return std::vector<char>((last + 1) * bytesOf(operand.element), (char)0xff);
}

static void transfer(const Operand &operand, std::vector<char> &memory, Tensor &tensor, bool write) {
  auto strides = stridesOf(operand);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    int64_t rest = i, at = 0;
    for (int64_t d = (int64_t)strides.size() - 1; d >= 0; rest /= operand.shape[d], --d)
      at += rest % operand.shape[d] * strides[d];
    double value =
        access(operand.element, memory.data() + at * bytesOf(operand.element), write ? &tensor.values[i] : nullptr);
    if (!write)
      tensor.values[i] = value;
  }
}

KernelMemory::KernelMemory(const KernelText &text, const Tensors &ins, const Tensors &before,
                           std::optional<size_t> over)
    : text(text), first(over.value_or(text.ins.size())) {
  auto place = [&](const Operand &operand, const Tensor *content) {
    memory.push_back(allocate(operand));
    if (content) {
      Tensor copy = *content;
      transfer(operand, memory.back(), copy, true);
    }
  };
  for (size_t i = 0; i < text.ins.size(); ++i)
    place(text.ins[i], &ins[i]);
  for (size_t i = 0; i < text.outs.size(); ++i)
    place(text.outs[i], before.empty() ? nullptr : &before[i]);
}

std::vector<char *> KernelMemory::addresses() {
  std::vector<char *> operands;
  for (auto &bytes : memory)
    operands.push_back(bytes.data());
  operands[text.ins.size()] = memory[first].data();
  return operands;
}

Tensors KernelMemory::results() {
  Tensors results;
  for (size_t i = 0; i < text.outs.size(); ++i) {
    Tensor result{text.outs[i].shape, {}};
    result.values.resize(result.size());
    transfer(text.outs[i], memory[i == 0 ? first : text.ins.size() + i], result, false);
    results.push_back(result);
  }
  return results;
}

namespace {
/// The kernel as a function.
struct Parsed {
  explicit Parsed(const KernelText &text) {
    context.loadDialect<func::FuncDialect, graph::GraphDialect, exec::ExecDialect>();
    module = parseSourceString<ModuleOp>(moduleText(text), &context);
    if (!module)
      llvm::report_fatal_error("the kernel cannot be read");
    kernel = module->lookupSymbol<func::FuncOp>("k");
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp kernel;
};
} // namespace

Tensor xlc::test::randomTensor(std::vector<int64_t> shape, unsigned seed, double scale) {
  std::mt19937 random(seed);
  Tensor tensor{std::move(shape), {}};
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.values.push_back((float)std::uniform_real_distribution<double>(-scale, scale)(random));
  return tensor;
}

Tensors xlc::test::makeInputs(const KernelText &text) {
  std::mt19937 random(7);
  Tensors inputs;
  for (const Operand &operand : text.ins) {
    Tensor tensor{operand.shape, {}};
    for (int64_t i = 0; i < tensor.size(); ++i) {
      float number = std::uniform_real_distribution<float>(-3, 3)(random);
      tensor.values.push_back(operand.element == "f32"  ? number
                              : operand.element == "i1" ? number > 0
                                                        : std::trunc(number * 0.9));
    }
    inputs.push_back(tensor);
  }
  return inputs;
}

Tensors xlc::test::evaluate(const KernelText &text, const Tensors &ins) {
  Parsed parsed(text);
  SmallVector<xlc::interpret::Datum<double>> arguments, values;
  for (auto [in, operand] : llvm::zip_equal(ins, text.ins)) {
    xlc::interpret::Tensor<double> reals{ArrayRef<int64_t>(in.shape)};
    xlc::interpret::Integers integers{ArrayRef<int64_t>(in.shape)};
    llvm::copy(in.values, reals.elements.begin());
    llvm::copy(in.values, integers.elements.begin());
    operand.element[0] == 'f' ? arguments.emplace_back(reals) : arguments.emplace_back(integers);
  }
  if (failed(xlc::interpret::evaluate<double>(parsed.kernel, arguments, {}, values)))
    llvm::report_fatal_error("the kernel cannot be interpreted");
  Tensors results;
  for (auto &value : values)
    std::visit(
        [&](auto &tensor) {
          results.push_back(
              {{tensor.shape.begin(), tensor.shape.end()}, {tensor.elements.begin(), tensor.elements.end()}});
        },
        value);
  return results;
}

bool xlc::test::readsOwnElements(const KernelText &text, size_t in) {
  Parsed parsed(text);
  SmallVector<Value> reached{parsed.kernel.getArgument(in)};
  for (size_t i = 0; i < reached.size(); ++i)
    for (OpOperand &use : reached[i].getUses()) {
      if (!isa<func::ReturnOp>(use.getOwner()) && !graph::readsOwnElement(use))
        return false;
      llvm::append_range(reached, use.getOwner()->getResults());
    }
  return true;
}
