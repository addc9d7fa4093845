// XXH3 with 64 bits, of libxxhash: finds damage of any kind at the speed of memory. It is no defence against those who
// forge a file. The library is used by its header alone, so that programs need none.
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
  /// With its length before it, so that two texts in a row are not one.
  void addText(std::string_view text);
  void addNumber(uint64_t number) { add(&number, sizeof number); }

  /// Of all that was added; `digits`: as 16 hexadecimal digits.
  uint64_t value() const;
  std::string digits() const;
  /// Begins again.
  void clear(uint64_t seed = 0);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// How many digits a checksum has.
constexpr uint64_t checksumDigits = 16;

} // namespace xlc::runtime

#endif
