// A second target on the compiler's side, in this folder alone: its library takes no views and has another workspace,
// its arena another alignment, its devices other rates. Plans follow it; no phase was told of it.
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Emit/Emit.h"
#include "xlc/Kernels/LibraryCalls.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Phases/Phases.h"
#include "xlc/Report/Report.h"
#include "xlc/Target/Targets.h"
#include "llvm/Support/FileSystem.h"
#include <fstream>
#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace xlc;

namespace {

constexpr int64_t kWorkspace = 8192, kAlignment = 4096, kOutside = int64_t(1) << 30;

class StrictBackend : public Backend {
public:
  explicit StrictBackend(const Backend &cpu) : cpu(cpu) {}

  void addLowering(OpPassManager &passes) const override { cpu.addLowering(passes); }
  void describe(plan::PlanT &plan) const override {
    cpu.describe(plan);
    plan.alignment = kAlignment;
    plan.cpu = isRight ? plan.cpu : 99;
  }
  std::unique_ptr<llvm::MemoryBuffer> makeObject(ModuleOp module, ArrayRef<uint8_t> plan) const override {
    return cpu.makeObject(module, plan);
  }
  StringRef runtime() const override { return "libStrict.a"; }

  bool isRight = true;

private:
  const Backend &cpu;
};

class StrictTarget : public Target {
public:
  StringRef name() const override { return "strict"; }
  StringRef chip() const override { return cpu->chip(); }
  std::vector<std::string> findMissingFeatures() const override { return {}; }

  bool fits(const LibraryCall &call) const override {
    return hasLibrary && cpu->fits(call) && llvm::all_of(call.memory, isContiguous);
  }
  int64_t workspace(const LibraryCall &, int) const override { return kWorkspace; }
  bool hasElementType(Type type) const override { return hasDoubles || !type.isF64(); }
  int64_t arenaAlignment() const override { return kAlignment; }
  std::vector<OutsideLine> outsideLines() const override { return {{"strict", kOutside}}; }
  int64_t flopsPerByte() const override { return 300; }
  Device measure(const Measuring &) const override { return workAlone(300); }
  std::string describeProducts(StringRef element) const override { return ("none of " + element).str(); }

  const Backend &backend() const override { return code; }

  bool hasLibrary = true, hasDoubles = true;
  std::unique_ptr<Target> cpu = getTargets().front().make("native");
  StrictBackend code{cpu->backend()};
};

struct TargetTest : testing::Test {
  SmallString<128> folder;
  std::string specPath, messages;
  std::unique_ptr<MLIRContext> context;
  StrictTarget strict;

  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("target", folder));
    specPath = (folder + "/spec.yaml").str();
    std::ofstream(specPath) << "dims: {sequence: 32}\nbatch: {micro: 2}\n";
    DialectRegistry registry;
    registerDialects(registry);
    registerLowerDialects(registry);
    context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    context->getDiagEngine().registerHandler([&](Diagnostic &d) { messages += d.str() + "\n"; });
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  Diagnostics silent;

  /// A small GPT-2 up to this phase; its module is null where that fails.
  Compilation plan(const Target &target, StringRef stopAfter = kPlanPhase) {
    Compilation compilation(*context, target, silent);
    compilation.modelPath = XLC_MODELS "/gpt2-tiny/loss.onnx";
    compilation.specPath = specPath;
    RunOptions options;
    options.stopAfter = stopAfter;
    if (failed(runPhases(compilation, options)))
      compilation.module = nullptr;
    return compilation;
  }
};

/// Bytes of workspace and the number of views among the operands of all library calls.
struct Calls {
  std::set<int64_t> workspaces;
  int64_t views = 0, generated = 0;
};

Calls lookAt(ModuleOp module) {
  Calls calls;
  module.walk([&](exec::CallOp call) {
    auto kernel = module.lookupSymbol<func::FuncOp>(call.getKernel());
    if (exec::findKernelKind(kernel) != exec::KernelKind::library) {
      ++calls.generated;
      return;
    }
    Value workspace = call.getWorkspace();
    calls.workspaces.insert(workspace ? cast<MemRefType>(workspace.getType()).getNumElements() : 0);
    for (Value operand : llvm::concat<Value>(call.getIns(), call.getOuts()))
      calls.views += !isContiguous(cast<MemRefType>(operand.getType()));
  });
  return calls;
}

TEST_F(TargetTest, TheTableHasTheCpuFirst) {
  EXPECT_EQ(getTargets().front().facts.name, "cpu");
  EXPECT_EQ(getTargets().front().listChips().front(), "native");
  EXPECT_FALSE(getTargets().front().make("z80"));
}

/// What the spec knows of a target stands in a table of its own.
TEST_F(TargetTest, EachRowHasTheFactsOfItsTarget) {
  for (const TargetRow &row : getTargets()) {
    EXPECT_EQ(row.make(row.listChips().front())->name(), row.facts.name);
    EXPECT_FALSE(row.examine().parts.empty()) << row.facts.name.str();
  }
}

TEST_F(TargetTest, ASpecCanAskForEach) {
  for (const std::string &name : listTargets()) {
    std::optional<Spec> spec = parseSpec("target: " + name, "spec.yaml", silent);
    ASSERT_TRUE(spec) << name;
    EXPECT_TRUE(findTarget(spec->target));
  }
  EXPECT_FALSE(findTarget("tpu"));
}

TEST_F(TargetTest, DevicesSayWhichChipOfCuda) {
  const TargetRow &cuda = *findTarget("cuda");
  auto chipOf = [&](StringRef name) { return cuda.chipOf(*findDevice(name)).chip; };
  EXPECT_EQ(chipOf("h100"), "sm_90");
  EXPECT_EQ(chipOf("a100-40"), "sm_80");
  EXPECT_EQ(chipOf("rtx-titan"), ""); // 7.5
  EXPECT_EQ(chipOf("cpu"), "");
  Device ada = *findDevice("a100-40");
  ada.capability = 89; // has no code of its own
  EXPECT_EQ(cuda.chipOf(ada).chip, "sm_80");
  ada.capability = 0; // nobody said
  EXPECT_EQ(cuda.chipOf(ada).chip, "sm_80");
  for (const std::string &chip : cuda.listChips())
    EXPECT_EQ(cuda.make(chip)->chip(), chip);
  EXPECT_FALSE(cuda.make("sm_75"));
}

/// cuBLASLt adds one along the rows of a column-major result, and so not along the columns of one.
TEST_F(TargetTest, ABiasOnGpusWantsARowMajorResult) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @f(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>) -> tensor<4x5xf32> {
      %y = graph.contract "ab,bc->ac" %a, %b : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
      return %y : tensor<4x5xf32>
    })",
                                                             context.get());
  ASSERT_TRUE(module);
  Operation *product = nullptr;
  module->walk([&](graph::ContractOp op) { product = op; });
  auto memoryOf = [&](StringRef type) { return cast<MemRefType>(parseType(type, context.get())); };
  std::unique_ptr<Target> cuda = findTarget("cuda")->make("sm_90");
  auto fits = [&](StringRef result, bool hasBias) {
    SmallVector<MemRefType> memory = {memoryOf("memref<4x6xf32>"), memoryOf("memref<6x5xf32>"), memoryOf(result)};
    return cuda->fits({product, memory, {.bias = hasBias}});
  };
  EXPECT_TRUE(fits("memref<4x5xf32>", true));
  EXPECT_TRUE(fits("memref<4x5xf32, strided<[8, 1]>>", true));
  EXPECT_TRUE(fits("memref<4x5xf32, strided<[1, 4]>>", false));
  EXPECT_FALSE(fits("memref<4x5xf32, strided<[1, 4]>>", true));
}

TEST_F(TargetTest, RoundingIsALineBesideTheArena) {
  std::unique_ptr<Target> cuda = findTarget("cuda")->make("sm_80");
  std::vector<OutsideLine> lines = cuda->outsideOf(std::nullopt, (int64_t(2) << 20) + 256, 1);
  EXPECT_EQ(lines.back().name, "rounding");
  EXPECT_EQ(lines.back().bytes, (2 << 20) - 256);
  const Device &h200 = *findDevice("h200");
  EXPECT_EQ(cuda->outsideOf(h200, 2 << 20, 1).size(), h200.outside.size());
  EXPECT_EQ(cuda->outsideOf(h200, 2 << 20, 2).back().name, "nccl");
  EXPECT_EQ(cuda->outsideOf(h200, 2 << 20, 2, {{"bounce", 8 << 20}}).back().name, "bounce");
  Device said = h200;
  said.outside = {{"all", 1}}, said.outsideOfPeers.clear(); // as a file says it
  EXPECT_EQ(sumOf(cuda->outsideOf(said, 2 << 20, 1)), 1);
  EXPECT_EQ(cuda->outsideOf(said, 2 << 20, 2).back().name, "nccl");
}

TEST_F(TargetTest, ThePlanFollowsTheTarget) {
  Compilation onCpu = plan(*strict.cpu), onStrict = plan(strict);
  ASSERT_TRUE(onCpu.module && onStrict.module) << messages;
  Calls cpu = lookAt(*onCpu.module), calls = lookAt(*onStrict.module);
  EXPECT_GT(cpu.views, 0);
  EXPECT_EQ(calls.views, 0);
  EXPECT_GT(calls.generated, cpu.generated); // what was a view is copied
  EXPECT_EQ(calls.workspaces, std::set<int64_t>{kWorkspace});
  for (exec::ProgramOp program : onStrict.module->getOps<exec::ProgramOp>()) {
    EXPECT_EQ(program.getArena() % kAlignment, 0u);
    for (exec::BufferOp buffer : program.getBody().front().getOps<exec::BufferOp>())
      EXPECT_EQ(buffer.getOffset() % kAlignment, 0u);
  }
  PlanReport report = makeReport(*onStrict.module, onStrict.spec, strict);
  EXPECT_EQ(sumOf(report.groups[0].memory.outside), kOutside);
  EXPECT_EQ(report.largestTotal(), report.groups[0].memory.arena + kOutside);
}

TEST_F(TargetTest, ACompilationBesideAnotherHasItsInputsAndNoneOfItsResults) {
  static_assert(!std::is_copy_constructible_v<CompilationResults>);
  Compilation made = plan(*strict.cpu, "Import");
  ASSERT_TRUE(made.module) << messages;
  std::string text;
  llvm::raw_string_ostream notes(text);
  made.targetName = "cpu", made.request = {"xlc", "train", "/bin/xlc", {}, "image"}, made.isPlanAlone = true;
  made.importing = {/*raise=*/false, &notes, {{"x", {2, 3}}}};
  Diagnostics other;
  Compilation beside(made, Spec(), other);
  EXPECT_EQ(beside.modelPath, made.modelPath);
  EXPECT_EQ(beside.specPath, made.specPath);
  EXPECT_EQ(beside.targetName, "cpu");
  EXPECT_EQ(beside.importing.raise, false);
  EXPECT_EQ(beside.importing.shapes, made.importing.shapes); // what copies by hand forgot
  EXPECT_EQ(beside.request.compiler, "xlc");
  EXPECT_EQ(beside.request.driver, "/bin/xlc");
  EXPECT_FALSE(beside.isPlanAlone); // the check against a reference reads all of it
  EXPECT_EQ(&beside.getTarget(), &made.getTarget());
  EXPECT_EQ(&beside.diagnostics, &other);
  // What the user sees is the user's own compilation's.
  EXPECT_EQ(beside.importing.notes, nullptr);
  EXPECT_EQ(beside.request.output + beside.request.simulatorImage, "");
  EXPECT_FALSE(beside.module);
  EXPECT_TRUE(beside.parameters.empty());
}

TEST_F(TargetTest, StagesAreWeighedWithItsRates) {
  Compilation compilation = plan(*strict.cpu);
  ASSERT_TRUE(compilation.module) << messages;
  SmallVector<exec::ProgramOp> programs(compilation.module->getOps<exec::ProgramOp>());
  auto busy = [&](const Target &target) {
    Clock clock(*compilation.module, workAlone(target.flopsPerByte()), /*threads=*/1);
    return timeStages(programs, clock, RunOrder::List)[0].busy;
  };
  EXPECT_GT(busy(strict), busy(*strict.cpu));
}

TEST_F(TargetTest, WhatNoLibraryTakesIsSaid) {
  strict.hasLibrary = false;
  EXPECT_FALSE(plan(strict).module);
  EXPECT_NE(messages.find("no library call supports the layouts of the operands and results"), std::string::npos)
      << messages;
}

TEST_F(TargetTest, TypesThatItDoesNotHaveAreSaid) {
  strict.hasDoubles = false; // the log-sum-exp of attention
  EXPECT_FALSE(plan(strict).module);
  EXPECT_NE(messages.find("target 'strict' does not support elements of type 'f64'"), std::string::npos) << messages;
}

TEST_F(TargetTest, ItsPlanIsEmitted) {
  Compilation compilation = plan(strict, "Emit");
  ASSERT_TRUE(compilation.module) << messages;
  EXPECT_TRUE(compilation.module->lookupSymbol(kKernelModule));
  EXPECT_TRUE(compilation.object);
}

TEST_F(TargetTest, APlanThatItsProgramWouldRefuseIsNotEmitted) {
  strict.code.isRight = false;
  EXPECT_FALSE(plan(strict, "Emit").module);
  EXPECT_NE(messages.find("gate of Emit: error: the plan in this program is damaged"), std::string::npos) << messages;
}

TEST_F(TargetTest, ProgramsAreLinkedWithItsRuntime) {
  ASSERT_FALSE(llvm::sys::fs::create_directories(folder + "/lib/xlc"));
  for (const char *name : {"/lib/libStrict.a", "/lib/xlc/libc.so.6"})
    std::ofstream((folder + name).str());
  MLIRContext context;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) { messages += diagnostic.str(); });
  Location loc = UnknownLoc::get(&context);
  FailureOr<LinkFiles> found = findLinkFiles(strict, (folder + "/bin/xlc").str(), loc);
  ASSERT_TRUE(succeeded(found)) << messages;
  EXPECT_EQ(found->runtime, (folder + "/lib/libStrict.a").str());
  EXPECT_EQ(found->folder, (folder + "/lib/xlc").str());
  EXPECT_TRUE(failed(findLinkFiles(*strict.cpu, (folder + "/bin/xlc").str(), loc)));
  EXPECT_EQ(messages,
            "cannot find libXLCRuntime.a in ../lib or ../lib/xlc (relative to the directory of the compiler)");
}

} // namespace
