// A rank's memory, byte-exact without bytes: every address knows what element begins there.
//
// Reals of the program may be elements of the field, which have no bytes; so the arena keeps the
// element itself at its address, together with how many bytes it takes. A write forgets every
// element that it overlaps, and a read finds an element only where one of that type and size begins and
// is whole. So two buffers that share a byte by mistake cannot go unseen.
#ifndef XLC_LIB_INTERPRET_ARENA_H
#define XLC_LIB_INTERPRET_ARENA_H

#include "xlc/Interpret/Tensor.h"
#include <cstring>
#include <optional>

namespace xlc::interpret {

template <class E> class Arena {
public:
  explicit Arena(int64_t bytes) : tags(bytes, kNothing), words(bytes / 4 + 2) {}

  int64_t size() const { return tags.size(); }

  /// The element of `bytes` bytes that begins at `address`, if there is one. T is E or int64_t.
  template <class T> std::optional<T> read(int64_t address, int64_t bytes) const {
    uint8_t tag = tags[address];
    if constexpr (std::is_same_v<T, int64_t>)
      if (bytes == 1)
        return (tag & ~1) == kBool ? std::optional<T>(tag & 1) : std::nullopt;
    if (tag != tagOf<T>(bytes))
      return std::nullopt;
    T value;
    std::memcpy(&value, &words[address / 4], sizeof(T));
    return value;
  }

  /// Writes an element; `address` is a multiple of `bytes`, or of 4 where that is less.
  template <class T> void write(int64_t address, int64_t bytes, T value) {
    if constexpr (std::is_same_v<T, int64_t>)
      if (bytes == 1) {
        forget(address, 1);
        tags[address] = kBool | (value != 0);
        return;
      }
    if (tags[address] != tagOf<T>(bytes)) {
      forget(address, bytes);
      std::fill_n(tags.begin() + address, bytes, kContinues);
      tags[address] = tagOf<T>(bytes);
    }
    std::memcpy(&words[address / 4], &value, sizeof(T));
  }

  /// Forgets every element that has a byte in [address, address + bytes).
  void forget(int64_t address, int64_t bytes) {
    int64_t begin = address, end = address + bytes;
    while (begin > 0 && tags[begin] == kContinues)
      --begin;
    while (end < size() && tags[end] == kContinues)
      ++end;
    std::fill(tags.begin() + begin, tags.begin() + end, kNothing);
  }

  /// Copies what begins and ends in `bytes` bytes of another arena. Both addresses are multiples of 4.
  void copyFrom(const Arena &other, int64_t from, int64_t to, int64_t bytes) {
    forget(to, bytes);
    int64_t begin = 0, end = bytes;
    while (begin < end && other.tags[from + begin] == kContinues)
      ++begin;
    if (from + end < other.size() && other.tags[from + end] == kContinues)
      while (end > begin && other.tags[from + --end] == kContinues)
        ;
    std::copy(other.tags.begin() + from + begin, other.tags.begin() + from + end, tags.begin() + to + begin);
    std::copy_n(other.words.begin() + from / 4, (bytes + 3) / 4, words.begin() + to / 4);
  }

private:
  static constexpr uint8_t kNothing = 0, kContinues = 1, kBool = 2, kInteger = 0x20, kReal = 0x40;
  template <class T> static uint8_t tagOf(int64_t bytes) {
    return (std::is_same_v<T, int64_t> ? kInteger : kReal) | uint8_t(bytes);
  }

  std::vector<uint8_t> tags;
  std::vector<std::array<char, 8>> words; ///< the element that begins at byte 4 i
};

} // namespace xlc::interpret

#endif
