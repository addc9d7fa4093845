// Which of cuBLASLt's algorithms a program's products take, where it is not the library's own first choice: timed on a GPU by
// --tune FILE, and read back by --tuned FILE.
//
//     {"gpu": "NVIDIA H100 80GB HBM3", "cublaslt": "12.9.1", "products": [
//       {"product": "65536 x 768 x 3072, bf16, ...", "algorithm": "0100...", "milliseconds": 1.1, "first": 1.2}, ...]}
//
// An algorithm is the library's own record of it, which is valid for its version and the product it was chosen for. Where
// the library does not offer it again, it is asked whether that runs.
#ifndef XLC_LIB_RUNTIME_CUDA_TUNING_H
#define XLC_LIB_RUNTIME_CUDA_TUNING_H

#include "Products.h"
#include "Stopwatch.h"

#include <map>

namespace xlc::runtime::cuda {

struct TunedProduct {
  std::string algorithm;     ///< its record, in hexadecimal digits
  Milliseconds taken, first; ///< of it, and of the library's first choice
};

class Tuning {
public:
  Tuning(std::string gpu, std::string library) : gpu(std::move(gpu)), library(std::move(library)) {}
  /// Of what is in a file. Throws Rejected, naming the file and what is wrong with it.
  static Tuning read(const std::string &name, const std::string &text);
  /// The text of a file.
  std::string write() const;

  /// Throws Rejected where the figures are of another GPU or version of the library.
  void check(const std::string &gpu, const std::string &library) const;
  /// Has the product take its algorithm. Throws Rejected where there is none, or the library does not offer it.
  void apply(const std::string &call, Product &product) const;

  std::string gpu, library;                     ///< which were timed: the driver's name, and cuBLASLt's version
  std::map<std::string, TunedProduct> products; ///< by description

private:
  [[noreturn]] void reject(const std::string &why) const;
  std::string name; ///< of the file that it was read from
};

/// Bytes that all operands and the scratch of a product need, side by side.
uint64_t bytesToTime(const Product &product);

/// Runs each of its algorithms in memory of so many bytes, at a multiple of 256, and has it take the fastest: another than the
/// first where that takes 1 % less. One that is refused when it is run is left out.
TunedProduct tune(Product &product, char *memory, const Stopwatch &watch, Stream stream);

} // namespace xlc::runtime::cuda

#endif
