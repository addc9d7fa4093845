// .npy and safetensors files: valid ones are read, hostile ones are rejected with a message, never with a crash.
#include "Files/Npy.h"
#include "Files/Safetensors.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <sys/stat.h>

using namespace xlc::runtime;
using tiny::Folder;
using tiny::makeNpy;

namespace {

template <class File> std::string complaintOf(const std::string &path) {
  try {
    File file(path);
  } catch (const Rejected &problem) {
    return problem.what();
  }
  return "";
}

template <class File> std::string complaintOf(const Folder &folder, const std::string &bytes) {
  return complaintOf<File>(folder.write("file", bytes));
}

template <class File> void expectRejected(const Folder &folder, const std::string &bytes, const std::string &words) {
  std::string complaint = complaintOf<File>(folder, bytes);
  EXPECT_NE(complaint.find(words), std::string::npos) << "wanted: " << words << "\ngot: " << complaint;
}

/// Bytes of a safetensors file.
std::string makeTensors(const std::string &header, const std::string &elements) {
  uint64_t length = header.size();
  return std::string((const char *)&length, 8) + header + elements;
}

TEST(Npy, AllVersionsAndTypesAreRead) {
  Folder folder;
  std::string bytes = makeNpy("<f4", "(2, 3)", std::string(24, 'x'));
  NpyFile first(folder.write("a", bytes));
  EXPECT_EQ(first.shape, (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(first.type, StoredType::F32);
  for (char version : {2, 3}) {
    std::string later = bytes;
    later[6] = version;
    later.insert(10, 2, '\0');
    NpyFile file(folder.write("b", later));
    EXPECT_EQ(file.shape, first.shape);
    char elements[8];
    EXPECT_EQ(file.bytes().tryRead(file.begin() + 16, 8, elements), "");
    EXPECT_EQ(std::string(elements, 8), std::string(8, 'x'));
  }
  EXPECT_EQ(NpyFile(folder.write("c", makeNpy("<i8", "()", std::string(8, '\0')))).shape.size(), 0u);
  NpyFile conditions(folder.write("e", makeNpy("|b1", "(3, 1)", std::string("\0\1\2", 3))));
  EXPECT_EQ(conditions.type, StoredType::Bool);
  EXPECT_EQ(NpyFile(folder.write("d", makeNpy("<i4", "(0, 5)", ""))).shape[0], 0u);
}

TEST(Npy, HostileFilesAreRefused) {
  Folder folder;
  EXPECT_THROW(NpyFile(folder.file("absent")), Rejected);
  EXPECT_THROW(NpyFile(folder.file("")), Rejected);
  expectRejected<NpyFile>(folder, "", "is empty");
  expectRejected<NpyFile>(folder, "PK\x03\x04 a zip archive", "not an .npy file: it does not begin with \\x93NUMPY");
  expectRejected<NpyFile>(folder, makeNpy("<f4", "(2,)", "1234567"),
                          "the shape needs 8 bytes of elements, but the file has 7");
  expectRejected<NpyFile>(folder, makeNpy("<f4", "(4294967296, 4294967296)", ""), "the shape is too large");
  for (const char *shape : {"(99999999999999999999999,)", "(-1,)"})
    expectRejected<NpyFile>(folder, makeNpy("<f4", shape, ""),
                            "the header cannot be parsed (records and objects as elements are not supported)");
  expectRejected<NpyFile>(
      folder, makeNpy("<c8", "(1,)", "abcdefgh"),
      "elements have type '<c8', but the supported types are '<f4', '<f8', '<f2', '|i1', '<i2', '<i4', '<i8', '|u1', "
      "'<u2', '<u4', '|b1'");
  expectRejected<NpyFile>(folder, makeNpy(">f4", "(1,)", "abcd"), "elements have type '>f4'");
  std::string fortran = makeNpy("<f4", "(1,)", "abcd");
  fortran.replace(fortran.find("False"), 5, "True ");
  expectRejected<NpyFile>(folder, fortran,
                          "elements are in Fortran order, but must be in C order: use numpy.ascontiguousarray");
  std::string version = makeNpy("<f4", "(1,)", "abcd");
  version[6] = 9;
  expectRejected<NpyFile>(folder, version, "format version 9 is not supported; supported versions are 1 to 3");
  std::string cut = makeNpy("<f4", "(1,)", "").substr(0, 30);
  expectRejected<NpyFile>(folder, cut, "the header is truncated: its length is ");
  std::string length = {0, 0, 32, 0};
  expectRejected<NpyFile>(folder, "\x93NUMPY\x02" + std::string(1, 0) + length + std::string(2 << 20, ' '),
                          "the header has 2097152 bytes, more than the limit of 1048576");
  expectRejected<NpyFile>(folder, std::string("\x93NUMPY\x01\x00\x03\x00[] ", 13), "the header is not a dictionary");
  expectRejected<NpyFile>(folder, std::string("\x93NUMPY\x01\x00\x03\x00{} ", 13),
                          "the header lacks one of 'descr', 'fortran_order', 'shape'");
}

TEST(Safetensors, WhatIsWrittenIsRead) {
  Folder folder;
  std::string path = folder.file("out");
  auto fill = [](uint64_t begin, uint64_t count, void *to) {
    for (uint64_t i = 0; i < count; ++i)
      ((float *)to)[i] = (float)(begin + i);
  };
  writeSafetensors(path, {{{"a", {600, 1000}}, fill}, {{"\"b\\", {}}, fill}, {{"c", {0, 4}}, fill}});
  SafetensorsReader reader(path);
  EXPECT_EQ(reader.tensors().at("a").shape, (std::vector<uint64_t>{600, 1000}));
  float value;
  reader.read(reader.tensors().at("a").begin + 4 * 599999, 4, &value);
  EXPECT_EQ(value, 599999.0f);
  EXPECT_EQ(reader.tensors().at("a").begin % 8, 0u);
  EXPECT_EQ(reader.tensors().size(), 3u);
  EXPECT_THROW(writeSafetensors(folder.file("no/such/folder"), {}), Rejected);
}

TEST(Safetensors, HostileFilesAreRefused) {
  Folder folder;
  auto entry = [](const std::string &text) { return makeTensors("{\"w\":" + text + "}", "12345678"); };
  EXPECT_THROW(SafetensorsReader(folder.file("absent")), Rejected);
  expectRejected<SafetensorsReader>(folder, "1234", "not a safetensors file: shorter than 8 bytes");
  expectRejected<SafetensorsReader>(
      folder, std::string(8, '\xff'),
      "not a safetensors file: its header would have 18446744073709551615 bytes, but the file has 8");
  for (const char *header : {"[1]", "{\"w\":"})
    expectRejected<SafetensorsReader>(folder, makeTensors(header, ""),
                                      "not a safetensors file: the header is not a JSON object");
  expectRejected<SafetensorsReader>(folder, entry("3"), "the header's entry for 'w' cannot be parsed");
  expectRejected<SafetensorsReader>(folder, entry(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"),
                                    "'w' needs 12 bytes for its shape and type, but its data_offsets span 8");
  expectRejected<SafetensorsReader>(folder, entry(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"),
                                    "has a size that is not an integer >= 0");
  expectRejected<SafetensorsReader>(folder, entry(R"({"dtype":"F32","shape":[2],"data_offsets":[4,12]})"),
                                    "is at bytes 4 to 12 of the data, which have 8 bytes");
  expectRejected<SafetensorsReader>(folder, entry(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"),
                                    "is at bytes 8 to 0");
  expectRejected<SafetensorsReader>(folder, entry(R"({"dtype":"C64","shape":[1],"data_offsets":[0,8]})"),
                                    "'w' has the unknown type 'C64'");
  expectRejected<SafetensorsReader>(
      folder, entry(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})"), "'w' is too large");
  auto two = [](const std::string &offsets, const std::string &name) {
    std::string begin = R"({"v":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},")";
    return makeTensors(begin + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":)" + offsets + "}}", "12345678");
  };
  expectRejected<SafetensorsReader>(folder, two("[2,6]", "w"), "'v' and 'w' overlap");
  expectRejected<SafetensorsReader>(folder, two("[4,8]", "v"), "the header has 'v' twice");
  expectRejected<SafetensorsReader>(folder, two("[0,4]", "w"),
                                    "'v' and 'w' overlap; a tensor with several names must be written once");
  expectRejected<SafetensorsReader>(folder, two("[4,8,8]", "w"), "'w' has 3 data_offsets, but must have 2");
  expectRejected<SafetensorsReader>(folder, two("[4]", "w"), "'w' has 1 data_offsets, but must have 2");
  expectRejected<SafetensorsReader>(folder, two("[4.0,8]", "w"), "'w' has an offset that is not an integer >= 0");
  expectRejected<SafetensorsReader>(folder, two("[4,8e0]", "w"), "'w' has an offset that is not an integer >= 0");
  expectRejected<SafetensorsReader>(folder, two("[4,[8]]", "w"), "the header's entry for 'w' cannot be parsed");
  EXPECT_EQ(complaintOf<SafetensorsReader>(folder, two("[4,8]", "w")), "");
  std::string deep(100000, '[');
  EXPECT_NE(complaintOf<SafetensorsReader>(folder, makeTensors("{\"w\":" + deep, "")), "");
}

TEST(Safetensors, TensorsTileTheData) {
  Folder folder;
  auto file = [](const std::string &header) { return makeTensors(header, "12345678"); };
  expectRejected<SafetensorsReader>(folder, file(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"),
                                    "bytes 0 to 4 of the data do not belong to a tensor");
  expectRejected<SafetensorsReader>(folder, file(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})"),
                                    "bytes 4 to 8 of the data do not belong to a tensor");
  expectRejected<SafetensorsReader>(folder, file("{}"), "bytes 0 to 8 of the data do not belong to a tensor");
  expectRejected<SafetensorsReader>(folder,
                                    file(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                         R"("e":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}})"),
                                    "'w' and 'e' overlap");
  EXPECT_EQ(complaintOf<SafetensorsReader>(folder, file(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                                        R"("e":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})")),
            "");
  EXPECT_EQ(complaintOf<SafetensorsReader>(folder, makeTensors("{}", "")), "");
}

TEST(Safetensors, EntriesHaveTheirThreeKeysAndNoOther) {
  Folder folder;
  auto entry = [](const std::string &text) { return makeTensors("{\"w\":{" + text + "}}", "12345678"); };
  const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  EXPECT_EQ(complaintOf<SafetensorsReader>(folder, entry(good)), "");
  for (std::string bad : {R"("dtype":"F32","shape":[2])", R"("shape":[2],"data_offsets":[0,8])", R"()"})
    expectRejected<SafetensorsReader>(folder, entry(bad), "the header's entry for 'w' cannot be parsed");
  for (const char *more : {R"("shape":[2])", R"("strides":[1])", R"("data_offsets":[0,8])"})
    expectRejected<SafetensorsReader>(folder, entry(good + "," + more), "the header's entry for 'w' cannot be parsed");
  expectRejected<SafetensorsReader>(folder, makeTensors(" {}", ""), "the header is not a JSON object");
  expectRejected<SafetensorsReader>(folder, makeTensors("{} x", ""), "the header is not a JSON object");
}

TEST(Safetensors, MetadataAreTexts) {
  Folder folder;
  auto metadata = [](const std::string &text) { return makeTensors("{\"__metadata__\":" + text + "}", ""); };
  EXPECT_EQ(complaintOf<SafetensorsReader>(folder, metadata(R"({"format":"pt"})")), "");
  for (const char *bad : {"3", "[]", R"({"a":1})", R"({"a":{"b":"c"}})", R"({"a":["b"]})", R"({"a":null})"})
    expectRejected<SafetensorsReader>(folder, metadata(bad), "'__metadata__' of the header is not a map of strings");
  expectRejected<SafetensorsReader>(folder, metadata(R"({"a":"b","a":"c"})"),
                                    "the header has 'a' twice in '__metadata__'");
  expectRejected<SafetensorsReader>(folder, metadata(R"({},"__metadata__":{})"), "the header has '__metadata__' twice");
}

TEST(Safetensors, AHundredThousandEntriesTakeNoTime) {
  Folder folder;
  std::string header = "{";
  for (uint64_t i = 0; i < 100'000; ++i)
    header += (i ? ",\"t" : "\"t") + std::to_string(i * 7919 % 100'000) +
              R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + std::to_string(i) + "," + std::to_string(i + 1) +
              "]}";
  std::string path = folder.write("many", makeTensors(header + "}", std::string(100'000, 'x')));
  auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(SafetensorsReader(path).tensors().size(), 100'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3)); // 106 s with time in its square
}

TEST(Safetensors, WhatAFileSaysOfItselfIsChecked) {
  Folder folder;
  auto fill = [](uint64_t, uint64_t count, void *to) { std::fill_n((float *)to, count, 1.0f); };
  writeSafetensors(folder.file("a"), {{{"v", {3}}, fill}, {{"w", {2, 2}}, fill}});
  writeSafetensors(folder.file("b"), {{{"w", {2, 2}}, fill}, {{"v", {3}}, fill}});
  writeSafetensors(folder.file("c"), {{{"w", {4}}, fill}, {{"v", {3}}, fill}});
  Seal a = *SafetensorsReader(folder.file("a")).seal(), b = *SafetensorsReader(folder.file("b")).seal(),
       c = *SafetensorsReader(folder.file("c")).seal();
  EXPECT_EQ(a.digest(), b.digest()); // in any order
  EXPECT_NE(a.model, c.model);
  EXPECT_EQ(a.checksums, c.checksums); // of the same elements
  std::string bytes = folder.read("a");
  auto complaint = [&](const std::string &from, const std::string &to) -> std::string {
    std::string changed = bytes;
    changed.replace(changed.find(from), from.size(), to);
    try {
      SafetensorsReader reader(folder.write("changed", changed));
      return reader.seal() ? "sealed" : "";
    } catch (const Rejected &problem) {
      return problem.what();
    }
  };
  EXPECT_EQ(complaint("xlc.model", "xlc.model"), "sealed");
  EXPECT_NE(complaint("[2,2]", "[4,1]").find("error: the header has checksum "), std::string::npos);
  EXPECT_NE(complaint("xlc.header", "xlc.HEADER")
                .find("error: the header does not record its own checksum; if the file was edited on purpose, remove "
                      "the keys of '__metadata__' that begin with 'xlc.'"),
            std::string::npos);
  std::string plain = makeTensors(R"({"__metadata__":{"format":"pt"}})", "");
  EXPECT_EQ(SafetensorsReader(folder.write("plain", plain)).seal(), std::nullopt);
}

TEST(Files, APipeIsNoFileAndIsNotWaitedFor) {
  Folder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(complaintOf<NpyFile>(folder.file("pipe")),
            folder.file("pipe") + ": error: cannot be read: not a regular file");
  EXPECT_EQ(complaintOf<SafetensorsReader>(folder.file("pipe")),
            folder.file("pipe") + ": error: cannot be read: not a regular file");
}

TEST(Safetensors, AFolderIsNoFileAndAFileMayShrink) {
  Folder folder;
  auto complaint = [](auto &&act) -> std::string {
    try {
      act();
    } catch (const Rejected &problem) {
      return problem.what();
    }
    return "";
  };
  EXPECT_EQ(complaint([&] { SafetensorsReader(folder.file("")); }),
            folder.file("") + ": error: cannot be read: not a regular file");
  std::string path =
      folder.write("w", makeTensors(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "12345678"));
  SafetensorsReader reader(path);
  folder.write("w", "short");
  float values[2];
  EXPECT_EQ(complaint([&] { reader.read(reader.tensors().at("w").begin, 8, values); }),
            path + ": error: became shorter while it was read");
}

TEST(Files, NoMutatedFileCrashesItsReader) {
  Folder folder;
  std::mt19937 random(1);
  std::string npy = makeNpy("<f4", "(2, 3)", std::string(24, 'x'));
  std::string tensors = makeTensors(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "12345678");
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = i % 2 ? npy : tensors;
    for (int edits = 1 + (int)(random() % 3); edits-- > 0;)
      bytes[random() % bytes.size()] = (char)random();
    if (random() % 8 == 0)
      bytes.resize(random() % bytes.size());
    i % 2 ? complaintOf<NpyFile>(folder, bytes) : complaintOf<SafetensorsReader>(folder, bytes);
  }
}

} // namespace
