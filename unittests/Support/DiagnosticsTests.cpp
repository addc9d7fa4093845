// What is reported, what is counted, and what becomes of MLIR's diagnostics.
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "xlc/Support/Diagnostics.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;

namespace {

TEST(Diagnostics, PrintsPlaceSourceAndNotes) {
  std::string printed;
  llvm::raw_string_ostream out(printed);
  Diagnostics diagnostics(out);
  diagnostics.report({.where = "a.yaml:2:5",
                      .text = "dp = 3 does not divide 8",
                      .source = "dp: 3\n    ^\n",
                      .notes = {{.severity = Severity::Note, .where = "a.yaml:1:1", .text = "8 is given here"}}});
  EXPECT_EQ(printed, "a.yaml:2:5: error: dp = 3 does not divide 8\ndp: 3\n    ^\na.yaml:1:1: note: 8 is given here\n");
}

TEST(Diagnostics, OnlyErrorsCount) {
  std::vector<Message> messages;
  Diagnostics diagnostics(messages);
  diagnostics.report({.severity = Severity::Warning, .where = "m.onnx", .text = "slow"});
  diagnostics.report({.severity = Severity::Note, .where = "m.onnx", .text = "so", .fault = Fault::Compiler});
  EXPECT_FALSE(diagnostics.hasErrors());
  EXPECT_FALSE(diagnostics.hasCompilerFault());
  diagnostics.error("m.onnx", "wrong");
  EXPECT_TRUE(diagnostics.hasErrors());
  EXPECT_FALSE(diagnostics.hasCompilerFault());
  diagnostics.report({.where = "m.onnx", .text = "a gate failed", .fault = Fault::Compiler});
  EXPECT_TRUE(diagnostics.hasCompilerFault());
  EXPECT_EQ(messages.size(), 4u);
}

struct FromMlir : testing::Test {
  MLIRContext context;
  std::optional<Message> message;
  std::optional<Fault> fault;
  ScopedDiagnosticHandler handler{&context, [this](Diagnostic &diagnostic) {
                                    message = toMessage(diagnostic, "m.onnx"), fault = getFault(diagnostic);
                                  }};
  Location node = NameLoc::get(StringAttr::get(&context, "fc1/Gemm"));
};

TEST_F(FromMlir, ANoteNamesTheNode) {
  emitError(node).append("no gradient rule").attachNote() << "only products have one";
  ASSERT_TRUE(message);
  EXPECT_EQ(message->severity, Severity::Error);
  EXPECT_EQ(message->where + message->text, "m.onnxno gradient rule");
  ASSERT_EQ(message->notes.size(), 2u);
  EXPECT_EQ(message->notes[0].text, "at node 'fc1/Gemm'");
  EXPECT_EQ(message->notes[1].text, "only products have one");
  EXPECT_FALSE(fault);
}

TEST_F(FromMlir, NotWhereTheTextNamesIt) {
  emitWarning(node) << "node 'fc1/Gemm' is slow";
  ASSERT_TRUE(message);
  EXPECT_EQ(message->severity, Severity::Warning);
  EXPECT_TRUE(message->notes.empty());
}

TEST_F(FromMlir, BlameStays) {
  blame(Fault::Compiler, emitError(node)) << "an op has no unit";
  EXPECT_EQ(fault, Fault::Compiler);
}

} // namespace
