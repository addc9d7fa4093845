// Messages between stages, checked on both sides; and all rendezvous, for the rendezvous simulator.
#include "Messages.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::sched;

namespace {

/// Both ends of a message.
struct Ends {
  SendOp send;
  ReceiveOp receive;
};

int64_t stageOf(Operation *op) { return op->getParentOfType<TimelineOp>().getStage(); }

/// Takes note of one end; each may be there once.
template <typename Op> LogicalResult take(Op op, Op &end, int64_t &last) {
  int64_t message = op.getMessage();
  if (message <= last)
    return op.emitOpError() << "has message number " << message << ", but follows message number " << last
                            << "; the numbers must increase";
  last = message;
  if (end)
    return op.emitOpError() << "has message number " << message << ", which another stage already uses";
  end = op;
  return success();
}

LogicalResult verifyEnds(Ends ends) {
  if (!ends.receive)
    return ends.send.emitOpError() << "sends message " << ends.send.getMessage() << ", which no stage receives";
  if (!ends.send)
    return ends.receive.emitOpError() << "waits for message " << ends.receive.getMessage() << ", which no stage sends";
  int64_t from = stageOf(ends.send), to = stageOf(ends.receive), message = ends.receive.getMessage();
  if ((int64_t)ends.send.getPeer() != to || (int64_t)ends.receive.getPeer() != from)
    return ends.receive.emitOpError() << "expects message " << message << " from stage " << ends.receive.getPeer()
                                      << ", but stage " << from << " sends it to stage " << ends.send.getPeer();
  if (ends.send.getMicroBatch() != ends.receive.getMicroBatch())
    return ends.receive.emitOpError() << "expects micro-batch " << ends.receive.getMicroBatch() << " in message "
                                      << message << ", which belongs to micro-batch " << ends.send.getMicroBatch();
  if (ends.send.getValue().getType() != ends.receive.getValue().getType())
    return ends.receive.emitOpError() << "expects " << ends.receive.getValue().getType() << " in message " << message
                                      << ", but the type of the message is " << ends.send.getValue().getType();
  return success();
}

/// The mesh with two of each axis within a stage at most.
dist::MeshAttr reduce(dist::MeshAttr mesh) {
  int64_t shards = std::min<int64_t>(mesh.getShards(), 2);
  int64_t replicas = std::min<int64_t>(mesh.getDp() / mesh.getShards(), 2);
  return dist::MeshAttr::get(mesh.getContext(), mesh.getPp(), shards * replicas, std::min<int64_t>(mesh.getTp(), 2),
                             shards);
}

/// The group in the reduced mesh: it varies each axis that it varies in the mesh.
dist::GroupAttr reduce(dist::GroupAttr group, dist::MeshAttr mesh, dist::MeshAttr reduced) {
  auto shardedBy = [](dist::MeshAttr m) { return m.getShards() * m.getTp(); };
  struct Axis {
    int64_t begin, end, count, stride; ///< the axis' range of strides; its digit in the reduced mesh
  } axes[] = {
      {shardedBy(mesh), mesh.getStageRanks(), reduced.getDp() / reduced.getShards(), shardedBy(reduced)},
      {mesh.getTp(), shardedBy(mesh), reduced.getShards(), reduced.getTp()},
      {1, mesh.getTp(), reduced.getTp(), 1},
  };
  SmallVector<int64_t> digits;
  for (const Axis &axis : axes)
    for (size_t i = 0; i < (size_t)group.getDigits().size(); i += 2) {
      int64_t count = group.getDigits()[i], stride = group.getDigits()[i + 1];
      if (stride < axis.end && stride * count > axis.begin) {
        digits.append({axis.count, axis.stride});
        break;
      }
    }
  return dist::GroupAttr::get(group.getContext(), group.getAxis(), DenseI64ArrayAttr::get(group.getContext(), digits),
                              group.getStages());
}

/// What an action is called where ranks wait for it.
std::string nameOf(Operation &op, int64_t stage) {
  if (auto transfer = dyn_cast<TransferAction>(op)) {
    int64_t from = stage, to = transfer.getPeer();
    if (isa<ReceiveOp>(op))
      std::swap(from, to);
    return llvm::formatv("message {0} from stage {1} to {2}, micro-batch {3}", transfer.getMessage(), from, to,
                         cast<MicroBatchAction>(op).getMicroBatch());
  }
  auto action = dyn_cast<BucketAction>(op);
  auto collective = dyn_cast<CollectiveOp>(op);
  StringRef kind = collective ? stringifyCollectiveKind(collective.getKind()) : op.getName().stripDialect();
  return (kind + (action ? " " + action.getBucketAttr().getValue() : Twine())).str();
}

/// The group that an action is over; null where the rank acts alone.
dist::GroupAttr groupOf(Operation &op, dist::MeshAttr mesh) {
  auto collective = dyn_cast<CollectiveAction>(op);
  return collective ? collective.getGroupOn(mesh) : dist::GroupAttr();
}

} // namespace

LogicalResult xlc::verifyMessages(ArrayRef<TimelineOp> timelines) {
  llvm::MapVector<int64_t, Ends> messages;
  for (TimelineOp timeline : timelines) {
    int64_t last = -1;
    for (Operation &op : timeline.getBody().front()) {
      if (auto send = dyn_cast<SendOp>(op); send && failed(take(send, messages[send.getMessage()].send, last)))
        return failure();
      if (auto receive = dyn_cast<ReceiveOp>(op);
          receive && failed(take(receive, messages[receive.getMessage()].receive, last)))
        return failure();
    }
  }
  for (auto &[number, ends] : messages)
    if (failed(verifyEnds(ends)))
      return failure();
  return success();
}

std::vector<std::vector<Rendezvous>> xlc::findRendezvous(ArrayRef<TimelineOp> timelines) {
  dist::MeshAttr mesh = TimelineOp(timelines.front()).getMesh(), reduced = reduce(mesh);
  std::vector<std::vector<Rendezvous>> rendezvous(reduced.getRanks());
  for (TimelineOp timeline : timelines) {
    int64_t stage = timeline.getStage();
    for (Operation &op : timeline.getBody().front()) {
      dist::GroupAttr group = groupOf(op, mesh);
      auto transfer = dyn_cast<TransferAction>(op);
      if (!group && !transfer)
        continue;
      std::string name = nameOf(op, stage);
      dist::GroupAttr small = group ? reduce(group, mesh, reduced) : group;
      for (int64_t i = 0; i < reduced.getStageRanks(); ++i) {
        int64_t rank = stage * reduced.getStageRanks() + i;
        std::vector<int> ranks;
        if (transfer) {
          ranks = {int(rank), int(transfer.getPeer() * reduced.getStageRanks() + i)};
          llvm::sort(ranks);
        } else {
          for (int64_t member : small.members(reduced, rank))
            ranks.push_back(member);
        }
        rendezvous[rank].push_back({name, std::move(ranks)});
      }
    }
  }
  return rendezvous;
}
