// See Judged.h. All slots lie one after the other, each begins at a multiple of 64.
#include "Judged.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Dialect/Sched/Sched.h"
#include "xlc/Emit/Emit.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Target/Targets.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::test;

namespace {

struct Sizes {
  std::vector<uint64_t> shape;
  std::string element;
  uint64_t bytes = 0;
};

Sizes sizesOf(StringRef type) {
  Sizes sizes;
  SmallVector<StringRef> parts;
  type.split(parts, 'x');
  sizes.element = parts.pop_back_val().str();
  bool isNarrow = sizes.element == "bf16" || sizes.element == "f16";
  sizes.bytes = sizes.element == "f32" || sizes.element == "i32" ? 4 : isNarrow ? 2 : sizes.element == "i1" ? 1 : 8;
  for (StringRef part : parts) {
    uint64_t size = 0;
    (void)part.getAsInteger(10, size);
    sizes.shape.push_back(size);
    sizes.bytes *= size;
  }
  return sizes;
}

plan::PlanT describe(ArrayRef<Slot> slots) {
  plan::PlanT plan;
  plan.micro = plan.threads = 1;
  plan.traffic.push_back(std::make_unique<plan::TrafficT>());
  plan.dataset = std::make_unique<plan::DatasetT>();
  for (auto [i, slot] : llvm::enumerate(slots))
    if (slot.kind == Slot::Input) {
      Sizes sizes = sizesOf(slot.type);
      auto input = std::make_unique<plan::InputT>();
      input->name = "in" + std::to_string(i), input->row_shape = sizes.shape;
      input->element = sizes.element == "f32" ? plan::Element::F32 : plan::Element::I64;
      input->has_limit = slot.limit > 0, input->limit = slot.limit;
      plan.inputs.push_back(std::move(input));
      plan.dataset->inputs.push_back(std::make_unique<plan::InputDataT>());
    }
  return plan;
}

} // namespace

std::string Judged::text() const {
  if (!programs.empty())
    return programs;
  std::vector<std::string> arguments, buffers, names, loaded, places;
  uint64_t arena = 0;
  for (auto [i, slot] : llvm::enumerate(slots)) {
    uint64_t bytes = sizesOf(slot.type).bytes;
    arguments.push_back(llvm::formatv("%{0}: memref<{1}>", i, slot.type));
    buffers.push_back(
        llvm::formatv("exec.buffer {0} workspace \"in{0}\" size {1} offset {2} live 0 to 1", i, bytes, arena));
    places.push_back(llvm::formatv("#exec.place<{0} + 0 + 0>", i));
    if (slot.kind == Slot::Input) {
      names.push_back(llvm::formatv("\"in{0}\"", i));
      loaded.push_back(places.back());
    }
    arena += llvm::alignTo(bytes, 64);
  }
  return llvm::formatv("{0}\nfunc.func @f({1}) {{\n{2}\nreturn\n}\n"
                       "exec.program @train stage 0 micro_batches 1 arena {3} lower_bound {3} {{\n{4}\n{5}exec.load "
                       "micro 0 [{6}] to [{7}]\n"
                       "exec.run @f \"layer F\" micro 0 first true [{8}]\n}\n",
                       kernels, llvm::join(arguments, ", "), calls, arena + 64, llvm::join(buffers, "\n"),
                       numbersAt(slots.size(), arena, 1), llvm::join(names, ", "), llvm::join(loaded, ", "),
                       llvm::join(places, ", "));
}

std::string xlc::test::numbersAt(int64_t buffer, int64_t offset, int64_t last) {
  return llvm::formatv(R"(
  exec.buffer {0} workspace "numbers" size 64 offset {1} live 0 to {2} persistent
  exec.state result "loss" 1 x f32 begins nothing at <{0} + 0 + 0>
  exec.state result "norm" 1 x f32 begins nothing at <{0} + 0 + 0>
  exec.state counter "applied" 1 x f32 begins one at <{0} + 0 + 0>
)",
                       buffer, offset, last);
}

void Judged::compile(const std::function<void(ModuleOp)> &fault,
                     llvm::function_ref<void(ModuleOp, llvm::MemoryBufferRef)> use) const {
  DialectRegistry registry;
  registry.insert<graph::GraphDialect, exec::ExecDialect, sched::SchedDialect>();
  registerLowerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto program = parseSourceString<ModuleOp>(text(), &context);
  if (!program)
    llvm::report_fatal_error(llvm::Twine("the program cannot be parsed:\n") + text());
  OwningOpRef<ModuleOp> compiled = program->clone();
  if (fault)
    fault(*compiled);
  plan::PlanT plan = describe(slots);
  std::unique_ptr<Target> target = getTargets().front().make("native");
  PassManager lowering(&context);
  target->backend().addLowering(lowering);
  bool isLowered = succeeded(lowering.run(*compiled));
  std::unique_ptr<llvm::MemoryBuffer> object = isLowered ? makeObject(*compiled, *target, plan) : nullptr;
  if (!object)
    llvm::report_fatal_error("the program cannot be compiled");
  use(*program, *object);
}

verify::KernelReport Judged::run(const std::function<void(ModuleOp)> &fault) const {
  verify::KernelReport made;
  compile(fault, [&](ModuleOp program, llvm::MemoryBufferRef object) {
    verify::KernelOptions options;
    options.steps = 1;
    auto report = verify::verifyKernels(program, object, options);
    if (failed(report))
      llvm::report_fatal_error("the program cannot be run");
    made = *report;
  });
  return made;
}
