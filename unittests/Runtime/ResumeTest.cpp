// A run resumes from a checkpoint bit by bit, on its layout and on another. Damage and mismatches are reported.
#include "Checkpoint/Manifest.h"
#include "Files/Safetensors.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace xlc::runtime {
namespace {

namespace fs = std::filesystem;

/// A run of the small program with checkpoints.
class Resume : public testing::TestWithParam<int> {
protected:
  Resume() : plan(tiny::makePlan(GetParam())) {
    tiny::writeData(folder);
    plan.checkpoints = std::make_unique<plan::CheckpointsT>();
    plan.checkpoints->dir = folder.file("ck");
    plan.checkpoints->background = GetParam() == 0 ? plan::Background::Direct : plan::Background::Copy;
    plan.optimizer = "sgd";
    testing::internal::CaptureStdout();
  }
  ~Resume() override {
    if (std::string text = testing::internal::GetCapturedStdout(); HasFailure())
      std::cout << text; // holds gtest's own words as well
  }
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

TEST_P(Resume, ReplicasAreCompared) {
  plan.checkpoints->every_steps = 2, plan.checkpoints->compare = true;
  bool isShared = GetParam() == 0;
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--steps", "6", "--inject-fault", "1:3:w=flip"}), isShared ? Exit::RankFailed : Exit::Done);
  EXPECT_EQ(message().find("ranks 0, 1 hold different elements") != std::string::npos, isShared);
  EXPECT_EQ(fs::exists(folder.file("ck/step-00000004")), !isShared);
}

TEST_P(Resume, WhatDoesNotFitIsRefused) {
  ASSERT_EQ(run({"--steps", "1"}), Exit::Done);
  plan.optimizer = "adam";
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--steps", "2", "--resume", "auto"}), Exit::Rejected);
  std::string said = message();
  EXPECT_NE(said.find("its optimizer is sgd, but the program's optimizer is adam"), std::string::npos) << said;
  plan.optimizer = "sgd", plan.parameters[0]->name = "v";
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--steps", "2", "--resume", "auto"}), Exit::Rejected);
  said = message();
  EXPECT_NE(said.find("it has no parameter 'v'; it has a parameter 'w', but the program does not"), std::string::npos)
      << said;
}

TEST_P(Resume, AFolderIsOfOneRun) {
  ASSERT_EQ(run({"--steps", "1"}), Exit::Done);
  fs::remove_all(folder.file("ck"));
  folder.write("ck", "a file");
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--steps", "1"}), Exit::Rejected);
  EXPECT_NE(message().find("cannot write checkpoints to this folder: Not a directory"), std::string::npos);
}

TEST_P(Resume, OtherDataAreRefusedUnlessTheyHaveChanged) {
  ASSERT_EQ(run({"--steps", "1"}), Exit::Done);
  auto refusal = [&](std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.end(), {"--steps", "2", "--resume", "auto"});
    testing::internal::CaptureStderr();
    Exit exit = run(std::move(arguments));
    return message() + (exit == Exit::Rejected ? "refused" : "");
  };
  plan.dataset->shuffle = true;
  EXPECT_NE(refusal().find("'data.shuffle', 'data.seed' or 'data.end' differs from the recorded value; --data-changed "
                           "continues at the same "
                           "sample anyway\nrefused"),
            std::string::npos);
  plan.dataset->shuffle = false;
  std::string x = folder.read("x.npy"), ids = folder.read("ids.npy");
  folder.write("x.npy", x.substr(0, x.size() - 1) + char(x.back() ^ 1));
  EXPECT_NE(refusal().find("bytes) in name, size, or content at the beginning or end"), std::string::npos);
  EXPECT_NE(refusal({"--seed", "77"}).find("error: --seed is 77, but the run that wrote "), std::string::npos);
  EXPECT_EQ(refusal({"--data-changed"}).find("refused"), std::string::npos);
}

TEST_P(Resume, WhatCannotBeWrittenCostsAMessage) {
  plan.checkpoints->every_steps = 1, plan.checkpoints->keep = 0;
  fs::create_directories(folder.file("ck"));
  folder.write("ck/step-00000002", "a file in the place of a folder");
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--steps", "3"}), Exit::Done);
  std::string said = message();
  EXPECT_NE(said.find("warning: the checkpoint of step 2 was not written; training continues"), std::string::npos)
      << said;
  EXPECT_TRUE(fs::exists(folder.file("ck/step-00000003/checkpoint.json")));
  plan.checkpoints->stops = true;
  folder.write("ck/step-00000004", "a file in the place of a folder");
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--steps", "6", "--resume", folder.file("ck/step-00000003")}), Exit::Rejected);
  said = message();
  EXPECT_NE(said.find("warning: the checkpoint of step 4 was not written; the run ends"), std::string::npos) << said;
}

TEST_P(Resume, AsksForAFolder) {
  plan.checkpoints = nullptr;
  for (const char *option : {"--checkpoint-now", "--resume=auto"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run({"--steps", "1", option}), Exit::Rejected);
    EXPECT_NE(message().find("add 'checkpoint: {dir: ...}' to the spec, or give --checkpoint-dir"), std::string::npos);
  }
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--steps", "1", "--checkpoint-dir", folder.file("no/such/parent")}), Exit::Rejected);
  EXPECT_NE(message().find("cannot create the folder of checkpoints: No such file or directory"), std::string::npos);
}

/// A checkpoint of one step, whose manifest and files a test changes; a manifest that is written anew has its checksum.
class Changed : public Resume {
protected:
  void SetUp() override {
    ASSERT_EQ(run({"--steps", "1"}), Exit::Done);
    std::string complaint;
    manifest = readManifest(folder.read("ck/step-00000001/checkpoint.json"), complaint);
    ASSERT_EQ(complaint, "");
  }
  std::string file(size_t number) { return "ck/step-00000001/" + manifest.files[number].name; }
  /// What is said when it is resumed, and the exit code.
  std::string resume(Exit expected, const std::string &what = "auto") {
    testing::internal::CaptureStderr();
    Exit exit = run({"--steps", "2", "--resume", what});
    std::string said = message();
    EXPECT_EQ(exit, expected) << said;
    return said;
  }
  template <class Change> std::string resumeWith(Change change, Exit expected = Exit::NoCheckpoint) {
    Manifest changed = manifest;
    change(changed);
    changed.model = fingerprintOf(changed.tensors);
    folder.write("ck/step-00000001/checkpoint.json", writeManifest(changed));
    return resume(expected);
  }
  Manifest manifest;
};

#define EXPECT_SAYS(said, words) EXPECT_NE((said).find(words), std::string::npos) << (said)

TEST_P(Changed, FilesAreThoseOfTheManifest) {
  EXPECT_SAYS(resumeWith([](Manifest &m) { ++m.files[0].bytes; }), "is damaged: it has ");
  EXPECT_SAYS(resumeWith([](Manifest &m) { m.files[0].header[0] ^= 1; }), "is damaged: its header has checksum ");
  EXPECT_SAYS(resumeWith([](Manifest &m) { m.tensors[0].kind = "m", m.tensors[0].name = "w"; }),
              "'m/w' is missing, but checkpoint.json lists it");
  EXPECT_SAYS(resumeWith([](Manifest &m) { m.tensors[0].dtype = "BF16"; }),
              "bytes of type F32, but checkpoint.json records ");
  EXPECT_SAYS(resumeWith([](Manifest &m) { m.tensors[0].shape = {tiny::elements}; }),
              "is a different piece of the tensor than checkpoint.json records");
  folder.write("ck/step-00000001/checkpoint.json", "{\"checksum\":\"0123456789abcdef\"}");
  EXPECT_SAYS(resume(Exit::NoCheckpoint), "is damaged: it has checksum ");
  fs::resize_file(folder.file("ck/step-00000001/checkpoint.json"), 25 << 20);
  EXPECT_SAYS(resume(Exit::NoCheckpoint), "bytes, but a manifest has at most ");
}

TEST_P(Changed, EntriesHaveChecksumsOfTheirBlocks) {
  SafetensorsReader whole(folder.file(file(0)));
  const auto &[name, tensor] = *whole.tensors().begin();
  TensorForm form{name, tensor.shape, tensor.dtype};
  if (Seal seal = *whole.seal(); seal.pieces.contains(name))
    form.piece = seal.pieces.at(name);
  std::vector<char> bytes(tensor.bytes);
  whole.read(tensor.begin, tensor.bytes, bytes.data());
  OutputFile without(folder.file(file(0)));
  SafetensorsWriter writer(without, {form});
  writer.write(bytes.data(), bytes.size());
  writer.finish();
  without.publish();
  SafetensorsReader changed(folder.file(file(0)));
  EXPECT_SAYS(
      resumeWith([&](Manifest &m) { m.files[0].bytes = changed.size(), m.files[0].header = changed.headerDigits(); }),
      "has no block checksums");
}

TEST_P(Changed, AFileIsWhole) {
  std::string bytes = folder.read(file(0));
  for (size_t size : {(size_t)0, (size_t)7, bytes.size() - 1}) {
    folder.write(file(0), bytes.substr(0, size));
    EXPECT_SAYS(resume(Exit::NoCheckpoint), "no checkpoint can be resumed");
  }
  folder.write(file(0), bytes + " ");
  EXPECT_SAYS(resume(Exit::NoCheckpoint), "error: ");
  fs::remove(folder.file(file(0)));
  EXPECT_SAYS(resume(Exit::NoCheckpoint), "cannot be read: No such file or directory");
}

TEST_P(Changed, ParametersAloneAreOfTheSameModel) {
  std::string from = folder.file("ck/step-00000001");
  EXPECT_EQ(run({"--steps", "1", "--init", from}), Exit::Done);
  plan.parameters[0]->name = "v";
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--steps", "1", "--init", from}), Exit::Rejected);
  EXPECT_SAYS(message(), "belongs to a different model: it has no parameter 'v'");
  plan.parameters[0]->name = "w", plan.optimizer = "adam";
  EXPECT_SAYS(resume(Exit::Rejected), "use --init to start from its parameters only");
}

TEST_P(Changed, DataAreThoseOfTheRun) {
  EXPECT_SAYS(resumeWith([](Manifest &m) { ++m.data->rows; }, Exit::Rejected), "rows, but the checkpoint records ");
  EXPECT_SAYS(resumeWith([](Manifest &m) { m.data->files.pop_back(); }, Exit::Rejected),
              "files, but the checkpoint records ");
}

TEST_P(Changed, ANewerOneThatIsDamagedDrawsByTheSameSeed) {
  ASSERT_EQ(run({"--steps", "2", "--resume", "auto"}), Exit::Done);
  std::string name = "ck/step-00000002/" + manifest.files[0].name, bytes = folder.read(name);
  bytes.back() ^= 1;
  folder.write(name, bytes);
  EXPECT_SAYS(resumeWith([](Manifest &m) { m.seed = 5; }, Exit::Rejected),
              "has seed 5, but the newer checkpoint, which is damaged, has seed ");
}

TEST_P(Changed, WhatIsOutOfDateAndStaysIsSaid) {
  fs::create_directories(folder.file("ck/step-00000000/a/folder"));
  std::string said = resume(Exit::Done);
  EXPECT_SAYS(said, "warning: an outdated checkpoint was not removed");
  EXPECT_SAYS(said, "samples (written by xlc test");
}

INSTANTIATE_TEST_SUITE_P(Stages, Changed, testing::Values(0, 3),
                         [](const auto &info) { return "Stage" + std::to_string(info.param); });
INSTANTIATE_TEST_SUITE_P(Stages, Resume, testing::Values(0, 3),
                         [](const auto &info) { return "Stage" + std::to_string(info.param); });

} // namespace
} // namespace xlc::runtime
