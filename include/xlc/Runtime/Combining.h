// The operations that combine the values of two ranks, on every device: for the CPU's loops and for lib/Lower/Device,
// which is compiled without a standard library.
#ifndef XLC_RUNTIME_COMBINING_H
#define XLC_RUNTIME_COMBINING_H

namespace xlc::runtime {

struct Sum {
  template <class T> static T combine(T a, T b) { return a + b; }
};
/// Propagates NaN.
struct Largest {
  template <class T> static T combine(T a, T b) { return a > b || a != a ? a : b; }
};

} // namespace xlc::runtime

#endif
