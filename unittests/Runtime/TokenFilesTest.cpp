// Files of tokens: each format byte by byte, and files that do not match their headers.
#include "Data/Sources.h"
#include "Failure.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace xlc::runtime;
using namespace xlc::runtime::tiny;
using xlc::plan::TokenType;

namespace {

std::string makeLlmc(uint32_t magic, uint32_t version, uint32_t count, const std::string &tokens) {
  std::vector<uint32_t> header(256);
  header[0] = magic, header[1] = version, header[2] = count;
  return bytesOf(header) + tokens;
}

struct Index {
  std::string magic{"MMIDIDX\0\0", 9};
  uint64_t version = 1;
  uint8_t type = 8;
  std::vector<int32_t> lengths{2, 3};
  std::vector<int64_t> places{0, 4};
  uint64_t sequences = 2, documents = 2;
  std::vector<int64_t> documentList{0, 2};

  std::string bytes() const {
    return magic + bytesOf(std::vector{version}) + (char)type + bytesOf(std::vector{sequences, documents}) +
           bytesOf(lengths) + bytesOf(places) + bytesOf(documentList);
  }
};

std::vector<int64_t> readAll(const TokenFile &file) {
  std::vector<int64_t> values(file.tokens);
  for (uint64_t i = 0; i < file.tokens; ++i) // unsigned types here, little endian
    EXPECT_EQ(file.bytes().tryRead(file.begin + i * bytesOf(file.type), bytesOf(file.type), &values[i]), "");
  return values;
}

std::string complaintOf(const Folder &folder, const std::string &bytes, TokenType type = TokenType::Auto) {
  std::string path = folder.write("x.bin", bytes);
  try {
    openTokens(path, type);
  } catch (const Rejected &problem) {
    std::string text = problem.what();
    EXPECT_TRUE(text.starts_with(folder.file("x."))) << text; // .bin or .idx
    return text.substr(folder.file("x.bin").size());
  }
  return "taken";
}

std::string complaintOfPair(const Folder &folder, const Index &index, uint64_t bytes = 10) {
  folder.write("x.idx", index.bytes());
  return complaintOf(folder, std::string(bytes, '\1'));
}

} // namespace

TEST(TokenFiles, EachFormatIsToldByItsBytes) {
  Folder folder;
  const std::vector<int64_t> tokens{3, 200, 5};
  std::string two = bytesOf(std::vector<uint16_t>{3, 200, 5}), four = bytesOf(std::vector<uint32_t>{3, 200, 5});
  auto open = [&](const std::string &name, const std::string &bytes, TokenType type = TokenType::Auto) {
    return readAll(openTokens(folder.write(name, bytes), type));
  };
  EXPECT_EQ(open("a", "\3\310\5", TokenType::U8), tokens);
  EXPECT_EQ(open("a", two, TokenType::U16), tokens);
  EXPECT_EQ(open("a", four, TokenType::U32), tokens);
  EXPECT_EQ(open("a", four, TokenType::I32), tokens);
  EXPECT_EQ(open("a", makeLlmc(20240520, 1, 3, two)), tokens);
  EXPECT_EQ(open("a", makeLlmc(20240801, 7, 3, four)), tokens);
  EXPECT_EQ(open("a", makeNpy("<u2", "(3,)", two)), tokens);
  Index index{.lengths = {1, 2}, .places = {0, 2}};
  folder.write("m.idx", index.bytes());
  EXPECT_EQ(open("m.bin", two), tokens);
}

TEST(TokenFiles, HeadersThatLieAreRefused) {
  Folder folder;
  std::string six(6, '\1');
  EXPECT_EQ(complaintOf(folder, makeLlmc(20240520, 1, 4, six)),
            ": error: 4 tokens of 2 bytes and the header need 1032 bytes, but the file has 1030");
  EXPECT_EQ(complaintOf(folder, makeLlmc(20240520, 1, UINT32_MAX, six)),
            ": error: 4294967295 tokens of 2 bytes and the header need 8589935614 bytes, but the file has 1030");
  EXPECT_EQ(complaintOf(folder, makeLlmc(20240801, 1, 3, six)),
            ": error: llm.c's magic number 20240801 requires version 7, but the file has version 1");
  EXPECT_EQ(complaintOf(folder, makeLlmc(20240520, 1, 3, six).substr(0, 1000)),
            ": error: the header of llm.c is truncated: it has 1000 of 1024 bytes");
  EXPECT_EQ(complaintOf(folder, makeLlmc(20240520, 1, 3, six), TokenType::U16),
            ": error: it begins with the header of llm.c, but data.train.type = uint16 is for tokens without a header; "
            "use auto");
  EXPECT_EQ(complaintOf(folder, makeNpy("<u2", "(3,)", six), TokenType::U16),
            ": error: it begins with the header of an .npy file, but data.train.type = uint16 is for tokens without a "
            "header; use auto");
  EXPECT_EQ(
      complaintOf(folder, makeNpy("<u2", "(3, 1)", six)),
      ": error: the array has 2 dimensions and elements of type '<u2', but tokens must be integers in one dimension");
  EXPECT_EQ(
      complaintOf(folder, makeNpy("<f2", "(3,)", six)),
      ": error: the array has 1 dimension and elements of type '<f2', but tokens must be integers in one dimension");
  EXPECT_EQ(complaintOf(folder, "12345", TokenType::U16),
            ": error: its 5 bytes are not a multiple of 2, the size of a token according to data.train.type = uint16");
  EXPECT_EQ(complaintOf(folder, "12345"), ": error: the file has no known header (llm.c, .npy) and no Megatron index "
                                          "beside it: set data.train.type to uint8, uint16, uint32 or int32");
}

TEST(TokenFiles, IndicesOfMegatronThatLieAreRefused) {
  Folder folder;
  EXPECT_EQ(complaintOfPair(folder, {}), "taken");
  EXPECT_EQ(complaintOfPair(folder, {.magic = std::string("MMIDIDX\0\1", 9)}),
            ": error: not a Megatron index: it does not begin with MMIDIDX");
  EXPECT_EQ(complaintOfPair(folder, {.version = 2}),
            ": error: Megatron's index has version 2, but only version 1 is supported");
  EXPECT_EQ(complaintOfPair(folder, {.type = 6}),
            ": error: tokens have type code 6, but the codes of Megatron's integer types are 1, 2, 3, 4, 5 and 8");
  for (uint64_t count : {(uint64_t)1, (uint64_t)3, UINT64_MAX, UINT64_MAX / 12 + 1})
    EXPECT_EQ(complaintOfPair(folder, {.sequences = count}),
              ": error: " + std::to_string(count) +
                  " sequences and 2 documents do not match the 40 bytes after the header");
  EXPECT_EQ(complaintOfPair(folder, {.places = {0, 40}}),
            ": error: sequence 1 has 3 tokens and begins at byte 40, but must begin at byte 4, the end of the previous "
            "sequence, and must end within the 10 bytes of the file");
  EXPECT_EQ(complaintOfPair(folder, {.lengths = {2, 4}}),
            ": error: sequence 1 has 4 tokens and begins at byte 4, but must begin at byte 4, the end of the previous "
            "sequence, and must end within the 10 bytes of the file");
  EXPECT_EQ(complaintOfPair(folder, {.lengths = {-1, 3}}),
            ": error: sequence 0 has -1 tokens and begins at byte 0, but must begin at byte 0, the end of the previous "
            "sequence, and must end within the 10 bytes of the file");
  EXPECT_EQ(complaintOfPair(folder, {}, 12), ": error: the sequences end at byte 10 of " + folder.file("x.bin") +
                                                 ", but " + folder.file("x.bin") + " has 12 bytes");
  EXPECT_EQ(complaintOfPair(folder, {}, 9),
            ": error: its 9 bytes are not a multiple of 2, the size of a token according to " + folder.file("x.idx"));
  folder.write("x.idx", "MMIDIDX");
  EXPECT_EQ(complaintOf(folder, "12"), ": error: the header of the Megatron index is truncated: it has 7 of 34 bytes");
}

TEST(TokenFiles, PatternsNameFilesInTheirOrder) {
  Folder folder;
  for (const char *name : {"b.bin", "a.bin", "a.idx", "c.txt"})
    folder.write(name, "12");
  using Names = std::vector<std::string>;
  EXPECT_EQ(findTokenFiles({folder.file("*.bin")}), (Names{folder.file("a.bin"), folder.file("b.bin")}));
  EXPECT_EQ(findTokenFiles({folder.file("c.txt"), folder.file("a.*")}),
            (Names{folder.file("c.txt"), folder.file("a.bin")}));
  EXPECT_EQ(findTokenFiles({folder.file("absent")}), (Names{folder.file("absent")})); // which opening it says
  try {
    findTokenFiles({folder.file("*.npy")});
    ADD_FAILURE();
  } catch (const Rejected &problem) {
    EXPECT_EQ(problem.what(), folder.file("*.npy") + ": error: no token file matches this pattern");
  }
}

TEST(TokenStream, RowsDoNotCrossFiles) {
  Folder folder;
  std::string first = folder.write("a", "0123456789"), none = folder.write("b", "012"),
              last = folder.write("c", "01234567");
  TokenStream next({first, none, last}, TokenType::U8, 4, /*next=*/true, Scan::Small),
      same({first, none, last}, TokenType::U8, 4, /*next=*/false, Scan::Small);
  EXPECT_EQ(next.rows(), 3u); // the last token of each file is a target alone
  EXPECT_EQ(same.rows(), 4u);
  EXPECT_EQ(next.tokensLeft(), 2u + 3 + 4);
  Stretch where = next.find(2, /*shift=*/1);
  EXPECT_EQ(where.file->path, last);
  EXPECT_EQ(where.begin, 1u);
  EXPECT_EQ(where.row, 0u);
  EXPECT_EQ(where.rows, 1u);
  EXPECT_EQ(next.find(1, 0).begin, 4u);
  EXPECT_EQ(same.find(3, 0).begin, 4u);
}
