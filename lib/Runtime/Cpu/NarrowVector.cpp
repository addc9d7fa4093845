// See NarrowVector.h.
#include "NarrowVector.h"

namespace xlc::runtime {
namespace {

template <class T> XLC_AVX512 void widenAvx512(const T *from, float *to, int64_t n) { widen(from, to, n); }
template <class T> XLC_AVX2 void widenAvx2(const T *from, float *to, int64_t n) { widen(from, to, n); }
template <class T> XLC_AVX512 void narrowAvx512(const float *from, T *to, int64_t n) { narrow(from, to, n); }
template <class T> XLC_AVX2 void narrowAvx2(const float *from, T *to, int64_t n) { narrow(from, to, n); }

} // namespace

template <class T> void widenRow(const T *from, float *to, int64_t n) {
  switch (findIsa()) {
  case Isa::Avx512:
    return widenAvx512(from, to, n);
  case Isa::Avx2:
    return widenAvx2(from, to, n);
  case Isa::Baseline:
    return widen(from, to, n);
  }
}
template <class T> void narrowRow(const float *from, T *to, int64_t n) {
  switch (findIsa()) {
  case Isa::Avx512:
    return narrowAvx512(from, to, n);
  case Isa::Avx2:
    return narrowAvx2(from, to, n);
  case Isa::Baseline:
    return narrow(from, to, n);
  }
}

template void widenRow(const Bf16 *, float *, int64_t);
template void widenRow(const Half *, float *, int64_t);
template void narrowRow(const float *, Bf16 *, int64_t);
template void narrowRow(const float *, Half *, int64_t);

} // namespace xlc::runtime
