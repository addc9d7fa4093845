// Matrix products by cuBLASLt. The strides of a call of the plan are converted once, before the first step, to the
// terms of cuBLASLt: column-major matrices, transposed or not, one batch dimension as a strided batch and the others as
// a loop of calls, and an algorithm that fits in the plan's workspace.
//
//   y[m, n], row-major          yᵀ = bᵀ aᵀ: as cuBLASLt reads it, y is [n, m], and a bias along n lies along its rows
//   y[m, n], column-major       y = a b: no bias, for which cuBLASLt has no epilogue along columns
//
// An operand is transposed if its own rows are contiguous in the other direction.
#ifndef XLC_LIB_RUNTIME_CUDA_PRODUCTS_H
#define XLC_LIB_RUNTIME_CUDA_PRODUCTS_H

#include "CublasLt.h"
#include "xlc/Runtime/LibraryShapes.h"

#include <memory>
#include <string>
#include <vector>

namespace xlc::runtime {

/// The addresses of a call; `bias` and `beside`, the residual or h, are null if there is none.
struct ProductOperands {
  const void *a, *b, *bias;
  void *beside, *y;
};

/// Powers of two up to 256 that divide every address of a call's operands.
struct ProductAlignment {
  uint32_t a, b, bias, beside, y;
};
/// The largest such number; for several addresses, pass the union of their bits.
uint32_t alignmentOf(uint64_t address);

/// The precision of products of f32 operands.
enum class F32Products : uint8_t { Ieee, Tf32 };

/// One prepared call of the plan. Running a call with an epilogue sets its addresses in the descriptor: only one thread
/// may run it at a time.
class Product {
public:
  /// Enqueues the product, with its epilogue, on `stream`: y = a b (+ y, if it adds, which a narrow y does not
  /// support). Allocates nothing. `workspace`, a multiple of 256, has workspace() bytes. Throws DeviceFailure if
  /// cuBLASLt fails.
  void run(const ProductOperands &operands, bool adds, void *workspace, void *stream) const;

  /// The bytes of workspace of the selected algorithm, within the limit.
  uint64_t workspace() const { return choices[taken].workspace; }

  /// A text with all properties on which its time depends: "65536 x 768 x 3072, bf16, a 3072:1, b 1:3072, y 768:1,
  /// ...". Equal products have equal texts.
  const std::string &description() const { return text; }
  /// The algorithms that fit, in the order of cuBLASLt. The first is used unless another one is selected.
  const std::vector<cublaslt::Choice> &algorithms() const { return choices; }
  void take(size_t which) { taken = which; }
  /// Selects an algorithm that this version of the library proposed for such a product in another process, even if it
  /// does not propose it now. Returns whether it runs here, within the workspace.
  bool restore(const cublaslt::Algorithm &algorithm);
  /// The bytes from the first to the last element of an operand; 0: no such operand.
  struct Spans {
    int64_t a, b, bias, beside, y;
  };
  const Spans &spans() const { return operandSpans; }

private:
  friend class Products;
  friend class ProductBuilder;
  template <class Descriptor> using Owned = std::unique_ptr<Descriptor, cublaslt::Status (*)(Descriptor *)>;
  /// The address increments of a batch, in bytes.
  struct Loop {
    int64_t size, a, b, y;
  };

  explicit Product(const cublaslt::Library &library);

  const cublaslt::Library *library;
  cublaslt::Handle handle = nullptr;
  std::string what; ///< the name in messages
  bool isSwapped = false;
  Epilogue epilogue;
  Owned<cublaslt::MatmulDescData> matmul;
  Owned<cublaslt::MatrixLayoutData> first, second, result; ///< in cuBLASLt's order
  std::vector<Loop> loops;
  std::string text;
  uint64_t mostWorkspace = 0;
  std::vector<cublaslt::Choice> choices; ///< at least one
  size_t taken = 0;
  Spans operandSpans = {};
};

/// cuBLASLt on one device: the one whose context is current at creation. Products must not outlive it.
class Products {
public:
  /// Throws Rejected if the library does not meet the requirements of programs, DeviceFailure if it fails.
  explicit Products(const OpenedLibrary &library, F32Products precision = F32Products::Ieee);
  ~Products();
  Products(const Products &) = delete;

  /// Prepares a call. Throws Rejected, with the name of the call, if cuBLASLt does not support it: a matrix without a
  /// stride of 1, an epilogue of a column-major result, no algorithm within `workspaceBytes`.
  Product prepare(const std::string &call, const ContractShape &shape, uint64_t workspaceBytes,
                  const ProductAlignment &alignment) const;

  std::string version() const { return library.version(); }

private:
  const cublaslt::Library library;
  const F32Products precision;
  cublaslt::Handle handle = nullptr;
};

} // namespace xlc::runtime

#endif
