// Detects two streams that touch the same bytes in an undefined order: happens-before over bytes, by replay.
//
// Each stream counts its actions: its ticks. For each stream there is a vector with the number of ticks of every other
// stream that are known to have ended, because its actions came after them. Each byte stores the tick of its last
// write, and of the last read on each stream. An action may touch the byte only if its stream's vector includes these
// ticks (the idea of FastTrack, Flanagan and Freund 2009).
//
// The gate of Memory applies the check to the IR, and a program to its own plan when it starts.
#ifndef XLC_SUPPORT_STREAMRACES_H
#define XLC_SUPPORT_STREAMRACES_H

#include "xlc/Support/ByteRanges.h"

#include <array>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace xlc {

/// Bytes of the arena that an action reads or writes, and the buffer that they belong to.
struct ByteAccess {
  int64_t buffer;
  ByteRange bytes;
  bool writes;
};

/// Two accesses that are not ordered: one of the last action added, and one of an earlier action.
struct StreamRace {
  size_t other; ///< the number of the earlier action
  int64_t buffer, otherBuffer;
  bool writes, otherWrites;
  ByteRange common;
};

/// An action of a race, for messages.
struct RacingAction {
  std::string_view label, stream, buffer;
};

inline std::string describe(const StreamRace &race, const RacingAction &action, const RacingAction &other) {
  std::ostringstream text;
  text << "'" << action.label << "' on " << action.stream << (race.writes ? " writes" : " reads") << " bytes "
       << race.common.begin << " to " << race.common.end << " of the arena ('" << action.buffer << "'), which '"
       << other.label << "' on " << other.stream << (race.otherWrites ? " writes" : " reads") << " ('" << other.buffer
       << "'); the two accesses are not ordered";
  return text.str();
}

template <size_t streams> class StreamRaces {
public:
  /// Adds the next action of a program, on `stream`. `after`: numbers of earlier actions. Accesses to bytes that only
  /// one stream touches may be omitted from `accesses`.
  template <class After>
  std::optional<StreamRace> add(size_t stream, const After &after, const std::vector<ByteAccess> &accesses) {
    Ticks &known = knownTo[stream];
    for (auto other : after)
      for (size_t i = 0; i < streams; ++i)
        known[i] = std::max(known[i], whenEnded[(size_t)other][i]);
    for (const ByteAccess &access : accesses)
      if (std::optional<StreamRace> race = check(access, known))
        return race;
    int64_t tick = known[stream] + 1;
    for (const ByteAccess &access : accesses)
      remember({tick, whenEnded.size(), access.buffer}, stream, access);
    known[stream] = tick;
    whenEnded.push_back(known);
    return std::nullopt;
  }

private:
  using Ticks = std::array<int64_t, streams>;

  /// An access as stored for bytes; tick 0: none.
  struct Epoch {
    int64_t tick = 0;
    size_t action = 0;
    int64_t buffer = -1;
  };

  /// The accesses to a range of bytes.
  struct History {
    int64_t end = 0;
    size_t writingStream = 0;
    Epoch write;
    std::array<Epoch, streams> reads;
  };

  std::optional<StreamRace> check(const ByteAccess &access, const Ticks &known) const {
    const ByteRange &bytes = access.bytes;
    auto it = histories.upper_bound(bytes.begin);
    if (it != histories.begin() && std::prev(it)->second.end > bytes.begin)
      --it;
    for (; it != histories.end() && it->first < bytes.end; ++it) {
      const History &history = it->second;
      auto race = [&](const Epoch &other, bool writes) {
        ByteRange common{std::max(bytes.begin, it->first), std::min(bytes.end, history.end)};
        return StreamRace{other.action, access.buffer, other.buffer, access.writes, writes, common};
      };
      if (history.write.tick > known[history.writingStream])
        return race(history.write, true);
      for (size_t stream = 0; access.writes && stream < streams; ++stream)
        if (history.reads[stream].tick > known[stream])
          return race(history.reads[stream], false);
    }
    return std::nullopt;
  }

  void remember(const Epoch &epoch, size_t stream, const ByteAccess &access) {
    const ByteRange &bytes = access.bytes;
    if (bytes.isEmpty())
      return;
    cut(bytes.begin), cut(bytes.end);
    int64_t at = bytes.begin;
    for (auto it = histories.lower_bound(at); at < bytes.end; ++it) {
      if (it == histories.end() || it->first > at) {
        History unused;
        unused.end = it == histories.end() ? bytes.end : std::min(bytes.end, it->first);
        it = histories.emplace_hint(it, at, unused);
      }
      at = it->second.end;
      if (access.writes)
        it->second = {at, stream, epoch, {}};
      else
        it->second.reads[stream] = epoch;
    }
    if (access.writes) // into a single history again
      join(bytes);
  }

  void join(ByteRange bytes) {
    auto first = histories.find(bytes.begin);
    histories.erase(std::next(first), histories.lower_bound(bytes.end));
    first->second.end = bytes.end;
  }

  void cut(int64_t address) {
    auto it = histories.lower_bound(address);
    if (it == histories.begin() || std::prev(it)->second.end <= address)
      return;
    History behind = std::prev(it)->second;
    std::prev(it)->second.end = address;
    histories.emplace_hint(it, address, behind);
  }

  std::map<int64_t, History> histories; ///< by begin; disjoint
  std::array<Ticks, streams> knownTo{}; ///< for each stream, the ticks of every stream that are known to have ended
  std::vector<Ticks> whenEnded;         ///< the same for each action, at its end
};

} // namespace xlc

#endif
