// Sums over ranks in the order of the ranks, with the bits of Cpu/ElementOperations.cpp, and conversions of elements.
#include "Stored.h"
#include "Threads.h"
#include "xlc/Runtime/Combining.h"

using namespace xlc::device;
using namespace xlc::runtime;

namespace {

/// A value that crosses as another type, or as what it is: then nothing is rounded.
template <class Element, class Wire, class Wide> Wide cross(Wide value) {
  if constexpr (__is_same(Element, Wire))
    return value;
  else
    return Stored<Wire>::read(Stored<Wire>::make(value));
}

template <class How, class Element, class Wire>
void combine(Global<typename Stored<Element>::Bits> to, const CombineParameters &p) {
  using Bits = Stored<Element>::Bits;
  int64_t thread = findThread(), run = thread / p.count, element = p.first + run * p.step + thread % p.count;
  if (run >= p.runs)
    return;
  auto read = [&](int64_t source) {
    return cross<Element, Wire>(Stored<Element>::read(((Global<const Bits>)p.sources[source])[element]));
  };
  auto combined = read(0);
  for (int64_t source = 1; source < p.sourceCount; ++source)
    combined = How::combine(combined, read(source));
  combined = cross<Element, Wire>(combined);
  to[thread] = Stored<Element>::make(p.adds ? Stored<Element>::read(to[thread]) + combined : combined);
}

} // namespace

#define XLC_DEFINE(NAME, HOW, ELEMENT, WIRE)                                                                           \
  XLC_KERNEL NAME(Global<typename Stored<ELEMENT>::Bits> to, CombineParameters p) {                                    \
    combine<HOW, ELEMENT, WIRE>(to, p);                                                                                \
  }
XLC_COMBINES(XLC_DEFINE)
#undef XLC_DEFINE

#define XLC_DEFINE(NAME, FROM, TO)                                                                                     \
  XLC_KERNEL NAME(Global<const typename Stored<FROM>::Bits> from, Global<typename Stored<TO>::Bits> to,                \
                  ConvertParameters p) {                                                                               \
    int64_t thread = findThread();                                                                                     \
    if (thread < p.count)                                                                                              \
      to[thread] = Stored<TO>::make(Stored<FROM>::read(from[thread]));                                                 \
  }
XLC_CONVERTS(XLC_DEFINE)
