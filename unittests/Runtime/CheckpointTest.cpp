// Checkpoints: the contents of manifests, the assignment of parts to ranks, and retention.
#include "Checkpoint/Manifest.h"
#include "Checkpoint/Replicas.h"
#include "Checkpoint/Retention.h"
#include "Checkpoint/Writer.h"
#include "Failure.h"
#include "Files/Checksum.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <numeric>

namespace xlc::runtime {
namespace {

/// Of a matrix [4, 6] whose columns are cut in two, and a vector.
Manifest makeManifest() {
  Manifest manifest;
  manifest.progress = {1000, 998, 64000}, manifest.seed = 7;
  manifest.lossScale = {32768, 12, 1, 2, 0};
  manifest.optimizer = "adamw", manifest.states = {"m", "v"}, manifest.schedule = "constant";
  manifest.data = SavedData{300, {{"train.bin", 1000, "0123456789abcdef"}}, true, false, 5};
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
  EXPECT_EQ(complaintWith([](auto &pieces) { pieces[1].file = 2; }),
            "'w' has a piece with file index 2, but the manifest lists 2 files");
  EXPECT_EQ(complaintWith([](auto &pieces) { pieces[2].range.end = UINT64_MAX; }),
            "'w' has piece 1 with elements 5 to 18446744073709551615, but is cut into 2 pieces of 12 elements");
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
            "'../parameters-00000.safetensors' is not the name of a checkpoint file");
  EXPECT_EQ(complaintWith([](Manifest &m) { m.files[1].name = m.files[0].name; }),
            "file 'parameters-00000.safetensors' occurs twice");
  EXPECT_EQ(complaintWith([](Manifest &m) { m.tensors[2].name = "w"; }), "tensor 'w' occurs twice");
  EXPECT_EQ(complaintWith([](Manifest &m) { m.tensors[0].shape = {UINT64_MAX, UINT64_MAX}; }),
            "'w' has an invalid shape, cut or type");
  EXPECT_EQ(complaintWith([](Manifest &m) { m.tensors[0].cut.parts = 1ull << 40; }),
            "'w' has an invalid shape, cut or type");
  EXPECT_EQ(complaintWith([](Manifest &m) { m.tensors[0].dtype = "F31"; }), "'w' has an invalid shape, cut or type");
  EXPECT_EQ(complaintWith([](Manifest &m) { m.lossScale->factor = -1; }), "'loss_scale.factor' must be a number > 0");
  std::string complaint;
  readManifest("{}", complaint);
  EXPECT_EQ(complaint, "it does not record its own checksum");
}

StepFolder folderAt(uint64_t step, bool hasManifest = true) { return {step, std::to_string(step), hasManifest, false}; }

std::vector<uint64_t> stepsOf(const std::vector<StepFolder> &folders) {
  std::vector<uint64_t> steps;
  steps.reserve(folders.size());
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

/// The text with the digits of its own checksum.
std::string sealed(std::string text) {
  constexpr std::string_view key = "\"checksum\":\"";
  size_t digits = text.find(key) + key.size();
  text.replace(digits, 16, "0000000000000000");
  Checksum checksum;
  checksum.add(text.data(), text.size());
  return text.replace(digits, 16, checksum.digits());
}

TEST(Manifest, MembersHaveTheirTypes) {
  const std::string whole = writeManifest(makeManifest());
  auto complaintWith = [&](const std::string &from, const std::string &to) {
    std::string text = whole, complaint;
    text.replace(text.find(from), from.size(), to);
    readManifest(sealed(std::move(text)), complaint);
    return complaint;
  };
  EXPECT_EQ(complaintWith("\"xlc_checkpoint\":1", "\"xlc_checkpoint\":2"),
            "it has version 2, but this program reads version 1");
  EXPECT_EQ(complaintWith("\"seed\":7", "\"seed\":-7"), "'random.seed' is not an integer >= 0");
  EXPECT_EQ(complaintWith("\"seed\":7", "\"sead\":7"), "'random.seed' is missing");
  EXPECT_EQ(complaintWith("\"type\":\"adamw\"", "\"type\":5"), "'optimizer.type' is not a string");
  EXPECT_EQ(complaintWith("\"shuffle\":true", "\"shuffle\":1"), "'data.shuffle' is neither true nor false");
  EXPECT_EQ(complaintWith("\"factor\":32768.0", "\"factor\":\"x\""), "'loss_scale.factor' is not a number");
  EXPECT_EQ(complaintWith("\"states\":[\"m\",\"v\"]", "\"states\":{}"), "'optimizer.states' is not a list");
  EXPECT_EQ(complaintWith("\"random\":{\"seed\":7}", "\"random\":7"), "'random' is not an object");
  EXPECT_EQ(complaintWith("[0,0,0,12]", "[0,0,0]"), "a piece must be four integers >= 0: file, index, begin, end");
  EXPECT_EQ(complaintWith("\"cut\":[1,1,2]", "\"cut\":[1,1]"),
            "'tensors[0].cut' must be three integers >= 0: dim, outer, parts");
  EXPECT_NE(complaintWith("\"states\":", "\"states\"").find("it is not valid JSON: "), std::string::npos);
  EXPECT_EQ(complaintWith("\"schedule\":\"constant\"", "\"schedule\":[[[[[[[[[[[[0]]]]]]]]]]]]"),
            "it has unexpected nested lists");
  std::string many = "[";
  for (int i = 0; i < (1 << 20); ++i)
    many += "0,";
  EXPECT_EQ(complaintWith("\"schedule\":\"constant\"", "\"schedule\":" + many + "0]"),
            "it has too many values for a manifest");
}

TEST(Ownership, EveryElementIsWrittenOnce) {
  for (int stage : {0, 3}) {
    Plan plan = tiny::makePlan(stage);
    std::vector<int> writers(tiny::elements);
    for (int rank = 0; rank < (int)tiny::ranks; ++rank)
      forEachOwnedPart(plan, rank, [&](const HeldPart &part) {
        for (uint64_t i = part.range.begin; i < part.range.end; ++i)
          ++writers[i];
      });
    EXPECT_EQ(std::accumulate(writers.begin(), writers.end(), 0), (int)tiny::elements) << stage;
    EXPECT_EQ(*std::ranges::max_element(writers), 1) << stage;
  }
}

TEST(Replicas, TheFilesOfAllRanksAreReadOnce) {
  Plan plan = tiny::makePlan(0);
  tiny::Folder folder;
  std::string dir = folder.file("");
  for (int rank = 0; rank < (int)tiny::ranks; ++rank)
    writeShared(dir, rank, std::string(16, '7'));
  EXPECT_EQ(compareShared(plan, dir), "");
  EXPECT_TRUE(std::filesystem::is_empty(dir));
  auto complaint = [&] {
    try {
      compareShared(plan, dir);
    } catch (const Rejected &problem) {
      return std::string(problem.what());
    }
    return std::string();
  };
  writeShared(dir, 0, std::string(15, '7'));
  EXPECT_NE(complaint().find("compared-00000: error: has 15 bytes, but must have 16"), std::string::npos);
  writeShared(dir, 0, std::string(16, '7'));
  EXPECT_NE(complaint().find("compared-00001: error: cannot be read"), std::string::npos);
}

TEST(Writer, TakesWhatThePlanSays) {
  for (int stage : {0, 3}) {
    Plan plan = tiny::makePlan(stage);
    tiny::Folder folder;
    auto read = [](uint64_t, uint64_t bytes, char *room) { return (const char *)std::memset(room, 0, bytes); };
    for (int rank = 0; rank < (int)tiny::ranks; ++rank) {
      WrittenBytes bytes = measureFiles(plan, rank);
      EXPECT_EQ(StateCopy(plan, rank, read, /*all=*/true).bytes(), bytes.copy);
      EXPECT_EQ(StateCopy(plan, rank, read, /*all=*/false).bytes(), bytes.copyBesideUpdates);
      writeFiles(plan, rank, {}, read, folder.file(""));
      uint64_t written = 0;
      for (const auto &file : std::filesystem::directory_iterator(folder.file("")))
        written +=
            file.path().string().ends_with("-0000" + std::to_string(rank) + ".safetensors") ? file.file_size() : 0;
      EXPECT_EQ(written, bytes.files);
    }
  }
}

TEST(Replicas, ARankThatHoldsOtherElementsIsNamed) {
  const std::string good(16, '5'), bad(16, '6');
  Plan plan = tiny::makePlan(0);
  EXPECT_EQ(findDifferentRank(plan, {good, good}), "");
  EXPECT_EQ(findDifferentRank(plan, {good, bad}), "ranks 0, 1 hold different elements of 'w', but must hold the same");
  *plan.mesh = plan::Mesh(1, 4, 1, 1);
  EXPECT_EQ(findDifferentRank(plan, {good, good, bad, good}),
            "rank 2 holds different elements of 'w' than ranks 0, 1, 3, but all must hold the same");
  Plan sharded = tiny::makePlan(3);
  EXPECT_EQ(findDifferentRank(sharded, {"", ""}), ""); // each element is held once
}

} // namespace
} // namespace xlc::runtime
