// See Marks.h.
#include "Marks.h"

#include "Device/Trace.h"

namespace xlc::runtime::cuda {

int64_t Marks::record(Stream stream) {
  if (free.empty()) {
    events.push_back(makeEvent(driver, withTiming));
    free.push_back((int64_t)events.size() - 1);
  }
  int64_t mark = free.back();
  free.pop_back();
  driver.check(driver.record(events[mark].get(), stream), "cuEventRecord");
  return mark;
}

int64_t Marks::add(Stream stream) {
  if (origin < 0) {
    origin = record(stream);
    driver.check(driver.waitForEvent(events[origin].get()), "cuEventSynchronize");
    timeOfOrigin = now();
  }
  return record(stream);
}

int64_t Marks::timeOf(int64_t mark) {
  constexpr Milliseconds longest = 1000; // a float knows fewer digits of them the more they are
  Milliseconds milliseconds;
  driver.check(driver.waitForEvent(events[mark].get()), "cuEventSynchronize");
  driver.check(driver.getElapsedTime(&milliseconds, events[origin].get(), events[mark].get()), "cuEventElapsedTime");
  int64_t time = timeOfOrigin + (int64_t)((double)milliseconds * 1e6);
  if (milliseconds > longest) {
    std::swap(origin, mark);
    timeOfOrigin = time;
  }
  free.push_back(mark);
  return time;
}

} // namespace xlc::runtime::cuda
