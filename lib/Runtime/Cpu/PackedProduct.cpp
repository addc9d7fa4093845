// See PackedProduct.h.
#include "PackedProduct.h"

#include "NarrowVector.h"

#include <algorithm>

namespace xlc::runtime {
namespace {

/// A right operand of more bytes is cut in pieces, or not packed: it would leave the cache, and the workspace would stand
/// where a model needs most memory.
constexpr int64_t mostPacked = 32 << 20;
constexpr int64_t pieceTerms = 2048;
/// Rows of a that are brought together at a time: half of L2, but enough that passing over b again does not count.
constexpr int64_t mostGathered = 512 << 10, fewestRows = 64, rowGrain = 32;

int64_t roundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

int64_t rowsTogether(int64_t terms) {
  return std::max(fewestRows, mostGathered / (terms * (int64_t)sizeof(Bf16)) / rowGrain * rowGrain);
}

} // namespace

int64_t packedTerms(const ProductShape &s, bool bias) {
  auto fits = [&](int64_t terms) { return blockedElements(terms, s.n) * (int64_t)sizeof(Bf16) <= mostPacked; };
  if (s.operands != FloatType::BF16 || s.cN != 1 || std::min(s.aM, s.aK) != 1)
    return 0;
  if (fits(s.k))
    return s.k;
  bool isSmallAside = s.m * s.n * (int64_t)sizeof(float) <= mostPacked;
  return !bias && fits(pieceTerms) && isSmallAside ? pieceTerms : 0;
}

PackedProduct::PackedProduct(const ProductShape &shape, int64_t terms) : shape(shape), terms(terms), rows(shape.m) {
  if (shape.aK == 1 && shape.aM == shape.k && pieces() == 1)
    return;
  rows = std::min(shape.m, rowsTogether(terms));
  gatheredBytes = roundUp(rows * terms * (int64_t)sizeof(Bf16), 64);
  if (pieces() > 1 && shape.result != FloatType::F32)
    asideBytes = roundUp(shape.m * shape.n * (int64_t)sizeof(float), 64);
}

std::unique_ptr<PackedProduct> PackedProduct::tryMake(const ProductShape &shape, int64_t terms, bool bias, bool add,
                                                      bool run) {
  auto made = std::unique_ptr<PackedProduct>(new PackedProduct(shape, terms));
  int64_t last = made->pieces() - 1;
  for (int64_t piece = 0; piece <= std::min<int64_t>(last, 2); ++piece)
    if (!made->tryAdd(piece == 2 ? last : piece, bias, add || piece > 0, run))
      return nullptr;
  return made;
}

bool PackedProduct::tryAdd(int64_t piece, bool bias, bool add, bool run) {
  ProductShape some = shape;
  some.k = termsOf(piece);
  if (gatheredBytes)
    some.aM = some.k, some.aK = 1;
  if (asideBytes)
    some.result = FloatType::F32, some.cM = shape.n;
  auto make = [&](int64_t count) {
    some.m = count;
    return LibraryProduct::tryMake(some, RightOperand::Blocked, bias, add, run);
  };
  int64_t rest = shape.m % rows;
  Products made{make(rows), rest ? make(rest) : nullptr};
  bool isThere = made.whole && (made.rest || rest == 0);
  products.push_back(std::move(made));
  return isThere;
}

const PackedProduct::Products &PackedProduct::productsOf(int64_t piece) const {
  return piece == pieces() - 1 ? products.back() : products[std::min<int64_t>(piece, 1)];
}

int64_t PackedProduct::scratch() const {
  int64_t most = 0;
  for (const Products &each : products)
    for (const auto *product : {&each.whole, &each.rest})
      if (*product)
        most = std::max(most, (*product)->scratch());
  return gatheredBytes + asideBytes + roundUp(most, 64);
}

const void *PackedProduct::gatherRows(int64_t piece, const void *a, int64_t row, int64_t count, char *to) const {
  const Bf16 *from = (const Bf16 *)a + row * shape.aM + piece * terms * shape.aK;
  if (!gatheredBytes)
    return from;
  int64_t depth = termsOf(piece);
  if (shape.aK != 1)
    packTransposed(from, shape.aK, count, depth, (Bf16 *)to);
  else
    for (int64_t i = 0; i < count; ++i)
      std::copy_n(from + i * shape.aM, depth, (Bf16 *)to + i * depth);
  return to;
}

void PackedProduct::run(int64_t piece, const void *a, const void *blocks, const void *bias, void *c,
                        char *scratch) const {
  auto *aside = (float *)(scratch + gatheredBytes);
  char *libraryScratch = scratch + gatheredBytes + asideBytes;
  bool isRounded = asideBytes && piece == pieces() - 1;
  for (int64_t i = 0; i < shape.m; i += rows) {
    int64_t count = std::min(rows, shape.m - i);
    const void *left = gatherRows(piece, a, i, count, scratch);
    void *to = asideBytes ? (char *)(aside + i * shape.n) : (char *)c + i * shape.cM * bytesOf(shape.result);
    const Products &library = productsOf(piece);
    (count == rows ? library.whole : library.rest)->run(left, blocks, bias, to, libraryScratch);
    for (int64_t r = i; isRounded && r < i + count; ++r)
      narrowRow(aside + r * shape.n, (Bf16 *)c + r * shape.cM, shape.n);
  }
}

} // namespace xlc::runtime
