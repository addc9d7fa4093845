// Memory that all ranks of a job see: where they meet, what they show each other, how the job ends.
//
//   reserve    who needs some of it says how much, in the same order in every process, since the plan is the same
//   provide    memory of that size, all zero: of this process, or of a file that every process maps where it likes
//   at         pieces, by process
//
// Zero is the first state of all that lies there, so nobody has to come first. Nothing there is a pointer: addresses that
// ranks show each other are numbers, which each process turns into its own.
#ifndef XLC_LIB_RUNTIME_FABRIC_COMMONS_H
#define XLC_LIB_RUNTIME_FABRIC_COMMONS_H

#include "Waiting.h"

#include <memory>

namespace xlc::runtime {

/// `count` objects in memory that all ranks see.
template <class T> struct Piece {
  uint64_t offset = 0;
};

class Commons {
public:
  Commons() : stopPlace(reserve<StopSignal>()), requestPlace(reserve<Request>()) {}
  ~Commons();
  Commons(const Commons &) = delete;

  /// Room for `count` objects for which zero is a value.
  template <class T> Piece<T> reserve(uint64_t count = 1) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= line);
    Piece<T> piece{bytes};
    bytes += (count * sizeof(T) + line - 1) / line * line;
    return piece;
  }
  uint64_t size() const { return bytes; }

  /// Memory of this process. Throws std::bad_alloc.
  void provide();
  /// Memory that other processes map too, zeroed, with the arenas of all ranks behind it.
  void provide(char *shared) { memory = shared, where = Reach::Host; }

  template <class T> T &at(Piece<T> piece, uint64_t index = 0) const { return ((T *)(memory + piece.offset))[index]; }
  StopSignal &stop() const { return at(stopPlace); }
  Request &request() const { return at(requestPlace); }
  Reach reach() const { return where; }

  /// An address of an arena, or of these pieces, as all processes number it.
  uint64_t numberOf(const void *address) const { return (uint64_t)((const char *)address - memory); }
  char *addressOf(uint64_t number) const { return memory + (int64_t)number; }

private:
  static constexpr uint64_t line = 64; // bytes of the cache

  uint64_t bytes = 0;
  char *memory = nullptr; ///< from which addresses are numbered
  bool isOwn = false;
  Reach where = Reach::Process;
  const Piece<StopSignal> stopPlace;
  const Piece<Request> requestPlace;
};

} // namespace xlc::runtime

#endif
