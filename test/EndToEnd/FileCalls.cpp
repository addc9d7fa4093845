// Preloaded into a program: counts its calls that change files below a folder, over all of its processes, and kills all of
// them at one of these calls, or lets it fail, or writes down what they do.
//
//     FILE_CALLS_IN       the folder, as a part of paths
//     FILE_CALLS_COUNT    a file of sixteen bytes, which has the count
//     FILE_CALLS_KILL     at this call, from 1 on, the process group is killed; FILE_CALLS_AFTER: behind it, not before
//     FILE_CALLS_FAIL     this call fails with FILE_CALLS_ERRNO; a write without that is short, and goes on
//     FILE_CALLS_SYNC     milliseconds that each sync takes longer
//     FILE_CALLS_TRACE    a file to which each call that has succeeded is added: a line "call, path, other path, offset,
//                         bytes" with tabs between, and the bytes that a write has written. One call at a time is then
//                         under way, so that their order is that of the lines
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
#include <sched.h>
#include <string>
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
  useconds_t sync = 1000 * (useconds_t)std::atoi(text("FILE_CALLS_SYNC"));
  bool after = *text("FILE_CALLS_AFTER");
  int error = std::atoi(text("FILE_CALLS_ERRNO")), trace = -1;
  std::atomic<uint64_t> *count = nullptr; ///< and whether a call that is traced is under way

  Settings() {
    auto real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    if (int file = real(text("FILE_CALLS_COUNT"), O_RDWR); file >= 0)
      if (void *begin = mmap(nullptr, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0); begin != MAP_FAILED)
        count = (std::atomic<uint64_t> *)begin;
    if (*text("FILE_CALLS_TRACE"))
      trace = real(text("FILE_CALLS_TRACE"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  }
};

const Settings &settings() {
  static const Settings once;
  return once;
}

bool isWatched(const char *path) {
  return settings().count && *settings().folder && std::strstr(path, settings().folder);
}

std::string pathOf(int file) {
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path);
  return length > 0 ? std::string(path, (size_t)length) : "";
}

bool isWatched(int file) { return isWatched(pathOf(file).c_str()); }

template <class Function> Function next(const char *name) { return (Function)dlsym(RTLD_NEXT, name); }

/// What a call does; a write has the bytes, of which as many count as it returns.
struct Record {
  const char *call;
  std::string path, other = {};
  off_t offset = 0;
  const void *bytes = nullptr;
};

/// Lets one call after the other through where they are traced.
class Turn {
public:
  Turn() {
    while (settings().trace >= 0 && settings().count[1].exchange(1))
      sched_yield();
  }
  ~Turn() {
    if (settings().trace >= 0)
      settings().count[1] = 0;
  }
  Turn(const Turn &) = delete;

  static void add(const Record &record, size_t size) {
    if (settings().trace < 0)
      return;
    std::string line = std::string(record.call) + '\t' + record.path + '\t' + record.other + '\t' +
                       std::to_string(record.offset) + '\t' + std::to_string(record.bytes ? size : 0) + '\n';
    if (record.bytes)
      line.append((const char *)record.bytes, size);
    auto real = next<ssize_t (*)(int, const void *, size_t)>("write");
    for (size_t at = 0; at < line.size();)
      at += (size_t)real(settings().trace, line.data() + at, line.size() - at);
  }
};

[[noreturn]] void endAll() {
  kill(0, SIGKILL);
  for (;;)
    pause();
}

/// Does the call where it is not to fail; -1 and errno where it is.
template <class Call> auto watch(const Record &record, Call call) {
  Turn turn;
  uint64_t number = settings().count->fetch_add(1) + 1;
  if (number == settings().kill && !settings().after)
    endAll();
  if (number == settings().fail && settings().error)
    return errno = settings().error, (decltype(call()))-1;
  auto result = call();
  if (result >= 0)
    Turn::add(record, (size_t)result);
  if (number == settings().kill)
    endAll();
  return result;
}

/// How much of a write is done.
size_t shortened(size_t bytes) {
  bool isThis = settings().fail && !settings().error && settings().count->load() + 1 == settings().fail;
  return isThis && bytes > 1 ? bytes / 2 : bytes;
}

int openWatched(const char *name, const char *path, int flags, mode_t mode) {
  auto real = next<int (*)(const char *, int, ...)>(name);
  if (!(flags & O_CREAT) || !isWatched(path))
    return real(path, flags, mode);
  return watch({flags & O_TRUNC ? "truncate" : "create", path}, [&] { return real(path, flags, mode); });
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
  if (!isWatched(file))
    return real(file, from, bytes);
  Record record{"write", pathOf(file), "", lseek(file, 0, SEEK_CUR), from};
  return watch(record, [&] { return real(file, from, shortened(bytes)); });
}
ssize_t pwrite(int file, const void *from, size_t bytes, off_t at) {
  auto real = next<ssize_t (*)(int, const void *, size_t, off_t)>("pwrite");
  if (!isWatched(file))
    return real(file, from, bytes, at);
  return watch({"write", pathOf(file), "", at, from}, [&] { return real(file, from, shortened(bytes), at); });
}
ssize_t pwrite64(int file, const void *from, size_t bytes, off64_t at) { return pwrite(file, from, bytes, at); }
int fsync(int file) {
  auto real = next<int (*)(int)>("fsync");
  if (!isWatched(file))
    return real(file);
  usleep(settings().sync);
  return watch({"fsync", pathOf(file)}, [&] { return real(file); });
}
int rename(const char *from, const char *to) {
  auto real = next<int (*)(const char *, const char *)>("rename");
  return isWatched(to) ? watch({"rename", from, to}, [&] { return real(from, to); }) : real(from, to);
}
int mkdir(const char *path, mode_t mode) {
  auto real = next<int (*)(const char *, mode_t)>("mkdir");
  return isWatched(path) ? watch({"mkdir", path}, [&] { return real(path, mode); }) : real(path, mode);
}
int unlink(const char *path) {
  auto real = next<int (*)(const char *)>("unlink");
  return isWatched(path) ? watch({"unlink", path}, [&] { return real(path); }) : real(path);
}
int rmdir(const char *path) {
  auto real = next<int (*)(const char *)>("rmdir");
  return isWatched(path) ? watch({"rmdir", path}, [&] { return real(path); }) : real(path);
}

} // extern "C"
