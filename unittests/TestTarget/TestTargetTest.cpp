// A second target, in a folder of its own: the rooms of the runtime run it as they run the CPU, through its interface.
#include "TestTarget.h"
#include "../Runtime/TinyProgram.h"

#include <gtest/gtest.h>

using namespace xlc::runtime;
using namespace xlc::runtime::tiny;

namespace {

/// Three steps of the program: what was learned, and the lines of the log without what differs from run to run.
struct Outcome {
  Exit exit;
  std::string losses, parameters;
};

Outcome train(const Plan &plan, const Target &target, std::vector<std::string> more = {}) {
  Folder folder;
  writeData(folder);
  std::vector<std::string> arguments{"--steps", "3", "--log", folder.file("log"), "--save", folder.file("w")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  testing::internal::CaptureStdout();
  Exit exit = run(plan, folder, arguments, target);
  testing::internal::GetCapturedStdout();
  std::string log = folder.read("log"), losses;
  for (size_t at = 0; (at = log.find("\"loss\":", at)) != log.npos; ++at)
    losses += log.substr(at, log.find(',', at) - at) + "\n";
  return {exit, losses, folder.read("w")};
}

void expectSame(const Plan &plan, std::vector<std::string> arguments, DeviceCounts &counts) {
  Outcome cpu = train(plan, linkedTarget()), other = train(plan, countingTarget(counts), std::move(arguments));
  EXPECT_EQ(other.exit, Exit::Done);
  EXPECT_NE(cpu.losses, "");
  EXPECT_EQ(cpu.losses, other.losses);
  EXPECT_EQ(cpu.parameters, other.parameters);
}

TEST(TestTarget, ShardsAreGatheredAndSummedByItsDevices) {
  DeviceCounts counts;
  expectSame(makePlan(3), {}, counts);
  EXPECT_EQ(counts.allocate, ranks);
  EXPECT_EQ(counts.prepare, ranks * 4);
  EXPECT_EQ(counts.run, ranks * 3 * (microBatches + 3));
  EXPECT_GT(counts.write, 0u);
  EXPECT_GT(counts.read, 0u);
  EXPECT_GT(counts.fill, 0u);
  EXPECT_GT(counts.copy, 0u);
  EXPECT_GT(counts.combine, 0u);
}

TEST(TestTarget, StagesSendThroughItsDevices) {
  DeviceCounts counts;
  expectSame(makeStages(), {}, counts);
  EXPECT_GT(counts.copy, 0u);
}

TEST(TestTarget, CheckStandsBeforeItsDevices) {
  DeviceCounts counts;
  expectSame(makePlan(0), {"--check"}, counts);
  EXPECT_EQ(counts.allocate, ranks * 2); // the arena and its image
}

} // namespace
