// Scatter into a base without atomics: the thread that owns an element of y reads all indices that may name it, in
// their order, so the same update is stored for any order of threads.
#include "Threads.h"

using namespace xlc::device;
using namespace xlc::runtime;

namespace {

template <class Index, class Element>
void scatterInto(Global<const Element> base, Global<const Index> indices, Global<const Element> updates,
                 Global<Element> y, const ScatterIntoParameters &p) {
  int64_t element = findThread(), column = element % p.width, row = element / p.width % p.rows;
  int64_t outer = element / p.width / p.rows, step = p.perElement ? p.width : 1;
  if (outer >= p.outer)
    return;
  indices += outer % p.distinct * p.indices * step + (p.perElement ? column : 0);
  updates += outer * p.indices * p.width + column;
  Element made = base[element];
  for (int64_t i = 0; i < p.indices; ++i) {
    int64_t named = indices[i * step];
    if (named < 0 || named >= p.rows)
      __builtin_trap();
    if (named == row)
      putUpdate(p.kind, made, updates[i * p.width]);
  }
  y[element] = made;
}

} // namespace

#define XLC_DEFINE(NAME, INDEX, ELEMENT)                                                                               \
  XLC_KERNEL NAME(Global<const ELEMENT> base, Global<const INDEX> indices, Global<const ELEMENT> updates,              \
                  Global<ELEMENT> y, ScatterIntoParameters p) {                                                        \
    scatterInto<INDEX, ELEMENT>(base, indices, updates, y, p);                                                         \
  }
XLC_SCATTER_INTO(XLC_DEFINE)
