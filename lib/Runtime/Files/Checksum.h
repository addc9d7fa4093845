// The 64-bit XXH3 of libxxhash. It finds damage of any kind at the speed of memory, but does not protect against forged
// files. Only the header of the library is used, so programs do not link it.
#ifndef XLC_LIB_RUNTIME_FILES_CHECKSUM_H
#define XLC_LIB_RUNTIME_FILES_CHECKSUM_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace xlc::runtime {

class Checksum {
public:
  explicit Checksum(uint64_t seed = 0);
  Checksum(Checksum &&) noexcept;
  ~Checksum();

  void add(const void *from, uint64_t count);
  /// Adds the length of the text, then the text: two texts in a row differ from one.
  void addText(std::string_view text);
  void addNumber(uint64_t number) { add(&number, sizeof number); }

  /// The checksum of all bytes added so far; `digits`: as 16 hexadecimal digits.
  uint64_t value() const;
  std::string digits() const;
  /// Restarts the checksum.
  void clear(uint64_t seed = 0);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The number of digits of a checksum.
constexpr uint64_t checksumDigits = 16;

} // namespace xlc::runtime

#endif
