// See Channels.h.
#include "Channels.h"

#include "Device.h"

#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace xlc::simulate {

constexpr uint64_t kHeaderBytes = 4096;

Channels::Channels(std::string given, int ranks, int rank)
    : name(std::move(given)), ranks(ranks), self(rank),
      bytes(kHeaderBytes + (uint64_t)(ranks * ranks) * sizeof(Channel)) {
  static_assert(sizeof(Header) <= kHeaderBytes);
  if (ranks > kMostRanks)
    endWith("communicators have at most 64 ranks");
  int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
    endWith("no shared memory for a communicator");
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  close(file);
  if (memory == MAP_FAILED)
    endWith("no shared memory for a communicator");
  header = (Header *)memory, channels = (Channel *)((char *)memory + kHeaderBytes);
  ++header->come;
  waitFor(header->come, (uint32_t)ranks, "to join its communicator");
  shm_unlink(name.c_str()); // of those who come here, the first does it
}

Channels::~Channels() { munmap((void *)header, bytes); }

void Channels::waitFor(const std::atomic<uint32_t> &count, uint32_t least, const char *what) const {
  auto begin = std::chrono::steady_clock::now();
  while (count < least) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(patience())) {
      shm_unlink(name.c_str());
      endWith("rank " + std::to_string(self) + " of " + std::to_string(ranks) + " waits for others " + what);
    }
  }
}

Channels::Part Channels::split(int colour, int key) {
  auto all = (uint32_t)ranks * ++splits;
  header->colours[self] = colour, header->keys[self] = key;
  ++header->splitting;
  waitFor(header->splitting, all, "to split a communicator");
  Part part{name + "." + std::to_string(splits) + "." + std::to_string(colour), 0, 0};
  for (int other = 0; other < ranks; ++other) {
    if (header->colours[other] != colour)
      continue;
    ++part.ranks;
    part.rank += header->keys[other] < key || (header->keys[other] == key && other < self);
  }
  ++header->split;
  waitFor(header->split, all, "to split a communicator");
  return colour < 0 ? Part{} : part;
}

} // namespace xlc::simulate
