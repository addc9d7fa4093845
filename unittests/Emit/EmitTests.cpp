// The smallest program: one parameter w, loss = sum of w, one update w <- 2 w. Its plan is read back, the program is
// linked and run.
#include "Failure.h"
#include "Files/OutputFile.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "xlc/Emit/Emit.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Runtime/CpuLevel.h"
#include "xlc/Runtime/ScatterKind.h"
#include "xlc/Target/Targets.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <filesystem>
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;

namespace {

constexpr char source[] = R"(
func.func private @loss(%w: tensor<64xf32>) -> (tensor<f32>, tensor<f32>) attributes {exec.kind = #exec.kernel<all>} {
  %y = graph.reduce sum %w dims [0] : tensor<64xf32> -> tensor<f32>
  return %y, %y : tensor<f32>, tensor<f32>
}
func.func private @double(%w: tensor<64xf32>) -> tensor<64xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.add %w, %w : tensor<64xf32>
  return %y : tensor<64xf32>
}
func.func private @product(%a: tensor<8x4xf32>, %b: tensor<4x8xf32>) -> tensor<8x8xf32> attributes {exec.kind = #exec.kernel<library>} {
  %y = graph.contract "mk,kn->nm" %a, %b : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @step(%w: memref<64xf32>, %scalars: memref<16xf32>) {
  %loss = exec.view %scalars from 0 : memref<16xf32> -> memref<f32>
  %norm = exec.view %scalars from 4 : memref<16xf32> -> memref<f32>
  exec.call @loss ins(%w : memref<64xf32>) outs(%loss, %norm : memref<f32>, memref<f32>) accumulate [0, 0]
  exec.call @double ins(%w : memref<64xf32>) outs(%w : memref<64xf32>) accumulate [0]
  return
}
func.func @multiply(%x: memref<32xf32>, %w: memref<32xf32>, %y: memref<64xf32>, %scratch: memref<1048576xi8>) {
  %a = exec.view %x from 0 : memref<32xf32> -> memref<8x4xf32>
  %b = exec.view %w from 0 : memref<32xf32> -> memref<4x8xf32>
  %c = exec.view %y from 0 : memref<64xf32> -> memref<8x8xf32>
  exec.call @product ins(%a, %b : memref<8x4xf32>, memref<4x8xf32>) outs(%c : memref<8x8xf32>) workspace(%scratch : memref<1048576xi8>) accumulate [2]
  return
}
exec.program @train stage 0 micro_batches 1 arena 512 lower_bound 512 {
  exec.buffer 0 parameters "w" size 256 offset 0 live 0 to 1 persistent
  exec.buffer 1 workspace "scalars" size 128 offset 256 live 0 to 1 persistent
  exec.state value of @w 64 x f32 begins parameters at <0 + 0 + 0>
  exec.state result "loss" 1 x f32 begins nothing at <1 + 0 + 0>
  exec.state result "norm" 1 x f32 begins nothing at <1 + 16 + 0>
  exec.state counter "applied" 1 x f32 begins one at <1 + 80 + 0>
  exec.begin [#exec.place<1 + 64 + 0>]
  exec.run @step "step" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
)";

struct Emit : testing::Test {
  MLIRContext context;
  std::unique_ptr<Target> target = getTargets().front().make("native");
  OwningOpRef<ModuleOp> module;
  plan::PlanT plan;
  SmallString<128> folder;
  std::string messages;

  void SetUp() override {
    DialectRegistry registry;
    registry.insert<graph::GraphDialect, exec::ExecDialect>();
    registerLowerDialects(registry);
    context.appendDialectRegistry(registry);
    context.getDiagEngine().registerHandler([&](Diagnostic &d) { messages += d.str() + "\n"; });
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("emit", folder));
    module = parseSourceString<ModuleOp>(source, &context);
    ASSERT_TRUE(module) << messages;
    fillInputs();
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  /// Writes the program under this name, and publishes it.
  LogicalResult emit(StringRef name, const LinkFiles &files = {XLC_RUNTIME_LIBRARY, XLC_LINK_FOLDER}) {
    return publish(name, [&](runtime::OutputFile &file) -> LogicalResult {
      std::unique_ptr<llvm::MemoryBuffer> object = succeeded(lower()) ? makeObject(*module, *target, plan) : nullptr;
      return success(object && succeeded(linkProgram(module->getLoc(), files, *object, file)));
    });
  }
  LogicalResult lower() {
    PassManager lowering(&context);
    target->backend().addLowering(lowering);
    return lowering.run(*module);
  }
  LogicalResult publish(StringRef name, llvm::function_ref<LogicalResult(runtime::OutputFile &)> write) {
    try {
      runtime::OutputFile file(path(name));
      if (failed(write(file)))
        return failure();
      file.publish();
    } catch (const runtime::Rejected &problem) {
      messages += problem.what();
      return failure();
    }
    return success();
  }

  size_t countFiles() const {
    return std::distance(std::filesystem::directory_iterator(folder.str().str()),
                         std::filesystem::directory_iterator());
  }

  void fillInputs() {
    plan.dataset = std::make_unique<plan::DatasetT>();
    plan.model = "w.onnx", plan.compiler = "test", plan.fingerprint = "f";
    plan.micro = plan.threads = 1;
    plan.traffic.push_back(std::make_unique<plan::TrafficT>());
    auto bucket = std::make_unique<plan::BucketT>();
    bucket->name = "w", bucket->elements = bucket->shard_elements = 64;
    plan.buckets.push_back(std::move(bucket));
    auto parameter = std::make_unique<plan::ParameterT>();
    parameter->name = "w", parameter->shape = {64}, parameter->elements = 64, parameter->init = plan::Init::Ones;
    plan.parameters.push_back(std::move(parameter));
    auto group = std::make_unique<plan::OptimizerGroupT>();
    group->lr = 0.1;
    plan.groups.push_back(std::move(group));
  }

  std::string path(StringRef name) { return (folder + "/" + name).str(); }
};

TEST_F(Emit, PlanSaysWhatTheProgramSays) {
  ASSERT_TRUE(succeeded(lower()) && succeeded(fillPlan(*module, plan))) << messages;
  std::vector<uint8_t> bytes = serializePlan(plan);
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  ASSERT_TRUE(plan::VerifyPlanBuffer(verifier));
  auto read = plan::UnPackPlan(bytes.data());
  ASSERT_EQ(read->programs.size(), 1u);
  const plan::ProgramT &program = *read->programs[0];
  EXPECT_EQ(program.arena, 512u);
  EXPECT_EQ(program.buffers[1]->name, "scalars");
  EXPECT_EQ(program.states[2]->place->offset(), 272u);
  ASSERT_EQ(read->states.size(), 4u);
  EXPECT_EQ(read->states[0]->bucket, 0u);
  EXPECT_EQ(read->states[3]->kind, plan::StateKind::Counter);
  EXPECT_EQ(read->states[3]->begins, plan::Beginning::One);
  EXPECT_EQ(program.states[0]->place->buffer(), 0u);
  ASSERT_EQ(read->functions.size(), 2u);
  const plan::CallT &loss = *read->functions[0]->calls[0];
  EXPECT_EQ(loss.outs[1].slot(), 1u);
  EXPECT_EQ(loss.outs[1].offset(), 16);
  EXPECT_EQ(loss.in_bytes, std::vector<uint64_t>{256});
  EXPECT_EQ(read->kernels[1]->code, 1);
  EXPECT_EQ(read->kernels[1]->extent, 64u);
  ASSERT_EQ(program.steps.size(), 2u);
  EXPECT_EQ(program.steps[0]->action.AsBegin()->places[0].offset(), 256u + 64u);
  EXPECT_EQ(program.steps[1]->action.AsRun()->places[1].offset(), 256u);
}

// The runtime is built without the compiler's dialects, and Emit casts from one enum to the other.
TEST(PlanEnums, NumberAndSpellAsTheDialectDoes) {
  EXPECT_EQ((int)plan::Activation::Gelu, (int)runtime::Activation::Gelu);
  EXPECT_EQ((int)plan::Activation::GeluBackward, (int)runtime::Activation::GeluBackward);
  ASSERT_EQ((unsigned)plan::Axis::MAX, dist::getMaxEnumValForAxis());
  for (plan::Axis axis : plan::EnumValuesAxis())
    EXPECT_EQ(plan::EnumNameAxis(axis), dist::stringifyAxis(dist::Axis(axis)));
  ASSERT_EQ((unsigned)plan::ScatterKind::MAX, graph::getMaxEnumValForScatter());
  for (plan::ScatterKind kind : plan::EnumValuesScatterKind())
    EXPECT_EQ(StringRef(plan::EnumNameScatterKind(kind)).lower(), graph::stringifyScatter(graph::Scatter(kind)));
  EXPECT_EQ((int)plan::ScatterKind::Last, (int)runtime::ScatterKind::Last);
  EXPECT_EQ((int)plan::ScatterKind::Max, (int)runtime::ScatterKind::Max);
  EXPECT_EQ((int)plan::ScatterKind::Min, (int)runtime::ScatterKind::Min);
  ASSERT_EQ((unsigned)plan::CollectiveKind::MAX, dist::getMaxEnumValForCollectiveKind());
  for (plan::CollectiveKind kind : plan::EnumValuesCollectiveKind())
    EXPECT_EQ(plan::EnumNameCollectiveKind(kind), stringifyCollectiveKind(dist::CollectiveKind(kind)));
  ASSERT_EQ((unsigned)plan::Stream::MAX, exec::getMaxEnumValForStream());
  for (plan::Stream stream : plan::EnumValuesStream())
    EXPECT_EQ(plan::EnumNameStream(stream), exec::stringifyStream(exec::Stream(stream)));
  ASSERT_EQ((unsigned)plan::Purpose::MAX, graph::getMaxEnumValForPurpose());
  for (plan::Purpose purpose : plan::EnumValuesPurpose())
    EXPECT_EQ(plan::EnumNamePurpose(purpose), graph::stringifyPurpose(graph::Purpose(purpose)));
  auto plain = [](StringRef name) { return llvm::join(llvm::split(name.lower(), '_'), ""); };
  ASSERT_EQ((unsigned)plan::StateKind::MAX, exec::getMaxEnumValForStateKind());
  for (plan::StateKind kind : plan::EnumValuesStateKind())
    EXPECT_EQ(plain(plan::EnumNameStateKind(kind)), plain(exec::stringifyStateKind(exec::StateKind(kind))));
  ASSERT_EQ((unsigned)plan::Beginning::MAX, exec::getMaxEnumValForBeginning());
  for (plan::Beginning beginning : plan::EnumValuesBeginning())
    EXPECT_EQ(plain(plan::EnumNameBeginning(beginning)), plain(exec::stringifyBeginning(exec::Beginning(beginning))));
}

// What ranks exchange inside a function is a call without a kernel; a group has one number wherever it is named.
TEST_F(Emit, CollectivesAndTransfersAreThePlans) {
  std::string text(source);
  auto replace = [&](StringRef from, StringRef to) { text.replace(text.find(from), from.size(), to); };
  replace("  exec.call @double", R"(
  exec.collective all_reduce %w to %w over <tp, [1, 1], []> outer 2 chunk 32 : memref<64xf32>, memref<64xf32>
  exec.call @double)");
  replace("  exec.run @step", R"(
  exec.exchange all_reduce "r" over <tp, [1, 1], []> <0 + 0 + 0> to <0 + 0 + 0> count 64 f32
  exec.send "send 3 to 1" message 3 to 1 <0 + 0 + 0> bytes 256
  exec.run @step)");
  module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module && succeeded(lower()) && succeeded(fillPlan(*module, plan))) << messages;
  const plan::CallT &call = *plan.functions[0]->calls[1];
  ASSERT_TRUE(call.exchange);
  EXPECT_EQ(call.exchange->outer, 2u);
  EXPECT_EQ(call.exchange->chunk, 32u);
  EXPECT_EQ(call.name, "all_reduce");
  ASSERT_EQ(plan.rank_groups.size(), 1u);
  EXPECT_EQ(plan.rank_groups[0]->axis, plan::Axis::tp);
  const plan::SendT *send = plan.programs[0]->steps[2]->action.AsSend();
  ASSERT_TRUE(send);
  EXPECT_EQ(send->message, 3u);
  EXPECT_EQ(send->peer, 1u);
  EXPECT_EQ(send->bytes, 256u);
}

TEST_F(Emit, LibraryCallsTakeTheirOperandsInTheLibrarysOrder) {
  ASSERT_TRUE(succeeded(lower()) && succeeded(fillPlan(*module, plan))) << messages;
  // y is transposed: its contiguous dimension is the first operand's, which becomes the library's b.
  const plan::CallT &call = *plan.functions[1]->calls[0];
  EXPECT_EQ(call.ins[0].slot(), 1u);
  EXPECT_EQ(call.ins[1].slot(), 0u);
  EXPECT_EQ(call.accumulate[0], plan::Accumulate::Later);
  const plan::ContractT *shape = plan.kernels[call.kernel]->library.AsContract();
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->y_n, 1);
  EXPECT_EQ(shape->b_n, 4);
}

/// A level beyond that of the code is for products of bf16 alone.
TEST_F(Emit, ProductsHaveTheirTypeAndBf16ItsLevel) {
  target = getTargets().front().make("x86-64-v4-bf16");
  for (auto [type, element, level] : {std::tuple("f32", plan::Element::F32, runtime::CpuLevel::V4),
                                      {"f16", plan::Element::F16, runtime::CpuLevel::V4},
                                      {"bf16", plan::Element::BF16, runtime::CpuLevel::V4Bf16}}) {
    std::string text = source;
    for (std::string shape : {"8x4x", "4x8x", "memref<32x"})
      for (size_t at = 0; (at = text.find(shape + "f32", at)) != std::string::npos; at += shape.size())
        text.replace(at + shape.size(), 3, type);
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module && succeeded(lower()) && makeObject(*module, *target, plan)) << messages;
    EXPECT_EQ(plan.cpu, (uint8_t)level) << type;
    const plan::CallT &call = *plan.functions[1]->calls[0];
    const plan::ContractT *shape = plan.kernels[call.kernel]->library.AsContract();
    ASSERT_TRUE(shape);
    EXPECT_EQ(shape->operands, element);
    EXPECT_EQ(shape->result, plan::Element::F32);
  }
}

TEST_F(Emit, ProgramRuns) {
  ASSERT_TRUE(succeeded(emit("train"))) << messages;
  EXPECT_EQ(countFiles(), 1u);
  std::string log = path("log.jsonl"), program = path("train"), output = path("out");
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(output), StringRef(output)};
  int status = llvm::sys::ExecuteAndWait(program, {program, "--steps", "3", "--log", log}, std::nullopt, redirects);
  auto text = llvm::MemoryBuffer::getFile(output);
  ASSERT_EQ(status, 0) << (text ? (*text)->getBuffer().str() : "");
  auto lines = llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(log)));
  for (StringRef loss : {"\"loss\":64", "\"loss\":128", "\"loss\":256"})
    EXPECT_TRUE(lines->getBuffer().contains(loss)) << loss.str() << " in " << lines->getBuffer().str();
}

TEST_F(Emit, SameInputSameBytes) {
  ASSERT_TRUE(succeeded(emit("a"))) << messages;
  module = parseSourceString<ModuleOp>(source, &context);
  ASSERT_TRUE(succeeded(emit("b"))) << messages;
  auto a = llvm::MemoryBuffer::getFile(path("a")), b = llvm::MemoryBuffer::getFile(path("b"));
  EXPECT_TRUE((*a)->getBuffer() == (*b)->getBuffer());
}

TEST_F(Emit, ErrorsAreDiagnostics) {
  Location loc = module->getLoc();
  EXPECT_TRUE(failed(findLinkFiles(*target, path("bin/xlc"), loc)));
  EXPECT_NE(messages.find("cannot find libXLCRuntime.a in ../lib or ../lib/xlc (relative to the directory of the "
                          "compiler)"),
            std::string::npos);
  messages.clear();
  EXPECT_TRUE(failed(emit("train", {path("missing.a"), XLC_LINK_FOLDER})));
  EXPECT_NE(messages.find("linking failed: ld.lld: error: cannot open "), std::string::npos) << messages;
  EXPECT_FALSE(llvm::sys::fs::exists(path("train")));
  messages.clear();
  module = parseSourceString<ModuleOp>(source, &context);
  EXPECT_TRUE(failed(emit("nowhere/train")));
  EXPECT_NE(messages.find("nowhere/train: error: cannot be written: No such file"), std::string::npos) << messages;
}

/// What fillPlan says to the source with `from` replaced by `to`.
struct BadProgram : Emit {
  std::string complaint(StringRef from, StringRef to) {
    std::string text(source);
    size_t at = text.find(from);
    module = parseSourceString<ModuleOp>(text.replace(at, from.size(), to), &context);
    bool filled = module && succeeded(lower()) && succeeded(fillPlan(*module, plan));
    return filled ? "" : messages;
  }
};

TEST_F(BadProgram, UnknownInput) {
  EXPECT_NE(complaint("exec.run @step", "exec.load micro 0 [\"ids\"] to [#exec.place<0 + 0 + 0>]\n  exec.run @step")
                .find("loads 'ids', which is not an input of the plan"),
            std::string::npos);
}
TEST_F(BadProgram, UnknownFunction) {
  EXPECT_NE(complaint("exec.run @step", "exec.run @leap").find("runs 'leap', which is not a function of the module"),
            std::string::npos);
}
TEST_F(BadProgram, UnknownPlace) {
  EXPECT_NE(
      complaint("[#exec.place<1 + 64 + 0>]", "[#exec.place<7 + 64 + 0>]").find("uses buffer 7, which must be below 2"),
      std::string::npos);
}
TEST_F(BadProgram, UnknownBucket) {
  EXPECT_NE(complaint("value of @w", "value of @other").find("names @other, which is not a bucket of the plan"),
            std::string::npos)
      << messages;
}
TEST_F(BadProgram, StageOutOfOrder) {
  EXPECT_NE(
      complaint("stage 0", "stage 1")
          .find("is number 0 in the module and has stage 1; the module must have one such op for each of the 1 stages, "
                "in ascending order"),
      std::string::npos)
      << messages;
}
TEST_F(BadProgram, NoProgram) {
  std::string text(source);
  module = parseSourceString<ModuleOp>(text.substr(0, text.find("exec.program")), &context);
  EXPECT_TRUE(failed(fillPlan(*module, plan)));
  EXPECT_NE(messages.find("the module has no exec.program to emit"), std::string::npos);
}
TEST_F(BadProgram, LayoutsThatNoLibraryTakes) {
  // Both letters are summed, and the first operand's rows are apart.
  EXPECT_NE(complaint(R"(func.func @multiply()", R"(
func.func private @dot(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<f32> attributes {exec.kind = #exec.kernel<library>} {
  %y = graph.contract "mk,mk->" %a, %b : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @apart(%a: memref<8x4xf32, strided<[9, 1]>>, %b: memref<8x4xf32>, %y: memref<f32>) {
  exec.call @dot ins(%a, %b : memref<8x4xf32, strided<[9, 1]>>, memref<8x4xf32>) outs(%y : memref<f32>) accumulate [0]
  return
}
func.func @multiply()")
                .find("no library call supports the layouts of the operands and results of 'dot'"),
            std::string::npos)
      << messages;
}

TEST_F(Emit, SafetensorsAreWrittenInOrder) {
  auto write = [](float value, int count) {
    return [=](llvm::raw_ostream &os) {
      for (int i = 0; i < count; ++i)
        os.write((const char *)&value, sizeof(value));
      return success();
    };
  };
  Location loc = UnknownLoc::get(&context);
  ASSERT_TRUE(succeeded(publish("t", [&](runtime::OutputFile &file) -> LogicalResult {
    return writeSafetensors(file, {{"b", {2, 2}, write(1, 4)}, {"a\"", {}, write(2, 1)}}, loc);
  })));
  auto file = llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(path("t"))));
  StringRef bytes = file->getBuffer();
  EXPECT_NE(bytes.find(R"("b":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"a\"":)"), StringRef::npos);
  uint64_t length = llvm::support::endian::read64le(bytes.data());
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(bytes.size(), 8 + length + 20);
  EXPECT_TRUE(failed(publish("u", [&](runtime::OutputFile &file) -> LogicalResult {
    return writeSafetensors(file, {{"b", {2}, write(1, 1)}, {"c", {2}, write(1, 3)}}, loc);
  })));
  EXPECT_NE(messages.find("'b' has 8 bytes, but 4 were written"), std::string::npos) << messages;
  EXPECT_FALSE(llvm::sys::fs::exists(path("u")));
}

} // namespace
