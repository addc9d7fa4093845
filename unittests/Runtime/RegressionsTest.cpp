// Files that fuzzers have found, or could have found: the properties that the fuzzers check hold for each
// (test/Fuzz/targets).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

// LLVMFuzzerTestOneInput of Npy.cpp, Tokens.cpp, Safetensors.cpp and Plan.cpp, by the names that CMakeLists.txt
// gives them.
extern "C" int fuzzNpy(const uint8_t *data, size_t size);
extern "C" int fuzzTokens(const uint8_t *data, size_t size);
extern "C" int fuzzSafetensors(const uint8_t *data, size_t size);
extern "C" int fuzzPlan(const uint8_t *data, size_t size);

namespace {

void readAll(const std::string &reader, int (*read)(const uint8_t *, size_t)) {
  int count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(XLC_REGRESSIONS "/" + reader)) {
    SCOPED_TRACE(entry.path().filename());
    std::ifstream file(entry.path(), std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NO_THROW(read((const uint8_t *)bytes.data(), bytes.size()));
    ++count;
  }
  EXPECT_GT(count, 0);
}

TEST(Regressions, Npy) { readAll("npy", fuzzNpy); }
TEST(Regressions, Tokens) { readAll("tokens", fuzzTokens); }
TEST(Regressions, Safetensors) { readAll("safetensors", fuzzSafetensors); }
TEST(Regressions, Plan) { readAll("plan", fuzzPlan); }

} // namespace
