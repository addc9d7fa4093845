// See Channels.h.
#include "Channels.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace xlc::simulate {

constexpr uint64_t kHeaderBytes = 4096;

std::string makeSharedFile(int &file) {
  file = memfd_create("xlc-simulated-nccl", MFD_CLOEXEC);
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file);
}

Channels::Channels(const std::string &path, int ranks, int rank)
    : ranks(ranks), self(rank), bytes(kHeaderBytes + (uint64_t)(ranks * ranks) * sizeof(Channel)) {
  static_assert(sizeof(Header) <= kHeaderBytes);
  if (ranks > kMostRanks)
    endWith("communicators have at most 64 ranks");
  int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) // the process that has made it has ended: it does not come
    waitFor(std::atomic<uint32_t>(0), (uint32_t)ranks, "to join its communicator");
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
    endWith("no shared memory for a communicator");
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  close(file);
  if (memory == MAP_FAILED)
    endWith("no shared memory for a communicator");
  header = (Header *)memory, channels = (Channel *)((char *)memory + kHeaderBytes);
  ++header->come;
  waitFor(header->come, (uint32_t)ranks, "to join its communicator");
}

Channels::~Channels() { munmap((void *)header, bytes); }

void Channels::waitFor(const std::atomic<uint32_t> &count, uint32_t least, const char *what) const {
  auto begin = std::chrono::steady_clock::now();
  while (count < least) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(patience()))
      endWith("rank " + std::to_string(self) + " of " + std::to_string(ranks) + " waits for other ranks " + what);
  }
}

Channels::Part Channels::split(int colour, int key) {
  auto all = (uint32_t)ranks * ++splits;
  header->colours[self] = colour, header->keys[self] = key;
  ++header->splitting;
  waitFor(header->splitting, all, "to split a communicator");
  Part part;
  int first = ranks;
  for (int other = 0; other < ranks; ++other) {
    if (header->colours[other] != colour)
      continue;
    first = std::min(first, other);
    ++part.ranks;
    part.rank += header->keys[other] < key || (header->keys[other] == key && other < self);
  }
  if (first == self && colour >= 0)
    std::snprintf(header->paths[self], sizeof header->paths[self], "%s", makeSharedFile(part.file).c_str());
  ++header->split;
  waitFor(header->split, all, "to split a communicator");
  if (colour < 0)
    return {};
  part.path = header->paths[first];
  return part;
}

} // namespace xlc::simulate
