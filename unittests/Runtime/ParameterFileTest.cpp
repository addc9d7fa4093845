// The file next to a program: it has the values with which the program was compiled, or is rejected.
#include "Files/ParameterFile.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

using namespace xlc::runtime;
namespace plan = xlc::plan;
using namespace xlc::runtime::tiny;

namespace {

/// A tensor that counts from `first`.
TensorToStore counting(const std::string &name, std::vector<uint64_t> shape, float first) {
  return {{name, std::move(shape)}, [first](uint64_t begin, uint64_t count, void *to) {
            for (uint64_t i = 0; i < count; ++i)
              putNumber(plan::Element::F32, first + (double)(begin + i), to, i);
          }};
}

class Beside : public testing::TestWithParam<int> {
protected:
  Beside() : plan(makePlan(GetParam())) {
    plan.parameters[0]->init = plan::Init::File;
    plan.parameters_digest = write({counting("w", {7, 10}, 1)});
  }
  /// Writes the file and returns the digest of its values.
  std::string write(const std::vector<TensorToStore> &tensors) {
    writeSafetensors(folder.file("beside"), tensors);
    return SafetensorsReader(folder.file("beside")).seal()->digest();
  }
  std::string complaint() const {
    try {
      ParameterFile file(plan, folder.file("beside"), ParameterFile::Kind::Beside);
      std::vector<float> w(elements);
      auto take = [&](const void *bytes, uint64_t count) { std::memcpy(w.data(), bytes, count); };
      file.read(0, 0, elements, take);
      EXPECT_EQ(w[69], 70);
      file.read(0, 3, 2, take); // the second time it is not checked
      EXPECT_EQ(w[1], 5);
    } catch (const Rejected &problem) {
      return problem.what();
    }
    return "";
  }
  void expect(const std::string &words) const { EXPECT_NE(complaint().find(words), std::string::npos) << complaint(); }

  Folder folder;
  Plan plan;
};
INSTANTIATE_TEST_SUITE_P(Stages, Beside, testing::Values(0, 3)); // read whole, and in shards

TEST_P(Beside, WhatTheProgramWasCompiledWithIsAccepted) { EXPECT_EQ(complaint(), ""); }

TEST_P(Beside, OtherValuesAreOfAnotherCompilation) {
  write({counting("w", {7, 10}, 2)});
  expect("beside: error: has values ");
  expect(", but the program was compiled with values with checksum " + plan.parameters_digest +
         "; compile again, or start from other parameters with --init");
}

TEST_P(Beside, MoreParametersAreAnotherModel) {
  write({counting("w", {7, 10}, 1), counting("v", {1}, 1)});
  expect("beside: error: belongs to model ");
  expect(", but the program was compiled for model ");
}

TEST_P(Beside, OneBitOfTheElementsIsSeen) {
  std::string bytes = folder.read("beside");
  bytes[bytes.size() - 200] ^= 16;
  folder.write("beside", bytes);
  expect("beside: error: 'w' is damaged: its elements have checksum ");
}

TEST(ParameterFile, TensorsThatNothingTakesAreNamed) {
  std::string header = R"({"u":{"dtype":"F32","shape":[1],"data_offsets":[280,284]},)"
                       R"("w":{"dtype":"F32","shape":[7,10],"data_offsets":[0,280]}})";
  uint64_t length = header.size();
  Folder folder;
  std::string path = folder.write("init", std::string((const char *)&length, 8) + header + std::string(284, '\0'));
  Plan plan = makePlan(0);
  EXPECT_EQ(ParameterFile(plan, path, ParameterFile::Kind::OfUser).describeUnused(),
            path + ": note: 1 of 2 tensors are not parameters of the program and are ignored: 'u'");
}

TEST(ParameterFile, AnyNameOfATieWillDo) {
  Folder folder;
  Plan plan = makePlan(0);
  plan.parameters[0]->ties = {"other"};
  writeSafetensors(folder.file("init"), {counting("other", {7, 10}, 1)});
  ParameterFile file(plan, folder.file("init"), ParameterFile::Kind::OfUser);
  EXPECT_EQ(file.describeUnused(), "");
  std::vector<float> w(elements);
  file.read(0, 0, elements, [&](const void *bytes, uint64_t count) { std::memcpy(w.data(), bytes, count); });
  EXPECT_EQ(w[69], 70);
}

TEST(SafetensorsWriter, TheCallersMistakesAreSaid) {
  Folder folder;
  auto complaint = [&](uint64_t bytes) -> std::string {
    try {
      OutputFile file(folder.file("w"));
      SafetensorsWriter writer(file, {{"v", {0}}, {"w", {2}}});
      writer.write("0123456789abcdef", bytes);
      writer.finish();
    } catch (const std::logic_error &problem) {
      return problem.what();
    }
    return "";
  };
  EXPECT_EQ(complaint(8), "");
  EXPECT_EQ(complaint(7), folder.file("w") + ": 'w' is not completely written");
  EXPECT_EQ(complaint(9), folder.file("w") + ": more bytes are written than its tensors have");
}

/// What a header says of its tensors; and what is wrong with it.
std::pair<Seal, std::string> readBack(const Folder &folder) {
  std::string path = folder.file("pieces");
  OutputFile file(path);
  PieceForm piece{{4, 700000}, {1, 2, 3}, {2, 16, 16 + 300000}};
  SafetensorsWriter writer(file, {{"w", {300000}, "F32", piece}, {"b", {2}}}, BlockSeals::With);
  std::vector<char> bytes(4 * 300000 + 8, 'x');
  writer.write(bytes.data(), bytes.size());
  std::string header = writer.finish(), complaint;
  file.publish();
  SafetensorsHeader parsed;
  parseSafetensorsHeader(std::string_view(header).substr(8), header.size(), bytes.size(), parsed);
  std::optional<Seal> seal = readSeal(header, parsed, complaint);
  return {seal.value_or(Seal()), complaint};
}

TEST(SafetensorsWriter, PiecesAndBlocksAreSealed) {
  Folder folder;
  auto [seal, complaint] = readBack(folder);
  EXPECT_EQ(complaint, "");
  EXPECT_EQ(seal.pieces.at("w"), (PieceForm{{4, 700000}, {1, 2, 3}, {2, 16, 300016}}));
  EXPECT_FALSE(seal.pieces.contains("b"));
  EXPECT_EQ(seal.blocks.at("w").size(), 2 * checksumDigits);
  EXPECT_EQ(seal.blocks.at("b"), seal.checksums.at("b")); // one block, which is all of it
  SafetensorsHeader wrong;
  wrong.metadata = {{"xlc.header", "0000000000000000"}, {"xlc.piece.w", "1 2,3 2 16 300016"}};
  readSeal("", wrong, complaint);
  EXPECT_EQ(complaint, "'xlc.piece.w' of the header is '1 2,3 2 16 300016', which does not describe a piece");
}

} // namespace
