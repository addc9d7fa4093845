// See Contract.h.
#include "Contract.h"

#include "LibraryProduct.h"
#include "Product.h"

#include <algorithm>
#include <cstring>

namespace xlc::runtime {
namespace {

/// Rows of a left operand that are brought together at a time: enough that packing the right one again does not count.
constexpr int64_t gatheredRows = 384;

int64_t roundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

/// Begin of part i when `size` is cut in `parts` pieces at multiples of `grain`.
int64_t cutAt(int64_t size, int64_t parts, int64_t i, int64_t grain) {
  return std::min(size, roundUp(size, grain) / grain * i / parts * grain);
}

/// Small products are summed in double or in short chunks, by Product.h: a fraction of the rounding error of oneDNN's
/// one long sum, which training a small model amplifies, for little time. Asked of the whole contraction, so that the
/// bits do not depend on threads.
bool isSmall(const ContractShape &s) { return s.m * s.n * s.k <= 1 << 24; }

ProductShape productOf(const ContractShape &s, int64_t m, int64_t n) {
  return {m, n, s.k, s.aM, s.aK, s.bK, s.bN, s.yM, s.yN, chunkFor(s.m * s.n * s.k), s.operands, s.result};
}

/// Product.h and oneDNN write contiguous rows: a column-major y is computed as its transpose.
ProductShape rowMajor(const ProductShape &s, bool &swapped) {
  swapped = s.cN != 1 && s.cM == 1;
  return swapped ? transposed(s) : s;
}

} // namespace

Contraction::Contraction(const ContractShape &shape, int threads, bool accumulate, bool run, int64_t room)
    : shape(shape), accumulate(accumulate) {
  int64_t batches = 1;
  for (const ContractShape::Batch &dim : shape.batch)
    batches *= dim.size;
  // Small products are not worth waking anybody.
  int64_t parts = std::min<int64_t>(threads, std::max<int64_t>(1, batches * shape.m * shape.n * shape.k / (1 << 18)));
  // oneDNN writes whole rows, and of bf16 its products are twice as fast as ours.
  bool cutRows = shape.aK == 1 || shape.operands == FloatType::BF16 ? shape.m >= 16 * parts : shape.m >= shape.n;
  for (int64_t i = 0; i < parts; ++i) {
    Cut cut{0, batches, 0, shape.m, 0, shape.n, nullptr, 0, nullptr, 0};
    if (batches >= parts)
      cut.batchBegin = cutAt(batches, parts, i, 1), cut.batchEnd = cutAt(batches, parts, i + 1, 1);
    else if (cutRows)
      cut.mBegin = cutAt(shape.m, parts, i, 16), cut.mEnd = cutAt(shape.m, parts, i + 1, 16);
    else
      cut.nBegin = cutAt(shape.n, parts, i, 32), cut.nEnd = cutAt(shape.n, parts, i + 1, 32);
    addCut(std::move(cut), room / parts, run);
  }
}
Contraction::~Contraction() = default;
Contraction::Contraction(Contraction &&) noexcept = default;

void Contraction::addCut(Cut cut, int64_t room, bool run) {
  if (cut.batchBegin == cut.batchEnd || cut.mBegin == cut.mEnd || cut.nBegin == cut.nEnd)
    return;
  bool swapped;
  ProductShape product = rowMajor(productOf(shape, cut.mEnd - cut.mBegin, cut.nEnd - cut.nBegin), swapped);
  if (!isSmall(shape) && !(swapped && shape.epilogue.bias))
    makeLibrary(cut, product, run);
  int64_t bytes = cut.library ? cut.gathered + cut.library->scratch() : 0;
  if (cut.rest)
    bytes = std::max(bytes, cut.gathered + cut.rest->scratch());
  if (roundUp(bytes, 64) > room)
    cut.library = nullptr;
  if (!cut.library)
    bytes = productWorkspace(product);
  scratchBytes = std::max(scratchBytes, roundUp(bytes, 64));
  cuts.push_back(std::move(cut));
}

void Contraction::makeLibrary(Cut &cut, const ProductShape &product, bool run) const {
  cut.rows = product.m;
  cut.library = LibraryProduct::tryMake(product, shape.epilogue.bias, accumulate, run);
  if (cut.library || shape.operands != FloatType::BF16 || std::min(product.aM, product.aK) != 1)
    return;
  cut.rows = std::min(product.m, gatheredRows);
  cut.gathered = roundUp(cut.rows * product.k * bytesOf(shape.operands), 64);
  auto make = [&](int64_t rows) {
    ProductShape part = product;
    part.m = rows;
    part.aM = product.aM == 1 ? 1 : product.k, part.aK = product.aM == 1 ? rows : 1;
    return LibraryProduct::tryMake(part, shape.epilogue.bias, accumulate, run);
  };
  cut.library = make(cut.rows);
  if (int64_t rest = product.m % cut.rows; cut.library && rest) {
    cut.rest = make(rest);
    if (!cut.rest)
      cut.library = nullptr;
  }
}

void Contraction::run(int part, const void *a, const void *b, const void *bias, void *y, char *scratch) const {
  const Cut &cut = cuts[part];
  for (int64_t i = cut.batchBegin; i < cut.batchEnd; ++i) {
    int64_t rest = i, aAt = cut.mBegin * shape.aM, bAt = cut.nBegin * shape.bN,
            yAt = cut.mBegin * shape.yM + cut.nBegin * shape.yN;
    for (size_t dim = shape.batch.size(); dim-- > 0;) {
      const ContractShape::Batch &d = shape.batch[dim];
      int64_t index = rest % d.size;
      rest /= d.size;
      aAt += index * d.a, bAt += index * d.b, yAt += index * d.y;
    }
    int64_t bytes = bytesOf(shape.operands), bytesOfY = bytesOf(shape.result);
    runOne(cut, (const char *)a + aAt * bytes, (const char *)b + bAt * bytes,
           bias ? (const char *)bias + cut.nBegin * bytesOfY : nullptr, (char *)y + yAt * bytesOfY, scratch);
  }
}

void Contraction::runLibrary(const Cut &cut, const ProductShape &product, const void *a, const void *b,
                             const void *bias, void *y, char *scratch) const {
  int64_t bytes = bytesOf(shape.operands);
  for (int64_t i = 0; i < product.m; i += cut.rows) {
    int64_t rows = std::min(cut.rows, product.m - i);
    const char *left = (const char *)a + i * product.aM * bytes;
    if (cut.gathered) {
      bool isColumnwise = product.aM == 1;
      int64_t runs = isColumnwise ? product.k : rows, step = isColumnwise ? product.aK : product.aM;
      int64_t runBytes = (isColumnwise ? rows : product.k) * bytes;
      for (int64_t r = 0; r < runs; ++r)
        std::memcpy(scratch + r * runBytes, left + r * step * bytes, runBytes);
      left = scratch;
    }
    const LibraryProduct &library = rows == cut.rows ? *cut.library : *cut.rest;
    library.run(left, b, bias, (char *)y + i * product.cM * bytesOf(shape.result), scratch + cut.gathered);
  }
}

void Contraction::runOne(const Cut &cut, const void *a, const void *b, const void *bias, void *y, char *scratch) const {
  bool swapped;
  ProductShape product = productOf(shape, cut.mEnd - cut.mBegin, cut.nEnd - cut.nBegin);
  ProductShape ordered = rowMajor(product, swapped);
  if (cut.library)
    return runLibrary(cut, ordered, swapped ? b : a, swapped ? a : b, bias, y, scratch);
  if (bias && shape.result != FloatType::F32)
    return multiply(product, a, b, bias, y, scratch);
  if (bias) // the product adds to rows that begin as the bias
    for (int64_t i = 0; i < product.m; ++i)
      for (int64_t j = 0; j < product.n; ++j) {
        float &out = ((float *)y)[i * product.cM + j * product.cN], added = ((const float *)bias)[j];
        out = accumulate ? out + added : added;
      }
  multiply(ordered, swapped ? b : a, swapped ? a : b, y, accumulate || bias, scratch);
}

int64_t contractWorkspace(const ContractShape &shape, int threads) {
  int64_t bytes = 0;
  for (bool accumulate : {false, true}) {
    if (accumulate && shape.result != FloatType::F32)
      break;
    Contraction contraction(shape, threads, accumulate, false);
    bytes = std::max(bytes, contraction.scratch() * contraction.parts());
  }
  return bytes;
}

} // namespace xlc::runtime
