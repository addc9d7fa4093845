// Our declarations, and the simulated library, against the real one where it is installed. Descriptors need no GPU.
#include "Cuda/CublasLt.h"
#include "Failure.h"
#include "SimulatedCublasLt.h"
#include "StandInDevice.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

using namespace xlc::runtime;
using namespace xlc::runtime::cublaslt;
using namespace xlc::test;

namespace {

class RealLibrary : public testing::Test {
protected:
  void SetUp() override {
    standInDevice().reset();
    try {
      opened = std::make_unique<OpenedLibrary>(cublasLtLibrary);
    } catch (const Rejected &problem) {
      GTEST_SKIP() << problem.what();
    }
  }
  std::unique_ptr<OpenedLibrary> opened;
};

/// Sizes of an attribute that are taken, of all up to 16.
template <class Object, class Attribute>
std::set<size_t> sizesOf(Status (*set)(Object, Attribute, const void *, size_t), Object object, int attribute) {
  char value[16] = {};
  std::set<size_t> taken;
  for (size_t size = 0; size <= sizeof value; ++size)
    if (set(object, (Attribute)attribute, value, size) == Status::Success)
      taken.insert(size);
  return taken;
}

TEST_F(RealLibrary, HasTheFunctionsAndSaysItsVersion) {
  Library real(*opened);
  EXPECT_GE(std::stoi(real.version()), 12);
  EXPECT_NE(std::string(real.describe(Status::NotInitialized)), "");
}

/// Numbers that came or went between versions 12 and 13 aside.
TEST_F(RealLibrary, TakesTheAttributesThatTheSimulatedOneTakes) {
  Library real(*opened), simulated(simulatedCublasLt());
  const std::set<int> ofSomeVersions = {2, 4, 10, 11, 13, 27, 28, 29, 30};
  auto compare = [&](const char *kind, auto create, auto set, auto destroy) {
    auto ofReal = create(real), ofSimulated = create(simulated);
    for (int attribute = 0; attribute < 38; ++attribute) {
      auto take = [&](const Library &library, auto object) { return sizesOf(set(library), object, attribute); };
      std::set<size_t> expected = take(real, ofReal), taken = take(simulated, ofSimulated);
      if (!taken.empty() || !ofSomeVersions.count(attribute))
        EXPECT_EQ(taken, expected) << kind << " attribute " << attribute;
    }
    destroy(real)(ofReal), destroy(simulated)(ofSimulated);
  };
  compare(
      "matmul",
      [](const Library &library) {
        MatmulDesc made = nullptr;
        library.createMatmul(&made, ComputeType::F32, DataType::F32);
        return made;
      },
      [](const Library &library) { return library.setMatmul; },
      [](const Library &library) { return library.destroyMatmul; });
  compare(
      "layout",
      [](const Library &library) {
        MatrixLayout made = nullptr;
        library.createLayout(&made, DataType::F32, 8, 8, 8);
        return made;
      },
      [](const Library &library) { return library.setLayout; },
      [](const Library &library) { return library.destroyLayout; });
  compare(
      "preference",
      [](const Library &library) {
        Preference made = nullptr;
        library.createPreference(&made);
        return made;
      },
      [](const Library &library) { return library.setPreference; },
      [](const Library &library) { return library.destroyPreference; });
}

} // namespace

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

static_assert(CUBLAS_STATUS_SUCCESS == (int)Status::Success);
static_assert(CUBLAS_STATUS_NOT_INITIALIZED == (int)Status::NotInitialized);
static_assert(CUBLAS_STATUS_ALLOC_FAILED == (int)Status::AllocationFailed);
static_assert(CUBLAS_STATUS_INVALID_VALUE == (int)Status::InvalidValue);
static_assert(CUBLAS_STATUS_ARCH_MISMATCH == (int)Status::ArchitectureMismatch);
static_assert(CUBLAS_STATUS_MAPPING_ERROR == (int)Status::MappingError);
static_assert(CUBLAS_STATUS_EXECUTION_FAILED == (int)Status::ExecutionFailed);
static_assert(CUBLAS_STATUS_INTERNAL_ERROR == (int)Status::InternalError);
static_assert(CUBLAS_STATUS_NOT_SUPPORTED == (int)Status::NotSupported);
static_assert(CUBLAS_STATUS_LICENSE_ERROR == (int)Status::LicenseError);
static_assert(CUDA_R_32F == (int)DataType::F32);
static_assert(CUDA_R_16F == (int)DataType::F16);
static_assert(CUDA_R_16BF == (int)DataType::BF16);
static_assert(CUBLAS_COMPUTE_32F == (int)ComputeType::F32);
static_assert(CUBLAS_COMPUTE_32F_FAST_TF32 == (int)ComputeType::F32FastTf32);
static_assert(CUBLAS_OP_N == (int)Operation::None);
static_assert(CUBLAS_OP_T == (int)Operation::Transpose);
static_assert(CUBLASLT_EPILOGUE_DEFAULT == (int)Epilogue::Default);
static_assert(CUBLASLT_EPILOGUE_BIAS == (int)Epilogue::Bias);
static_assert(CUBLASLT_EPILOGUE_GELU_AUX == (int)Epilogue::Gelu);
static_assert(CUBLASLT_EPILOGUE_GELU_AUX_BIAS == (int)Epilogue::GeluBias);
static_assert(CUBLASLT_EPILOGUE_DGELU == (int)Epilogue::GeluBackward);
static_assert(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER == (int)MatmulAttribute::BesidePointer);
static_assert(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD == (int)MatmulAttribute::BesideLeading);
static_assert(CUBLASLT_REDUCTION_SCHEME_NONE == (int)Reductions::None);
static_assert(CUBLASLT_REDUCTION_SCHEME_INPLACE == (int)Reductions::InPlace);
static_assert(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE == (int)Reductions::ComputeType);
static_assert(CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE == (int)Reductions::OutputType);
static_assert(CUBLASLT_REDUCTION_SCHEME_MASK == (int)Reductions::All);
static_assert(CUBLASLT_MATMUL_DESC_TRANSA == (int)MatmulAttribute::TransposeA);
static_assert(CUBLASLT_MATMUL_DESC_TRANSB == (int)MatmulAttribute::TransposeB);
static_assert(CUBLASLT_MATMUL_DESC_EPILOGUE == (int)MatmulAttribute::Epilogue);
static_assert(CUBLASLT_MATMUL_DESC_BIAS_POINTER == (int)MatmulAttribute::BiasPointer);
static_assert(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT == (int)LayoutAttribute::BatchCount);
static_assert(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET == (int)LayoutAttribute::BatchOffset);
static_assert(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES == (int)PreferenceAttribute::MostWorkspace);
static_assert(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK == (int)PreferenceAttribute::Reductions);
static_assert(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES == (int)PreferenceAttribute::AlignmentA);
static_assert(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES == (int)PreferenceAttribute::AlignmentB);
static_assert(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES == (int)PreferenceAttribute::AlignmentC);
static_assert(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES == (int)PreferenceAttribute::AlignmentD);
static_assert(sizeof(cublasLtMatmulAlgo_t) == sizeof(Algorithm));
static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == sizeof(Choice));
static_assert(offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) == offsetof(Choice, workspace));
static_assert(offsetof(cublasLtMatmulHeuristicResult_t, state) == offsetof(Choice, status));
#endif
