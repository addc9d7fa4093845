// Checkpoints: what a manifest says, which rank writes what, what stays, and that a run goes on from one bit by bit.
#include "Checkpoint/Checkpoint.h"
#include "Checkpoint/Ownership.h"
#include "Checkpoint/Retention.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

namespace xlc::runtime {
namespace {

namespace fs = std::filesystem;

/// Of a matrix [4, 6] whose columns are cut in two, and a vector.
Manifest makeManifest() {
  Manifest manifest;
  manifest.progress = {1000, 998, 64000}, manifest.seed = 7;
  manifest.lossScale = {32768, 12, 1, 2, 0};
  manifest.optimizer = "adamw", manifest.states = {"m", "v"}, manifest.schedule = "constant";
  manifest.data = {300, {{"train.bin", 1000, "0123456789abcdef"}}, true, false, 5};
  manifest.madeBy = {"0.1.0", "dp 2, pp 1, tp 2, shards 2", "bf16", "cpu"};
  manifest.files = {{"parameters-00000.safetensors", 900, "00000000000000aa"},
                    {"parameters-00001.safetensors", 900, "00000000000000bb"}};
  manifest.tensors = {{"w", "parameter", "F32", {4, 6}, {1, 1, 2}, {{0, {0, 0, 12}}, {1, {1, 0, 5}}, {0, {1, 5, 12}}}},
                      {"w", "m", "F32", {4, 6}, {}, {{1, {0, 0, 24}}}},
                      {"b", "parameter", "BF16", {6}, {}, {{0, {0, 0, 6}}}}};
  manifest.model = fingerprintOf(manifest.tensors);
  return manifest;
}

std::string complaintOf(const Manifest &manifest) {
  std::string complaint;
  readManifest(writeManifest(manifest), complaint);
  return complaint;
}

TEST(Manifest, IsReadAsItWasWritten) {
  Manifest manifest = makeManifest();
  std::string complaint, text = writeManifest(manifest);
  Manifest read = readManifest(text, complaint);
  EXPECT_EQ(complaint, "");
  EXPECT_EQ(read.progress, manifest.progress);
  EXPECT_EQ(read.lossScale, manifest.lossScale);
  EXPECT_EQ(read.data, manifest.data);
  EXPECT_EQ(read.states, manifest.states);
  EXPECT_EQ(read.madeBy.precision, "bf16");
  ASSERT_EQ(read.tensors.size(), 3u);
  EXPECT_EQ(read.tensors[0].cut, (TensorCut{1, 1, 2}));
  EXPECT_EQ(read.tensors[0].pieces[2].range, (PieceRange{1, 5, 12}));
  EXPECT_EQ(writeManifest(read), text);
}

TEST(Manifest, OneFlippedBitAnywhereIsFound) {
  std::string text = writeManifest(makeManifest());
  for (size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text, complaint;
    damaged[at] ^= 1;
    readManifest(damaged, complaint);
    EXPECT_NE(complaint, "") << at;
  }
}

TEST(Manifest, PiecesTileTheirTensor) {
  auto complaintWith = [](auto change) {
    Manifest manifest = makeManifest();
    change(manifest.tensors[0].pieces);
    return complaintOf(manifest);
  };
  EXPECT_EQ(complaintWith([](auto &pieces) { pieces.erase(pieces.begin() + 1); }),
            "'w' lacks elements 0 to 5 of piece 1");
  EXPECT_EQ(complaintWith([](auto &pieces) { pieces.pop_back(); }), "'w' lacks elements 5 to 12 of piece 1");
  EXPECT_EQ(complaintWith([](auto &pieces) { pieces.erase(pieces.begin(), pieces.begin() + 1); }),
            "'w' lacks elements 0 to 12 of piece 0");
  EXPECT_EQ(complaintWith([](auto &pieces) { pieces[2].range.begin = 4; }), "'w' has elements 4 to 5 of piece 1 twice");
  EXPECT_EQ(complaintWith([](auto &pieces) { pieces[1].file = 2; }), "'w' has a piece in file 2, there are 2");
  EXPECT_EQ(complaintWith([](auto &pieces) { pieces[2].range.end = UINT64_MAX; }),
            "'w' has a piece 1 of elements 5 to 18446744073709551615, there are 2 pieces of 12");
  EXPECT_EQ(complaintWith([](auto &pieces) { pieces.clear(); }), "'w' lacks elements 0 to 12 of piece 0");
}

TEST(Manifest, WhatAStrangerWroteIsRefused) {
  auto complaintWith = [](auto change) {
    Manifest manifest = makeManifest();
    change(manifest);
    manifest.model = fingerprintOf(manifest.tensors);
    return complaintOf(manifest);
  };
  EXPECT_EQ(complaintWith([](Manifest &m) { m.files[0].name = "../parameters-00000.safetensors"; }),
            "'../parameters-00000.safetensors' is no name of a file of a checkpoint");
  EXPECT_EQ(complaintWith([](Manifest &m) { m.files[1].name = m.files[0].name; }),
            "file 'parameters-00000.safetensors' is there twice");
  EXPECT_EQ(complaintWith([](Manifest &m) { m.tensors[2].name = "w"; }), "tensor 'w' is there twice");
  EXPECT_EQ(complaintWith([](Manifest &m) { m.tensors[0].shape = {UINT64_MAX, UINT64_MAX}; }),
            "'w' has a shape, a cut or a type that no tensor has");
  EXPECT_EQ(complaintWith([](Manifest &m) { m.tensors[0].cut.parts = 1ull << 40; }),
            "'w' has a shape, a cut or a type that no tensor has");
  EXPECT_EQ(complaintWith([](Manifest &m) { m.tensors[0].dtype = "F31"; }),
            "'w' has a shape, a cut or a type that no tensor has");
  EXPECT_EQ(complaintWith([](Manifest &m) { m.lossScale->factor = -1; }),
            "'loss_scale.factor' is not a number above 0");
  std::string complaint;
  readManifest("{}", complaint);
  EXPECT_EQ(complaint, "it has no checksum of its own");
}

StepFolder folderAt(uint64_t step, bool hasManifest = true) { return {step, std::to_string(step), hasManifest, false}; }

std::vector<uint64_t> stepsOf(const std::vector<StepFolder> &folders) {
  std::vector<uint64_t> steps;
  for (const StepFolder &folder : folders)
    steps.push_back(folder.step);
  return steps;
}

TEST(Retention, KeepsTheNewestAndMultiples) {
  std::vector<StepFolder> folders;
  for (uint64_t step = 50; step > 0; step -= 5)
    folders.push_back(folderAt(step));
  EXPECT_EQ(stepsOf(findOutdated(folders, {2, 10})), (std::vector<uint64_t>{5, 15, 25, 35}));
  EXPECT_EQ(stepsOf(findOutdated(folders, {0, 0})), (std::vector<uint64_t>{}));
  EXPECT_EQ(stepsOf(findOutdated({folderAt(9), folderAt(7, false), folderAt(5)}, {1, 0})),
            (std::vector<uint64_t>{5, 7}));
}

/// A run of the small program with checkpoints.
class Resume : public testing::TestWithParam<int> {
protected:
  Resume() : plan(tiny::makePlan(GetParam())) {
    tiny::writeData(folder);
    plan.checkpoints = std::make_unique<plan::CheckpointsT>();
    plan.checkpoints->dir = folder.file("ck");
    plan.optimizer = "sgd";
    testing::internal::CaptureStdout();
  }
  ~Resume() override { testing::internal::GetCapturedStdout(); }
  Exit run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--timeout", "5"});
    return tiny::run(plan, folder, std::move(arguments));
  }
  std::string saved(const std::string &name) { return folder.file(name); }
  std::string message() { return testing::internal::GetCapturedStderr(); }

  tiny::Folder folder;
  Plan plan;
};

TEST_P(Resume, GoesOnBitByBit) {
  ASSERT_EQ(run({"--steps", "6", "--save", saved("whole")}), Exit::Done);
  plan.checkpoints->dir = folder.file("parts");
  ASSERT_EQ(run({"--steps", "3", "--log", saved("log")}), Exit::Done);
  testing::internal::CaptureStderr();
  ASSERT_EQ(run({"--steps", "6", "--resume", "auto", "--save", saved("resumed"), "--log", saved("log")}), Exit::Done);
  EXPECT_NE(message().find("step-00000003: step 3, "), std::string::npos);
  EXPECT_EQ(folder.read("resumed"), folder.read("whole"));
  std::string log = folder.read("log");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 6);
  EXPECT_TRUE(fs::exists(folder.file("parts/step-00000006/checkpoint.json")));
}

TEST_P(Resume, LinesOfStepsThatAreDoneAgainAreReplaced) {
  plan.checkpoints->every_steps = 2;
  ASSERT_EQ(run({"--steps", "4", "--log", saved("log")}), Exit::Done);
  std::string log = folder.read("log");
  fs::remove_all(folder.file("ck/step-00000004"));
  folder.write("log", log + "{\"step\":5,\"lo"); // torn
  ASSERT_EQ(run({"--steps", "5", "--resume", "auto", "--log", saved("log")}), Exit::Done);
  std::string again = folder.read("log");
  EXPECT_EQ(std::count(again.begin(), again.end(), '\n'), 5);
  EXPECT_EQ(again.substr(0, again.find("\n{\"step\":3")), log.substr(0, log.find("\n{\"step\":3")));
}

TEST_P(Resume, ARunThatHasDoneItsStepsSavesAndEnds) {
  ASSERT_EQ(run({"--steps", "3", "--save", saved("first")}), Exit::Done);
  ASSERT_EQ(run({"--steps", "3", "--resume", "auto", "--save", saved("second")}), Exit::Done);
  EXPECT_EQ(folder.read("first"), folder.read("second"));
}

TEST_P(Resume, AnotherLayoutHasTheSameElements) {
  ASSERT_EQ(run({"--steps", "3", "--save", saved("first")}), Exit::Done);
  plan = tiny::makePlan(GetParam() == 0 ? 3 : 0);
  plan.optimizer = "sgd";
  ASSERT_EQ(run({"--steps", "3", "--resume", folder.file("ck/step-00000003"), "--save", saved("second")}), Exit::Done);
  EXPECT_EQ(folder.read("first"), folder.read("second"));
}

TEST_P(Resume, ADamagedCheckpointIsPassedOver) {
  plan.checkpoints->every_steps = 1;
  ASSERT_EQ(run({"--steps", "2", "--save", saved("two")}), Exit::Done);
  ASSERT_EQ(run({"--steps", "3", "--resume", "auto", "--save", saved("three")}), Exit::Done);
  for (const auto &file : fs::directory_iterator(folder.file("ck/step-00000003")))
    if (file.path().extension() == ".safetensors") {
      std::string name = fs::relative(file.path(), folder.file("")).string(), bytes = folder.read(name);
      bytes.back() ^= 1;
      folder.write(name, bytes);
    }
  testing::internal::CaptureStderr();
  ASSERT_EQ(run({"--steps", "3", "--resume", "auto", "--save", saved("again")}), Exit::Done);
  std::string said = message();
  EXPECT_NE(said.find("'w' is damaged: elements"), std::string::npos) << said;
  EXPECT_NE(said.find("resumes " + folder.file("ck/step-00000002")), std::string::npos) << said;
  EXPECT_EQ(folder.read("again"), folder.read("three"));
  EXPECT_EQ(run({"--steps", "4", "--resume", folder.file("ck/step-00000007")}), Exit::NoCheckpoint);
}

TEST_P(Resume, WhatDoesNotFitIsRefused) {
  ASSERT_EQ(run({"--steps", "1"}), Exit::Done);
  plan.optimizer = "adam";
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--steps", "2", "--resume", "auto"}), Exit::Rejected);
  std::string said = message();
  EXPECT_NE(said.find("it is of the optimizer sgd, the program's is adam"), std::string::npos) << said;
  plan.optimizer = "sgd", plan.parameters[0]->name = "v";
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--steps", "2", "--resume", "auto"}), Exit::Rejected);
  said = message();
  EXPECT_NE(said.find("it has no parameter 'v'; it has a parameter 'w', which the program has not"), std::string::npos)
      << said;
}

TEST_P(Resume, AFolderIsOfOneRun) {
  ASSERT_EQ(run({"--steps", "1"}), Exit::Done);
  fs::remove_all(folder.file("ck"));
  folder.write("ck", "a file");
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--steps", "1"}), Exit::Rejected);
  EXPECT_NE(message().find("checkpoints cannot be written there: Not a directory"), std::string::npos);
}

TEST_P(Resume, OtherDataAreRefusedUnlessTheyHaveChanged) {
  plan.dataset = std::make_unique<plan::DatasetT>();
  plan.dataset->ahead = 2304;
  ASSERT_EQ(run({"--steps", "1"}), Exit::Done);
  auto refusal = [&](std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.end(), {"--steps", "2", "--resume", "auto"});
    testing::internal::CaptureStderr();
    Exit exit = run(std::move(arguments));
    return message() + (exit == Exit::Rejected ? "refused" : "");
  };
  plan.dataset->shuffle = true;
  EXPECT_NE(refusal().find("'data.shuffle', 'data.seed' or 'data.end' is another; --data-changed goes on at the same "
                           "sample all the same\nrefused"),
            std::string::npos);
  plan.dataset->shuffle = false;
  std::string x = folder.read("x.npy"), ids = folder.read("ids.npy");
  folder.write("x.npy", x.substr(0, x.size() - 1) + char(x.back() ^ 1));
  EXPECT_NE(refusal().find("bytes, or begins or ends otherwise"), std::string::npos);
  EXPECT_NE(refusal({"--seed", "77"}).find("error: --seed is 77, and the run of "), std::string::npos);
  EXPECT_EQ(refusal({"--data-changed"}).find("refused"), std::string::npos);
}

TEST_P(Resume, WhatCannotBeWrittenCostsAMessage) {
  plan.checkpoints->every_steps = 1, plan.checkpoints->keep = 0;
  fs::create_directories(folder.file("ck"));
  folder.write("ck/step-00000002", "a file in the place of a folder");
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--steps", "3"}), Exit::Done);
  std::string said = message();
  EXPECT_NE(said.find("warning: there is no checkpoint of step 2; training goes on"), std::string::npos) << said;
  EXPECT_TRUE(fs::exists(folder.file("ck/step-00000003/checkpoint.json")));
  plan.checkpoints->stops = true;
  folder.write("ck/step-00000004", "a file in the place of a folder");
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--steps", "6", "--resume", folder.file("ck/step-00000003")}), Exit::Rejected);
  said = message();
  EXPECT_NE(said.find("warning: there is no checkpoint of step 4; the run ends"), std::string::npos) << said;
}

TEST_P(Resume, AsksForAFolder) {
  plan.checkpoints = nullptr;
  for (const char *option : {"--checkpoint-now", "--resume=auto"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run({"--steps", "1", option}), Exit::Rejected);
    EXPECT_NE(message().find("'checkpoint: {dir: ...}' in the spec names it, or --checkpoint-dir"), std::string::npos);
  }
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--steps", "1", "--checkpoint-dir", folder.file("no/such/parent")}), Exit::Rejected);
  EXPECT_NE(message().find("no folder for checkpoints can be made there: No such file or directory"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Stages, Resume, testing::Values(0, 3),
                         [](const auto &info) { return "Stage" + std::to_string(info.param); });

TEST(Ownership, EveryElementIsWrittenOnce) {
  for (int stage : {0, 3}) {
    Plan plan = tiny::makePlan(stage);
    std::vector<int> writers(tiny::elements);
    for (int rank = 0; rank < (int)tiny::ranks; ++rank)
      forEachOwnedPart(plan, rank, [&](const OwnedPart &part) {
        for (uint64_t i = part.range.begin; i < part.range.end; ++i)
          ++writers[i];
      });
    EXPECT_EQ(std::accumulate(writers.begin(), writers.end(), 0), (int)tiny::elements) << stage;
    EXPECT_EQ(*std::ranges::max_element(writers), 1) << stage;
  }
}

} // namespace
} // namespace xlc::runtime
