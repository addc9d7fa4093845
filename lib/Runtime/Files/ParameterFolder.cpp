// See ParameterFolder.h.
#include "ParameterFolder.h"

#include "State/States.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime {

ParameterFolder::ParameterFolder(const Plan &plan, const std::string &path) : plan(plan), files(path) {
  std::vector<std::string> problems;
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    const plan::ParameterT &parameter = *plan.parameters[i];
    auto tie =
        std::ranges::find_if(parameter.ties, [&](const std::string &each) { return files.tensors().contains(each); });
    bool hasName = files.tensors().contains(parameter.name) || tie == parameter.ties.end();
    auto found = files.tensors().find(names.emplace_back(hasName ? parameter.name : *tie));
    std::string why = found == files.tensors().end()
                          ? fmt::format("has no parameter '{}'", parameter.name)
                          : findFormProblem(plan, i, found->second.dtype, found->second.shape, /*converts=*/true);
    if (!why.empty())
      problems.push_back(fmt::format("{}: error: {}", path, why));
  }
  if (!problems.empty())
    throw Rejected(fmt::format("{}", fmt::join(problems, "\n")));
}

std::string ParameterFolder::describeUnused() const {
  std::vector<std::string> all;
  for (const auto &[name, tensor] : files.tensors())
    all.push_back(name);
  return describeUnusedTensors(plan, files.path, all);
}

void ParameterFolder::read(size_t index, uint64_t begin, uint64_t count, const Take &take) const {
  plan::Element from = *findElement(files.tensors().at(names[index]).dtype),
                to = storedElement(plan, plan.parameters[index]->bucket);
  files.read(names[index], begin, count, [&](const void *bytes, uint64_t some) {
    if (from == to)
      return take(bytes, some);
    std::vector<char> converted = convert(from, bytes, some / bytesOf(from), to);
    take(converted.data(), converted.size());
  });
}

} // namespace xlc::runtime
