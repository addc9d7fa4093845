// See Products.h.
#include "Products.h"

#include "Failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

namespace xlc::runtime {

using namespace cublaslt;

namespace {

constexpr int mostChoices = 32; // the first is taken, unless all have been timed

const char *nameOf(FloatType type) { return type == FloatType::F32 ? "f32" : type == FloatType::BF16 ? "bf16" : "f16"; }

cublaslt::Epilogue libraryEpilogueOf(const runtime::Epilogue &epilogue) {
  using enum cublaslt::Epilogue;
  if (epilogue.activation == Activation::GeluBackward)
    return GeluBackward;
  if (epilogue.activation == Activation::Gelu)
    return epilogue.bias ? GeluBias : Gelu;
  return epilogue.bias ? Bias : Default;
}

DataType dataTypeOf(FloatType type) {
  return type == FloatType::F32 ? DataType::F32 : type == FloatType::BF16 ? DataType::BF16 : DataType::F16;
}

/// A matrix as it lies in memory, column-major, or that of its transposition.
struct Stored {
  bool isTransposed;
  int64_t rows, columns, leading; ///< of what lies in memory
};

/// Of a matrix with a stride of 1, the other at least as long as the rows that it separates; strides of dimensions of size
/// 1 mean nothing. A vector lies along a column.
std::optional<Stored> findStored(int64_t rows, int64_t columns, int64_t rowStride, int64_t columnStride) {
  auto isColumnMajor = [](int64_t rows, int64_t columns, int64_t rowStride, int64_t columnStride) {
    return (rows == 1 || rowStride == 1) && (columns == 1 || columnStride >= rows);
  };
  bool isPlain = isColumnMajor(rows, columns, rowStride, columnStride);
  if (isColumnMajor(columns, rows, columnStride, rowStride) && (!isPlain || rows == 1))
    return Stored{true, columns, rows, rows == 1 ? columns : rowStride};
  if (isPlain)
    return Stored{false, rows, columns, columns == 1 ? rows : columnStride};
  return std::nullopt;
}

/// Without dimensions of size 1, and with those as one whose elements are all evenly apart.
std::vector<ContractShape::Batch> mergeBatch(const std::vector<ContractShape::Batch> &batch) {
  std::vector<ContractShape::Batch> merged;
  for (const ContractShape::Batch &dim : batch) {
    if (dim.size == 1)
      continue;
    auto continues = [&](int64_t outer, int64_t inner) { return outer == dim.size * inner; };
    if (!merged.empty() && continues(merged.back().a, dim.a) && continues(merged.back().b, dim.b) &&
        continues(merged.back().y, dim.y))
      merged.back() = {merged.back().size * dim.size, dim.a, dim.b, dim.y};
    else
      merged.push_back(dim);
  }
  return merged;
}

std::string typesOf(const ContractShape &shape) {
  return nameOf(shape.operands) + (shape.result == shape.operands ? "" : std::string(" to f32"));
}

std::string describeProduct(const ContractShape &s, uint64_t workspaceBytes, const ProductAlignment &alignment) {
  std::string text = fmt::format("{} x {} x {}, {}, a {}:{}, b {}:{}, y {}:{}", s.m, s.n, s.k, typesOf(s), s.aM, s.aK,
                                 s.bK, s.bN, s.yM, s.yN);
  for (const ContractShape::Batch &dim : s.batch)
    text += fmt::format(", batch {} {}:{}:{}", dim.size, dim.a, dim.b, dim.y);
  if (s.epilogue.bias)
    text += ", bias";
  if (s.epilogue.residual)
    text += ", residual";
  if (s.epilogue.activation != Activation::None)
    text += s.epilogue.activation == Activation::Gelu ? ", gelu" : ", gelu backward";
  const ProductAlignment &a = alignment;
  return text + fmt::format(", aligned {}:{}:{}:{}:{}, workspace {}", a.a, a.b, a.bias, a.beside, a.y, workspaceBytes);
}

Product::Spans spansOf(const ContractShape &s) {
  auto span = [&](int64_t rows, int64_t rowStride, int64_t columns, int64_t columnStride,
                  int64_t ContractShape::Batch::*step, FloatType type) {
    int64_t last = (rows - 1) * rowStride + (columns - 1) * columnStride;
    for (const ContractShape::Batch &dim : s.batch)
      last += (dim.size - 1) * (dim.*step);
    return (last + 1) * bytesOf(type);
  };
  int64_t y = span(s.m, s.yM, s.n, s.yN, &ContractShape::Batch::y, s.result);
  return {span(s.m, s.aM, s.k, s.aK, &ContractShape::Batch::a, s.operands),
          span(s.k, s.bK, s.n, s.bN, &ContractShape::Batch::b, s.operands),
          s.epilogue.bias ? s.n * bytesOf(s.operands) : 0, s.epilogue.hasBeside() ? y : 0, y};
}

} // namespace

uint32_t alignmentOf(uint64_t address) {
  uint64_t bits = address | mostAlignment;
  return (uint32_t)(bits & -bits);
}

/// What is known while a product is made ready.
class ProductBuilder {
public:
  ProductBuilder(const Library &library, Handle handle, const std::string &call, const ContractShape &shape)
      : library(library), shape(shape), product(library) {
    product.handle = handle;
    product.what = fmt::format("call '{}'", call);
  }

  Product build(ComputeType compute, uint64_t workspaceBytes, const ProductAlignment &alignment) {
    findLayouts();
    splitBatch();
    describe(compute);
    choose(workspaceBytes, alignment);
    product.text = describeProduct(shape, workspaceBytes, alignment);
    product.operandSpans = spansOf(shape);
    return std::move(product);
  }

private:
  [[noreturn]] void refuse(const std::string &why) const {
    throw Rejected(fmt::format("error: {}, a product of {} x {} x {} in {}: {}", product.what, shape.m, shape.n,
                               shape.k, typesOf(shape), why));
  }

  Stored require(std::optional<Stored> stored, const char *name) const {
    if (!stored)
      refuse(fmt::format("cuBLASLt requires a dimension with stride 1, but '{}' has none", name));
    return *stored;
  }

  void findLayouts() {
    if (shape.m < 1 || shape.n < 1 || shape.k < 1)
      refuse("the product is empty");
    // A row-major y is a column-major yᵀ, which is bᵀ aᵀ; a is [m, k], so aᵀ is stored where a is not, and so on.
    bool hasRows = (shape.n == 1 || shape.yN == 1) && (shape.m == 1 || shape.yM >= shape.n);
    result = require(findStored(shape.m, shape.n, shape.yM, shape.yN), "y");
    bool wantsRows = shape.epilogue.bias || shape.epilogue.hasBeside();
    if (wantsRows && !hasRows)
      refuse("cuBLASLt supports epilogues only for row-major results, but this result is column-major");
    product.isSwapped = result.isTransposed || wantsRows;
    if (product.isSwapped && !result.isTransposed) // a vector, which lies either way
      result = {true, shape.n, shape.m, shape.m == 1 ? shape.n : shape.yM};
    auto a = [&](bool swapped) {
      return swapped ? findStored(shape.k, shape.m, shape.aK, shape.aM)
                     : findStored(shape.m, shape.k, shape.aM, shape.aK);
    };
    auto b = [&](bool swapped) {
      return swapped ? findStored(shape.n, shape.k, shape.bN, shape.bK)
                     : findStored(shape.k, shape.n, shape.bK, shape.bN);
    };
    left = require(product.isSwapped ? b(true) : a(false), product.isSwapped ? "b" : "a");
    right = require(product.isSwapped ? a(true) : b(false), product.isSwapped ? "a" : "b");
  }

  /// The largest dimension is cuBLASLt's batch.
  void splitBatch() {
    std::vector<ContractShape::Batch> batch = mergeBatch(shape.batch);
    auto largest = std::max_element(batch.begin(), batch.end(), [](auto &x, auto &y) { return x.size < y.size; });
    if (largest != batch.end()) {
      strided = *largest;
      batch.erase(largest);
    }
    int64_t bytes = bytesOf(shape.operands);
    for (const ContractShape::Batch &dim : batch)
      product.loops.push_back({dim.size, dim.a * bytes, dim.b * bytes, dim.y * bytesOf(shape.result)});
  }

  template <class Set, class Object, class Attribute, class Value>
  void set(Set function, const char *name, Object *object, Attribute attribute, const Value &value) {
    library.require(function(object, attribute, (const void *)&value, sizeof value), name, product.what);
  }

  template <class Object> void layOut(Object &owner, const Stored &stored, FloatType type, int64_t offset) {
    MatrixLayout made = nullptr;
    library.require(library.createLayout(&made, dataTypeOf(type), stored.rows, stored.columns, stored.leading),
                    "cublasLtMatrixLayoutCreate", product.what);
    owner.reset(made);
    if (strided.size == 1)
      return;
    constexpr char name[] = "cublasLtMatrixLayoutSetAttribute";
    if (strided.size > INT32_MAX)
      refuse(fmt::format("a batch of {} is too large for cuBLASLt", strided.size));
    set(library.setLayout, name, made, LayoutAttribute::BatchCount, (int32_t)strided.size);
    set(library.setLayout, name, made, LayoutAttribute::BatchOffset, offset);
  }

  void describe(ComputeType compute) {
    MatmulDesc made = nullptr;
    library.require(library.createMatmul(&made, compute, DataType::F32), "cublasLtMatmulDescCreate", product.what);
    product.matmul.reset(made);
    constexpr char name[] = "cublasLtMatmulDescSetAttribute";
    auto operationOf = [](const Stored &s) { return s.isTransposed ? Operation::Transpose : Operation::None; };
    set(library.setMatmul, name, made, MatmulAttribute::TransposeA, operationOf(left));
    set(library.setMatmul, name, made, MatmulAttribute::TransposeB, operationOf(right));
    product.epilogue = shape.epilogue;
    set(library.setMatmul, name, made, MatmulAttribute::Epilogue, libraryEpilogueOf(shape.epilogue));
    if (shape.epilogue.activation != Activation::None)
      set(library.setMatmul, name, made, MatmulAttribute::BesideLeading, result.leading);
    layOut(product.first, left, shape.operands, product.isSwapped ? strided.b : strided.a);
    layOut(product.second, right, shape.operands, product.isSwapped ? strided.a : strided.b);
    layOut(product.result, result, shape.result, strided.y);
  }

  /// What divides the addresses of all calls of the loop.
  uint32_t alignmentIn(uint32_t alignment, int64_t Product::Loop::*step) const {
    uint64_t bits = alignment;
    for (const Product::Loop &loop : product.loops)
      bits |= (uint64_t)(loop.*step);
    return alignmentOf(bits);
  }

  Product::Owned<PreferenceData> prefer(uint64_t workspaceBytes, const ProductAlignment &alignment) {
    Preference made = nullptr;
    library.require(library.createPreference(&made), "cublasLtMatmulPreferenceCreate", product.what);
    Product::Owned<PreferenceData> preference(made, library.destroyPreference);
    uint32_t a = alignmentIn(alignment.a, &Product::Loop::a), b = alignmentIn(alignment.b, &Product::Loop::b),
             y = alignmentIn(alignment.y, &Product::Loop::y);
    constexpr char name[] = "cublasLtMatmulPreferenceSetAttribute";
    set(library.setPreference, name, made, PreferenceAttribute::MostWorkspace, workspaceBytes);
    set(library.setPreference, name, made, PreferenceAttribute::AlignmentA, product.isSwapped ? b : a);
    set(library.setPreference, name, made, PreferenceAttribute::AlignmentB, product.isSwapped ? a : b);
    set(library.setPreference, name, made, PreferenceAttribute::AlignmentC,
        shape.epilogue.residual ? alignment.beside : y);
    set(library.setPreference, name, made, PreferenceAttribute::AlignmentD, y);
    if (shape.result != FloatType::F32) // results are rounded once
      set(library.setPreference, name, made, PreferenceAttribute::Reductions, Reductions::ComputeType);
    return preference;
  }

  void choose(uint64_t workspaceBytes, const ProductAlignment &alignment) {
    // The addresses tell how they are aligned, and are not read.
    constexpr char name[] = "cublasLtMatmulDescSetAttribute";
    if (shape.epilogue.bias)
      set(library.setMatmul, name, product.matmul.get(), MatmulAttribute::BiasPointer, (uintptr_t)alignment.bias);
    if (shape.epilogue.activation != Activation::None)
      set(library.setMatmul, name, product.matmul.get(), MatmulAttribute::BesidePointer, (uintptr_t)alignment.beside);
    product.mostWorkspace = workspaceBytes;
    Product::Owned<PreferenceData> preference = prefer(workspaceBytes, alignment);
    std::array<Choice, mostChoices> choices = {};
    int count = 0;
    Status status = library.choose(product.handle, product.matmul.get(), product.first.get(), product.second.get(),
                                   product.result.get(), product.result.get(), preference.get(), mostChoices,
                                   choices.data(), &count);
    if (status != Status::NotSupported)
      library.require(status, "cublasLtMatmulAlgoGetHeuristic", product.what);
    auto end = choices.begin() + (status == Status::Success ? count : 0);
    std::copy_if(choices.begin(), end, std::back_inserter(product.choices), [&](const Choice &choice) {
      return choice.status == Status::Success && choice.workspace <= workspaceBytes;
    });
    if (product.choices.empty())
      refuse(fmt::format("cuBLASLt {} has no algorithm for this product within {} bytes of workspace",
                         library.version(), workspaceBytes));
  }

  const Library &library;
  const ContractShape &shape;
  Product product;
  Stored left = {}, right = {}, result = {};
  ContractShape::Batch strided = {1, 0, 0, 0};
};

bool Product::restore(const Algorithm &algorithm) {
  Choice choice{algorithm, 0, Status::Success, 0, {}};
  Status status = library->checkAlgorithm(handle, matmul.get(), first.get(), second.get(), result.get(), result.get(),
                                          &algorithm, &choice);
  choice.algorithm = algorithm; // which the library leaves as it was
  if (status != Status::Success || choice.workspace > mostWorkspace)
    return false;
  taken = choices.size();
  choices.push_back(choice);
  return true;
}

Product::Product(const Library &library)
    : library(&library), matmul(nullptr, library.destroyMatmul), first(nullptr, library.destroyLayout),
      second(nullptr, library.destroyLayout), result(nullptr, library.destroyLayout) {}

void Product::run(const ProductOperands &operands, bool adds, void *workspace, void *stream) const {
  auto setAddress = [&](MatmulAttribute which, const void *const &address) {
    library->require(library->setMatmul(matmul.get(), which, (const void *)&address, sizeof address),
                     "cublasLtMatmulDescSetAttribute", what);
  };
  if (epilogue.bias)
    setAddress(MatmulAttribute::BiasPointer, operands.bias);
  if (epilogue.activation != Activation::None)
    setAddress(MatmulAttribute::BesidePointer, operands.beside);
  int64_t calls = 1;
  for (const Loop &loop : loops)
    calls *= loop.size;
  const float one = 1, beta = adds || epilogue.residual ? 1 : 0;
  for (int64_t call = 0; call < calls; ++call) {
    auto *a = (const char *)operands.a, *b = (const char *)operands.b;
    auto *y = (char *)operands.y;
    int64_t rest = call;
    for (const Loop &loop : loops) {
      int64_t index = rest % loop.size;
      rest /= loop.size;
      a += index * loop.a, b += index * loop.b, y += index * loop.y;
    }
    library->require(library->multiply(handle, matmul.get(), &one, isSwapped ? b : a, first.get(), isSwapped ? a : b,
                                       second.get(), &beta, epilogue.residual ? operands.beside : y, result.get(), y,
                                       result.get(), &choices[taken].algorithm, workspace, choices[taken].workspace,
                                       stream),
                     "cublasLtMatmul", what);
  }
}

Products::Products(const OpenedLibrary &opened, F32Products precision) : library(opened), precision(precision) {
  library.require(library.create(&handle), "cublasLtCreate", "this device");
}

Products::~Products() { library.destroy(handle); }

Product Products::prepare(const std::string &call, const ContractShape &shape, uint64_t workspaceBytes,
                          const ProductAlignment &alignment) const {
  ComputeType compute =
      precision == F32Products::Tf32 && shape.operands == FloatType::F32 ? ComputeType::F32FastTf32 : ComputeType::F32;
  return ProductBuilder(library, handle, call, shape).build(compute, workspaceBytes, alignment);
}

} // namespace xlc::runtime
