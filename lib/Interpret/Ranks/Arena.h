// A rank's memory, byte-exact without bytes: every address stores the element that begins there.
//
// Reals of the program may be elements of the field, which have no bytes; so the arena stores the element itself at its
// address, together with its size in bytes. A write removes every element that it overlaps, and a read finds an element
// only if one of that type and size begins at the address and is whole. So two buffers that share a byte by mistake are
// always detected.
//
// Elements of four or eight bytes begin at multiples of four, so there is a tag and a place for each four bytes: the grain.
// Where a program keeps floats in sixteen bits, elements of two bytes begin at multiples of two, and the grain is two
// bytes. Booleans take one byte each; those of a grain share a place.
#ifndef XLC_LIB_INTERPRET_RANKS_ARENA_H
#define XLC_LIB_INTERPRET_RANKS_ARENA_H

#include "xlc/Interpret/Tensor.h"
#include <cstring>
#include <new>
#include <optional>
#include <sys/mman.h>

namespace xlc::interpret {

/// Zeroes, which take memory where something else is written: much of an arena (workspace) never is.
template <class T> class Zeroes {
public:
  explicit Zeroes(size_t count) : bytes(count * sizeof(T)) {
    void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
      throw std::bad_alloc();
    first = static_cast<T *>(pages);
  }
  Zeroes(Zeroes &&other) noexcept : first(std::exchange(other.first, nullptr)), bytes(other.bytes) {}
  ~Zeroes() {
    if (first)
      munmap(first, bytes);
  }
  size_t size() const { return bytes / sizeof(T); }
  T &operator[](size_t i) { return first[i]; }
  const T &operator[](size_t i) const { return first[i]; }
  T *begin() { return first; }
  const T *begin() const { return first; }

private:
  T *first;
  size_t bytes;
};

/// Bytes that share a tag, as a power of two.
enum class Grain : uint8_t { TwoBytes = 1, FourBytes = 2 };

template <class E> class Arena {
public:
  explicit Arena(int64_t bytes, Grain grain)
      : bytes(bytes), shift(int(grain)), tags((bytes >> shift) + 2), words((bytes >> shift) + 2) {}

  int64_t size() const { return bytes; }

  /// The element of `bytes` bytes that begins at `address`, if there is one. T is E or int64_t.
  template <class T> std::optional<T> read(int64_t address, int64_t bytes) const {
    int64_t word = address >> shift;
    if constexpr (std::is_same_v<T, int64_t>)
      if (bytes == 1) {
        Booleans cell = booleansAt(word);
        int bit = 1 << inGrain(address);
        return cell.isSet & bit ? std::optional<T>((cell.isTrue & bit) != 0) : std::nullopt;
      }
    if (inGrain(address) != 0 || tags[word] != tagOf<T>(bytes))
      return std::nullopt;
    T value;
    std::memcpy(&value, &words[word], sizeof(T));
    return value;
  }

  /// Writes an element; `address` is a multiple of `bytes`, or of 4 where that is less.
  template <class T> void write(int64_t address, int64_t bytes, T value) {
    int64_t word = address >> shift;
    if constexpr (std::is_same_v<T, int64_t>)
      if (bytes == 1) {
        forget(address, 1);
        Booleans cell = booleansAt(word);
        int bit = 1 << inGrain(address);
        setBooleans(word, {uint8_t(cell.isSet | bit), uint8_t(value ? cell.isTrue | bit : cell.isTrue & ~bit)});
        return;
      }
    if (tags[word] != tagOf<T>(bytes)) {
      forget(address, bytes);
      tags[word] = tagOf<T>(bytes);
      std::fill_n(tags.begin() + word + 1, (bytes >> shift) - 1, kContinues);
    }
    std::memcpy(&words[word], &value, sizeof(T));
  }

  /// `count` elements of two or four bytes, one after the other; false where one is not there.
  template <class T> bool readRun(int64_t address, int64_t bytes, int64_t count, T *to) const {
    return bytes >> shift == 1 ? readSteps<1>(address, bytes, count, to) : readSteps<2>(address, bytes, count, to);
  }

  /// Writes `count` elements of two or four bytes, one after the other.
  template <class T> void writeRun(int64_t address, int64_t bytes, int64_t count, const T *from) {
    bytes >> shift == 1 ? writeSteps<1>(address, bytes, count, from) : writeSteps<2>(address, bytes, count, from);
  }

  /// Forgets every element that has a byte in [address, address + bytes).
  void forget(int64_t address, int64_t bytes) {
    if (bytes <= 0)
      return;
    int64_t first = address >> shift, last = (address + bytes - 1) >> shift;
    int64_t begin = first, end = last + 1;
    while (begin > 0 && tags[begin] == kContinues)
      --begin;
    while (end < int64_t(tags.size()) && tags[end] == kContinues)
      ++end;
    Booleans before = booleansAt(first), after = booleansAt(last); // those outside the range stay
    uint8_t low = (1 << inGrain(address)) - 1, high = ~((2 << inGrain(address + bytes - 1)) - 1);
    for (int64_t word = begin; word < end; ++word)
      if (tags[word] != kNothing) // what was never written stays without memory
        tags[word] = kNothing;
    if (first == last) {
      setBooleans(first, {uint8_t(before.isSet & (low | high)), before.isTrue});
    } else {
      setBooleans(first, {uint8_t(before.isSet & low), before.isTrue});
      setBooleans(last, {uint8_t(after.isSet & high), after.isTrue});
    }
  }

  /// Whether elements may begin here, and copies: at multiples of the grain.
  bool isAligned(int64_t address) const { return inGrain(address) == 0; }

  /// Copies what begins and ends in `bytes` bytes of another arena of the same grain. Both addresses are aligned.
  void copyFrom(const Arena &other, int64_t from, int64_t to, int64_t bytes) {
    forget(to, bytes);
    int64_t source = from >> shift, target = to >> shift, begin = 0, end = bytes >> shift, rest = inGrain(bytes);
    while (begin < end && other.tags[source + begin] == kContinues)
      ++begin;
    while (end > begin && other.tags[source + end] == kContinues)
      --end;
    std::copy(other.tags.begin() + source + begin, other.tags.begin() + source + end, tags.begin() + target + begin);
    std::copy_n(other.words.begin() + source, bytes >> shift, words.begin() + target);
    if (rest != 0) { // of longer elements none ends in the rest
      Booleans cell = other.booleansAt(source + (bytes >> shift)), beside = booleansAt(target + (bytes >> shift));
      uint8_t copied = (1 << rest) - 1;
      auto join = [&](uint8_t mine, uint8_t its) { return uint8_t((mine & ~copied) | (its & copied)); };
      setBooleans(target + (bytes >> shift), {join(beside.isSet, cell.isSet), join(beside.isTrue, cell.isTrue)});
    }
  }

private:
  static constexpr uint8_t kNothing = 0, kContinues = 1, kBooleans = 2, kInteger = 0x20, kReal = 0x40;
  template <class T> static uint8_t tagOf(int64_t bytes) {
    return (std::is_same_v<T, int64_t> ? kInteger : kReal) | uint8_t(bytes);
  }

  int inGrain(int64_t address) const { return int(address & ((1 << shift) - 1)); }

  /// Runs of elements that take so many tags each.
  template <int64_t kStep, class T> bool readSteps(int64_t address, int64_t bytes, int64_t count, T *to) const {
    if (!isAligned(address))
      return false;
    auto tag = tags.begin() + (address >> shift);
    uint8_t missing = 0;
    for (int64_t i = 0; i < count; ++i)
      missing |= tag[i * kStep] ^ tagOf<T>(bytes);
    if (missing)
      return false;
    auto word = words.begin() + (address >> shift);
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(&to[i], &word[i * kStep], sizeof(T));
    return true;
  }
  template <int64_t kStep, class T> void writeSteps(int64_t address, int64_t bytes, int64_t count, const T *from) {
    forget(address, count * bytes);
    auto tag = tags.begin() + (address >> shift);
    if constexpr (kStep > 1)
      std::fill_n(tag, count * kStep, kContinues);
    for (int64_t i = 0; i < count; ++i)
      tag[i * kStep] = tagOf<T>(bytes);
    auto word = words.begin() + (address >> shift);
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(&word[i * kStep], &from[i], sizeof(T));
  }

  /// The booleans of a grain: a bit each.
  struct Booleans {
    uint8_t isSet = 0, isTrue = 0;
  };
  Booleans booleansAt(int64_t word) const {
    if (tags[word] != kBooleans)
      return {};
    return {uint8_t(words[word][0]), uint8_t(words[word][1])};
  }
  /// Where there is nothing but booleans.
  void setBooleans(int64_t word, Booleans cell) {
    if (!cell.isSet)
      return;
    tags[word] = kBooleans;
    words[word][0] = char(cell.isSet), words[word][1] = char(cell.isTrue);
  }

  int64_t bytes;
  int shift; ///< of an address to its tag
  Zeroes<uint8_t> tags;
  Zeroes<std::array<char, 8>> words; ///< the element that begins in a grain
};

} // namespace xlc::interpret

#endif
