// The random bits by which an update rounds: 32 for each element of what a rank updates of a bucket. This says which they
// are; a device draws them.
//
// They are a function of seed, step, parameter and place in the whole parameter, so that every layout of ranks rounds
// alike: element i of a parameter has word i % 4 of Philox's counter (i / 4, hash of the name) under the key of the step.
#ifndef XLC_LIB_RUNTIME_DEVICE_RANDOMBITS_H
#define XLC_LIB_RUNTIME_DEVICE_RANDOMBITS_H

#include "State/States.h"

#include <algorithm>
#include <array>

namespace xlc::runtime {

class RandomBits {
public:
  /// Of what `rank` updates of a bucket.
  RandomBits(const Plan &plan, uint32_t bucket, int rank);

  void beginStep(uint64_t seed, uint64_t step);
  std::array<uint32_t, 2> getKey() const { return key; }

  /// Elements that follow each other in a whole parameter.
  struct Run {
    uint64_t at; ///< among the elements that were asked for
    uint64_t nameHash;
    uint64_t first, count; ///< in the parameter
  };
  /// Calls visit(run) for what elements [begin, begin + count) of the rank's piece of the bucket are; what only pads it is
  /// left out.
  template <class Visit> void forEachRun(uint64_t begin, uint64_t count, Visit visit) const {
    uint64_t from = first + begin, end = from + count;
    auto member = std::ranges::upper_bound(members, from, {}, &Member::end);
    for (; member != members.end() && member->begin < end; ++member)
      member->forEachRun(from, end, [&](uint64_t at, uint64_t inWhole, uint64_t some) {
        visit(Run{at - from, member->nameHash, inWhole, some});
      });
  }

private:
  struct Member : BucketMember {
    uint64_t nameHash;
  };

  std::vector<Member> members; ///< in the order of the bucket
  uint64_t first = 0;          ///< element of the bucket with which the rank's piece begins
  std::array<uint32_t, 2> key{};
};

} // namespace xlc::runtime

#endif
