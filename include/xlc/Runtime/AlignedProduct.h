// Products of sixteen bits with extents that are not a multiple of eight elements, such as 50257 words. cuBLASLt's
// kernels for these are several times slower on an H100 (docs/Device.md). A product with a long extent, along which a
// matrix is contiguous, is therefore computed as several:
//
//     y[m, 50257]      columns 0 to 50255, and the last one by itself; rows likewise
//     k = 50257        a sum over k from 0 to 50255, to which the last term is added: in f32, rounded once
//
// Used by compiler and runtime: the sums in f32 are memory of the plan.
#ifndef XLC_RUNTIME_ALIGNEDPRODUCT_H
#define XLC_RUNTIME_ALIGNEDPRODUCT_H

#include "xlc/Runtime/LibraryShapes.h"

namespace xlc::runtime {

/// One of the products, and the offsets of its operands, in elements of the whole operands.
struct ProductPart {
  ContractShape shape;
  int64_t a, b, bias, y;
  bool adds; ///< adds to the results of earlier parts
};

class AlignedProduct {
public:
  explicit AlignedProduct(const ContractShape &shape)
      : whole(shape), cutsRows(isToBeCut(shape.m) && (runs(shape.aM, shape.aK) || runs(shape.yM, shape.yN))),
        cutsColumns(isToBeCut(shape.n) && (runs(shape.bN, shape.bK) || runs(shape.yN, shape.yM))),
        cutsDepth(isToBeCut(shape.k) && (runs(shape.aK, shape.aM) || runs(shape.bK, shape.bN)) &&
                  !shape.epilogue.bias && (shape.result == FloatType::F32 || (shape.yN == 1 && shape.yM == shape.n))) {}

  /// Whether parts write sums in f32, y[m, n] without gaps, which are then rounded.
  bool hasSums() const { return cutsDepth && whole.result != FloatType::F32; }
  int64_t sumBytes() const {
    return hasSums() ? (whole.m * whole.n * bytesOf(FloatType::F32) + kLine - 1) / kLine * kLine : 0;
  }

  /// The parts, in their order. A single part, the whole product, if nothing is cut.
  std::vector<ProductPart> parts() const {
    ContractShape shape = whole;
    if (hasSums())
      shape.result = FloatType::F32, shape.yM = whole.n, shape.yN = 1;
    std::vector<ProductPart> made;
    for (auto [first, depth] : cut(whole.k, cutsDepth))
      for (auto [row, rows] : cut(whole.m, cutsRows))
        for (auto [column, columns] : cut(whole.n, cutsColumns)) {
          ProductPart &part = made.emplace_back(ProductPart{shape, 0, 0, column, 0, first > 0});
          part.shape.k = depth, part.shape.m = rows, part.shape.n = columns;
          part.a = row * shape.aM + first * shape.aK, part.b = column * shape.bN + first * shape.bK;
          part.y = row * shape.yM + column * shape.yN;
        }
    return made;
  }

private:
  static constexpr int64_t kGroup = 8;   ///< elements
  static constexpr int64_t kLong = 1024; ///< shorter extents are not worth another product
  static constexpr int64_t kLine = 256;  ///< alignment and granularity of the sums, in bytes
  struct Range {
    int64_t begin, size;
  };

  /// Whether elements along a direction are adjacent, in a matrix in which each line starts at a multiple of a group.
  static bool runs(int64_t stride, int64_t other) { return stride == 1 && other % kGroup == 0; }
  bool isToBeCut(int64_t size) const {
    return whole.operands != FloatType::F32 && whole.batch.empty() && size >= kLong && size % kGroup != 0;
  }
  static std::vector<Range> cut(int64_t size, bool cuts) {
    int64_t most = size / kGroup * kGroup;
    return cuts ? std::vector<Range>{{0, most}, {most, size - most}} : std::vector<Range>{{0, size}};
  }

  const ContractShape whole;
  const bool cutsRows, cutsColumns, cutsDepth;
};

} // namespace xlc::runtime

#endif
