// See Timeline.h. A message is exposed during the time in which the stage computes nothing.
#include "Timeline.h"

using namespace mlir;
using namespace xlc;

namespace {

bool isMessage(const TimedAction &action) { return action.stream != exec::Stream::compute; }

/// Appends a stretch to a list in order of time, as one with the last where they touch.
void append(std::vector<Stretch> &list, Stretch stretch) {
  if (stretch.length() <= 0)
    return;
  if (!list.empty() && stretch.begin <= list.back().end)
    list.back().end = std::max(list.back().end, stretch.end);
  else
    list.push_back(stretch);
}

void append(std::vector<Slot> &slots, const Slot &slot) {
  if (!slots.empty() && slots.back().part == slot.part && slots.back().microBatch == slot.microBatch &&
      slot.begin <= slots.back().end + 1)
    slots.back().end = std::max(slots.back().end, slot.end);
  else
    slots.push_back(slot);
}

/// Cuts a message where computations begin and end.
void cut(Stretch message, ArrayRef<Stretch> busy, StageTimeline &timeline) {
  const Stretch *next = llvm::partition_point(busy, [&](const Stretch &each) { return each.end <= message.begin; });
  for (; message.length() > 0; ++next) {
    bool isLast = next == busy.end() || next->begin >= message.end;
    append(timeline.exposed, {message.begin, isLast ? message.end : next->begin});
    if (isLast)
      return;
    append(timeline.hidden, {std::max(message.begin, next->begin), std::min(message.end, next->end)});
    message.begin = std::max(message.begin, next->end);
  }
}

} // namespace

StageTimeline xlc::makeTimeline(ArrayRef<TimedAction> actions, double step) {
  StageTimeline timeline;
  auto part = [&](double time) { return std::lround(time / step * double(StageTimeline::kParts)); };
  std::vector<Stretch> busy, messages;
  std::vector<const TimedAction *> ordered;
  for (const TimedAction &action : actions)
    ordered.push_back(&action);
  llvm::sort(ordered, [](const TimedAction *a, const TimedAction *b) {
    return std::tie(a->begin, a->number) < std::tie(b->begin, b->number);
  });
  for (const TimedAction *action : ordered) {
    Stretch stretch{part(action->begin), part(action->end)};
    if (isMessage(*action)) {
      append(messages, stretch);
      continue;
    }
    append(busy, stretch);
    append(timeline.slots, Slot{stretch, action->role ? partOf(*action->role) : StepPart::Other, action->microBatch});
  }
  llvm::erase_if(timeline.slots, [](const Slot &slot) { return slot.length() <= 0; });
  for (const Stretch &message : messages)
    cut(message, busy, timeline);
  return timeline;
}
