// Memory shared by all ranks of a job. It contains their meeting points, the data that they publish, and the state that
// ends the job.
//
//   reserve    each user states its size, in the same order in every process, since the plan is the same
//   provide    memory of that size, all zero: of this process, or of a file that every process maps where it likes
//   at         pieces, by process
//
// All objects in it are initially zero, so no process must initialize them first. It contains no pointers: addresses
// that ranks publish are numbers, which each process converts to its own addresses.
#ifndef XLC_LIB_RUNTIME_FABRIC_COMMONS_H
#define XLC_LIB_RUNTIME_FABRIC_COMMONS_H

#include "Waiting.h"

#include <memory>

namespace xlc::runtime {

/// `count` objects in memory shared by all ranks.
template <class T> struct Piece {
  uint64_t offset = 0;
};

class Commons {
public:
  Commons() : stopPlace(reserve<StopSignal>()), requestPlace(reserve<Request>()) {}
  ~Commons();
  Commons(const Commons &) = delete;

  /// Reserves memory for `count` objects for which zero is a valid value.
  template <class T> Piece<T> reserve(uint64_t count = 1) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= line);
    Piece<T> piece{bytes};
    bytes += (count * sizeof(T) + line - 1) / line * line;
    return piece;
  }
  uint64_t size() const { return bytes; }

  /// Provides memory of this process. Throws std::bad_alloc.
  void provide();
  /// Provides zeroed memory that other processes map too. The arenas of all ranks follow it.
  void provide(char *shared) { memory = shared, where = Reach::Host; }

  template <class T> T &at(Piece<T> piece, uint64_t index = 0) const { return ((T *)(memory + piece.offset))[index]; }
  StopSignal &stop() const { return at(stopPlace); }
  Request &request() const { return at(requestPlace); }
  Reach reach() const { return where; }

  /// The number of an address within an arena or these pieces, equal in all processes.
  uint64_t numberOf(const void *address) const { return (uint64_t)((const char *)address - memory); }
  char *addressOf(uint64_t number) const { return memory + (int64_t)number; }

private:
  static constexpr uint64_t line = 64; // bytes of a cache line

  uint64_t bytes = 0;
  char *memory = nullptr; ///< the origin of the numbering of addresses
  bool isOwn = false;
  Reach where = Reach::Process;
  const Piece<StopSignal> stopPlace;
  const Piece<Request> requestPlace;
};

} // namespace xlc::runtime

#endif
