// The exchanges between the timelines of a step: transfers between stages, and the rendezvous of all ranks.
#ifndef XLC_LIB_SCHEDULE_MESSAGES_H
#define XLC_LIB_SCHEDULE_MESSAGES_H

#include "xlc/Schedule/Rendezvous.h"
#include "xlc/Schedule/Schedule.h"

namespace xlc {

/// Every message has one sender and one receiver, which agree on stages, micro-batch and type; each timeline has its
/// messages in ascending order.
mlir::LogicalResult verifyMessages(llvm::ArrayRef<sched::TimelineOp> timelines);

/// The rendezvous of each rank, in the order of its timeline. Ranks of an axis within a stage are interchangeable, so
/// two of each axis represent any number: a thousand ranks cost no more than a few.
std::vector<std::vector<Rendezvous>> findRendezvous(llvm::ArrayRef<sched::TimelineOp> timelines);

} // namespace xlc

#endif
