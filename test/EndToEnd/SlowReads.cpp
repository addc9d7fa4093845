// Preloaded: each read from a place in a file takes at least so many microseconds as SLOW_READS says, as on a
// slow disk.
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>

template <class Read> static ssize_t readSlowly(const char *name, int file, void *to, size_t count, off_t from) {
  static const auto real = (Read)dlsym(RTLD_NEXT, name);
  static const char *slow = std::getenv("SLOW_READS");
  if (slow)
    usleep((useconds_t)std::atoi(slow));
  return real(file, to, count, from);
}

using Read = ssize_t (*)(int, void *, size_t, off_t);

extern "C" ssize_t pread(int file, void *to, size_t count, off_t from) {
  return readSlowly<Read>("pread", file, to, count, from);
}

extern "C" ssize_t pread64(int file, void *to, size_t count, off_t from) {
  return readSlowly<Read>("pread64", file, to, count, from);
}
