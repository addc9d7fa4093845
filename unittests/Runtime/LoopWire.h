// A wire between ranks that are threads of this process: the thread that posts the second side of a message copies it.
#ifndef XLC_UNITTESTS_RUNTIME_LOOPWIRE_H
#define XLC_UNITTESTS_RUNTIME_LOOPWIRE_H

#include "Fabric/Waiting.h"
#include "Fabric/Wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

namespace xlc::runtime {

/// Where the wires of all ranks end.
class PostOffice {
public:
  explicit PostOffice(uint32_t ranks) : ranks(ranks) {}

  void post(int rank, std::span<const Posting> messages, std::atomic<uint32_t> &ended) {
    std::lock_guard lock(mutex);
    auto batch = std::make_shared<Batch>(Batch{messages.size(), ended});
    for (const Posting &message : messages) {
      EXPECT_LT(message.tag, 32768u);
      bool sends = message.way == Posting::Way::Send;
      auto key = sends ? std::tuple(rank, message.peer, message.tag) : std::tuple(message.peer, rank, message.tag);
      std::deque<Side> &others = waiting[sends][key];
      if (others.empty()) {
        waiting[!sends][key].push_back({message.memory, batch});
        mostWaiting = std::max(mostWaiting, waiting[!sends][key].size());
        continue;
      }
      Side other = others.front();
      others.pop_front();
      sends ? move(message.memory, other.memory) : move(other.memory, message.memory);
      end(*batch), end(*other.batch);
    }
  }
  void meet(std::span<uint64_t> words, std::atomic<uint32_t> &ended) {
    std::lock_guard lock(mutex);
    meeting.emplace_back(words, &ended);
    if (meeting.size() < ranks)
      return;
    std::vector<uint64_t> largest(words.size());
    for (auto &[shown, done] : meeting)
      for (size_t i = 0; i < words.size(); ++i)
        largest[i] = std::max(largest[i], shown[i]);
    for (auto &[shown, done] : meeting) {
      std::ranges::copy(largest, shown.begin());
      ++*done, wakeAll(*done);
    }
    meeting.clear();
  }
  bool isEmpty() const {
    auto all = [](const auto &sides) {
      return std::ranges::all_of(sides, [](const auto &entry) { return entry.second.empty(); });
    };
    return all(waiting[0]) && all(waiting[1]);
  }

private:
  struct Batch {
    size_t left;
    std::atomic<uint32_t> &ended;
  };
  struct Side {
    Runs memory;
    std::shared_ptr<Batch> batch;
  };
  static void end(Batch &batch) {
    if (--batch.left == 0)
      ++batch.ended, wakeAll(batch.ended);
  }
  static void move(const Runs &from, const Runs &to) {
    EXPECT_EQ(std::tuple(from.bytes, from.outer, from.rows), std::tuple(to.bytes, to.outer, to.rows));
    auto at = [](const Runs &runs, uint64_t outer, uint64_t row) {
      return runs.begin + outer * runs.steps.outer + row * runs.steps.row;
    };
    for (uint64_t outer = 0; outer < from.outer; ++outer)
      for (uint64_t row = 0; row < from.rows; ++row)
        std::memcpy(at(to, outer, row), at(from, outer, row), from.bytes);
  }

  const uint32_t ranks;
  std::mutex mutex;
  std::map<std::tuple<int, int, uint32_t>, std::deque<Side>> waiting[2]; ///< receives that wait for a send, and sends
  std::vector<std::pair<std::span<uint64_t>, std::atomic<uint32_t> *>> meeting;

public:
  size_t mostWaiting = 0; ///< messages that one rank had under way to another
};

class LoopWire final : public Wire {
public:
  LoopWire(PostOffice &office, int rank) : office(office), number(rank) {}
  int rank() const override { return number; }
  uint64_t ranksOfHost() const override { return 1; }
  void post(std::span<const Posting> messages, std::atomic<uint32_t> &ended) override {
    office.post(number, messages, ended);
  }
  void meet(std::span<uint64_t> words, std::atomic<uint32_t> &ended) override { office.meet(words, ended); }

private:
  PostOffice &office;
  const int number;
};

} // namespace xlc::runtime

#endif
