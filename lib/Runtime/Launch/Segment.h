// Memory shared by processes of one host: a file without a name, which the kernel removes with the last of them.
// Nothing remains in /dev/shm, whose size containers limit, or anywhere else.
#ifndef XLC_LIB_RUNTIME_LAUNCH_SEGMENT_H
#define XLC_LIB_RUNTIME_LAUNCH_SEGMENT_H

#include <cstdint>

namespace xlc::runtime {

/// A file descriptor that is closed on destruction.
class OwnedFile {
public:
  OwnedFile() = default;
  explicit OwnedFile(int file) : file(file) {}
  OwnedFile(OwnedFile &&other) noexcept : file(other.file) { other.file = -1; }
  OwnedFile &operator=(OwnedFile &&other) noexcept {
    reset(other.file);
    other.file = -1;
    return *this;
  }
  ~OwnedFile() { reset(); }
  void reset(int other = -1);
  int get() const { return file; }
  explicit operator bool() const { return file >= 0; }

private:
  int file = -1;
};

/// Whether a call failed because the process, or the system, has no more descriptors or resources for them.
bool isWithoutRoom(int error);

class Segment {
public:
  /// Creates a file of that size, all zero. Its memory is allocated page by page, on the first access. Throws
  /// NotStarted.
  static Segment make(uint64_t bytes);

  /// Maps all of a file, at a multiple of the size of huge pages. Throws NotStarted, also if the file does not have
  /// this size.
  Segment(OwnedFile file, uint64_t bytes);
  ~Segment();
  Segment(const Segment &) = delete;

  int file() const { return owned.get(); }
  char *begin() const { return first; }

private:
  OwnedFile owned;
  char *reserved = nullptr, *first = nullptr;
  uint64_t reservedBytes;
};

} // namespace xlc::runtime

#endif
