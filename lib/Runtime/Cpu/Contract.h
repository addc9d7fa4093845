// Contractions: the division of a call between threads, and the selection of the code for each part.
//
// The output is cut, never the summed dimension, so no thread waits for another. A part of a large product with dense
// operands uses oneDNN's blocked kernel (its other kernels allocate, so they are not used). For bf16 this includes
// parts whose left operand is not dense, after some of its rows are copied: xlc's own kernels are half as fast. All
// other parts use Product.h, small products for their accuracy: oneDNN adds all terms one after the other. The
// selection is made only here, both for the plan's workspace and for the run.
//
// Parts of a large bf16 product that share the right operand pack it together before any of them multiplies, if it is
// deep, in pieces (PackedProduct.h):
//
//   workspace  [ a piece of b in blocks, of all parts | scratch of part 0 | scratch of part 1 | ... ]
#ifndef XLC_LIB_RUNTIME_CPU_CONTRACT_H
#define XLC_LIB_RUNTIME_CPU_CONTRACT_H

#include "xlc/Runtime/Workspace.h"

#include <memory>

namespace xlc::runtime {

struct LibraryProduct;
class PackedProduct;
struct ProductShape;

/// A contraction prepared for a number of threads. Two calls must not run it at once.
class Contraction {
public:
  /// If `run` is false, only the workspace is computed. A part that requires more than `room` bytes of it uses
  /// Product.h.
  Contraction(const ContractShape &shape, int threads, bool accumulate, bool run = true, int64_t room = INT64_MAX);
  ~Contraction();
  Contraction(Contraction &&) noexcept;

  /// The bytes for all parts together, a multiple of 64.
  int64_t workspace() const { return packedBytes + scratchBytes * parts(); }
  int parts() const { return (int)cuts.size(); }
  /// The number of pieces. For each piece in order, all parts `pack`, then all of them `run`.
  int64_t pieces() const { return packs() ? (shape.k + terms - 1) / terms : 1; }

  /// Whether parts must pack.
  bool packs() const { return packedBytes > 0; }
  /// Packs this part's share of a piece of b.
  void pack(int64_t piece, int part, const void *b, char *workspace) const;

  /// Computes part `part` of y = a b (+ bias) (+ y if it accumulates); `bias` is null if the shape has none. Operands
  /// and y have the shape's types, the bias has that of y; a narrow y is never accumulated.
  void run(int64_t piece, int part, const void *a, const void *b, const void *bias, void *y, char *workspace) const;

private:
  struct Cut {
    int64_t batchBegin, batchEnd, mBegin, mEnd, nBegin, nEnd;
    std::unique_ptr<LibraryProduct> library; ///< for `rows` rows at a time; null: Product.h
    int64_t rows;
    std::unique_ptr<LibraryProduct> rest; ///< for the last rows, if they are fewer
    int64_t gathered; ///< bytes of scratch into which rows of the left operand are copied first; 0: it lies dense
    std::unique_ptr<PackedProduct> packed; ///< replaces all of these, in every part or in none
  };
  void addCuts(int64_t parts, int64_t room, bool run);
  void makeLibrary(Cut &cut, const ProductShape &product, bool run) const;
  void runLibrary(const Cut &cut, const ProductShape &product, const void *a, const void *b, const void *bias, void *y,
                  char *scratch) const;
  void addCut(Cut cut, int64_t room, bool run);
  void runOne(const Cut &cut, const void *a, const void *b, const void *bias, void *y, char *scratch) const;

  ContractShape shape;
  bool accumulate;
  std::vector<Cut> cuts;
  int64_t terms = 0, packedBytes = 0; ///< of a piece of the right operand; 0: it is taken as it lies
  int64_t scratchBytes = 0;           ///< bytes for one part
};

} // namespace xlc::runtime

#endif
