// Contractions: how a call is cut between threads, and which code does each part.
//
// The output is cut, never the summed dimension, so no thread waits for another. A part of a large
// product whose operands are dense goes to oneDNN's blocked kernel (its other kernels allocate, so they are not used),
// of bf16 also one whose left operand is not, after a copy of some of its rows: ours are half as fast;
// everything else to Product.h, small products for their accuracy: oneDNN adds all terms one after the other. Who does
// what is decided here once, for the plan's workspace and for the run alike.
//
// Parts of a large product of bf16 that share the right operand pack it together before any of them multiplies, where it
// is deep in pieces (PackedProduct.h):
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

/// A contraction prepared for a number of threads. Not to be run by two calls at once.
class Contraction {
public:
  /// With `run` false only the workspace is worked out. What needs more than `room` bytes of it is done by Product.h.
  Contraction(const ContractShape &shape, int threads, bool accumulate, bool run = true, int64_t room = INT64_MAX);
  ~Contraction();
  Contraction(Contraction &&) noexcept;

  /// Bytes that all parts need together, a multiple of 64.
  int64_t workspace() const { return packedBytes + scratchBytes * parts(); }
  int parts() const { return (int)cuts.size(); }
  /// Of each in its order all parts `pack`, then all of them `run`.
  int64_t pieces() const { return packs() ? (shape.k + terms - 1) / terms : 1; }

  /// Whether parts have something to pack.
  bool packs() const { return packedBytes > 0; }
  /// Packs what is this part's of a piece of b.
  void pack(int64_t piece, int part, const void *b, char *workspace) const;

  /// Does part `part` of y = a b (+ bias) (+ y where it accumulates); `bias` is null where the shape has none. Operands
  /// and y are of the shape's types, the bias of that of y; nothing is added to a narrow y.
  void run(int64_t piece, int part, const void *a, const void *b, const void *bias, void *y, char *workspace) const;

private:
  struct Cut {
    int64_t batchBegin, batchEnd, mBegin, mEnd, nBegin, nEnd;
    std::unique_ptr<LibraryProduct> library; ///< of `rows` rows at a time; none: Product.h
    int64_t rows;
    std::unique_ptr<LibraryProduct> rest; ///< of the last rows, where they are fewer
    int64_t gathered; ///< bytes of scratch into which rows of the left operand are copied first; 0: it lies dense
    std::unique_ptr<PackedProduct> packed; ///< in the place of all these, in each part or in none
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
  int64_t scratchBytes = 0;           ///< of one part
};

} // namespace xlc::runtime

#endif
