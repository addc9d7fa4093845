// The introductions that launched processes exchange when they meet, to check that they belong to one job.
#ifndef XLC_LIB_RUNTIME_LAUNCH_INTRODUCTION_H
#define XLC_LIB_RUNTIME_LAUNCH_INTRODUCTION_H

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace xlc::runtime {

/// A text in memory written by another process, which may lack the terminating zero.
template <size_t N> std::string_view boundedText(const char (&memory)[N]) { return {memory, strnlen(memory, N)}; }

/// The first bytes of a message between launched processes.
inline constexpr char kLaunchMark[8] = "xlc 1";

/// The introduction of a process: all fields except the rank must be equal. Digests have at most 63 bytes.
struct Introduction {
  uint64_t rank, world;
  std::string plan, program, options;
};

/// The same in the form in which it is transmitted.
struct Hello {
  Hello() = default;
  explicit Hello(const Introduction &self);
  /// Whether it is a valid Hello of xlc.
  bool isWhole() const;

  char begin[8] = {};
  uint64_t rank = 0, world = 0;
  char plan[64] = {}, program[64] = {}, options[64] = {};
};

/// The difference of a process from the job of rank 0, or nothing.
std::string findDifference(const Hello &hello, const Hello &ofRankZero);

/// The message for a rank that connects a second time.
std::string describeTwins(uint64_t rank);

} // namespace xlc::runtime

#endif
