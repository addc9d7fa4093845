// The representation of elements in the device's memory, and the types of computation.
#ifndef XLC_LIB_LOWER_DEVICE_STORED_H
#define XLC_LIB_LOWER_DEVICE_STORED_H

#include "xlc/Runtime/Narrow.h"

namespace xlc::device {

template <class Element> struct Stored {
  using Bits = Element;
  using Wide = Element;
  static Wide read(Bits bits) { return bits; }
  static Bits make(Wide value) { return value; }
};

/// A 16-bit type.
template <class Element> struct StoredNarrow {
  using Bits = uint16_t;
  using Wide = float;
  static Wide read(Bits bits) {
    Element element;
    element.bits = bits;
    return element;
  }
  static Bits make(Wide value) { return Element(value).bits; }
};
template <> struct Stored<runtime::Bf16> : StoredNarrow<runtime::Bf16> {};
template <> struct Stored<runtime::Half> : StoredNarrow<runtime::Half> {};

} // namespace xlc::device

#endif
