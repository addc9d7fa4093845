// What processes that a launcher started say of themselves when they meet: they are to be of one job.
#ifndef XLC_LIB_RUNTIME_LAUNCH_INTRODUCTION_H
#define XLC_LIB_RUNTIME_LAUNCH_INTRODUCTION_H

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace xlc::runtime {

/// A text in memory that another process has filled, which may have forgotten its end.
template <size_t N> std::string_view boundedText(const char (&memory)[N]) { return {memory, strnlen(memory, N)}; }

/// What a process says of itself: all but the rank must be equal. Digests are of at most 63 bytes.
struct Introduction {
  uint64_t rank, world;
  std::string plan, program, options;
};

/// The same as it crosses.
struct Hello {
  Hello() = default;
  explicit Hello(const Introduction &self);
  /// Whether it is one of ours.
  bool isWhole() const;

  char begin[8] = {};
  uint64_t rank = 0, world = 0;
  char plan[64] = {}, program[64] = {}, options[64] = {};
};

/// In which way a process does not belong to the job of rank 0, or nothing.
std::string findDifference(const Hello &hello, const Hello &ofRankZero);

/// Where a rank that has come already comes again.
std::string describeTwins(uint64_t rank);

} // namespace xlc::runtime

#endif
