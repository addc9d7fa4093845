// A 64-bit digest of a tensor: two different tensors have the same digest once in 2^64 cases.
//
// Both programs of a large model do not fit into memory at once. So the unpartitioned one runs alone and leaves a
// digest of each value after each step, with which the partitioned one is compared.
#ifndef XLC_LIB_INTERPRET_RANKS_DIGEST_H
#define XLC_LIB_INTERPRET_RANKS_DIGEST_H

#include "xlc/Interpret/Parallel.h"
#include "xlc/Interpret/Tensor.h"
#include "llvm/Support/xxhash.h"

namespace xlc::interpret {

/// Of the elements, bit by bit, and their places; not of the shape.
template <class E> uint64_t digestOf(const Datum<E> &value) {
  std::atomic<uint64_t> digest{0};
  std::visit(
      [&](auto &tensor) {
        forEachPiece(tensor.elements.size(), [&](int64_t first, int64_t count) {
          const auto *bytes = reinterpret_cast<const uint8_t *>(&tensor.elements[first]);
          digest +=
              hashOf(mix(first + 1), llvm::xxh3_64bits(llvm::ArrayRef(bytes, count * sizeof(tensor.elements[0]))));
        });
      },
      value);
  return digest;
}

} // namespace xlc::interpret

#endif
