// Files of other programs: boxes that form a tensor, indices of several files, and a checkpoint created from them.
#include "Checkpoint/Import.h"
#include "Checkpoint/Checkpoint.h"
#include "Failure.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <numeric>

namespace xlc::runtime {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Part {
  std::string name;
  std::vector<uint64_t> shape, offsets;
  std::vector<float> elements;
};

/// A folder of files in safetensors.
class Imports : public testing::Test {
protected:
  /// With places of the parts where they have some, as torch.distributed.checkpoint writes them.
  void write(const std::string &file, const std::vector<Part> &parts) const {
    json header = json::object(), places = json::object();
    std::string data;
    for (const Part &part : parts) {
      uint64_t begin = data.size();
      data.append((const char *)part.elements.data(), part.elements.size() * sizeof(float));
      header[part.name] = {{"dtype", "F32"}, {"shape", part.shape}, {"data_offsets", {begin, data.size()}}};
      if (!part.offsets.empty())
        places[part.name] = {{"saved_offsets", part.offsets}};
    }
    if (!places.empty())
      header["__metadata__"] = {{"DCP_SHARDING_INFO", places.dump()}};
    std::string text = header.dump();
    uint64_t length = text.size();
    folder.write(file, std::string((const char *)&length, 8) + text + data);
  }
  static std::vector<float> read(const TensorFiles &files, const std::string &name, uint64_t begin, uint64_t count) {
    std::vector<float> elements;
    files.read(name, begin, count, [&](const void *from, uint64_t bytes) {
      elements.insert(elements.end(), (const float *)from, (const float *)from + bytes / sizeof(float));
    });
    return elements;
  }
  /// Why a folder or a file is refused.
  std::string refusal(const std::string &path) const {
    try {
      TensorFiles files(folder.file(path));
    } catch (const Rejected &problem) {
      return problem.what();
    }
    return "";
  }

  tiny::Folder folder;
};

TEST_F(Imports, BoxesMakeUpATensor) {
  // [3, 4, 2] with elements 0 to 23: the first two rows, and of the last one columns 0 to 2 and 3.
  std::vector<float> all(24);
  std::iota(all.begin(), all.end(), 0);
  write("shard-00001.safetensors", {{"w", {2, 4, 2}, {0, 0, 0}, {all.begin(), all.begin() + 16}}});
  write("shard-00002.safetensors", {{"w", {1, 3, 2}, {2, 0, 0}, {all.begin() + 16, all.begin() + 22}}});
  write("shard-00003.safetensors", {{"w", {1, 1, 2}, {2, 3, 0}, {22, 23}}, {"none", {0, 2}, {1, 0}, {}}});
  write("shard-00004.safetensors", {{"none", {1, 2}, {0, 0}, {5, 6}}});
  TensorFiles files(folder.file(""));
  EXPECT_EQ(files.tensors().at("w").shape, (std::vector<uint64_t>{3, 4, 2}));
  for (uint64_t begin = 0; begin < 24; ++begin)
    for (uint64_t count = 0; begin + count <= 24; ++count)
      EXPECT_EQ(read(files, "w", begin, count),
                std::vector<float>(all.begin() + (int)begin, all.begin() + (int)(begin + count)));
  EXPECT_EQ(read(files, "none", 0, 2), (std::vector<float>{5, 6})); // an empty part is nothing
}

TEST_F(Imports, HolesAndOverlapsAreSaid) {
  write("a.safetensors", {{"w", {2, 2}, {0, 0}, {1, 2, 3, 4}}});
  write("b.safetensors", {{"w", {1, 2}, {3, 0}, {7, 8}}});
  EXPECT_NE(refusal("").find("'w' has shape [4, 2], but all files together have 6 of its elements; 2 are missing"),
            std::string::npos);
  write("b.safetensors", {{"w", {1, 2}, {1, 0}, {7, 8}}});
  EXPECT_NE(refusal("").find("b.safetensors: error: 'w' has a part at offsets [1, 0] that overlaps another part, in "),
            std::string::npos);
  write("b.safetensors", {{"w", {2}, {2}, {7, 8}}});
  EXPECT_NE(refusal("").find("'w' has type F32 and 1 dimensions, but type F32 and 2 dimensions in another file"),
            std::string::npos);
  write("b.safetensors", {{"w", {1, 2}, {UINT64_MAX, 0}, {7, 8}}});
  EXPECT_NE(refusal("").find("'w' has an offset of 18446744073709551615, which is too large, in dimension 0"),
            std::string::npos);
  write("b.safetensors", {{"w", {1, 2}, {2}, {7, 8}}});
  EXPECT_NE(refusal("").find("'DCP_SHARDING_INFO' must have 2 offsets for 'w'"), std::string::npos);
}

TEST_F(Imports, WhatIsNoModelIsSaid) {
  std::string text = R"({"__metadata__":{"DCP_SHARDING_INFO":"{"}})";
  uint64_t length = text.size();
  folder.write("a.safetensors", std::string((const char *)&length, 8) + text);
  EXPECT_NE(refusal("a.safetensors").find("'DCP_SHARDING_INFO' is not JSON"), std::string::npos);
  folder.write("model.safetensors.index.json", "");
  fs::resize_file(folder.file("model.safetensors.index.json"), 101 << 20);
  EXPECT_NE(refusal("").find("has 105906176 bytes, but an index has at most 104857600"), std::string::npos);
  length = 2;
  folder.write("b.safetensors", std::string((const char *)&length, 8) + "{}");
  std::string why;
  try {
    importCheckpoint(folder.file("b.safetensors"), folder.file("to"), {});
  } catch (const Rejected &problem) {
    why = problem.what();
  }
  EXPECT_NE(why.find("has no parameters: none of its tensors has a floating-point type"), std::string::npos) << why;
}

TEST_F(Imports, AnIndexNamesFilesOfItsFolder) {
  write("one.safetensors", {{"a", {2}, {}, {1, 2}}, {"c", {1}, {}, {9}}});
  write("two.safetensors", {{"b", {1}, {}, {3}}});
  auto index = [&](const json &places) {
    folder.write("model.safetensors.index.json", json{{"weight_map", places}}.dump());
    return refusal("");
  };
  EXPECT_EQ(index({{"a", "one.safetensors"}, {"b", "two.safetensors"}}), "");
  TensorFiles files(folder.file(""));
  EXPECT_EQ(files.tensors().size(), 2u); // "c" is not named
  EXPECT_EQ(read(files, "b", 0, 1), std::vector<float>{3});
  EXPECT_NE(index({{"a", "../one.safetensors"}}).find("which is not the name of a file in the folder"),
            std::string::npos);
  EXPECT_NE(
      index({{"b", "one.safetensors"}}).find("has no 'b', but model.safetensors.index.json lists it in this file"),
      std::string::npos);
  EXPECT_NE(index({{"a", "three.safetensors"}}).find("three.safetensors: error: "), std::string::npos);
  folder.write("model.safetensors.index.json", "[");
  EXPECT_NE(refusal("").find("has no \"weight_map\" from tensors to files"), std::string::npos);
  fs::create_directory(folder.file("empty"));
  EXPECT_NE(refusal("empty").find("has neither model.safetensors.index.json nor a .safetensors file"),
            std::string::npos);
}

TEST_F(Imports, BecomeACheckpoint) {
  write("model.safetensors", {{"w", {2}, {}, {1, 2}}, {"b", {1}, {}, {3}}, {"m/b", {1}, {}, {4}}});
  write("states.safetensors", {{"v/w", {2}, {}, {5, 6}}});
  std::string to = folder.file("step-00000007");
  Imported imported = importCheckpoint(
      folder.file("model.safetensors"), to,
      {.states = folder.file("states.safetensors"), .optimizer = "adam", .step = 7, .samples = 56, .compiler = "test"});
  EXPECT_EQ(imported.parameters, 2u);
  EXPECT_EQ(imported.states, 2u);
  Checkpoint checkpoint(to);
  EXPECT_EQ(checkpoint.manifest().progress, (RunProgress{7, 7, 56}));
  EXPECT_EQ(checkpoint.manifest().states, (std::vector<std::string>{"m", "v"}));
  EXPECT_FALSE(checkpoint.manifest().data);
  std::vector<float> read(2);
  CheckpointReader(checkpoint).read(*checkpoint.find("v", "w"), 0, 2, [&](const void *from, uint64_t bytes) {
    std::memcpy(read.data(), from, bytes);
  });
  EXPECT_EQ(read, (std::vector<float>{5, 6}));
  EXPECT_THROW(importCheckpoint(folder.file("model.safetensors"), to, {}), Rejected); // it is there
  write("states.safetensors", {{"v/x", {2}, {}, {5, 6}}});
  EXPECT_THROW(importCheckpoint(folder.file("model.safetensors"), folder.file("step-00000008"),
                                {.states = folder.file("states.safetensors")}),
               Rejected);
  EXPECT_FALSE(fs::exists(folder.file("step-00000008")));
}

} // namespace
} // namespace xlc::runtime
