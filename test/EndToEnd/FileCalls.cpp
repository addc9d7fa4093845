// Preloaded into a program: counts its calls that change files below a folder, over all of its processes, and kills all of
// them at one of these calls, or lets it fail.
//
//     FILE_CALLS_IN       the folder, as a part of paths
//     FILE_CALLS_COUNT    a file of eight bytes, which has the count
//     FILE_CALLS_KILL     at this call, from 1 on, the process group is killed; FILE_CALLS_AFTER: behind it, not before
//     FILE_CALLS_FAIL     this call fails with FILE_CALLS_ERRNO; a write without that is short, and goes on
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

const char *text(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

struct Settings {
  const char *folder = text("FILE_CALLS_IN");
  uint64_t kill = std::strtoull(text("FILE_CALLS_KILL"), nullptr, 10),
           fail = std::strtoull(text("FILE_CALLS_FAIL"), nullptr, 10);
  bool after = *text("FILE_CALLS_AFTER");
  int error = std::atoi(text("FILE_CALLS_ERRNO"));
  std::atomic<uint64_t> *count = nullptr;

  Settings() {
    auto real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    if (int file = real(text("FILE_CALLS_COUNT"), O_RDWR); file >= 0)
      if (void *begin = mmap(nullptr, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0); begin != MAP_FAILED)
        count = (std::atomic<uint64_t> *)begin;
  }
};

const Settings &settings() {
  static const Settings once;
  return once;
}

bool isWatched(const char *path) {
  return settings().count && *settings().folder && std::strstr(path, settings().folder);
}

bool isWatched(int file) {
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  return length > 0 && (path[length] = 0, isWatched(path));
}

[[noreturn]] void endAll() {
  kill(0, SIGKILL);
  for (;;)
    pause();
}

/// Does the call where it is not to fail; -1 and errno where it is.
template <class Call> auto watch(Call call) {
  uint64_t number = settings().count->fetch_add(1) + 1;
  if (number == settings().kill && !settings().after)
    endAll();
  if (number == settings().fail && settings().error)
    return errno = settings().error, (decltype(call()))-1;
  auto result = call();
  if (number == settings().kill)
    endAll();
  return result;
}

/// How much of a write is done.
size_t shortened(size_t bytes) {
  bool isThis = settings().fail && !settings().error && settings().count->load() + 1 == settings().fail;
  return isThis && bytes > 1 ? bytes / 2 : bytes;
}

template <class Function> Function next(const char *name) { return (Function)dlsym(RTLD_NEXT, name); }

int openWatched(const char *name, const char *path, int flags, mode_t mode) {
  auto real = next<int (*)(const char *, int, ...)>(name);
  if (!(flags & O_CREAT) || !isWatched(path))
    return real(path, flags, mode);
  return watch([&] { return real(path, flags, mode); });
}

} // namespace

extern "C" {

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return openWatched("open", path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return openWatched("open64", path, flags, mode);
}
ssize_t write(int file, const void *from, size_t bytes) {
  auto real = next<ssize_t (*)(int, const void *, size_t)>("write");
  return isWatched(file) ? watch([&] { return real(file, from, shortened(bytes)); }) : real(file, from, bytes);
}
ssize_t pwrite(int file, const void *from, size_t bytes, off_t at) {
  auto real = next<ssize_t (*)(int, const void *, size_t, off_t)>("pwrite");
  return isWatched(file) ? watch([&] { return real(file, from, shortened(bytes), at); }) : real(file, from, bytes, at);
}
ssize_t pwrite64(int file, const void *from, size_t bytes, off64_t at) { return pwrite(file, from, bytes, at); }
int fsync(int file) {
  auto real = next<int (*)(int)>("fsync");
  return isWatched(file) ? watch([&] { return real(file); }) : real(file);
}
int rename(const char *from, const char *to) {
  auto real = next<int (*)(const char *, const char *)>("rename");
  return isWatched(to) ? watch([&] { return real(from, to); }) : real(from, to);
}
int mkdir(const char *path, mode_t mode) {
  auto real = next<int (*)(const char *, mode_t)>("mkdir");
  return isWatched(path) ? watch([&] { return real(path, mode); }) : real(path, mode);
}
int unlink(const char *path) {
  auto real = next<int (*)(const char *)>("unlink");
  return isWatched(path) ? watch([&] { return real(path); }) : real(path);
}
int rmdir(const char *path) {
  auto real = next<int (*)(const char *)>("rmdir");
  return isWatched(path) ? watch([&] { return real(path); }) : real(path);
}

} // extern "C"
