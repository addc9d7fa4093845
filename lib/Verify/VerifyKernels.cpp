// Loads the object of a program and runs its ranks as the runtime does: the plan that the object embeds, read and
// checked as at the start of a training program; a thread, an arena and an executor per rank. Only the numbers differ,
// since a specification need not have data or weights yet: parameters are drawn (normal, scaled by the number of terms
// of a sum; buffers, which may be variances, begin at one), and so are rows.
#include "xlc/Verify/VerifyKernels.h"
#include "Device/Executor.h"
#include "Device/Target.h"
#include "Files/Parameters.h"
#include "Judge.h"
#include "LoadedProgram.h"
#include "Plan/PlannedSchedule.h"
#include "xlc/Interpret/Interpret.h"
#include "xlc/Interpret/Verify.h"
#include "xlc/Support/Numbers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::verify;
namespace rt = xlc::runtime;

namespace {

/// Drawn rows: of integers a quarter is not counted where the model knows such. The last row of an evaluation is behind
/// the end of the data.
class DrawnRows : public rt::DataSource {
public:
  DrawnRows(const rt::Plan &plan, uint64_t seed, xlc::plan::Purpose purpose)
      : plan(plan), seed(seed), purpose(purpose) {}

  void load(uint32_t index, uint64_t step, uint32_t microBatch, int rank, const rt::Take &take) const override {
    const xlc::plan::InputT &input = *plan.inputs[index];
    int64_t count = plan.micro * rt::rowElements(input), dp = plan.mesh->dp(), bytes = rt::bytesOf(input.element);
    int64_t first = (microBatch * dp + rank / plan.mesh->tp() % dp) * count;
    if (!rt::isOfData(input)) {
      bool isLast = first + count == (int64_t)rt::globalBatch(plan) && purpose == xlc::plan::Purpose::evaluate;
      rt::giveSampleNumbers(first, count - isLast, take);
      return isLast ? take(&rt::kNoSample, sizeof rt::kNoSample) : void();
    }
    std::string key = input.name + "/" + std::to_string(step);
    std::vector<char> rows(count * bytes);
    char *to = rows.data();
    if (input.element == xlc::plan::Element::F32 || input.element == xlc::plan::Element::F64) {
      auto drawn = interpret::randomTensor<double>({count}, key, seed, first);
      for (int64_t i = 0; i < count; ++i)
        bytes == 8 ? put(to, i, drawn.elements[i]) : put(to, i, (float)drawn.elements[i]);
      return take(to, rows.size());
    }
    Integers ids = interpret::randomIntegers({count}, key, seed, input.has_limit ? input.limit : 2, first);
    Integers draws = interpret::randomIntegers({count}, key + "/ignore", seed, 4, first);
    for (int64_t i = 0; i < count; ++i) {
      bool isIgnored = input.has_ignore && draws.elements[i] == 0 && first + i >= 2;
      int64_t id = isIgnored ? input.ignore : ids.elements[i];
      bytes == 8 ? put(to, i, id) : bytes == 4 ? put(to, i, (int32_t)id) : put(to, i, (uint8_t)id);
    }
    take(to, rows.size());
  }

private:
  template <class T> static void put(char *to, int64_t i, T value) {
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }

  const rt::Plan &plan;
  const uint64_t seed;
  const xlc::plan::Purpose purpose;
};

/// Every parameter begins at random numbers that keep sums of products of the order of one; what may be a variance, of
/// which a root is taken, at one.
void drawParameters(rt::Plan &plan) {
  for (auto &parameter : plan.parameters) {
    uint64_t summed = 1;
    for (size_t i = 1; i < parameter->shape.size(); ++i)
      summed *= parameter->shape[i];
    bool mayBeVariance = parameter->frozen && parameter->shape.size() < 2;
    parameter->init = mayBeVariance ? xlc::plan::Init::Ones : xlc::plan::Init::Normal;
    parameter->std = parameter->shape.size() < 2 ? 0.5 : 1 / std::sqrt((double)summed);
  }
}

/// What stands beside the programs of all ranks for one purpose.
struct Watched {
  Watched(const rt::Plan &plan, xlc::plan::Purpose purpose, ModuleOp program, const std::vector<char *> &arenas,
          const KernelOptions &options, KernelReport &report, rt::Fabric &fabric, const rt::StopSignal &stop,
          const rt::RateSchedule &schedule)
      : purpose(purpose), rows(plan, options.seed, purpose),
        judge(program, static_cast<graph::Purpose>(purpose), arenas, options, report), context{.plan = plan,
                                                                                               .data = rows,
                                                                                               .fabric = fabric,
                                                                                               .stop = stop,
                                                                                               .observer = &judge,
                                                                                               .seed = options.seed,
                                                                                               .schedule = &schedule} {}

  const xlc::plan::Purpose purpose;
  const DrawnRows rows;
  Judge judge;
  const rt::JobContext context;
};

class Simulation {
public:
  Simulation(const LoadedProgram &loaded, rt::Plan &plan, ModuleOp program, const KernelOptions &options,
             KernelReport &report)
      : plan(plan), setup{plan, loaded.codes, /*spins=*/0}, options(options), fabric(joinRanks()),
        arenas(rt::rankCount(plan)), schedule(rt::scheduleOfVerification(rt::scheduleOf(plan))) {
    values.seed = options.seed;
    for (auto purpose : {xlc::plan::Purpose::train, xlc::plan::Purpose::evaluate})
      if (purpose == xlc::plan::Purpose::train || plan.evaluation)
        watched.push_back(std::make_unique<Watched>(plan, purpose, program, arenas, options, report, *fabric,
                                                    commons.stop(), schedule));
  }

  /// Runs all ranks; what went wrong, or nothing.
  std::string run() {
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < rt::rankCount(plan); ++rank)
      threads.emplace_back([this, rank] { runRank((int)rank); });
    for (std::thread &thread : threads)
      thread.join();
    return commons.stop().isRaised() ? commons.stop().text() : "";
  }
  bool isFailed() const {
    return llvm::any_of(watched, [](const auto &each) { return each->judge.isFailed(); });
  }

private:
  std::unique_ptr<rt::Fabric> joinRanks() {
    std::unique_ptr<rt::Fabric> made = target.makeFabric({plan, setup.spins, commons});
    commons.provide();
    return made;
  }

  void runRank(int rank) {
    std::unique_ptr<rt::Device> device;
    std::vector<std::unique_ptr<rt::Executor>> executors; // as `watched`
    const rt::Executor *running = nullptr;
    try {
      uint64_t bytes = rt::trainingProgramOf(plan, rank).arena;
      device = target.makeDevice(setup, rank);
      arenas[rank] = device->allocate(bytes).begin;
      device->fill(arenas[rank], 0, bytes);
      rt::initializeStates(plan, values, rank, {device.get(), arenas[rank]});
      for (const auto &each : watched)
        executors.push_back(
            std::make_unique<rt::Executor>(each->context, rank, *device, arenas[rank], nullptr, each->purpose));
      fabric->meet(nullptr);
      for (int64_t step = 1; step <= options.steps; ++step)
        for (const auto &executor : executors) {
          if (isFailed()) // others may be in the step already
            commons.stop().raise(rt::Exit::RankFailed, "a call cannot be checked");
          running = executor.get();
          executor->runStep(step);
          fabric->meet(nullptr);
        }
    } catch (const rt::Stopped &) {
    } catch (const std::exception &problem) {
      commons.stop().raise(rt::Exit::RankFailed,
                           running ? running->describePosition() + ": " + problem.what() : problem.what());
    }
  }

  rt::Plan &plan;
  const rt::Target &target = rt::linkedTarget(); // its memory is the host's: the judge looks into it
  const rt::DeviceSetup setup;
  const KernelOptions &options;
  rt::Commons commons;
  const std::unique_ptr<rt::Fabric> fabric;
  std::vector<char *> arenas; // by rank
  const rt::RateSchedule schedule;
  std::vector<std::unique_ptr<Watched>> watched; // in the order in which they take turns
  rt::InitialValues values;
};

} // namespace

FailureOr<KernelReport> verify::verifyKernels(ModuleOp program, llvm::MemoryBufferRef object,
                                              const KernelOptions &options) {
  llvm::Expected<LoadedProgram> loaded = loadProgram(object);
  if (!loaded)
    return program.emitError() << "the object of the program cannot be loaded: " << llvm::toString(loaded.takeError());
  KernelReport report;
  std::string problem;
  try {
    std::unique_ptr<rt::Plan> plan = rt::readPlan(loaded->plan);
    rt::checkPlan(*plan, loaded->codeCount);
    drawParameters(*plan);
    report.ranks = rt::rankCount(*plan), report.steps = options.steps;
    report.evaluations = plan->evaluation ? options.steps : 0;
    std::set<std::string> names;
    for (const auto &kernel : plan->kernels)
      names.insert(kernel->name);
    report.kernels = names.size();
    Simulation simulation(*loaded, *plan, program, options, report);
    problem = simulation.run();
    if (simulation.isFailed())
      return failure();
  } catch (const std::exception &error) {
    problem = error.what();
  }
  if (!problem.empty())
    return program.emitError() << "the compiled program cannot be run: " << problem;
  return report;
}

double verify::estimateSeconds(ModuleOp program, int64_t steps) {
  // Measured: a multiply-add in double precision, of values and of magnitudes; an element of an op with its bound.
  constexpr double productSeconds = 0.3e-9, elementSeconds = 50e-9;
  SymbolTable symbols(program);
  llvm::StringMap<double> seconds; // of a function
  double total = 0;
  for (auto stage : program.getOps<exec::ProgramOp>())
    for (auto run : stage.getBody().getOps<exec::RunOp>()) {
      auto [known, isNew] = seconds.try_emplace(run.getFunction(), 0);
      auto function = symbols.lookup<func::FuncOp>(run.getFunction());
      if (isNew && function)
        for (auto call : function.getOps<exec::CallOp>()) {
          interpret::Work work = interpret::countWork(symbols.lookup<func::FuncOp>(call.getKernel()));
          known->second += work.products * productSeconds + work.elements * elementSeconds;
        }
      total += known->second * stage.getMesh().getStageRanks();
    }
  return total * steps;
}

std::string NarrowCount::describe(StringRef whose) const {
  if (elements == 0)
    return "";
  std::string text = formatCount(elements, "sixteen-bit element") + " of " + whose.str() + ": ";
  if (differing == 0)
    return text + "all rounded as by the interpreter\n";
  text +=
      llvm::formatv("{0} rounded differently by the interpreter, {1:f4} %", differing, 100.0 * differing / elements);
  if (apart)
    text += llvm::formatv(", {0} of them by more than one ulp, at most {1}", apart, farthest);
  return text + "\n";
}

std::string KernelReport::summary() const {
  std::string times = formatCount(steps, "step");
  if (evaluations)
    times += " and " + formatCount(evaluations, "evaluation");
  std::string text = "ran " + std::to_string(ran.size()) + " of " + std::to_string(kernels) +
                     " kernels and library calls: " + formatCount(calls, "call") + " and " +
                     formatCount(messages, "message") + " in " + times + " of " + formatCount(ranks, "rank") + "\n" +
                     "compared " + formatCount(elements, "element") +
                     ", call by call, with double-precision results for the same operands\n";
  if (turned)
    text += formatCount(turned, "element") + " differ because of a comparison that rounding can flip\n";
  text += narrow.products.describe("products") + narrow.attentionGradients.describe("attention's gradients") +
          narrow.generated.describe("generated kernels");
  if (boundless)
    text += formatCount(boundless, "element") + " have no bound, the first in " + boundlessCall + "\n";
  text += isEqual() ? std::string("all within the bounds of rounding\n")
                    : formatCount(differing, "element") + (differing == 1 ? " is wrong\n" : " are wrong\n");
  for (const std::string &difference : differences)
    text += difference + "\n";
  return text;
}
