// The product of a simulated cuBLASLt: its reads and writes, and its computation.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_PRODUCT_H
#define XLC_LIB_SIMULATE_LIBRARIES_PRODUCT_H

#include "Cuda/CublasLt.h"
#include "Device.h"

#include <cstdint>

namespace xlc::simulate {

/// A column-major matrix, or a batch of such.
struct Matrix {
  runtime::cublaslt::DataType type;
  int64_t rows, columns, leading, batchOffset; ///< elements
};

/// d = alpha op(a) op(b) + beta c + bias, for each of a batch. c has the layout of d, and is not read if beta is 0.
/// With Gelu that sum is h, and d is gelu(h) of the unrounded h; with GeluBackward d is gelu'(h) times that sum.
struct Product {
  Matrix a, b, d;
  bool isATransposed, isBTransposed;
  runtime::cublaslt::Epilogue epilogue = runtime::cublaslt::Epilogue::Default;
  int64_t batch;
  float alpha, beta;
  const char *aAt, *bAt, *cAt, *biasAt; ///< the bias, null where there is none, has the type of d
  char *dAt, *besideAt;                 ///< h, null where there is none, has the type of d
  int64_t besideLeading;
  char *workspace;
  uint64_t workspaceBytes; ///< as much as the algorithm says that it uses
};

int64_t bytesOf(runtime::cublaslt::DataType type);

/// Sums run in float in the order of k, from zero; then alpha, beta c and the bias are applied in float, and the result is
/// rounded once. The real library sums in an order of its own. Nothing in the workspace can be used afterwards.
Work workOf(const Product &product);

} // namespace xlc::simulate

#endif
