// See Contract.h.
#include "Contract.h"

#include "PackedProduct.h"

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

int64_t batchesOf(const ContractShape &s) {
  int64_t batches = 1;
  for (const ContractShape::Batch &dim : s.batch)
    batches *= dim.size;
  return batches;
}

/// oneDNN writes whole rows, and of bf16 its products are twice as fast as ours.
bool cutsRows(const ContractShape &s, int64_t parts) {
  return s.aK == 1 || s.operands == FloatType::BF16 ? s.m >= 16 * parts : s.m >= s.n;
}

/// Terms that parts pack at a time, where all of them multiply with the same right operand.
int64_t termsToPack(const ContractShape &s, int64_t parts) {
  bool isShared = batchesOf(s) == 1 && (parts == 1 || cutsRows(s, parts));
  return isShared && !isSmall(s) ? packedTerms(productOf(s, s.m, s.n), s.epilogue.bias) : 0;
}

} // namespace

Contraction::Contraction(const ContractShape &shape, int threads, bool accumulate, bool run, int64_t room)
    : shape(shape), accumulate(accumulate) {
  // Small products are not worth waking anybody.
  int64_t parts =
      std::min<int64_t>(threads, std::max<int64_t>(1, batchesOf(shape) * shape.m * shape.n * shape.k / (1 << 18)));
  terms = termsToPack(shape, parts);
  packedBytes = blockedElements(terms, shape.n) * bytesOf(shape.operands);
  addCuts(parts, room, run);
  bool areAllPacked = std::all_of(cuts.begin(), cuts.end(), [](const Cut &cut) { return cut.packed != nullptr; });
  if (!packs() || (areAllPacked && workspace() <= room))
    return;
  terms = packedBytes = scratchBytes = 0;
  cuts.clear();
  addCuts(parts, room, run);
}
Contraction::~Contraction() = default;
Contraction::Contraction(Contraction &&) noexcept = default;

void Contraction::addCuts(int64_t parts, int64_t room, bool run) {
  int64_t batches = batchesOf(shape);
  for (int64_t i = 0; i < parts; ++i) {
    Cut cut{0, batches, 0, shape.m, 0, shape.n, nullptr, 0, nullptr, 0, nullptr};
    if (batches >= parts)
      cut.batchBegin = cutAt(batches, parts, i, 1), cut.batchEnd = cutAt(batches, parts, i + 1, 1);
    else if (cutsRows(shape, parts))
      cut.mBegin = cutAt(shape.m, parts, i, 16), cut.mEnd = cutAt(shape.m, parts, i + 1, 16);
    else
      cut.nBegin = cutAt(shape.n, parts, i, 32), cut.nEnd = cutAt(shape.n, parts, i + 1, 32);
    addCut(std::move(cut), room / parts, run);
  }
}

void Contraction::addCut(Cut cut, int64_t room, bool run) {
  if (cut.batchBegin == cut.batchEnd || cut.mBegin == cut.mEnd || cut.nBegin == cut.nEnd)
    return;
  bool swapped;
  ProductShape product = rowMajor(productOf(shape, cut.mEnd - cut.mBegin, cut.nEnd - cut.nBegin), swapped);
  if (packs())
    cut.packed = PackedProduct::tryMake(product, terms, shape.epilogue.bias, accumulate, run);
  else if (!isSmall(shape) && !(swapped && shape.epilogue.bias))
    makeLibrary(cut, product, run);
  int64_t bytes = cut.packed ? cut.packed->scratch() : cut.library ? cut.gathered + cut.library->scratch() : 0;
  if (cut.rest)
    bytes = std::max(bytes, cut.gathered + cut.rest->scratch());
  if (roundUp(bytes, 64) > room)
    cut.library = nullptr;
  if (!cut.library && !cut.packed)
    bytes = productWorkspace(product);
  scratchBytes = std::max(scratchBytes, roundUp(bytes, 64));
  cuts.push_back(std::move(cut));
}

void Contraction::makeLibrary(Cut &cut, const ProductShape &product, bool run) const {
  cut.rows = product.m;
  cut.library = LibraryProduct::tryMake(product, RightOperand::Strided, shape.epilogue.bias, accumulate, run);
  if (cut.library || shape.operands != FloatType::BF16 || std::min(product.aM, product.aK) != 1)
    return;
  cut.rows = std::min(product.m, gatheredRows);
  cut.gathered = roundUp(cut.rows * product.k * bytesOf(shape.operands), 64);
  auto make = [&](int64_t rows) {
    ProductShape part = product;
    part.m = rows;
    part.aM = product.aM == 1 ? 1 : product.k, part.aK = product.aM == 1 ? rows : 1;
    return LibraryProduct::tryMake(part, RightOperand::Strided, shape.epilogue.bias, accumulate, run);
  };
  cut.library = make(cut.rows);
  if (int64_t rest = product.m % cut.rows; cut.library && rest) {
    cut.rest = make(rest);
    if (!cut.rest)
      cut.library = nullptr;
  }
}

void Contraction::pack(int64_t piece, int part, const void *b, char *workspace) const {
  if (!packs())
    return;
  const Bf16 *from = (const Bf16 *)b + piece * terms * shape.bK;
  int64_t begin = cutAt(shape.n, parts(), part, blockColumns), end = cutAt(shape.n, parts(), part + 1, blockColumns);
  packBlocks(from, shape.bK, shape.bN, std::min(terms, shape.k - piece * terms), begin, end, (Bf16 *)workspace);
}

void Contraction::run(int64_t piece, int part, const void *a, const void *b, const void *bias, void *y,
                      char *workspace) const {
  const Cut &cut = cuts[part];
  char *scratch = workspace + packedBytes + part * scratchBytes;
  if (cut.packed) {
    const char *left = (const char *)a + cut.mBegin * shape.aM * bytesOf(shape.operands);
    char *to = (char *)y + cut.mBegin * shape.yM * bytesOf(shape.result);
    return cut.packed->run(piece, left, workspace, bias, to, scratch);
  }
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
    bytes = std::max(bytes, contraction.workspace());
  }
  return bytes;
}

} // namespace xlc::runtime
