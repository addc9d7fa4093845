// See ScatterAdd.h. A thread owns rows of y and reads all indices: no two threads touch one element.
#include "ScatterAdd.h"

#include <cstring>
#include <stdexcept>
#include <string>

namespace xlc::runtime {
namespace {

template <class Index>
void addRows(const ScatterAddShape &shape, const Index *indices, const float *updates, float *y, int64_t begin,
             int64_t end) {
  for (int64_t i = 0; i < shape.indices; ++i) {
    int64_t row = indices[i];
    if (row < 0 || row >= shape.rows)
      throw std::out_of_range("index " + std::to_string(row) + " is outside a table of " + std::to_string(shape.rows) +
                              " rows");
    if (row < begin || row >= end)
      continue;
    const float *from = updates + i * shape.width;
    float *to = y + row * shape.width;
    for (int64_t j = 0; j < shape.width; ++j)
      to[j] += from[j];
  }
}

} // namespace

void scatterAdd(const ScatterAddShape &shape, const void *indices, const float *updates, float *y, bool add,
                int64_t begin, int64_t end) {
  if (!add)
    std::memset(y + begin * shape.width, 0, (end - begin) * shape.width * sizeof(float));
  if (shape.wideIndex)
    addRows(shape, (const int64_t *)indices, updates, y, begin, end);
  else
    addRows(shape, (const int32_t *)indices, updates, y, begin, end);
}

} // namespace xlc::runtime
