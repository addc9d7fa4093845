// See Combiner.h.
#include "Combiner.h"

#include "Failure.h"
#include "Plan/DeviceCalls.h"
#include "Plan/Exchanges.h"
#include "Plan/Ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <set>
#include <string>

namespace xlc::runtime::cuda {

Combiner::Combiner(const Driver &driver, const Plan &plan, uint32_t stage, Library code) : driver(driver) {
  std::set<std::string> names;
  auto note = [&](const plan::ExchangeT &exchange, plan::Stream) {
    for (std::string &name : deviceKernelsOf(plan, exchange))
      names.insert(std::move(name));
  };
  forEachProgram(plan, stage, [&](const plan::ProgramT &program) { forEachExchange(plan, program, note); });
  auto keep = [&](auto &table, const auto &key, const std::string &name) {
    if (names.contains(name))
      table[key] = driver.findKernel(code, name);
  };
  for (plan::Element element : plan::EnumValuesElement())
    for (plan::Element other : plan::EnumValuesElement()) {
      for (Combine how : {Combine::Sum, Combine::Largest})
        keep(sums, std::tuple(how, element, other), combineKernelOf(how == Combine::Largest, element, other));
      keep(conversions, std::pair(element, other), convertKernelOf(element, other));
    }
}

void Combiner::combine(const Combination &what, Stream stream) const {
  assert(what.copies.empty() && "ranks with GPUs cannot access each other's memory");
  if (what.sources.size() > (size_t)CombineParameters::mostSources)
    throw DeviceFailure(fmt::format("{} ranks are too many for a sum in the order of ranks on a GPU; the limit is {}",
                                    what.sources.size(), CombineParameters::mostSources));
  CombineParameters given{(int64_t)what.first,
                          (int64_t)what.step,
                          (int64_t)what.count,
                          (int64_t)what.runs,
                          (int64_t)what.sources.size(),
                          what.add,
                          {}};
  std::ranges::copy(what.sources, given.sources);
  char *to = what.to;
  void *parameters[] = {(void *)&to, &given};
  Function kernel = sums.at({what.how, what.element, what.wire});
  driver.launchBlocks(kernel, blocksToCombine(given), kDeviceThreads, parameters, stream);
}

void Combiner::convert(const Conversion &what, Stream stream) const {
  ConvertParameters given{(int64_t)what.count};
  const char *from = what.from;
  char *to = what.to;
  void *parameters[] = {(void *)&from, (void *)&to, &given};
  Function kernel = conversions.at({what.element, what.other});
  driver.launchBlocks(kernel, blocksToConvert(given), kDeviceThreads, parameters, stream);
}

} // namespace xlc::runtime::cuda
