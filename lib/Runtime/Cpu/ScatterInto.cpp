// See ScatterInto.h. A thread owns rows of y and reads all indices of their blocks: no two threads touch one element.
#include "ScatterInto.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace xlc::runtime {
namespace {

int64_t checkRow(int64_t row, int64_t rows) {
  if (row >= 0 && row < rows)
    return row;
  throw std::out_of_range("index " + std::to_string(row) + " is outside a dimension of " + std::to_string(rows));
}

/// One block of y, of which rows [begin, end) are this thread's.
template <class Index, class Element>
void putUpdates(const ScatterIntoShape &s, const Index *indices, const Element *updates, Element *y, int64_t begin,
                int64_t end) {
  for (int64_t i = 0; i < s.indices; ++i, updates += s.width)
    for (int64_t j = 0; j < s.width; ++j) {
      int64_t row = checkRow(indices[s.perElement ? i * s.width + j : i], s.rows);
      if (row >= begin && row < end)
        putUpdate(s.kind, y[row * s.width + j], updates[j]);
      else if (!s.perElement)
        break;
    }
}

template <class Index, class Element>
void scatter(const ScatterIntoShape &s, const Element *base, const Index *indices, const Element *updates, Element *y,
             int64_t begin, int64_t end) {
  std::copy(base + begin * s.width, base + end * s.width, y + begin * s.width);
  int64_t list = s.indices * (s.perElement ? s.width : 1);
  for (int64_t o = s.rows > 0 ? begin / s.rows : 0; o * s.rows < end; ++o) {
    int64_t first = o * s.rows, from = std::max(begin - first, (int64_t)0), to = std::min(end - first, s.rows);
    putUpdates(s, indices + o % s.distinct * list, updates + o * s.indices * s.width, y + first * s.width, from, to);
  }
}

template <class Element>
void scatterAs(const ScatterIntoShape &s, const void *base, const void *indices, const void *updates, void *y,
               int64_t begin, int64_t end) {
  auto *from = (const Element *)base, *given = (const Element *)updates;
  if (s.wideIndex)
    scatter(s, from, (const int64_t *)indices, given, (Element *)y, begin, end);
  else
    scatter(s, from, (const int32_t *)indices, given, (Element *)y, begin, end);
}

} // namespace

void scatterInto(const ScatterIntoShape &shape, const void *base, const void *indices, const void *updates, void *y,
                 int64_t begin, int64_t end) {
  using Kind = ScatterIntoShape::Element;
  auto *scatterOf = shape.element == Kind::F32   ? scatterAs<float>
                    : shape.element == Kind::I32 ? scatterAs<int32_t>
                                                 : scatterAs<int64_t>;
  scatterOf(shape, base, indices, updates, y, begin, end);
}

} // namespace xlc::runtime
