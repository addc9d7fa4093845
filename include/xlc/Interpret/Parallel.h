// Work that is shared by all cores. Results do not depend on their number.
#ifndef XLC_INTERPRET_PARALLEL_H
#define XLC_INTERPRET_PARALLEL_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace xlc::interpret {

/// Calls work(i) for i in [0, count), on all cores if `isLarge`.
template <class Work> void forEachInParallel(int64_t count, bool isLarge, Work work) {
  int64_t threads = isLarge ? std::min<int64_t>(std::max(1u, std::thread::hardware_concurrency()), count) : 1;
  std::atomic<int64_t> next{0};
  auto serve = [&] {
    for (int64_t i; (i = next.fetch_add(1)) < count;)
      work(i);
  };
  std::vector<std::thread> others;
  for (int64_t i = 1; i < threads; ++i)
    others.emplace_back(serve);
  serve();
  for (std::thread &other : others)
    other.join();
}

/// Calls work(first, count) for pieces of [0, elements), on all cores if there are many elements.
template <class Work> void forEachPiece(int64_t elements, Work work) {
  constexpr int64_t piece = 1 << 16, many = 1 << 20;
  forEachInParallel((elements + piece - 1) / piece, elements >= many,
                    [&](int64_t i) { work(i * piece, std::min(piece, elements - i * piece)); });
}

} // namespace xlc::interpret

#endif
