// Whose mistake an error is: the user's ends with 1, ours with 70 and a file that repeats it.
#include "Session.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <fstream>
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;

namespace {

struct SessionTest : testing::Test {
  llvm::SmallString<128> before, folder;
  CommonOptions options;

  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::current_path(before));
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("session", folder));
    ASSERT_FALSE(llvm::sys::fs::set_current_path(folder));
    options.model = XLC_MODELS "/mlp/logits.onnx";
    options.spec = "spec.yaml";
    std::ofstream(options.spec) << "loss: {type: cross_entropy, logits: logits, labels: y}\n";
  }
  void TearDown() override {
    llvm::sys::fs::set_current_path(before);
    llvm::sys::fs::remove_directories(folder);
  }

  /// Runs the phases, says `text` as an error of `phase`, which may say whose fault it is, and returns what it means and what was printed.
  std::pair<int, std::string> say(StringRef phase, const char *text, std::optional<Fault> fault = std::nullopt) {
    testing::internal::CaptureStderr();
    Session session(options);
    EXPECT_EQ(session.runPhases(), Done);
    session.get().phase = phase;
    Location node = NameLoc::get(StringAttr::get(&session.get().context, "fc1/Gemm"));
    if (fault)
      blame(*fault, emitError(node)) << text;
    else
      emitError(node) << text;
    int code = session.failed();
    return {code, testing::internal::GetCapturedStderr()};
  }
};

TEST_F(SessionTest, AModelThatIsNotSupportedIsTheUsers) {
  auto [code, printed] = say("Differentiate", "a product along a dimension has no gradient rule");
  EXPECT_EQ(code, Rejected);
  EXPECT_NE(printed.find("logits.onnx: error: a product along a dimension has no gradient rule\n"), std::string::npos);
  EXPECT_NE(printed.find("logits.onnx: note: at node 'fc1/Gemm'\n"), std::string::npos);
  EXPECT_FALSE(llvm::sys::fs::exists("xlc-reproducer.mlir"));
}

TEST_F(SessionTest, AGateThatFailsIsOurs) {
  auto [code, printed] = say("Schedule", "'sched.update' op updates a bucket twice");
  EXPECT_EQ(code, Internal);
  EXPECT_NE(printed.find("error: internal error in phase Schedule: 'sched.update' op"), std::string::npos);
  EXPECT_NE(printed.find("note: this is a bug in xlc; please report it with the file 'xlc-reproducer.mlir'"),
            std::string::npos);
  auto file = llvm::MemoryBuffer::getFile("xlc-reproducer.mlir");
  ASSERT_TRUE(file);
  EXPECT_TRUE((*file)->getBuffer().contains("the module before phase Schedule"));
  EXPECT_TRUE((*file)->getBuffer().contains("sched.timeline"));
}

TEST_F(SessionTest, AnErrorSaysWhoseFaultItIsWhereThePhaseDoesNot) {
  auto [code, printed] = say("Import", "an op has no unit", Fault::Compiler);
  EXPECT_EQ(code, Internal);
  EXPECT_NE(printed.find("error: internal error in phase Import: an op has no unit"), std::string::npos);
}

TEST_F(SessionTest, WordsDoNotDecide) {
  EXPECT_EQ(say("Import", "'gate of Import' is the name of a node").first, Rejected);
  EXPECT_EQ(say("Memory", "no library takes these layouts").first, Internal);
}

TEST_F(SessionTest, FilesThatCannotBeWrittenAreTheUsers) {
  EXPECT_EQ(say("Emit", "cannot write 'train'", Fault::User).first, Rejected);
}

TEST_F(SessionTest, ExceptionsAreOurs) {
  testing::internal::CaptureStderr();
  int code = runGuarded({nullptr, []() -> int { throw std::runtime_error("no way out"); }});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "xlc: error: internal error: no way out\n");
  EXPECT_EQ(code, Internal);
}

} // namespace
