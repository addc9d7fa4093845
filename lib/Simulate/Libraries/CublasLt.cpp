// cuBLASLt without a GPU: the functions that programs use, with their names and numbers. Descriptors check as little as
// the real library's; a product is rejected if the documentation states that it is not supported. Products run in the
// queues of the simulated device.
//
// Three algorithms represent the real library's: the first requires scratch memory and addresses that are multiples of
// 16 bytes, the second these addresses, the last nothing. XLC_SIMULATE_PRODUCTS=3,1,2 sets their times in milliseconds.
// A use that is forbidden, but that the real library need not detect (a destroyed descriptor, an algorithm of another
// product), ends the process.
#include "CublasLtAlgorithms.h"
#include "Descriptors.h"
#include "Product.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>
#include <thread>

using namespace xlc::runtime::cublaslt;
using namespace xlc::simulate;

namespace {

constexpr size_t version = 120901; // 12.9.1, as in CUDA 12.9 Update 1

/// Attributes of layouts that LayoutAttribute does not name, and those of descriptors that products look at.
constexpr int computeType = 0, scaleType = 1;
constexpr int typeOf = 0, orderOf = 1, rowsOf = 2, columnsOf = 3, leadingOf = 4, planeOf = 7, batchMode = 8;

/// Whether GELU is in it.
bool isActivation(Epilogue epilogue) {
  return epilogue == Epilogue::Gelu || epilogue == Epilogue::GeluBias || epilogue == Epilogue::GeluBackward;
}

bool isPlain(const Attributes &matmul) {
  constexpr int looked[] = {computeType,
                            scaleType,
                            (int)MatmulAttribute::TransposeA,
                            (int)MatmulAttribute::TransposeB,
                            (int)MatmulAttribute::Epilogue,
                            (int)MatmulAttribute::BiasPointer,
                            (int)MatmulAttribute::BesidePointer,
                            (int)MatmulAttribute::BesideLeading};
  return std::ranges::all_of(attributesOf(Kind::Matmul), [&](const Attribute &each) {
    return std::find(std::begin(looked), std::end(looked), each.number) != std::end(looked) ||
           matmul.at(each.number) == each.initial;
  });
}

Matrix matrixOf(const Attributes &layout) {
  return {(DataType)layout.at(typeOf), (int64_t)layout.at(rowsOf), (int64_t)layout.at(columnsOf),
          (int64_t)layout.at(leadingOf), (int64_t)layout.at((int)LayoutAttribute::BatchOffset)};
}

/// Whether op(a) op(b) is d, and each matrix lies in memory without elements over each other.
bool fits(const Described &described) {
  const Product &p = described.product;
  const Matrix &a = p.a, &b = p.b, &d = p.d;
  for (const Matrix *matrix : {&a, &b, &d})
    if (matrix->rows < 1 || matrix->columns < 1 || matrix->leading < matrix->rows)
      return false;
  int64_t depth = p.isATransposed ? a.rows : a.columns;
  return p.batch >= 1 && (p.batch == 1 || d.batchOffset != 0) && depth == (p.isBTransposed ? b.columns : b.rows) &&
         d.rows == (p.isATransposed ? a.columns : a.rows) && d.columns == (p.isBTransposed ? b.rows : b.columns);
}

/// GELU is for one matrix of sixteen bits, with h in lines of whole 16 bytes.
bool hasLines(const Attributes &matmul, const Product &p) {
  auto leading = (int64_t)matmul.at((int)MatmulAttribute::BesideLeading);
  return p.d.type != DataType::F32 && p.d.type == p.a.type && p.batch == 1 && leading >= p.d.rows && leading % 8 == 0;
}

bool isSupported(const Attributes &matmul, const Product &p, const Attributes *const (&layouts)[4]) {
  auto compute = (ComputeType)matmul.at(computeType);
  bool isTf32 = compute == ComputeType::F32FastTf32;
  auto epilogue = (Epilogue)matmul.at((int)MatmulAttribute::Epilogue);
  DataType a = p.a.type, d = p.d.type;
  bool hasType = a == DataType::F32 || a == DataType::BF16 || a == DataType::F16;
  for (const Attributes *layout : layouts)
    if (layout->at(orderOf) != 0 || layout->at(planeOf) != 0 || layout->at(batchMode) != 0 ||
        layout->at(rowsOf) > INT_MAX || layout->at(columnsOf) > INT_MAX)
      return false;
  return isPlain(matmul) && (compute == ComputeType::F32 || (isTf32 && a == DataType::F32)) &&
         (DataType)matmul.at(scaleType) == DataType::F32 && hasType && p.b.type == a &&
         (d == a || d == DataType::F32) &&
         (epilogue == Epilogue::Default || epilogue == Epilogue::Bias ||
          (isActivation(epilogue) && hasLines(matmul, p)));
}

/// Of the four layouts a, b, c and d; c must be as d.
Status describe(MatmulDesc descriptor, const MatrixLayout (&given)[4], const char *function, Described &to) {
  if (!descriptor || std::count(std::begin(given), std::end(given), nullptr))
    return Status::InvalidValue;
  const Attributes &matmul = get(Kind::Matmul, descriptor, function);
  const Attributes *layouts[4];
  for (int i = 0; i < 4; ++i)
    layouts[i] = &get(Kind::Layout, given[i], function);
  auto isTransposed = [&](MatmulAttribute which) { return (Operation)matmul.at((int)which) == Operation::Transpose; };
  Product &p = to.product;
  p = {};
  p.a = matrixOf(*layouts[0]), p.b = matrixOf(*layouts[1]), p.d = matrixOf(*layouts[3]);
  p.isATransposed = isTransposed(MatmulAttribute::TransposeA),
  p.isBTransposed = isTransposed(MatmulAttribute::TransposeB);
  constexpr int count = (int)LayoutAttribute::BatchCount;
  p.batch = (int32_t)layouts[3]->at(count);
  p.epilogue = (Epilogue)matmul.at((int)MatmulAttribute::Epilogue);
  to.hasBias = p.epilogue == Epilogue::Bias || p.epilogue == Epilogue::GeluBias;
  to.hasBeside = isActivation(p.epilogue);
  p.besideLeading = (int64_t)matmul.at((int)MatmulAttribute::BesideLeading);
  std::memcpy((void *)&p.besideAt, &matmul.at((int)MatmulAttribute::BesidePointer), sizeof p.besideAt);
  std::memcpy((void *)&to.biasAt, &matmul.at((int)MatmulAttribute::BiasPointer), sizeof to.biasAt);
  if (!isSupported(matmul, p, layouts))
    return Status::NotSupported;
  bool isOneBatch = layouts[0]->at(count) == layouts[3]->at(count) && layouts[1]->at(count) == layouts[3]->at(count);
  return isOneBatch && *layouts[2] == *layouts[3] && fits(to) ? Status::Success : Status::InvalidValue;
}

} // namespace

/// It is destroyed even where the call is to fail.
static Status destroyOrFail(Kind kind, void *address, const char *function) {
  bool fails = isToFail(function);
  Status status = destroy(kind, address, function);
  return fails ? Status::InternalError : status;
}

static Status setOrFail(Kind kind, void *address, int number, const void *value, size_t bytes, const char *function) {
  return isToFail(function) ? Status::InternalError : set(kind, address, number, value, bytes, function);
}

extern "C" {

/// Handles and descriptors that are not destroyed, for tests.
XLC_SIMULATED size_t xlcCountCublasLtObjects() { return countObjects(); }

XLC_SIMULATED Status cublasLtCreate(Handle *handle) {
  return isToFail("cublasLtCreate") ? Status::NotInitialized : make(Kind::Handle, (void **)handle);
}
XLC_SIMULATED Status cublasLtDestroy(Handle handle) {
  Status status = destroyOrFail(Kind::Handle, handle, "cublasLtDestroy");
  return handle ? status : Status::InvalidValue;
}
XLC_SIMULATED size_t cublasLtGetVersion() { return isToFail("cublasLtGetVersion") ? 0 : version; }
XLC_SIMULATED const char *cublasLtGetStatusString(Status status) {
  if (isToFail("cublasLtGetStatusString"))
    return nullptr;
  return status == Status::Success ? "success" : "simulated failure";
}

XLC_SIMULATED Status cublasLtMatmulDescCreate(MatmulDesc *to, ComputeType compute, DataType ofScale) {
  constexpr char function[] = "cublasLtMatmulDescCreate";
  if (isToFail(function))
    return Status::AllocationFailed;
  Status status = make(Kind::Matmul, (void **)to);
  if (status == Status::Success) {
    Attributes &values = get(Kind::Matmul, *to, function);
    values[computeType] = (uint64_t)compute, values[scaleType] = (uint64_t)ofScale;
  }
  return status;
}
XLC_SIMULATED Status cublasLtMatmulDescDestroy(MatmulDesc desc) {
  return destroyOrFail(Kind::Matmul, desc, "cublasLtMatmulDescDestroy");
}
XLC_SIMULATED Status cublasLtMatmulDescSetAttribute(MatmulDesc desc, MatmulAttribute number, const void *value,
                                                    size_t bytes) {
  return setOrFail(Kind::Matmul, desc, (int)number, value, bytes, "cublasLtMatmulDescSetAttribute");
}

XLC_SIMULATED Status cublasLtMatrixLayoutCreate(MatrixLayout *to, DataType type, uint64_t rows, uint64_t columns,
                                                int64_t leading) {
  constexpr char function[] = "cublasLtMatrixLayoutCreate";
  if (isToFail(function))
    return Status::AllocationFailed;
  Status status = make(Kind::Layout, (void **)to);
  if (status == Status::Success) {
    Attributes &values = get(Kind::Layout, *to, function);
    values[typeOf] = (uint64_t)type, values[rowsOf] = rows, values[columnsOf] = columns;
    values[leadingOf] = (uint64_t)leading;
  }
  return status;
}
XLC_SIMULATED Status cublasLtMatrixLayoutDestroy(MatrixLayout layout) {
  return destroyOrFail(Kind::Layout, layout, "cublasLtMatrixLayoutDestroy");
}
XLC_SIMULATED Status cublasLtMatrixLayoutSetAttribute(MatrixLayout layout, LayoutAttribute number, const void *value,
                                                      size_t bytes) {
  return setOrFail(Kind::Layout, layout, (int)number, value, bytes, "cublasLtMatrixLayoutSetAttribute");
}

XLC_SIMULATED Status cublasLtMatmulPreferenceCreate(Preference *to) {
  return isToFail("cublasLtMatmulPreferenceCreate") ? Status::AllocationFailed : make(Kind::Preference, (void **)to);
}
XLC_SIMULATED Status cublasLtMatmulPreferenceDestroy(Preference preference) {
  return destroyOrFail(Kind::Preference, preference, "cublasLtMatmulPreferenceDestroy");
}
XLC_SIMULATED Status cublasLtMatmulPreferenceSetAttribute(Preference preference, PreferenceAttribute number,
                                                          const void *value, size_t bytes) {
  return setOrFail(Kind::Preference, preference, (int)number, value, bytes, "cublasLtMatmulPreferenceSetAttribute");
}

XLC_SIMULATED Status cublasLtMatmulAlgoGetHeuristic(Handle handle, MatmulDesc desc, MatrixLayout a, MatrixLayout b,
                                                    MatrixLayout c, MatrixLayout d, Preference preference, int most,
                                                    Choice *choices, int *found) {
  constexpr char function[] = "cublasLtMatmulAlgoGetHeuristic";
  if (isToFail(function))
    return Status::InternalError;
  if (!handle)
    return Status::NotInitialized;
  get(Kind::Handle, handle, function);
  if (!preference || !choices || !found || most < 1)
    return Status::InvalidValue;
  *found = 0;
  Described described;
  Status status = describe(desc, {a, b, c, d}, function, described);
  if (status == Status::Success)
    choose(described, get(Kind::Preference, preference, function), most, choices, found);
  return status == Status::Success && *found == 0 ? Status::NotSupported : status;
}

XLC_SIMULATED Status cublasLtMatmulAlgoCheck(Handle handle, MatmulDesc desc, MatrixLayout a, MatrixLayout b,
                                             MatrixLayout c, MatrixLayout d, const Algorithm *algorithm,
                                             Choice *choice) {
  constexpr char function[] = "cublasLtMatmulAlgoCheck";
  if (isToFail(function))
    return Status::InternalError;
  if (!handle)
    return Status::NotInitialized;
  get(Kind::Handle, handle, function);
  Described described;
  Status status = describe(desc, {a, b, c, d}, function, described);
  if (status != Status::Success)
    return status;
  choice->workspace = recipeOf(*algorithm).workspace;
  return isFor(described.product, recipeOf(*algorithm)) ? Status::Success : Status::InvalidValue;
}

XLC_SIMULATED Status cublasLtMatmul(Handle handle, MatmulDesc desc, const void *alpha, const void *a, MatrixLayout ofA,
                                    const void *b, MatrixLayout ofB, const void *beta, const void *c, MatrixLayout ofC,
                                    void *d, MatrixLayout ofD, const Algorithm *algorithm, void *workspace,
                                    size_t workspaceBytes, void *stream) {
  if (isToFail("cublasLtMatmul"))
    return Status::ExecutionFailed;
  if (!handle)
    return Status::NotInitialized;
  get(Kind::Handle, handle, "cublasLtMatmul");
  if (!alpha || !beta || !a || !b || !c || !d || !algorithm)
    return Status::InvalidValue;
  Described described;
  Status status = describe(desc, {ofA, ofB, ofC, ofD}, "cublasLtMatmul", described);
  if (status == Status::Success &&
      ((described.hasBias && !described.biasAt) || (described.hasBeside && !described.product.besideAt)))
    status = Status::InvalidValue;
  if (status != Status::Success)
    return status;
  Product &p = described.product;
  std::memcpy(&p.alpha, alpha, sizeof p.alpha);
  std::memcpy(&p.beta, beta, sizeof p.beta);
  p.aAt = (const char *)a, p.bAt = (const char *)b, p.cAt = (const char *)c, p.dAt = (char *)d;
  p.biasAt = described.hasBias ? described.biasAt : nullptr;
  if (!described.hasBeside)
    p.besideAt = nullptr;
  Recipe recipe;
  status = check(p, *algorithm, workspace, workspaceBytes, recipe);
  if (status != Status::Success)
    return status;
  p.workspace = (char *)workspace, p.workspaceBytes = recipe.workspace;
  Work work = workOf(p);
  if (std::chrono::milliseconds time = timeOf(recipe); time.count() > 0)
    work.run = [sums = std::move(work.run), time] {
      sums();
      std::this_thread::sleep_for(time);
    };
  enqueue(stream, std::move(work));
  return Status::Success;
}
}
