// The part of cuDNN 9's graph API that is used: functions of its backend and their constants, which are equal in all
// versions of 9.
#ifndef XLC_LIB_RUNTIME_CUDA_CUDNN_H
#define XLC_LIB_RUNTIME_CUDA_CUDNN_H

#include "OpenLibrary.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace xlc::runtime::cudnn {

using Handle = struct cudnnContext *;
using Descriptor = void *;

enum class Status : int { Success = 0, NotSupported = 3000, InternalError = 4000 };

/// The kinds of descriptors.
enum class Kind : int {
  Pointwise = 0,
  Convolution = 1,
  Engine = 2,
  EngineConfiguration = 3,
  Heuristics = 4,
  ExecutionPlan = 5,
  OperationConvolution = 10,
  OperationConvolutionOfWeights = 11,
  OperationConvolutionBack = 12,
  OperationPointwise = 13,
  OperationGraph = 15,
  VariantPack = 16,
  Tensor = 17,
  Matmul = 18,
  OperationMatmul = 19,
  Reduction = 21,
  OperationReduction = 22,
  OperationReshape = 31,
  DeviceProperties = 38
};

enum class Attribute : int {
  PointwiseMode = 0,
  PointwisePrecision = 1,
  PointwiseAxis = 9,
  ConvolutionPrecision = 100,
  ConvolutionMode = 101,
  ConvolutionDilations = 102,
  ConvolutionStrides = 103,
  ConvolutionPadsBehind = 104,
  ConvolutionPads = 105,
  ConvolutionDimensions = 106,
  HeuristicsMode = 200,
  HeuristicsGraph = 201,
  HeuristicsResults = 202,
  HeuristicsDevice = 204,
  ConfigurationEngine = 300,
  PlanHandle = 400,
  PlanConfiguration = 401,
  PlanWorkspace = 402,
  PlanDevice = 407,
  OperationConvolutionFactor = 700,
  OperationConvolutionFactorBefore = 701,
  OperationConvolutionHow = 702,
  OperationConvolutionW = 703,
  OperationConvolutionX = 704,
  OperationConvolutionY = 705,
  OperationConvolutionBackFactor = 706,
  OperationConvolutionBackFactorBefore = 707,
  OperationConvolutionBackHow = 708,
  OperationConvolutionBackW = 709,
  OperationConvolutionBackX = 710,
  OperationConvolutionBackY = 711,
  OperationConvolutionOfWeightsFactor = 712,
  OperationConvolutionOfWeightsFactorBefore = 713,
  OperationConvolutionOfWeightsHow = 714,
  OperationConvolutionOfWeightsW = 715,
  OperationConvolutionOfWeightsX = 716,
  OperationConvolutionOfWeightsY = 717,
  OperationPointwise = 750,
  OperationPointwiseX = 751,
  OperationPointwiseB = 752,
  OperationPointwiseY = 753,
  OperationPointwiseT = 758,
  GraphHandle = 800,
  GraphOperations = 801,
  TensorAlignment = 900,
  TensorType = 901,
  TensorDimensions = 902,
  TensorStrides = 903,
  TensorId = 906,
  TensorIsVirtual = 907,
  TensorIsByValue = 908,
  PackIds = 1000,
  PackPointers = 1001,
  PackWorkspace = 1003,
  EngineNotes = 1303,
  MatmulPrecision = 1500,
  OperationMatmulA = 1520,
  OperationMatmulB = 1521,
  OperationMatmulC = 1522,
  OperationMatmul = 1523,
  ReductionOperator = 1600,
  ReductionPrecision = 1601,
  OperationReductionX = 1610,
  OperationReductionY = 1611,
  OperationReduction = 1612,
  OperationReshapeX = 2200,
  OperationReshapeY = 2201,
  DeviceJson = 2702
};

/// The types of attributes.
enum class Type : int {
  Handle = 0,
  DataType = 1,
  Boolean = 2,
  Int64 = 3,
  Float = 4,
  VoidPointer = 6,
  ConvolutionMode = 7,
  HeuristicsMode = 8,
  Note = 11,
  PointwiseMode = 14,
  Descriptor = 15,
  ReductionOperator = 18,
  Char = 24
};

enum class DataType : int { F32 = 0, F16 = 2, I32 = 4, BF16 = 9, Boolean = 11 };
enum class PointwiseMode : int {
  Add = 0,
  Multiply = 1,
  Divide = 6,
  Subtract = 9,
  Exp = 13,
  Log = 15,
  Identity = 21,
  Greater = 302,
  GreaterOrEqual = 303,
  Index = 501, ///< along the axis
  Select = 601 ///< t ? x : b
};
enum class ReductionOperator : int { Add = 0, Max = 3 };
enum class ConvolutionMode : int { CrossCorrelation = 1 };
/// Notes about the numerics of an engine.
enum class Note : int {
  TensorCore = 0, ///< of float32: products with fewer bits
  DownConvertsInputs = 1,
  ReducesInFewerBits = 2,
  FourierTransform = 3,
  Nondeterministic = 4,
  Winograd = 5,
  StrictNan = 9
};
enum class HeuristicsMode : int { Fallback = 2, Best = 3 };

/// The one of the three tensors of a convolution that is computed from the others.
enum class Makes : uint8_t { Y, X, W };
/// The attributes of the operation that computes it: factors of the new and the previous values, the parameters, and
/// the tensors.
struct ConvolutionOperation {
  Kind kind;
  Attribute factor, factorBefore, how, w, x, y;
};
/// Indexed by the computed tensor.
inline constexpr ConvolutionOperation convolutionOperations[] = {
    {Kind::OperationConvolution, Attribute::OperationConvolutionFactor, Attribute::OperationConvolutionFactorBefore,
     Attribute::OperationConvolutionHow, Attribute::OperationConvolutionW, Attribute::OperationConvolutionX,
     Attribute::OperationConvolutionY},
    {Kind::OperationConvolutionBack, Attribute::OperationConvolutionBackFactor,
     Attribute::OperationConvolutionBackFactorBefore, Attribute::OperationConvolutionBackHow,
     Attribute::OperationConvolutionBackW, Attribute::OperationConvolutionBackX, Attribute::OperationConvolutionBackY},
    {Kind::OperationConvolutionOfWeights, Attribute::OperationConvolutionOfWeightsFactor,
     Attribute::OperationConvolutionOfWeightsFactorBefore, Attribute::OperationConvolutionOfWeightsHow,
     Attribute::OperationConvolutionOfWeightsW, Attribute::OperationConvolutionOfWeightsX,
     Attribute::OperationConvolutionOfWeightsY},
};

constexpr size_t oldestVersion = 90600; ///< 9.6.0, the first whose attention clears its accumulators
/// 9.10.0 and 9.10.1: NVIDIA's cudnn-frontend rejects their attention of sixteen bits (sdpa_support_surface.h).
constexpr std::array<size_t, 2> wrongAttention = {91000, 91001};

struct Library {
  /// Throws Rejected if a function is missing, or the library is older than oldestVersion.
  explicit Library(const OpenedLibrary &library);

  /// "9.19.1"
  std::string version() const;
  size_t versionNumber() const { return number; }
  /// Throws Rejected if the version is one of `wrongAttention`.
  void requireRightAttention(const OpenedLibrary &library) const;
  /// Throws DeviceFailure unless the status is Success. The message contains `function`, its purpose `what`, and the
  /// library's own message.
  void require(Status status, const char *function, const std::string &what) const;
  /// The library's message about the last failure on this thread; may be empty.
  std::string lastError() const;

  Status (*create)(Handle *);
  Status (*destroy)(Handle);
  size_t (*getVersion)();
  const char *(*describe)(Status);
  void (*getLastError)(char *, size_t);
  Status (*setStream)(Handle, void *stream);
  Status (*createDescriptor)(Kind, Descriptor *);
  Status (*destroyDescriptor)(Descriptor);
  Status (*setAttribute)(Descriptor, Attribute, Type, int64_t count, const void *);
  Status (*getAttribute)(Descriptor, Attribute, Type, int64_t most, int64_t *count, void *);
  Status (*finalize)(Descriptor);
  Status (*execute)(Handle, Descriptor plan, Descriptor variantPack);

private:
  size_t number;
};

/// The device for which graphs are created: that of the handle or, without a handle, one with these properties (9.8 and
/// later), on which they cannot run.
struct Device {
  Handle handle = nullptr;
  Descriptor properties = nullptr;
};

struct DestroyDescriptor {
  const Library *library = nullptr;
  void operator()(Descriptor descriptor) const { library->destroyDescriptor(descriptor); }
};
using OwnedDescriptor = std::unique_ptr<void, DestroyDescriptor>;

} // namespace xlc::runtime::cudnn

#endif
