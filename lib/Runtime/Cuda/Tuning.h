// The algorithms of cuBLASLt for a program's products, if they differ from the library's first choice: timed on a GPU
// by --tune FILE, and read by --tuned FILE.
//
//     {"gpu": "NVIDIA H100 80GB HBM3", "cublaslt": "12.9.1", "products": [
//       {"product": "65536 x 768 x 3072, bf16, ...", "algorithm": "0100...", "milliseconds": 1.1, "first": 1.2}, ...]}
//
// An algorithm is stored as the library's own record, which is valid for its version and the product for which it was
// chosen. If the library does not propose it again, it is queried whether the algorithm runs.
#ifndef XLC_LIB_RUNTIME_CUDA_TUNING_H
#define XLC_LIB_RUNTIME_CUDA_TUNING_H

#include "Products.h"
#include "Stopwatch.h"

#include <map>

namespace xlc::runtime::cuda {

struct TunedProduct {
  std::string algorithm;     ///< the library's record, in hexadecimal digits
  Milliseconds taken, first; ///< times of the algorithm and of the library's first choice
};

class Tuning {
public:
  Tuning(std::string gpu, std::string library) : gpu(std::move(gpu)), library(std::move(library)) {}
  /// Parses the contents of a file. Throws Rejected with the name of the file and the error.
  static Tuning read(const std::string &name, const std::string &text);
  /// The contents of a file.
  std::string write() const;

  /// Throws Rejected if the figures belong to another GPU or version of the library.
  void check(const std::string &gpu, const std::string &library) const;
  /// Selects the algorithm of the product. Throws Rejected if there is none, or the library does not support it.
  void apply(const std::string &call, Product &product) const;

  std::string gpu, library; ///< the timed hardware and library: the driver's name of the GPU, and cuBLASLt's version
  std::map<std::string, TunedProduct> products; ///< by description

private:
  [[noreturn]] void reject(const std::string &why) const;
  std::string name; ///< of the file from which it was read
};

/// The bytes of all operands and the scratch of a product, placed side by side.
uint64_t bytesToTime(const Product &product);

/// Runs each algorithm of the product in memory of bytesToTime bytes, at a multiple of 256, and selects the fastest. An
/// algorithm other than the first must be 1 % faster. Algorithms that fail when they run are omitted.
TunedProduct tune(Product &product, char *memory, const Stopwatch &watch, Stream stream);

} // namespace xlc::runtime::cuda

#endif
