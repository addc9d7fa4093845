// See Introduction.h.
#include "Introduction.h"

#include <fmt/format.h>

#include <cstring>

namespace xlc::runtime {

Hello::Hello(const Introduction &self) : rank(self.rank), world(self.world) {
  std::memcpy(begin, kLaunchMark, sizeof kLaunchMark);
  self.plan.copy(plan, sizeof plan - 1);
  self.program.copy(program, sizeof program - 1);
  self.options.copy(options, sizeof options - 1);
}

bool Hello::isWhole() const { return std::memcmp(begin, kLaunchMark, sizeof kLaunchMark) == 0; }

std::string findDifference(const Hello &hello, const Hello &ofRankZero) {
  auto differ = [&](const char *what) {
    return fmt::format("error: rank {} and rank 0 were started with different {}", hello.rank, what);
  };
  if (hello.world != ofRankZero.world || hello.rank >= ofRankZero.world)
    return differ("world sizes");
  if (std::memcmp(hello.plan, ofRankZero.plan, sizeof hello.plan) != 0)
    return differ("plans");
  if (std::memcmp(hello.program, ofRankZero.program, sizeof hello.program) != 0)
    return differ("programs of the same plan");
  if (std::memcmp(hello.options, ofRankZero.options, sizeof hello.options) != 0)
    return differ("options");
  return "";
}

std::string describeTwins(uint64_t rank) { return fmt::format("error: there are two processes with rank {}", rank); }

} // namespace xlc::runtime
