// See RunStep.h. One rank has every parameter whole, so its values are a run of floats in its arena.
#include "xlc/Verify/RunStep.h"
#include "Device/Executor.h"
#include "Device/Target.h"
#include "LoadedProgram.h"
#include "State/States.h"
#include <condition_variable>
#include <numeric>

using namespace xlc;
using namespace xlc::verify;
namespace rt = xlc::runtime;

namespace {

/// Rows that the caller gave.
class GivenRows : public rt::DataSource {
public:
  /// Throws Rejected where an input has no rows, or not so many as it needs.
  GivenRows(const rt::Plan &plan, const std::map<std::string, Rows> &rows) {
    for (const auto &input : plan.inputs) {
      if (!rt::isOfData(*input)) {
        std::vector<int64_t> numbers(rt::rowsOf(plan, *input));
        std::iota(numbers.begin(), numbers.end(), 0);
        bytes.push_back(convert(numbers, *input, numbers.size()));
        continue;
      }
      auto found = rows.find(rt::dataName(*input));
      if (found == rows.end())
        throw rt::Rejected("input '" + input->name + "' has no rows");
      uint64_t needed = rt::rowsOf(plan, *input) * rt::rowElements(*input);
      std::visit([&](const auto &elements) { bytes.push_back(convert(elements, *input, needed)); }, found->second);
    }
  }

  void load(uint32_t input, uint64_t, uint32_t, int, const rt::Take &take) const override {
    take(bytes[input].data(), bytes[input].size());
  }

private:
  template <class T>
  static std::vector<char> convert(const std::vector<T> &elements, const xlc::plan::InputT &input, uint64_t needed) {
    if (elements.size() != needed)
      throw rt::Rejected("input '" + input.name + "' takes " + std::to_string(needed) +
                         " elements, but its rows have " + std::to_string(elements.size()));
    switch (input.element) {
    case xlc::plan::Element::F32:
      return cast<float>(elements);
    case xlc::plan::Element::F64:
      return cast<double>(elements);
    case xlc::plan::Element::I64:
      return cast<int64_t>(elements);
    case xlc::plan::Element::I32:
      return cast<int32_t>(elements);
    default:
      return cast<uint8_t>(elements);
    }
  }
  template <class To, class From> static std::vector<char> cast(const std::vector<From> &elements) {
    std::vector<To> converted(elements.begin(), elements.end());
    const char *begin = (const char *)converted.data();
    return {begin, begin + converted.size() * sizeof(To)};
  }

  std::vector<std::vector<char>> bytes; // by input
};

/// Raises a signal at a time, unless it is over before.
class Alarm {
public:
  Alarm(rt::StopSignal &stop, std::chrono::steady_clock::time_point end)
      : thread([this, &stop, end] {
          std::unique_lock lock(mutex);
          if (done.wait_until(lock, end, [this] { return isOver; }) || stop.isRaised())
            return;
          hasRung = true;
          stop.raise(rt::Exit::RankFailed, "the time limit is exceeded");
        }) {}
  ~Alarm() {
    {
      std::lock_guard lock(mutex);
      isOver = true;
    }
    done.notify_one();
  }

  std::atomic<bool> hasRung = false;

private:
  std::mutex mutex;
  std::condition_variable done;
  bool isOver = false;
  std::jthread thread; // last: it ends first
};

/// Calls visit(name, values) for each parameter and buffer in the arena of the only rank.
template <class Visit> void forEachParameter(const rt::Plan &plan, char *arena, Visit visit) {
  for (const auto &parameter : plan.parameters) {
    rt::HeldState held = *rt::findRead(plan, 0, parameter->bucket);
    if (parameter->layout || held.row->element != xlc::plan::Element::F32)
      throw rt::Rejected("parameter '" + parameter->name + "' is not stored unsharded in float32");
    visit(parameter->name,
          llvm::MutableArrayRef((float *)(arena + held.offsetOf(parameter->offset)), parameter->elements));
  }
}

StepOutcome run(const rt::Plan &plan, const LoadedProgram &loaded, const StepRequest &request) {
  if (rt::rankCount(plan) != 1 || plan.micro_batches != 1)
    throw rt::Rejected("the program must have one rank and one micro-batch");
  const rt::Target &target = rt::linkedTarget();
  rt::DeviceSetup setup{plan, loaded.codes, /*spins=*/0};
  rt::Commons commons;
  std::unique_ptr<rt::Fabric> fabric = target.makeFabric({plan, setup.spins, commons});
  commons.provide();
  GivenRows rows(plan, request.rows);
  std::unique_ptr<rt::Device> device = target.makeDevice(setup, 0);
  uint64_t bytes = rt::trainingProgramOf(plan, 0).arena;
  char *arena = device->allocate(bytes).begin;
  device->fill(arena, 0, bytes);
  forEachParameter(plan, arena, request.fill);
  rt::JobContext context{plan, rows, *fabric, commons.stop()};
  StepOutcome outcome;
  {
    rt::Executor executor(context, 0, *device, arena, nullptr);
    if (std::chrono::steady_clock::now() >= request.end)
      return {.loss = 0, .isLate = true};
    Alarm alarm(commons.stop(), request.end);
    try {
      fabric->meet(nullptr);
      executor.runStep(1);
      outcome.loss = executor.lossOf(1);
    } catch (const rt::Stopped &) {
    }
    outcome.isLate = alarm.hasRung;
    executor.endStreams();
  }
  if (!outcome.isLate && commons.stop().isRaised())
    throw rt::Rejected(commons.stop().text());
  if (!outcome.isLate)
    forEachParameter(plan, arena, request.read);
  return outcome;
}

} // namespace

llvm::Expected<StepOutcome> verify::runStep(llvm::MemoryBufferRef object, const StepRequest &request) {
  llvm::Expected<LoadedProgram> loaded = loadProgram(object);
  if (!loaded)
    return loaded.takeError();
  try {
    std::unique_ptr<rt::Plan> plan = rt::readPlan(loaded->plan);
    rt::checkPlan(*plan, loaded->codeCount);
    return run(*plan, *loaded, request);
  } catch (const std::exception &problem) {
    return llvm::createStringError(problem.what());
  }
}
