// A step that is one graph, with what the host writes for each of its launches.
#include "Cuda/StepGraph.h"
#include "SimulatedMachine.h"

#include <stdexcept>

namespace xlc::test {
namespace {

class StepGraphs : public testing::TestWithParam<const char *> {};

/// A step that writes 4 bytes in one action and 12, in two pieces, in another.
struct Step : Bench {
  StepGraph graph{driver, 48};

  void write(std::initializer_list<std::pair<uint64_t, std::vector<char>>> pieces) {
    for (const auto &[at, bytes] : pieces)
      graph.write(arena.begin() + at, bytes.data(), bytes.size());
  }
  void capture() {
    graph.beginCapture(first.get());
    write({{0, {1, 1, 1, 1}}});
    graph.endWrites(first.get());
    letSecondWait();
    write({{8, {2, 2, 2, 2}}, {12, std::vector<char>(8, 3)}});
    graph.endWrites(second.get());
    driver.record(event.get(), second.get()), driver.letStreamWait(first.get(), event.get(), 0);
    graph.endCapture();
  }
  std::vector<char> all() {
    std::vector<char> found = read(first, 4), rest = read(first, 12, 8);
    found.insert(found.end(), rest.begin(), rest.end());
    return found;
  }
};

TEST_P(StepGraphs, AStepWritesWhatItIsGivenForEachLaunch) {
  expectGood<Step>(GetParam(), [](Step &s) {
    s.capture();
    s.graph.launch(s.first.get());
    expect(s.all() == std::vector<char>{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3});
    for (char value : {4, 5}) { // in other pieces
      s.graph.waitUntilOver();
      s.write({{0, {value, value}}, {2, {value, value}}, {8, std::vector<char>(12, value)}});
      s.graph.launch(s.first.get());
      expect(s.all() == std::vector<char>(16, value));
    }
  });
}

TEST_P(StepGraphs, AStepThatWritesElsewhereOrLessIsNone) {
  expectGood<Step>(GetParam(), [](Step &s) {
    auto isRefused = [](const char *words, const auto &act) {
      try {
        act();
      } catch (const std::logic_error &problem) {
        return std::string(problem.what()) == words;
      }
      return false;
    };
    s.capture();
    s.graph.launch(s.first.get());
    s.graph.waitUntilOver();
    expect(isRefused("a step writes to other addresses than its CUDA graph", [&] { s.write({{4, {1}}}); }));
    s.write({{0, {1, 1, 1, 1}}, {8, {1}}});
    expect(isRefused("a step writes fewer bytes than its CUDA graph", [&] { s.graph.launch(s.first.get()); }));
    expect(isRefused("a step writes to other addresses than its CUDA graph",
                     [&] { s.write({{9, std::vector<char>(12, 1)}}); }));
    s.graph.beginCapture(s.first.get());
    expect(isRefused("a step writes more bytes than the steps before it",
                     [&] { s.write({{64, std::vector<char>(64)}}); }));
  });
}

TEST_P(StepGraphs, ACaptureThatIsGivenUpLeavesStreamsAsTheyWere) {
  expectGood<Step>(GetParam(), [](Step &s) {
    s.graph.beginCapture(s.first.get());
    s.write({{0, {1, 1, 1, 1}}});
    s.graph.endWrites(s.first.get());
    s.letSecondWait();
    s.graph.cancel();
    s.Bench::write(s.first, {5, 5, 5, 5});
    expect(s.read(s.first, 4) == std::vector<char>(4, 5));
  });
}

INSTANTIATE_TEST_SUITE_P(Orders, StepGraphs, testing::Values("early", "late", "random:1", "random:2"));

} // namespace
} // namespace xlc::test
