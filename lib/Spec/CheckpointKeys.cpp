// The rows below `checkpoint`, of the table in Keys.cpp.
#include "Keys.h"

using namespace llvm;

namespace xlc::spec {
namespace {

constexpr Range checkpointCounts = {.low = 1};

CheckpointSpec &checkpointOf(Spec &spec) { return spec.checkpoint ? *spec.checkpoint : spec.checkpoint.emplace(); }

// clang-format off
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): only for want of memory
const Key checkpointRows[] = {
  {"checkpoint", Kind::Section, any, "", "",
   "Checkpoints, from which a run resumes as if it had never stopped, also with another layout: "
   "[Checkpoints.md](Checkpoints.md).", nullptr},
  {"checkpoint.dir", Kind::Directory, any, "", "required",
   "The folder of the run's checkpoints, shared by all hosts. It is created if it does not exist.",
   [](Spec &s, const Value &v) { checkpointOf(s).dir = v.text; }},
  {"checkpoint.every", Kind::StepsOrTime, checkpointCounts, "", "only at the end, and when a signal ends the run",
   "Steps between checkpoints, or a time: `10min`.",
   [](Spec &s, const Value &v) {
     if (v.form == Value::Form::Time)
       checkpointOf(s).everySeconds = v.number;
     else
       checkpointOf(s).everySteps = v.integer;
   }},
  {"checkpoint.keep", Kind::Integer, notNegative, "", "2",
   "Number of the newest checkpoints that are kept; 0: all. An older checkpoint is deleted only after "
   "the newest one is completely on the disk.",
   [](Spec &s, const Value &v) { checkpointOf(s).keep = v.integer; }},
  {"checkpoint.keep_every", Kind::Integer, checkpointCounts, "", "none",
   "Checkpoints of steps that are multiples of this number are kept too.",
   [](Spec &s, const Value &v) { checkpointOf(s).keepEvery = v.integer; }},
  {"checkpoint.background", Kind::Choice, any, "direct|copy|off", "`direct` on CPUs, `copy` on GPUs",
   "Training while a checkpoint is written. `direct`: a thread writes the checkpoint directly from the memory of "
   "the ranks, during forward and backward of the next step; the first update of that step waits until this memory has "
   "been read. No additional memory is used. `copy`: the checkpoint is first copied to host memory and "
   "written from there in the background. `off`: the next step waits.",
   [](Spec &s, const Value &v) {
     using enum CheckpointSpec::Background;
     checkpointOf(s).background = v.text == "direct" ? Direct : v.text == "copy" ? Copy : Off;
   }},
  {"checkpoint.compare", Kind::Boolean, any, "",
   "true on CPUs, false on GPUs, which would have to read all of their memory",
   "Ranks that hold the same elements compare checksums of them. If they differ, because of a fault of memory or "
   "processor, no checkpoint is written, and the run ends with exit code 5 and a message with rank and parameter.",
   [](Spec &s, const Value &v) { checkpointOf(s).compare = v.boolean; }},
  {"checkpoint.on_error", Kind::Choice, any, "continue|stop", "continue",
   "Reaction if a checkpoint cannot be written (a full disk). `continue`: a message, and another attempt when the next "
   "checkpoint is due. `stop`: the run ends with exit code 1.",
   [](Spec &s, const Value &v) { checkpointOf(s).stops = v.text == "stop"; }},
};
// clang-format on

} // namespace

ArrayRef<Key> checkpointKeys() { return checkpointRows; }

} // namespace xlc::spec
