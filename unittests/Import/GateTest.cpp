// The gate of Import: each of its rules broken once. Import itself cannot be made to break them.
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Import/Passes.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

/// What the gate says about a function @forward with this body, which may read a buffer %b.
std::string complaintAbout(StringRef results, StringRef body) {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, xlc::graph::GraphDialect>();
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  std::string text =
      ("func.func @forward(%x: tensor<f32>, %n: tensor<i64>, %b: tensor<f32> {graph.param = \"average\", graph.buffer, "
       "graph.frozen}) -> " +
       results + " {\n" + body + "}\n")
          .str();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  std::string complaint;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { complaint = diagnostic.str(); });
  EXPECT_EQ(failed(xlc::verifyImported(*module)), !complaint.empty());
  return complaint;
}

std::string complaintAboutOps(StringRef ops) {
  return complaintAbout("(tensor<f32>, tensor<i64>)", (ops + "return %x, %n : tensor<f32>, tensor<i64>\n").str());
}

TEST(ImportGate, AcceptsWhatImportMakes) {
  EXPECT_EQ(complaintAboutOps("%0 = graph.tanh %x {graph.unit = #graph.unit<\"a\", 0>} : tensor<f32> loc(\"node\")\n"),
            "");
}

TEST(ImportGate, WantsLossAndCount) {
  EXPECT_EQ(complaintAbout("tensor<f32>", "return %x : tensor<f32>\n"),
            "the module needs @forward, which returns the loss and the number of targets");
}

TEST(ImportGate, WantsGraphOps) {
  EXPECT_EQ(complaintAboutOps("%0 = \"other.op\"() : () -> tensor<f32>\n"),
            "only ops of the graph dialect may remain after Import");
}

TEST(ImportGate, WantsSources) {
  EXPECT_EQ(complaintAboutOps("%0 = graph.tanh %x {graph.unit = #graph.unit<\"a\", 0>} : tensor<f32>\n"),
            "every op must have a source node of the model");
}

TEST(ImportGate, WantsUnits) {
  EXPECT_EQ(complaintAboutOps("%0 = graph.tanh %x : tensor<f32> loc(\"node\")\n"), "every op must belong to a unit");
}

TEST(ImportGate, WantsEqualInstances) {
  EXPECT_EQ(complaintAboutOps("%0 = graph.tanh %x {graph.unit = #graph.unit<\"a\", 0>} : tensor<f32> loc(\"node\")\n"
                              "%1 = graph.exp %x {graph.unit = #graph.unit<\"a\", 1>} : tensor<f32> loc(\"node\")\n"),
            "instances 0 and 1 of unit class \"a\" must have the same ops");
}

TEST(ImportGate, WantsOneReaderOfWhatIsReplaced) {
  std::string results = "(tensor<f32>, tensor<i64>, tensor<f32> {graph.buffer = \"average\"})";
  std::string next = "%0 = graph.add %x, %b {graph.unit = #graph.unit<\"a\", 0>} : tensor<f32> loc(\"node\")\n";
  std::string other = "%1 = graph.mul %x, %b {graph.unit = #graph.unit<\"a\", 0>} : tensor<f32> loc(\"node\")\n";
  EXPECT_EQ(complaintAbout(results, next + "return %x, %n, %0 : tensor<f32>, tensor<i64>, tensor<f32>\n"), "");
  EXPECT_EQ(complaintAbout(results, next + other + "return %1, %n, %0 : tensor<f32>, tensor<i64>, tensor<f32>\n"),
            "buffer \"average\" must only be read by the op that updates it");
  std::string twice = "(tensor<f32>, tensor<i64>, tensor<f32> {graph.buffer = \"average\"}, "
                      "tensor<f32> {graph.buffer = \"average\"})";
  EXPECT_EQ(
      complaintAbout(twice, next + "return %x, %n, %0, %0 : tensor<f32>, tensor<i64>, tensor<f32>, tensor<f32>\n"),
      "buffer \"average\" is updated twice");
  EXPECT_EQ(complaintAbout("(tensor<f32>, tensor<i64>, tensor<f32>)",
                           "return %x, %n, %x : tensor<f32>, tensor<i64>, tensor<f32>\n"),
            "the module needs @forward, which returns the loss and the number of targets");
}

} // namespace
