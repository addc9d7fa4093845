// See Machine.h and Device.h.
#include "Machine.h"
#include "Device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace xlc::simulate {
namespace {

Order readOrder(const char *text) {
  std::string word = text ? text : "random";
  size_t colon = word.find(':');
  Order order;
  if (colon != std::string::npos)
    order.seed = std::strtoull(word.c_str() + colon + 1, nullptr, 10);
  word = word.substr(0, colon);
  if (word == "early")
    order.when = Order::Early;
  else if (word == "late")
    order.when = Order::Late;
  else if (word != "random")
    endWith("XLC_SIMULATE_ORDER must be early, late, random or random:SEED, not '" + word + "'");
  return order;
}

/// "simulated device: 20 calls, 4 of -1, 16 of 0; 9 pieces of work, 0 graphs, 2 waits, 1 allocations"
std::string describe(const Machine &machine) {
  const Counts &counts = machine.counts;
  return "simulated device: " + machine.faults.describe() + "; " + std::to_string(counts.pieces) + " pieces of work, " +
         std::to_string(counts.graphs) + " graphs, " + std::to_string(counts.waits) + " waits, " +
         std::to_string(counts.allocations) + " allocations";
}

} // namespace

Faults::Faults() {
  const char *given = getenv("XLC_SIMULATE_FAIL");
  if (!given)
    return;
  std::string text = given;
  size_t digits = text.find_last_not_of("0123456789") + 1;
  failing.emplace();
  failing->function = text.substr(0, text.find(':'));
  if (digits == 0)
    failing->function.clear();
  failing->number = std::strtoull(text.c_str() + digits, nullptr, 10);
  if (const char *device = getenv("XLC_SIMULATE_OF"))
    failing->device = (int)std::strtol(device, nullptr, 10);
}

bool Faults::count(const char *function, int device) {
  ++calls, ++callsOf[(size_t)device + 1];
  if (!failing || (failing->device && *failing->device != device) ||
      (!failing->function.empty() && failing->function != function))
    return false;
  return ++failing->calls == failing->number || failing->number == 0;
}

std::string Faults::describe() const {
  std::string text = std::to_string(calls) + " calls";
  for (int device = -1; device < (int)kMostDevices; ++device)
    if (uint64_t own = callsOf[(size_t)device + 1])
      text += ", " + std::to_string(own) + " of " + std::to_string(device);
  return text;
}

bool isToFail(const char *function) {
  bool fails = Machine::get().faults.count(function, currentDevice);
  if (fails)
    std::fprintf(stderr, "simulated: %s fails\n", function);
  return fails;
}

int deviceOfThread() { return std::max(0, currentDevice); }

bool comesLate() { return Machine::get().order.when == Order::Late; }

double patience() {
  const char *text = getenv("XLC_SIMULATE_PATIENCE");
  return text ? std::strtod(text, nullptr) : 60;
}

Machine::Machine() : order(readOrder(getenv("XLC_SIMULATE_ORDER"))), random(order.seed) {}

/// Never destroyed: a thread may use it until the process ends.
Machine &Machine::get() {
  static Machine &machine = *new Machine;
  static const struct Counted {
    ~Counted() {
      if (getenv("XLC_SIMULATE_COUNT"))
        std::fprintf(stderr, "%s\n", describe(machine).c_str());
    }
  } counted;
  return machine;
}

} // namespace xlc::simulate
