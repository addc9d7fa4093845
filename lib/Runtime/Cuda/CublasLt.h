// The part of cuBLASLt that is used: its functions, and their constants, which are equal in versions 12 and 13. All
// matrices are column-major: the elements of a column are contiguous, columns are `leading` elements apart.
#ifndef XLC_LIB_RUNTIME_CUDA_CUBLASLT_H
#define XLC_LIB_RUNTIME_CUDA_CUBLASLT_H

#include "OpenLibrary.h"

#include <cstddef>
#include <cstdint>

namespace xlc::runtime::cublaslt {

using Handle = struct Context *;
using MatmulDesc = struct MatmulDescData *;
using MatrixLayout = struct MatrixLayoutData *;
using Preference = struct PreferenceData *;

enum class Status : int {
  Success = 0,
  NotInitialized = 1,
  AllocationFailed = 3,
  InvalidValue = 7,
  ArchitectureMismatch = 8,
  MappingError = 11,
  ExecutionFailed = 13,
  InternalError = 14,
  NotSupported = 15,
  LicenseError = 16
};

enum class DataType : int { F32 = 0, F16 = 2, BF16 = 14 };
/// The type of sums; FastTf32 rounds operands of f32 to 10 bits of mantissa first.
enum class ComputeType : int { F32 = 68, F32FastTf32 = 77 };
enum class Operation : int { None = 0, Transpose = 1 };
/// Bias: a vector along the rows of the result, the same for each column. Gelu, by tanh, also writes the sum next to
/// its own result; GeluBackward reads it there.
enum class Epilogue : uint32_t { Default = 1, Bias = 4, Gelu = 160, GeluBias = 164, GeluBackward = 192 };
/// How the parts of a split sum are added: flags. InPlace and OutputType round each part to the result's type.
enum class Reductions : uint32_t { None = 0, InPlace = 1, ComputeType = 2, OutputType = 4, All = 7 };

enum class MatmulAttribute : int {
  TransposeA = 3,
  TransposeB = 4,
  Epilogue = 7,
  BiasPointer = 8,
  BesidePointer = 11,
  BesideLeading = 12
};
enum class LayoutAttribute : int { BatchCount = 5, BatchOffset = 6 }; ///< int32_t; int64_t elements
enum class PreferenceAttribute : int {
  MostWorkspace = 1, ///< uint64_t bytes
  Reductions = 3,
  AlignmentA = 5, ///< this and the following: uint32_t bytes
  AlignmentB = 6,
  AlignmentC = 7,
  AlignmentD = 8
};

struct Algorithm {
  uint64_t data[8];
};
struct Choice {
  Algorithm algorithm;
  size_t workspace; ///< bytes
  Status status;    ///< the others are valid if it is Success
  float waves;
  int reserved[4];
};
static_assert(sizeof(Choice) == 96);

/// Addresses of a workspace are multiples of this.
constexpr uint64_t workspaceAlignment = 256;
/// The assumed alignment of an address if none is stated.
constexpr uint32_t mostAlignment = 256;
constexpr size_t oldestVersion = 120000; ///< 12.0.0

struct Library {
  /// Throws Rejected if a function is missing, or the library is older than oldestVersion.
  explicit Library(const OpenedLibrary &library);

  /// "12.9.1"
  std::string version() const;
  /// Throws DeviceFailure unless the status is Success. The message contains `function`, its purpose `what`, and the
  /// text of the status.
  void require(Status status, const char *function, const std::string &what) const;

  Status (*create)(Handle *);
  Status (*destroy)(Handle);
  size_t (*getVersion)();
  const char *(*describe)(Status);
  Status (*createMatmul)(MatmulDesc *, ComputeType, DataType ofScale);
  Status (*destroyMatmul)(MatmulDesc);
  Status (*setMatmul)(MatmulDesc, MatmulAttribute, const void *, size_t);
  Status (*createLayout)(MatrixLayout *, DataType, uint64_t rows, uint64_t columns, int64_t leading);
  Status (*destroyLayout)(MatrixLayout);
  Status (*setLayout)(MatrixLayout, LayoutAttribute, const void *, size_t);
  Status (*createPreference)(Preference *);
  Status (*destroyPreference)(Preference);
  Status (*setPreference)(Preference, PreferenceAttribute, const void *, size_t);
  Status (*choose)(Handle, MatmulDesc, MatrixLayout a, MatrixLayout b, MatrixLayout c, MatrixLayout d, Preference,
                   int most, Choice *, int *found);
  /// Checks whether an algorithm of an earlier process runs here, and returns its workspace.
  Status (*checkAlgorithm)(Handle, MatmulDesc, MatrixLayout a, MatrixLayout b, MatrixLayout c, MatrixLayout d,
                           const Algorithm *, Choice *);
  /// d = alpha op(a) op(b) + beta c (+ bias), then the epilogue; c and d may be the same.
  Status (*multiply)(Handle, MatmulDesc, const void *alpha, const void *a, MatrixLayout ofA, const void *b,
                     MatrixLayout ofB, const void *beta, const void *c, MatrixLayout ofC, void *d, MatrixLayout ofD,
                     const Algorithm *, void *workspace, size_t workspaceBytes, void *stream);

private:
  size_t number; ///< the number of the version
};

} // namespace xlc::runtime::cublaslt

#endif
