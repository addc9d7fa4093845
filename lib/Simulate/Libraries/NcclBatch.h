// One operation of a communicator, and the phases in which it waits for other ranks: give, take, end (Nccl.cpp).
#ifndef XLC_LIB_SIMULATE_LIBRARIES_NCCLBATCH_H
#define XLC_LIB_SIMULATE_LIBRARIES_NCCLBATCH_H

#include "Device.h"
#include "NcclCommunicators.h"
#include "NcclOperation.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace xlc::simulate {

/// One operation of a communicator, which contains several calls if they are a group.
struct Batch {
  std::shared_ptr<Communicator> communicator;
  uint64_t number, turn; ///< of the communicator, of the device
  std::vector<Operation> operations;
  std::vector<std::string> own; ///< what it takes of itself, by operation

  Channels &channels() const { return communicator->channels; }
  bool givesTo(int peer) const;
  bool takesFrom(int peer) const;
  std::string describe() const;
  /// Sends packets that contain a description of each operation, and its bytes.
  void give();
  void take();
  /// The data that operation `i` takes from its own rank: each receive takes those of the next send.
  const std::string &ownOf(size_t i) const;
};

/// A phase of a batch that waits for others.
class Phase final : public Meeting {
public:
  enum class Which { Give, Take, End };
  Phase(std::shared_ptr<Batch> batch, Which which) : batch(std::move(batch)), which(which) {}

  bool isOver() override;
  /// Nobody, where it waits for an earlier operation of its own rank: that waits in another stream, and asks.
  void ask(TimePoint when) override;

private:
  bool isItsTurn() const { return !comesLate() || batch->communicator->launches.ended >= batch->turn; }
  bool isMissing(int peer) const;
  int findMissing() const;

  const std::shared_ptr<Batch> batch;
  const Which which;
  std::optional<TimePoint> asked; ///< for the first time
};

} // namespace xlc::simulate

#endif
