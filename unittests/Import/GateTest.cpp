// The gate of Import: each of its rules broken once. Import itself cannot be made to break them.
#include "gtest/gtest.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Import/Passes.h"

using namespace mlir;

namespace {

/// What the gate says about a function @forward with this body.
std::string complaintAbout(StringRef results, StringRef body) {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, xlc::graph::GraphDialect>();
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  std::string text = ("func.func @forward(%x: tensor<f32>, %n: tensor<i64>) -> " + results + " {\n" + body + "}\n").str();
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
  EXPECT_EQ(complaintAboutOps("%0 = graph.tanh %x {graph.unit = #graph.unit<\"a\", 0>} : tensor<f32> loc(\"node\")\n"), "");
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
            "every op must say which node of the model it comes from");
}

TEST(ImportGate, WantsUnits) {
  EXPECT_EQ(complaintAboutOps("%0 = graph.tanh %x : tensor<f32> loc(\"node\")\n"), "every op must belong to a unit");
}

TEST(ImportGate, WantsEqualInstances) {
  EXPECT_EQ(complaintAboutOps("%0 = graph.tanh %x {graph.unit = #graph.unit<\"a\", 0>} : tensor<f32> loc(\"node\")\n"
                              "%1 = graph.exp %x {graph.unit = #graph.unit<\"a\", 1>} : tensor<f32> loc(\"node\")\n"),
            "instances 0 and 1 of unit class \"a\" must have the same ops");
}

} // namespace
