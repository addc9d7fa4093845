// See Device.h.
#include "Device.h"

#include "State.h"

#include <cstdio>
#include <unistd.h>

namespace xlc::simulate {
void endWith(const std::string &what) {
  std::fprintf(stderr, "simulated device: %s\n", what.c_str());
  std::fflush(nullptr);
  _exit(70);
}

bool isToFail(const char *) {
  State &state = State::get();
  return ++state.calls == state.failing;
}

void enqueue(void *stream, Work work) {
  State &state = State::get();
  std::lock_guard lock(state.mutex);
  state.append(state.findQueue((Queue *)stream), {Item::Runs, std::move(work), nullptr, 0, {}});
}

} // namespace xlc::simulate
