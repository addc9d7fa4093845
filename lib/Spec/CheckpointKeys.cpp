// The rows below `checkpoint`, of the table in Keys.cpp.
#include "Keys.h"

using namespace llvm;

namespace xlc::spec {
namespace {

constexpr Range counts = {.low = 1};

CheckpointSpec &checkpointOf(Spec &spec) { return spec.checkpoint ? *spec.checkpoint : spec.checkpoint.emplace(); }

// clang-format off
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): only for want of memory
const Key rows[] = {
  {"checkpoint", Kind::Section, any, "", "",
   "Checkpoints, from which a run goes on as if it had never stopped, also under another layout: "
   "[Checkpoints.md](Checkpoints.md).", nullptr},
  {"checkpoint.dir", Kind::Directory, any, "", "required",
   "The folder of the run's checkpoints, one folder for all hosts. It is made where it is missing.",
   [](Spec &s, const Value &v) { checkpointOf(s).dir = v.text; }},
  {"checkpoint.every", Kind::StepsOrTime, counts, "", "only at the end, and where a signal ends the run",
   "After how many steps one is written, or after how much time: `10min`.",
   [](Spec &s, const Value &v) {
     if (v.form == Value::Form::Time)
       checkpointOf(s).everySeconds = v.number;
     else
       checkpointOf(s).everySteps = v.integer;
   }},
  {"checkpoint.keep", Kind::Integer, notNegative, "", "2",
   "How many of the newest stay; 0: all. An older one goes when its successor is on the disk.",
   [](Spec &s, const Value &v) { checkpointOf(s).keep = v.integer; }},
  {"checkpoint.keep_every", Kind::Integer, counts, "", "none",
   "Besides, those of steps that are multiples of this stay.",
   [](Spec &s, const Value &v) { checkpointOf(s).keepEvery = v.integer; }},
  {"checkpoint.background", Kind::Choice, any, "direct|copy|off", "`direct` on CPUs, `copy` on GPUs",
   "How training goes on while one is written. `direct`: a thread writes what the ranks hold while they compute forward "
   "and backward of the next step, whose first update waits for it: no memory. `copy`: it is copied to memory of the "
   "host at once, and written from there for as long as that takes. `off`: the next step waits.",
   [](Spec &s, const Value &v) {
     using enum CheckpointSpec::Background;
     checkpointOf(s).background = v.text == "direct" ? Direct : v.text == "copy" ? Copy : Off;
   }},
  {"checkpoint.compare", Kind::Boolean, any, "", "true on CPUs, false on GPUs, which would have to read all that they hold",
   "Ranks that hold the same elements compare checksums of them: where one holds others, a fault of its memory or its "
   "processor, the run ends with exit code 5 and names rank and parameter; nothing is written.",
   [](Spec &s, const Value &v) { checkpointOf(s).compare = v.boolean; }},
  {"checkpoint.on_error", Kind::Choice, any, "continue|stop", "continue",
   "What follows where one cannot be written (a full disk): a message and the next attempt when that is due, or the "
   "end of the run with exit code 1.",
   [](Spec &s, const Value &v) { checkpointOf(s).stops = v.text == "stop"; }},
};
// clang-format on

} // namespace

ArrayRef<Key> checkpointKeys() { return rows; }

} // namespace xlc::spec
