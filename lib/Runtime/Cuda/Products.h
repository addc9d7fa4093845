// Products of matrices by cuBLASLt. What a call of the plan says in strides is said once, before the first step, in
// cuBLASLt's words: column-major matrices, transposed or not, one dimension of a batch as a strided batch and the others as
// a loop of calls, and an algorithm that works within the plan's workspace.
//
//   y[m, n], row-major          yᵀ = bᵀ aᵀ: as cuBLASLt reads it, y is [n, m], and a bias along n lies along its rows
//   y[m, n], column-major       y = a b: no bias, for which cuBLASLt has no epilogue along columns
//
// An operand is transposed where its own rows lie beside each other in the other direction.
#ifndef XLC_LIB_RUNTIME_CUDA_PRODUCTS_H
#define XLC_LIB_RUNTIME_CUDA_PRODUCTS_H

#include "CublasLt.h"
#include "xlc/Runtime/LibraryShapes.h"

#include <memory>
#include <string>
#include <vector>

namespace xlc::runtime {

/// Addresses of a call; `bias` and `beside`, the residual or h, are null where it has none.
struct ProductOperands {
  const void *a, *b, *bias;
  void *beside, *y;
};

/// Powers of two up to 256 that divide every address at which a call's operands ever are.
struct ProductAlignment {
  uint32_t a, b, bias, beside, y;
};
/// The largest such number; of several addresses, of all bits that one of them has.
uint32_t alignmentOf(uint64_t address);

/// What f32 operands are multiplied as.
enum class F32Products : uint8_t { Ieee, Tf32 };

/// One call of the plan, ready to run. Runs of calls with an epilogue set its addresses in the descriptor: one thread at a time.
class Product {
public:
  /// Puts the product, with its epilogue, into the queue of `stream`: y = a b (+ y, where it adds; a narrow y is not added to).
  /// Allocates nothing. `workspace`, a multiple of 256, has workspace() bytes. Throws DeviceFailure where cuBLASLt fails.
  void run(const ProductOperands &operands, bool adds, void *workspace, void *stream) const;

  /// Bytes of the algorithm that is taken, within those that were allowed.
  uint64_t workspace() const { return choices[taken].workspace; }

  /// All that its time depends on, in words: "65536 x 768 x 3072, bf16, a 3072:1, b 1:3072, y 768:1, ...". The same for products
  /// that are alike.
  const std::string &description() const { return text; }
  /// The algorithms that fit, in cuBLASLt's order. The first is taken until another one is.
  const std::vector<cublaslt::Choice> &algorithms() const { return choices; }
  void take(size_t which) { taken = which; }
  /// Takes one that this version of the library proposed for such a product in another process, also where it does not now. Whether
  /// it runs here, within the workspace.
  bool restore(const cublaslt::Algorithm &algorithm);
  /// Bytes from the first to the last of an operand's elements; 0: it has no such operand.
  struct Spans {
    int64_t a, b, bias, beside, y;
  };
  const Spans &spans() const { return operandSpans; }

private:
  friend class Products;
  friend class ProductBuilder;
  template <class Descriptor> using Owned = std::unique_ptr<Descriptor, cublaslt::Status (*)(Descriptor *)>;
  /// What a batch adds to addresses, in bytes.
  struct Loop {
    int64_t size, a, b, y;
  };

  explicit Product(const cublaslt::Library &library);

  const cublaslt::Library *library;
  cublaslt::Handle handle = nullptr;
  std::string what; ///< for messages
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

/// cuBLASLt on one device: that whose context is current when it is made. Products must not outlive it.
class Products {
public:
  /// Throws Rejected where the library is not what programs need, DeviceFailure where it fails.
  explicit Products(const OpenedLibrary &library, F32Products precision = F32Products::Ieee);
  ~Products();
  Products(const Products &) = delete;

  /// Makes a call ready. Throws Rejected, which names the call, where cuBLASLt cannot do it: a matrix without a stride of 1,
  /// an epilogue of a column-major result, no algorithm within `workspaceBytes`.
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
