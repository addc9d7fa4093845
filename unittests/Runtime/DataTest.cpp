// Data that change while a job runs: every load checks its elements in the memory to which it has copied them.
#include "Data/Data.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

using namespace xlc::runtime;
namespace plan = xlc::plan;
using namespace xlc::runtime::tiny;

namespace {

/// The rows of the tiny program with these ids, in the type of the file that `Id` is.
template <class Id> std::string makeIds(const std::vector<Id> &ids) {
  return makeNpy(sizeof(Id) == 8 ? "<i8" : "<i4", "(" + std::to_string(ids.size()) + ",)", bytesOf(ids));
}

/// Ids 0 to 9, twice over.
template <class Id> std::vector<Id> goodIds() {
  std::vector<Id> ids(rows);
  for (size_t i = 0; i < rows; ++i)
    ids[i] = (Id)(i % 10);
  return ids;
}

constexpr uint32_t idsInput = 1;

void load(const Data &data, uint64_t step, uint32_t microBatch, int rank, int64_t *ids) {
  char *to = (char *)ids;
  data.load(idsInput, step, microBatch, rank, [&](const void *bytes, uint64_t count) {
    std::memcpy(to, bytes, count);
    to += count;
  });
}

std::string complaintOfLoad(const Data &data, uint64_t step, uint32_t microBatch, int rank) {
  int64_t ids[micro];
  try {
    load(data, step, microBatch, rank, ids);
  } catch (const Rejected &) {
    return "Rejected, which is for what is known before the first step";
  } catch (const std::runtime_error &problem) {
    return problem.what();
  }
  return "";
}

template <class Id> class DataOf : public testing::Test {
protected:
  DataOf() {
    writeData(folder);
    folder.write("ids.npy", makeIds(goodIds<Id>()));
  }
  Folder folder;
  Plan plan = makePlan(0);
};
using Ids = testing::Types<int32_t, int64_t>; // converted on the way, and read in place
TYPED_TEST_SUITE(DataOf, Ids);

TYPED_TEST(DataOf, RowsComeInOrderAndBeginAgainBehindTheLast) {
  Data data(this->plan, {{}, this->folder.file(""), 0});
  int64_t ids[micro];
  for (uint64_t step = 0; step < 6; ++step)
    for (uint32_t k = 0; k < microBatches; ++k)
      for (int rank = 0; rank < (int)ranks; ++rank) {
        load(data, step, k, rank, ids);
        for (uint64_t i = 0; i < micro; ++i)
          EXPECT_EQ(ids[i], (int64_t)((step * 8 + (k * ranks + rank) * micro + i) % rows % 10));
      }
}

TYPED_TEST(DataOf, AnIdThatBecomesBadIsSeenInItsLoad) {
  Data data(this->plan, {{}, this->folder.file(""), 0});
  for (TypeParam bad : {10, -1}) {
    auto ids = goodIds<TypeParam>();
    ids[7] = bad;
    this->folder.write("ids.npy", makeIds(ids));
    EXPECT_EQ(complaintOfLoad(data, 0, 0, 0), "");
    EXPECT_EQ(complaintOfLoad(data, 0, 1, 1), this->folder.file("") + "/ids.npy: row 7, column 0: id " +
                                                  std::to_string(bad) +
                                                  " is outside the table of input 'ids', which has 10 rows (-100 is "
                                                  "ignored)");
    EXPECT_EQ(complaintOfLoad(data, 0, 1, 1), complaintOfLoad(data, 5, 1, 1)); // 20 rows, 8 a step: the same again
  }
  auto ids = goodIds<TypeParam>();
  ids[7] = -100;
  this->folder.write("ids.npy", makeIds(ids));
  EXPECT_EQ(complaintOfLoad(data, 0, 1, 1), "");
}

TYPED_TEST(DataOf, AFileThatBecomesShorterIsAnAnswer) {
  Data data(this->plan, {{}, this->folder.file(""), 0});
  this->folder.write("ids.npy", makeIds(goodIds<TypeParam>()).substr(0, 100));
  EXPECT_EQ(complaintOfLoad(data, 1, 0, 0),
            this->folder.file("") + "/ids.npy: row 8, column 0: became shorter while it was read");
}

TEST(Data, RowsAreCountedBeforeIdsAreRead) {
  Folder folder;
  writeData(folder);
  // Bad ids everywhere, in more rows than anybody would wait for.
  std::string path = folder.write("ids.npy", makeNpy("<i8", "(137438953472,)", std::string(64, '\x7f')));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 64 + ((uintmax_t)8 << 37));
  Plan plan = makePlan(0);
  try {
    Data data(plan, {{}, folder.file(""), 0});
    FAIL() << "accepted";
  } catch (const Rejected &problem) {
    std::string text = problem.what();
    EXPECT_NE(text.find("ids.npy: error: has 137438953472 rows, but "), std::string::npos) << text;
    EXPECT_EQ(text.find("outside the table"), std::string::npos) << text;
  }
}

TEST(Data, WithoutAnIgnoredLabelNoNumberIsAdmitted) {
  Folder folder;
  writeData(folder);
  auto ids = goodIds<int64_t>();
  ids[11] = INT64_MIN;
  folder.write("ids.npy", makeIds(ids));
  Plan plan = makePlan(0);
  plan.inputs[idsInput]->has_ignore = false;
  try {
    Data data(plan, {{}, folder.file(""), 0});
    FAIL() << "accepted";
  } catch (const Rejected &problem) {
    EXPECT_NE(std::string(problem.what())
                  .find("ids.npy: error: row 11, column 0: id -9223372036854775808 is outside the table of input "
                        "'ids', which has 10 rows"),
              std::string::npos)
        << problem.what();
    EXPECT_EQ(std::string(problem.what()).find("is ignored"), std::string::npos);
  }
}

TEST(Data, AnIdThatItsTypeCannotHoldIsSeenInItsLoad) {
  Folder folder;
  writeData(folder);
  auto ids = goodIds<int64_t>();
  folder.write("ids.npy", makeIds(ids));
  Plan plan = makePlan(0);
  plan.inputs[idsInput]->element = plan::Element::I32, plan.inputs[idsInput]->has_limit = false;
  Data data(plan, {{}, folder.file(""), 0});
  ids[0] = (int64_t)1 << 32;
  folder.write("ids.npy", makeIds(ids));
  EXPECT_EQ(complaintOfLoad(data, 0, 0, 0), folder.file("") +
                                                "/ids.npy: row 0, column 0: 4294967296 does not fit input "
                                                "'ids', whose elements have 32 bits");
}

/// Why the data of `folder` are refused; nothing where they are taken.
std::string complaintOfData(const Plan &plan, const Folder &folder,
                            const std::map<std::string, std::string> &files = {}) {
  try {
    Data data(plan, {files, folder.file(""), 0});
  } catch (const Rejected &problem) {
    return problem.what();
  }
  return "";
}

/// The tiny program with ids from a stream of bytes, in rows of one token.
Plan makeStreamPlan(const std::string &stream, plan::InputSource source) {
  Plan plan = makePlan(0);
  plan.dataset->inputs[idsInput]->source = source, plan.inputs[idsInput]->row_shape = {1};
  plan.dataset->stream = std::make_unique<plan::TokenStreamT>();
  plan.dataset->stream->files = {stream}, plan.dataset->stream->type = plan::TokenType::U8;
  return plan;
}

std::string complaintOf(const Plan &plan, const DataChoice &choice = {}, Scan scan = Scan::Small) {
  try {
    Data data(plan, choice, scan);
  } catch (const Rejected &problem) {
    return problem.what();
  }
  return "";
}

TEST(Data, AStreamIsCheckedWhereItsFilesBeginAndEnd) {
  Folder folder;
  writeData(folder);
  std::string ids(rows, '\1'), path = folder.file("ids.bin");
  Plan plan = makeStreamPlan(path, plan::InputSource::Tokens);
  plan.dataset->inputs[0]->path = folder.file("x.npy");
  auto complaint = [&](size_t bad, Scan scan) {
    std::string wrong = ids;
    wrong[bad] = 17;
    folder.write("ids.bin", wrong);
    return complaintOf(plan, {}, scan);
  };
  auto expected = [&](size_t row) {
    return path + ": error: row " + std::to_string(row) +
           ", column 0: id 17 is outside the table of input 'ids', which has 10 rows (-100 is ignored)";
  };
  for (size_t row : {(size_t)0, rows - 1})
    EXPECT_EQ(complaint(row, Scan::Small), expected(row));
  EXPECT_EQ(complaint(7, Scan::Small), "");
  EXPECT_EQ(complaint(7, Scan::All), expected(7));
  folder.write("ids.bin", ids.substr(1));
  EXPECT_EQ(complaintOf(plan), path + ": error: has 19 rows, but " + folder.file("x.npy") + " has 20");
  EXPECT_EQ(complaintOf(plan, {{{"tokens", folder.write("more.bin", ids)}}}), ""); // in place of the plan's
}

TEST(Data, AStreamWithoutARowIsRefused) {
  Folder folder;
  writeData(folder);
  Plan plan = makeStreamPlan(folder.write("ids.bin", "1"), plan::InputSource::NextTokens);
  plan.dataset->inputs[0]->path = folder.file("x.npy");
  EXPECT_EQ(complaintOf(plan), folder.file("ids.bin") + ": error: no file of the stream has the 1 tokens of a row");
}

TEST(Data, WhatIsFilledHasANumberOfItsType) {
  Folder folder;
  writeData(folder);
  Plan plan = makePlan(0);
  plan.dataset->inputs[0]->path = folder.file("x.npy"),
  plan.dataset->inputs[idsInput]->source = plan::InputSource::Fill;
  for (double good : {0, 9, -100}) {
    plan.dataset->inputs[idsInput]->fill = good;
    Data data(plan, {});
    int64_t ids[micro];
    load(data, 3, 1, 0, ids);
    for (int64_t id : ids)
      EXPECT_EQ(id, (int64_t)good);
  }
  for (double bad : {10., 0.5, -1.}) {
    plan.dataset->inputs[idsInput]->fill = bad;
    EXPECT_NE(complaintOf(plan).find("error: input 'ids' is filled with "), std::string::npos);
    EXPECT_NE(complaintOf(plan).find(", but takes integers >= 0 and < 10"), std::string::npos);
  }
  plan.dataset->inputs[idsInput]->fill = 1, plan.dataset->inputs[0]->source = plan::InputSource::Fill;
  EXPECT_EQ(complaintOf(plan), "error: all inputs have constant values ('fill'): at least one must have rows");
}

/// Every type of a file becomes every type of an input as a number.
TEST(Data, EachStoredTypeBecomesANumber) {
  Folder folder;
  Plan plan = makePlan(0);
  plan.inputs[0]->row_shape = {};
  writeData(folder);
  folder.write("ids.npy", makeIds(goodIds<int64_t>()));
  auto valuesOf = [&](const std::string &descr, const std::string &bytes) {
    folder.write("x.npy", makeNpy(descr, "(20,)", bytes));
    Data data(plan, {{}, folder.file("")});
    std::vector<float> values;
    data.load(0, 0, 0, 0, [&](const void *from, uint64_t count) {
      values.assign((const float *)from, (const float *)from + count / sizeof(float));
    });
    return values;
  };
  auto column = [](auto first, auto second) {
    std::vector<decltype(first)> values(rows);
    values[0] = first, values[1] = second;
    return bytesOf(values);
  };
  EXPECT_EQ(valuesOf("|u1", column((uint8_t)255, (uint8_t)1)), (std::vector<float>{255, 1}));
  EXPECT_EQ(valuesOf("|i1", column((int8_t)-128, (int8_t)1)), (std::vector<float>{-128, 1}));
  EXPECT_EQ(valuesOf("<i2", column((int16_t)-300, (int16_t)1)), (std::vector<float>{-300, 1}));
  EXPECT_EQ(valuesOf("<u2", column((uint16_t)65535, (uint16_t)1)), (std::vector<float>{65535, 1}));
  EXPECT_EQ(valuesOf("<u4", column(4294967040u, 1u)), (std::vector<float>{4294967040.f, 1}));
  EXPECT_EQ(valuesOf("<f2", column((uint16_t)0x3555, (uint16_t)0xc000)), (std::vector<float>{0.333251953125f, -2}));
  EXPECT_EQ(valuesOf("|b1", column((uint8_t)7, (uint8_t)0)), (std::vector<float>{1, 0}));
}

TEST(Data, IdsOfEachIntegerTypeAreChecked) {
  Folder folder;
  writeData(folder);
  Plan plan = makePlan(0);
  auto said = [&](const std::string &descr, const std::string &bytes) {
    folder.write("ids.npy", makeNpy(descr, "(20,)", bytes));
    return complaintOf(plan, {{}, folder.file("")}).substr(folder.file("ids.npy").size() + 1);
  };
  auto ids = [](auto bad) {
    std::vector<decltype(bad)> values(rows);
    values[3] = bad;
    return bytesOf(values);
  };
  auto expected = [](const std::string &id) {
    return ": error: row 3, column 0: id " + id +
           " is outside the table of input 'ids', which has 10 rows (-100 is "
           "ignored)";
  };
  EXPECT_EQ(said("|u1", ids((uint8_t)200)), expected("200"));
  EXPECT_EQ(said("|i1", ids((int8_t)-1)), expected("-1"));
  EXPECT_EQ(said("<i2", ids((int16_t)-7)), expected("-7"));
  EXPECT_EQ(said("<u2", ids((uint16_t)65436)), expected("65436")); // no -100
  EXPECT_EQ(said("<u4", ids(4000000000u)), expected("4000000000"));
}

/// A plan with an input "twin" beside "ids", whose values nothing reads.
Plan makePlanWithTwin() {
  Plan plan = makePlan(0);
  auto twin = std::make_unique<plan::InputT>();
  twin->name = "twin", twin->element = plan::Element::I64, twin->unread = true;
  plan.inputs.push_back(std::move(twin)), plan.dataset->inputs.push_back(std::make_unique<plan::InputDataT>());
  return plan;
}

TEST(Data, WhatIsNotReadIsWhatMayBeReadInItsPlace) {
  Folder folder;
  writeData(folder);
  Plan plan = makePlanWithTwin();
  auto ids = goodIds<int64_t>();
  folder.write("ids.npy", makeIds(ids));
  folder.write("twin.npy", makeIds(goodIds<int32_t>()));
  EXPECT_EQ(complaintOfData(plan, folder), "");
  ids[7] += 1;
  folder.write("twin.npy", makeIds(ids));
  std::string said = complaintOfData(plan, folder);
  EXPECT_NE(said.find("twin.npy: error: row 7, column 0 differs from the same element of "), std::string::npos) << said;
  EXPECT_NE(
      said.find("ids.npy: the model does not read input 'twin', perhaps because it was exported with one tensor as "
                "both 'twin' and 'ids'"),
      std::string::npos)
      << said;
  EXPECT_EQ(complaintOfData(plan, folder, {{"twin", folder.file("ids.npy")}}), "");
}

TEST(Data, WhatIsNotReadIsAnyOfThoseThatAre) {
  Folder folder;
  writeData(folder);
  Plan plan = makePlanWithTwin();
  auto other = std::make_unique<plan::InputT>();
  other->name = "other", other->element = plan::Element::I64;
  plan.inputs.push_back(std::move(other)), plan.dataset->inputs.push_back(std::make_unique<plan::InputDataT>());
  std::vector<int64_t> ones(rows, 1);
  folder.write("other.npy", makeIds(ones)), folder.write("twin.npy", makeIds(ones));
  EXPECT_EQ(complaintOfData(plan, folder), "");
  plan.inputs.back()->element = plan::Element::I32;
  EXPECT_NE(complaintOfData(plan, folder).find("'twin' and 'ids'"), std::string::npos);
  plan.inputs[idsInput]->row_shape = {2}; // nothing is like it any more
  std::vector<int64_t> pairs(2 * rows, 1);
  folder.write("ids.npy", makeNpy("<i8", "(20, 2)", bytesOf(pairs)));
  EXPECT_EQ(complaintOfData(plan, folder), "");
}

} // namespace
