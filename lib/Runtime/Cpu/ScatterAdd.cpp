// See ScatterAdd.h. A thread owns rows of y and reads all indices of their blocks: no two threads touch one element.
#include "ScatterAdd.h"
#include "NarrowVector.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace xlc::runtime {
namespace {

[[noreturn]] void refuse(int64_t row, int64_t rows) {
  throw std::out_of_range("index " + std::to_string(row) + " is outside a table of " + std::to_string(rows) + " rows");
}

/// One block of y, of which rows [begin, end) are this thread's.
template <class Index>
void addRows(const ScatterAddShape &shape, const Index *indices, const float *updates, float *y, int64_t begin,
             int64_t end) {
  for (int64_t i = 0; i < shape.indices; ++i) {
    int64_t row = indices[i];
    if (row < 0 || row >= shape.rows)
      refuse(row, shape.rows);
    if (row < begin || row >= end)
      continue;
    const float *from = updates + i * shape.width;
    float *to = y + row * shape.width;
    for (int64_t j = 0; j < shape.width; ++j)
      to[j] += from[j];
  }
}

template <class Index>
void addElements(const ScatterAddShape &shape, const Index *indices, const float *updates, float *y, int64_t begin,
                 int64_t end) {
  for (int64_t i = 0; i < shape.indices; ++i)
    for (int64_t j = 0; j < shape.width; ++j, ++indices, ++updates) {
      int64_t row = *indices;
      if (row < 0 || row >= shape.rows)
        refuse(row, shape.rows);
      if (row >= begin && row < end)
        y[row * shape.width + j] += *updates;
    }
}

constexpr int64_t summed = 2048; // elements of a row at once, in L1

/// addRows for what is rounded: the first update of a row brings all others. Takes time in the square of the indices.
template <class Index, class Narrow>
void sumRows(const ScatterAddShape &shape, const Index *indices, const float *updates, Narrow *y, int64_t begin,
             int64_t end) {
  for (int64_t i = 0; i < shape.indices; ++i) {
    int64_t row = indices[i];
    if (row < 0 || row >= shape.rows)
      refuse(row, shape.rows);
    if (row < begin || row >= end || std::find(indices, indices + i, indices[i]) != indices + i)
      continue;
    for (int64_t first = 0; first < shape.width; first += summed) {
      float sums[summed] = {};
      int64_t count = std::min(summed, shape.width - first);
      for (int64_t k = i; k < shape.indices; ++k)
        if (indices[k] == indices[i])
          for (int64_t j = 0; j < count; ++j)
            sums[j] += updates[k * shape.width + first + j];
      for (int64_t j = 0; j < count; ++j)
        y[row * shape.width + first + j] = Narrow(sums[j]);
    }
  }
}

template <class Index, class Element>
void addBlocks(const ScatterAddShape &shape, const Index *indices, const float *updates, Element *y, int64_t begin,
               int64_t end) {
  int64_t list = shape.indices * (shape.perElement ? shape.width : 1);
  for (int64_t o = shape.rows > 0 ? begin / shape.rows : 0; o * shape.rows < end; ++o) {
    int64_t first = o * shape.rows, from = std::max(begin - first, (int64_t)0), to = std::min(end - first, shape.rows);
    const Index *own = indices + o % shape.distinct * list;
    const float *given = updates + o * shape.indices * shape.width;
    if constexpr (std::is_same_v<Element, float>)
      (shape.perElement ? addElements<Index> : addRows<Index>)(shape, own, given, y + first * shape.width, from, to);
    else
      sumRows(shape, own, given, y + first * shape.width, from, to);
  }
}

template <class Element>
void scatter(const ScatterAddShape &shape, const void *indices, const float *updates, Element *y, bool add,
             int64_t begin, int64_t end) {
  if (!add)
    std::memset((void *)(y + begin * shape.width), 0, (end - begin) * shape.width * sizeof(Element));
  if (shape.wideIndex)
    addBlocks(shape, (const int64_t *)indices, updates, y, begin, end);
  else
    addBlocks(shape, (const int32_t *)indices, updates, y, begin, end);
}

} // namespace

void scatterAdd(const ScatterAddShape &shape, const void *indices, const float *updates, void *y, bool add,
                int64_t begin, int64_t end) {
  withType(shape.result, [&]<class Element>(std::type_identity<Element>) {
    scatter(shape, indices, updates, (Element *)y, add, begin, end);
  });
}

} // namespace xlc::runtime
