// 64 bits that stand for a tensor: two that differ have the same once in 2^64 times.
//
// Both programs of a large model do not fit into memory at once. So the unpartitioned one runs alone and leaves a
// digest of each value that it holds after each step, with which the partitioned one is compared.
#ifndef XLC_LIB_INTERPRET_VERIFY_DIGEST_H
#define XLC_LIB_INTERPRET_VERIFY_DIGEST_H

#include "xlc/Interpret/Parallel.h"
#include "xlc/Interpret/Tensor.h"
#include <cstring>

namespace xlc::interpret {

/// Of the elements, bit by bit, and their places; not of the shape.
template <class E> uint64_t digestOf(const Datum<E> &value) {
  std::atomic<uint64_t> digest{0};
  std::visit(
      [&](auto &tensor) {
        forEachPiece(tensor.elements.size(), [&](int64_t first, int64_t count) {
          uint64_t sum = 0;
          for (int64_t i = first; i < first + count; ++i) {
            uint64_t bits = 0;
            std::memcpy(&bits, &tensor.elements[i], sizeof(tensor.elements[i]));
            sum += hashOf(mix(i + 1), bits);
          }
          digest += sum;
        });
      },
      value);
  return digest;
}

} // namespace xlc::interpret

#endif
