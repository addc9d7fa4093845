// See Product.h.
#include "Product.h"

#include "xlc/Runtime/Narrow.h"

#include <cmath>
#include <cstring>

namespace xlc::simulate {

using namespace runtime;
using cublaslt::DataType;

int64_t bytesOf(DataType type) { return type == DataType::F32 ? 4 : 2; }

namespace {

float get(DataType type, const char *at, int64_t index) {
  if (type == DataType::F32) {
    float value;
    std::memcpy(&value, at + index * 4, sizeof value);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, at + index * 2, sizeof bits);
  return type == DataType::BF16 ? fromBf16(bits) : fromHalf(bits);
}

void put(DataType type, char *at, int64_t index, float value) {
  if (type == DataType::F32)
    return (void)std::memcpy(at + index * 4, &value, sizeof value);
  uint16_t bits = type == DataType::BF16 ? toBf16(value) : toHalf(value);
  std::memcpy(at + index * 2, &bits, sizeof bits);
}

/// A span per column, or one for all where there are no gaps; of a batch that is repeated those of one matrix.
void addSpans(std::vector<Span> &spans, const Matrix &matrix, const char *at, int64_t batch) {
  int64_t bytes = bytesOf(matrix.type);
  bool isDense = matrix.leading == matrix.rows || matrix.columns == 1;
  for (int64_t i = 0; i < (matrix.batchOffset == 0 ? 1 : batch); ++i) {
    const char *begin = at + i * matrix.batchOffset * bytes;
    if (isDense)
      spans.push_back({begin, (uint64_t)(matrix.rows * matrix.columns * bytes)});
    for (int64_t column = 0; !isDense && column < matrix.columns; ++column)
      spans.push_back({begin + column * matrix.leading * bytes, (uint64_t)(matrix.rows * bytes)});
  }
}

/// op(matrix) as dense floats, [columns, rows], so that the sums of a column of the result run beside each other.
std::vector<float> unpack(const Matrix &matrix, bool isTransposed, const char *at) {
  std::vector<float> floats;
  floats.reserve(matrix.rows * matrix.columns);
  int64_t rows = isTransposed ? matrix.columns : matrix.rows, columns = isTransposed ? matrix.rows : matrix.columns;
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i)
      floats.push_back(get(matrix.type, at, isTransposed ? j + i * matrix.leading : i + j * matrix.leading));
  return floats;
}

/// By tanh, and its slope.
float gelu(float x) { return 0.5F * x * (1 + std::tanh(0.79788456F * (x + 0.044715F * x * x * x))); }
float geluSlope(float x) {
  float t = std::tanh(0.79788456F * (x + 0.044715F * x * x * x));
  return 0.5F * (1 + t) + 0.5F * x * (1 - t * t) * 0.79788456F * (1 + 3 * 0.044715F * x * x);
}

/// What the epilogue makes of element [i, j] of the sums; it writes h where there is one to write.
float finish(const Product &p, int64_t i, int64_t j, float sum) {
  int64_t at = j * p.besideLeading + i;
  if (p.epilogue == cublaslt::Epilogue::GeluBackward)
    return sum * geluSlope(get(p.d.type, p.besideAt, at));
  if (p.epilogue != cublaslt::Epilogue::Gelu && p.epilogue != cublaslt::Epilogue::GeluBias)
    return sum;
  put(p.d.type, p.besideAt, at, sum);
  return gelu(sum);
}

void multiplyOne(const Product &p, int64_t index) {
  const char *aAt = p.aAt + index * p.a.batchOffset * bytesOf(p.a.type);
  const char *bAt = p.bAt + index * p.b.batchOffset * bytesOf(p.b.type);
  int64_t offset = index * p.d.batchOffset;
  std::vector<float> a = unpack(p.a, p.isATransposed, aAt), b = unpack(p.b, p.isBTransposed, bAt), sums(p.d.rows);
  auto depth = (int64_t)a.size() / p.d.rows;
  for (int64_t j = 0; j < p.d.columns; ++j) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t i = 0; i < p.d.rows; ++i)
        sums[i] += a[k * p.d.rows + i] * b[j * depth + k];
    for (int64_t i = 0; i < p.d.rows; ++i) {
      int64_t at = offset + j * p.d.leading + i;
      float value = p.alpha * sums[i];
      if (p.beta != 0)
        value += p.beta * get(p.d.type, p.cAt, at);
      if (p.biasAt)
        value += get(p.d.type, p.biasAt, i);
      put(p.d.type, p.dAt, at, finish(p, i, j, value));
    }
  }
}

} // namespace

Work workOf(const Product &p) {
  Work work;
  int64_t depth = p.isATransposed ? p.a.rows : p.a.columns;
  work.name = "cublasLtMatmul " + std::to_string(p.d.rows) + " x " + std::to_string(p.d.columns) + " x " +
              std::to_string(depth);
  addSpans(work.reads, p.a, p.aAt, p.batch);
  addSpans(work.reads, p.b, p.bAt, p.batch);
  if (p.beta != 0)
    addSpans(work.reads, p.d, p.cAt, p.batch);
  if (p.biasAt)
    work.reads.push_back({p.biasAt, (uint64_t)(p.d.rows * bytesOf(p.d.type))});
  addSpans(work.writes, p.d, p.dAt, p.batch);
  if (p.besideAt)
    addSpans(p.epilogue == cublaslt::Epilogue::GeluBackward ? work.reads : work.writes,
             {p.d.type, p.d.rows, p.d.columns, p.besideLeading, 0}, p.besideAt, 1);
  if (p.workspaceBytes)
    work.writes.push_back({p.workspace, p.workspaceBytes});
  work.run = [p] {
    if (p.workspaceBytes)
      std::memset(p.workspace, 0xff, p.workspaceBytes); // NaN, as floats
    for (int64_t i = 0; i < p.batch; ++i)
      multiplyOne(p, i);
  };
  return work;
}

} // namespace xlc::simulate
