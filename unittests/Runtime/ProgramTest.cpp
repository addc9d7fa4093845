// Whole runs of the hand-made program: the trained parameters, the written files, and every way in which a run may end.
#include "Job/TraceFile.h"
#include "TinyProgram.h"
#include "xlc/Runtime/CpuLevel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <pthread.h>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

using namespace xlc::runtime;
namespace plan = xlc::plan;
using namespace xlc::runtime::tiny;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

namespace {

/// The folder with data, and quiet stdout.
class Program : public testing::Test {
protected:
  void SetUp() override {
    writeData(folder);
    testing::internal::CaptureStdout();
  }
  void TearDown() override {
    if (std::string text = taken ? "" : testing::internal::GetCapturedStdout(); HasFailure())
      std::cout << text; // holds gtest's own words as well
  }
  std::string takeStdout() {
    taken = true;
    return testing::internal::GetCapturedStdout();
  }
  /// The exit code and what was said on stderr.
  std::pair<Exit, std::string> runSaying(const Plan &plan, std::vector<std::string> arguments) {
    CaptureStderr();
    Exit exit = run(plan, folder, std::move(arguments));
    return {exit, GetCapturedStderr()};
  }
  Folder folder;
  bool taken = false;
};

plan::StepT &findAction(Plan &plan, const std::string &label) {
  auto &steps = plan.programs[0]->steps;
  return **std::find_if(steps.begin(), steps.end(), [&](const auto &step) { return step->label == label; });
}

void removeAction(Plan &plan, const std::string &label) {
  std::erase_if(plan.programs[0]->steps, [&](const auto &step) { return step->label == label; });
}

/// "loss" of every line of a log.
std::vector<std::string> lossesOf(const std::string &log) {
  std::vector<std::string> losses;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    size_t begin = line.find("\"loss\":") + 7;
    losses.push_back(line.substr(begin, line.find(',', begin) - begin));
  }
  return losses;
}

TEST_F(Program, LearnsTheSameBitsAtStages0And3) {
  for (int stage : {0, 3}) {
    std::string name = std::to_string(stage);
    ASSERT_EQ(
        run(makePlan(stage), folder, {"--steps", "12", "--log", folder.file(name), "--save", folder.file(name + ".w")}),
        Exit::Done);
  }
  auto losses = lossesOf(folder.read("0"));
  ASSERT_EQ(losses.size(), 12u);
  EXPECT_LT(std::stod(losses[11]), std::stod(losses[0]) * 0.9);
  EXPECT_EQ(losses, lossesOf(folder.read("3")));
  EXPECT_EQ(folder.read("0.w"), folder.read("3.w"));
  EXPECT_NE(takeStdout().find("step   12  loss "), std::string::npos);
}

TEST_F(Program, GoesOnFromSavedParameters) {
  ASSERT_EQ(run(makePlan(0), folder, {"--steps", "2", "--save", folder.file("two")}), Exit::Done);
  // One step at rate 0 from the file: the file comes back.
  ASSERT_EQ(run(makePlan(3), folder,
                {"--steps", "1", "--init", folder.file("two"), "--lr", "0", "--save", folder.file("again")}),
            Exit::Done);
  EXPECT_EQ(folder.read("two"), folder.read("again"));
}

TEST_F(Program, CheckChangesNoLossAndFindsAnOutOfBoundsWrite) {
  ASSERT_EQ(run(makePlan(3), folder, {"--steps", "3", "--log", folder.file("plain")}), Exit::Done);
  ASSERT_EQ(run(makePlan(3), folder, {"--steps", "3", "--log", folder.file("checked"), "--check"}), Exit::Done);
  EXPECT_EQ(lossesOf(folder.read("plain")), lossesOf(folder.read("checked")));
  Plan plan = makePlan(0);
  plan::CallT &update = *plan.functions[3]->calls[0];
  setResultBytes(plan, update, 256); // the kernel writes 512
  EXPECT_NE(runSaying(plan, {"--check"}).second.find("call 'update' changed its operand 0, which it may only read"),
            std::string::npos);
  plan = makePlan(0);
  setResultBytes(plan, *plan.functions[1]->calls[0], 4); // the kernel writes 8
  auto [exit, text] = runSaying(plan, {"--check"});
  EXPECT_EQ(exit, Exit::RankFailed);
  EXPECT_NE(text.find("call 'squares' wrote at byte 1732 of the arena, outside its operands"), std::string::npos)
      << text;
}

TEST_F(Program, CheckFindsAWriteFarFromTheOperandsWithinTheStep) {
  Plan plan = makePlan(0);
  plan.programs[0]->arena = 16384;
  plan.kernels[1]->code = strayCode;
  auto [exit, text] = runSaying(plan, {"--check"});
  EXPECT_EQ(exit, Exit::RankFailed);
  EXPECT_NE(text.find("a call of this step wrote at byte 9920 of the arena, far outside its operands"),
            std::string::npos)
      << text;
}

TEST_F(Program, UseAfterReleaseIsSeenByCheck) {
  Plan plan = makePlan(3);
  std::swap(plan.programs[0]->steps[4], plan.programs[0]->steps[6]); // release before the last gradient
  ASSERT_EQ(plan.programs[0]->steps[4]->label, "release w");
  EXPECT_EQ(runSaying(plan, {"--steps", "1"}).first, Exit::Done);
  EXPECT_EQ(runSaying(plan, {"--steps", "1", "--check"}).first, Exit::NonFinite);
}

TEST_F(Program, AFailedRankStopsTheOthersWithOneMessage) {
  auto begin = std::chrono::steady_clock::now();
  auto [exit, text] =
      runSaying(makePlan(3), {"--steps", "5", "--inject-fault", "1:3:gradient 1", "--save", folder.file("w")});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_EQ(exit, Exit::RankFailed);
  EXPECT_EQ(text, "error: rank 1, step 3, action 'gradient 1', tensor 'g': a fault was injected here\n");
  EXPECT_FALSE(std::filesystem::exists(folder.file("w")));
}

TEST_F(Program, TwoStagesLearnWhatOneLearns) {
  ASSERT_EQ(run(makePlan(0), folder, {"--steps", "5", "--log", folder.file("one"), "--save", folder.file("one.w")}),
            Exit::Done);
  ASSERT_EQ(run(makeStages(), folder,
                {"--steps", "5", "--log", folder.file("two"), "--save", folder.file("two.w"), "--stats",
                 folder.file("stats"), "--check"}),
            Exit::Done);
  EXPECT_EQ(lossesOf(folder.read("one")), lossesOf(folder.read("two")));
  EXPECT_EQ(folder.read("one.w"), folder.read("two.w"));
  std::string stats = folder.read("stats");
  EXPECT_NE(stats.find("\"pp transfer\""), std::string::npos) << stats;
  EXPECT_NE(stats.find("\"residual_slots of stage 1\""), std::string::npos) << stats;
}

// Whoever fails, the others wait for it: in a transfer, or in a collective behind one.
TEST_F(Program, ARankThatFailsInATransferStopsAllStages) {
  struct Case {
    const char *fault, *message;
  };
  for (Case each :
       {Case{"1:3:send 1", "error: rank 1, step 3, action 'send 1', tensor 'x': a fault was injected here\n"},
        Case{"2:3:receive 0", "error: rank 2, step 3, action 'receive 0', tensor 'x': a fault was injected here\n"},
        Case{"3:2:update", "error: rank 3, step 2, action 'update', tensor 'w': a fault was injected here\n"}}) {
    auto begin = std::chrono::steady_clock::now();
    auto [exit, text] = runSaying(makeStages(), {"--steps", "500", "--inject-fault", each.fault});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
    EXPECT_EQ(exit, Exit::RankFailed);
    EXPECT_EQ(text, each.message);
  }
  // A label of another stage is no action of this rank.
  EXPECT_NE(runSaying(makeStages(), {"--inject-fault", "0:1:update"}).second.find("there is no action 'update'"),
            std::string::npos);
}

TEST_F(Program, MemoryThatIsNotThereIsSaid) {
  Plan plan = makePlan(0);
  plan.programs[0]->arena = 1ull << 34;
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages; // of addresses in use
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit little{pages * getpagesize() + (1ull << 30), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &little), 0);
  auto [exit, text] = runSaying(plan, {});
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(exit, Exit::RankFailed);
  EXPECT_NE(text.find(", before the first step: cannot allocate an arena of 17179869184 bytes\n"), std::string::npos)
      << text;
}

TEST_F(Program, ThreadsThatCannotBeStartedAreSaid) {
  pthread_attr_t before, huge;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  pthread_attr_init(&huge);
  pthread_attr_setstacksize(&huge, 1ull << 48); // more than addresses
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  auto [exit, text] = runSaying(makePlan(0), {});
  pthread_setattr_default_np(&before);
  EXPECT_EQ(exit, Exit::RankFailed);
  EXPECT_NE(text.find("error: cannot start a thread for rank 0: "), std::string::npos) << text;
}

TEST_F(Program, FaultsMustNameARankAndAnAction) {
  auto [exit, text] = runSaying(makePlan(0), {"--inject-fault", "1:2:nothing"});
  EXPECT_EQ(exit, Exit::Rejected);
  EXPECT_NE(text.find("error: --inject-fault: there is no action 'nothing'; the first valid names are 'begin'"),
            std::string::npos)
      << text;
  EXPECT_EQ(runSaying(makePlan(0), {"--inject-fault", "2:1:begin"}).second,
            "error: --inject-fault: there is no rank 2; ranks are 0 to 1\n");
  EXPECT_EQ(runSaying(makePlan(0), {"--inject-fault", "1:9:begin"}).second,
            "error: --inject-fault: there is no step 9; the last step of this run is 3\n");
  EXPECT_EQ(runSaying(makePlan(0), {"--inject-fault", "1:begin"}).first, Exit::Usage);
}

TEST_F(Program, ANonFiniteLossEndsTheRunAndKeepsAGoodFile) {
  folder.write("w", "good");
  EXPECT_EQ(runSaying(makePlan(0), {"--lr", "1e30", "--save", folder.file("w")}).first, Exit::NonFinite);
  EXPECT_EQ(folder.read("w"), "good");
  ASSERT_EQ(run(makePlan(0), folder, {"--lr", "1e30", "--steps", "1", "--save", folder.file("one")}), Exit::Done);
  EXPECT_EQ(folder.read("w.step-2"), folder.read("one"));
}

TEST_F(Program, APlanThatMovesOtherBytesThanItSaysIsFound) {
  Plan plan = makePlan(3);
  plan.traffic[0]->all_gather += 4;
  auto [exit, text] = runSaying(plan, {"--steps", "2", "--stats", folder.file("stats")});
  EXPECT_EQ(exit, Exit::Internal);
  EXPECT_NE(text.find("error: the run differs from the plan: 1032 bytes planned for all_gather, 1024 used in 2 steps"),
            std::string::npos)
      << text;
  EXPECT_NE(folder.read("stats").find("\"arena\": {\n  \"planned\": 5120,\n  \"used\": 5120\n }"), std::string::npos)
      << folder.read("stats");
}

TEST_F(Program, TamperingWithEachKindOfMessageIsFound) {
  struct Tampering {
    const char *words;
    void (*change)(Plan &);
  };
  for (const Tampering &each : std::initializer_list<Tampering>{
           {"508 bytes planned for reduce_scatter, 512 used in 1 step",
            [](Plan &p) { p.traffic[0]->reduce_scatter -= 4; }},
           {"28 bytes planned for all_reduce, 24 used in 1 step", [](Plan &p) { p.traffic[0]->all_reduce += 4; }},
           {"512 bytes planned for all_gather, 0 used in 1 step", [](Plan &p) { removeAction(p, "gather w"); }},
           {"512 bytes planned for reduce_scatter, 0 used in 1 step", [](Plan &p) { removeAction(p, "reduce g"); }},
           {"512 bytes planned for all_gather, 256 used in 1 step",
            [](Plan &p) { findAction(p, "gather w").action.AsExchange()->chunk /= 2; }},
           {"24 bytes planned for all_reduce, 32 used in 1 step",
            [](Plan &p) { findAction(p, "reduce loss").action.AsExchange()->chunk *= 2; }}}) {
    Plan plan = makePlan(3);
    each.change(plan);
    auto [exit, text] = runSaying(plan, {"--steps", "1"});
    EXPECT_EQ(exit, Exit::Internal) << each.words;
    EXPECT_EQ(text, std::string("error: the run differs from the plan: ") + each.words + "\n");
  }
}

TEST_F(Program, CtrlCEndsAfterTheStepAndSaves) {
  EXPECT_EQ(
      runInterrupted(makePlan(0), folder, {"--steps", "9", "--log", folder.file("log"), "--save", folder.file("w")}),
      Exit::Done);
  EXPECT_EQ(lossesOf(folder.read("log")).size(), 1u);
  ASSERT_EQ(run(makePlan(0), folder, {"--steps", "1", "--save", folder.file("one")}), Exit::Done);
  EXPECT_EQ(folder.read("w"), folder.read("one"));
}

TEST_F(Program, ANonFiniteGradientNormEndsTheRunToo) {
  Plan plan = makePlan(0);
  *plan.programs[0]->states[2]->place = plan::Place(2048, 0, 9); // the norm, where nothing writes
  plan.programs[0]->buffers[9]->persistent = true;
  auto [exit, text] = runSaying(plan, {"--steps", "1", "--check"});
  EXPECT_EQ(exit, Exit::NonFinite);
  EXPECT_NE(text.find("step 1: the gradient norm is not finite: "), std::string::npos) << text;
}

TEST_F(Program, FilesThatCannotBeWrittenAreSaid) {
  for (const char *option : {"--log", "--save", "--profile", "--stats"}) {
    auto [exit, text] = runSaying(makePlan(0), {"--steps", "1", option, folder.file("no/such")});
    EXPECT_EQ(exit, Exit::Rejected) << option;
    EXPECT_NE(text.find("no/such: error: cannot be written"), std::string::npos) << option << text;
  }
  EXPECT_NE(runSaying(makePlan(0), {"--init", folder.file("absent")})
                .second.find("absent: error: cannot be read: No such file"),
            std::string::npos);
}

TEST_F(Program, ADiskThatIsFullIsSaidAtTheEnd) {
  for (const char *option : {"--log", "--profile", "--stats"}) {
    auto [exit, text] = runSaying(makePlan(0), {"--steps", "1", "--save", folder.file("w"), option, "/dev/full"});
    EXPECT_EQ(exit, Exit::Rejected) << option;
    EXPECT_TRUE(text.ends_with("/dev/full: error: cannot be written: No space left on device\n")) << text;
    EXPECT_TRUE(std::filesystem::remove(folder.file("w"))) << option; // what was learned is not lost
  }
}

TEST_F(Program, ALearningRateOfZeroCannotBeScaled) {
  Plan plan = makePlan(0);
  plan.groups[0]->lr = 0;
  EXPECT_EQ(runSaying(plan, {"--lr", "1"}).second,
            "error: --lr cannot scale the learning rates of the plan: the rate of the first group is 0\n");
}

TEST_F(Program, TracesNameTheActionsAndCallsOfEveryRank) {
  ASSERT_EQ(run(makePlan(3), folder, {"--steps", "2", "--profile", folder.file("trace")}), Exit::Done);
  std::string trace = folder.read("trace");
  for (const char *name :
       {"\"name\":\"rank 1\"", "\"name\":\"gather w\"", "\"name\":\"update\",\"cat\":\"call\",\"pid\":1"})
    EXPECT_NE(trace.find(name), std::string::npos) << name;
}

TEST_F(Program, TracesSayHowManyEventsDidNotFit) {
  TraceEvent room[1], event{plan::Purpose::train, 0, -1, plan::Stream::compute, 0, 1};
  std::atomic<uint64_t> added = 0;
  std::vector<RankTrace> traces{{room, 1, added}};
  traces[0].add(event), traces[0].add(event), traces[0].add(event);
  writeTrace(folder.file("trace"), makePlan(0), traces);
  EXPECT_NE(folder.read("trace").find("\"otherData\":{\"dropped_events\":2}"), std::string::npos);
}

TEST_F(Program, UsageErrorsAndHelp) {
  EXPECT_EQ(runSaying(makePlan(0), {"--stepz", "3"}).first, Exit::Usage);
  EXPECT_NE(runSaying(makePlan(0), {"--data", "x=a,b"}).second.find("'b' does not have the form"), std::string::npos);
  EXPECT_NE(runSaying(makePlan(0), {"--inject-fault", "x"}).second.find("'x' does not have the form"),
            std::string::npos);
  EXPECT_EQ(runSaying(makePlan(0), {"--help"}).first, Exit::Done);
  EXPECT_EQ(runSaying(makePlan(0), {"--version"}).first, Exit::Done);
  std::string text = takeStdout();
  EXPECT_NE(text.find("./train --steps 20"), std::string::npos);
  std::string about = "trains tiny on 2 ranks with 2 threads each, 8 samples per step (";
  EXPECT_NE(text.find(about + nameOf(findHostLevel()) + " processors, plan f, compiled by xlc"), std::string::npos)
      << text;
}

TEST_F(Program, DataIsRefusedWithFileRowAndColumn) {
  std::string ids;
  for (int64_t i = 0; i < (int64_t)rows; ++i) {
    int64_t id = i == 7 ? 10 : 0;
    ids.append((const char *)&id, 8);
  }
  folder.write("ids.npy", makeNpy("<i8", "(20,)", ids));
  auto [exit, text] = runSaying(makePlan(0), {"--steps", "1"});
  EXPECT_EQ(exit, Exit::Rejected);
  EXPECT_NE(text.find("ids.npy: error: row 7, column 0: id 10 is outside the table of input 'ids', which has 10 rows "
                      "(-100 is ignored)"),
            std::string::npos)
      << text;
}

TEST_F(Program, NumbersThatDoNotFitAreRefused) {
  Plan plan = makePlan(0);
  plan.inputs[1]->element = plan::Element::I32, plan.inputs[1]->has_limit = false;
  int64_t wide[rows] = {0, 1ll << 40};
  folder.write("ids.npy", makeNpy("<i8", "(20,)", std::string((const char *)wide, sizeof(wide))));
  EXPECT_NE(runSaying(plan, {}).second.find("row 1, column 0: 1099511627776 does not fit input 'ids', whose elements "
                                            "have 32 bits"),
            std::string::npos);
}

TEST_F(Program, AllThatIsWrongWithTheDataIsSaidAtOnce) {
  auto [exit, text] =
      runSaying(makePlan(0), {"--data", "x=" + folder.file("ids.npy") + ",y=z,ids=" + folder.file("x.npy")});
  EXPECT_EQ(exit, Exit::Rejected);
  EXPECT_NE(text.find("the model has no input 'y'; its inputs are x, ids"), std::string::npos) << text;
  EXPECT_NE(text.find("ids.npy: error: the shape is [20], but input 'x' needs [rows, 70]"), std::string::npos) << text;
  EXPECT_NE(text.find("x.npy: error: the shape is [20, 70], but input 'ids' needs [rows]"), std::string::npos) << text;
  EXPECT_EQ(runSaying(makePlan(0), {"--data", "x=" + folder.file("x.npy")}).second,
            "error: no data for input 'ids': add --data ids=FILE.npy\n");
}

TEST_F(Program, RowCountsMustAgreeAndFillAStep) {
  folder.write("ids.npy", makeNpy("<i8", "(2,)", std::string(16, '\0')));
  EXPECT_NE(runSaying(makePlan(0), {}).second.find("has 2 rows, but "), std::string::npos);
  folder.write("x.npy", makeNpy("<f4", "(2, 70)", std::string(560, '\0')));
  EXPECT_NE(runSaying(makePlan(0), {}).second.find("has 2 rows, but a step needs 8"), std::string::npos);
  folder.write("ids.npy", makeNpy("<f4", "(2,)", std::string(8, '\0')));
  EXPECT_NE(runSaying(makePlan(0), {}).second.find("error: the elements are floats, but input 'ids' needs integers"),
            std::string::npos);
}

TEST_F(Program, InitialFilesAreCheckedWhole) {
  Plan plan = makePlan(0);
  auto refused = [&](const std::string &header) {
    uint64_t length = header.size();
    folder.write("init", std::string((const char *)&length, 8) + header + std::string(280, '\0'));
    auto [exit, text] = runSaying(plan, {"--init", folder.file("init")});
    EXPECT_EQ(exit, Exit::Rejected);
    return text;
  };
  EXPECT_NE(refused(R"({"v":{"dtype":"F32","shape":[7,10],"data_offsets":[0,280]}})")
                .find("init: error: has no parameter 'w'"),
            std::string::npos);
  EXPECT_NE(refused(R"({"w":{"dtype":"F32","shape":[70],"data_offsets":[0,280]}})")
                .find("'w' has shape [70], but the program needs [7, 10]"),
            std::string::npos);
  EXPECT_NE(refused(R"({"w":{"dtype":"I32","shape":[7,10],"data_offsets":[0,280]}})")
                .find("'w' has type I32, but the program needs F32"),
            std::string::npos);
}

} // namespace
