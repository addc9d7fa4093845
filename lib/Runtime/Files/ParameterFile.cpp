// See ParameterFile.h.
#include "ParameterFile.h"

#include "State/States.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>

namespace xlc::runtime {
namespace {

constexpr uint64_t checkedBytes = 1 << 18; // stays in the cache between its checksum and its copy

/// Gives the bytes [from, from + bytes) of a file.
void readBlocks(const SafetensorsReader &reader, uint64_t from, uint64_t bytes, const Take &take) {
  std::vector<char> block(std::min(bytes, checkedBytes));
  for (uint64_t at = 0; at < bytes; at += checkedBytes) {
    uint64_t some = std::min(checkedBytes, bytes - at);
    reader.read(from + at, some, block.data());
    take(block.data(), some);
  }
}

/// The tensor of a parameter, by the first of its names that the file has; or the end.
std::map<std::string, StoredTensor>::const_iterator findTensor(const SafetensorsReader &reader,
                                                               const plan::ParameterT &parameter) {
  auto found = reader.tensors().find(parameter.name);
  for (auto tie = parameter.ties.begin(); found == reader.tensors().end() && tie != parameter.ties.end(); ++tie)
    found = reader.tensors().find(*tie);
  return found;
}

/// Whether some rank has all elements of a parameter, one behind the other.
bool isReadWhole(const Plan &plan, const plan::ParameterT &parameter) {
  return !parameter.layout && rowOfRead(plan, parameter.bucket).extent == plan::Extent::Whole;
}

} // namespace

TensorForm formOf(const Plan &plan, const plan::ParameterT &parameter) {
  return {parameter.name, parameter.shape, nameOf(storedElement(plan, parameter.bucket))};
}

std::string findFormProblem(const Plan &plan, size_t index, const std::string &dtype,
                            const std::vector<uint64_t> &shape, bool converts) {
  const plan::ParameterT &parameter = *plan.parameters[index];
  if (shape != parameter.shape)
    return fmt::format("'{}' has shape [{}], but the program needs [{}]", parameter.name, fmt::join(shape, ", "),
                       fmt::join(parameter.shape, ", "));
  std::optional<plan::Element> is = findElement(dtype);
  plan::Element needed = storedElement(plan, parameter.bucket);
  if (is == needed || (converts && is && isFloat(*is) && isFloat(needed)))
    return "";
  return fmt::format("'{}' has type {}, but the program needs {}", parameter.name, dtype, nameOf(needed));
}

std::string describeUnusedTensors(const Plan &plan, const std::string &path, const std::vector<std::string> &all) {
  constexpr size_t mostNamed = 3;
  size_t count = 0;
  std::vector<std::string> names;
  for (const std::string &name : all)
    if (findParameter(plan, name) == plan.parameters.end() && ++count <= mostNamed)
      names.push_back(fmt::format("'{}'", name));
  if (count == 0)
    return "";
  return fmt::format("{}: note: {} of {} tensors are not parameters of the program and are ignored: {}{}", path, count,
                     all.size(), fmt::join(names, ", "), count > mostNamed ? ", ..." : "");
}

ParameterFile::ParameterFile(const Plan &plan, const std::string &path, Kind kind)
    : plan(plan), kind(kind), reader(path), seal(reader.seal()), stored(plan.parameters.size()),
      isUnverified(plan.parameters.size()) {
  for (size_t i = 0; i < stored.size(); ++i) {
    auto found = findTensor(reader, *plan.parameters[i]);
    if ((kind == Kind::OfUser || plan.parameters[i]->init == plan::Init::File) && found != reader.tensors().end())
      stored[i] = &found->second;
    isUnverified[i] = seal && stored[i];
  }
  checkForms();
  if (kind == Kind::Beside)
    checkOrigin();
  if (seal)
    verifyPieces();
}

/// Names, types and shapes.
void ParameterFile::checkForms() const {
  std::vector<std::string> problems;
  auto complain = [&](std::string why) { problems.push_back(fmt::format("{}: error: {}", reader.path(), why)); };
  for (size_t i = 0; i < stored.size(); ++i) {
    const plan::ParameterT &parameter = *plan.parameters[i];
    if (kind == Kind::Beside && parameter.init != plan::Init::File)
      continue;
    if (!stored[i])
      complain(fmt::format("has no parameter '{}'", parameter.name));
    else if (std::string why = findFormProblem(plan, i, stored[i]->dtype, stored[i]->shape, kind == Kind::OfUser);
             !why.empty())
      complain(why);
  }
  if (!problems.empty())
    throw Rejected(fmt::format("{}", fmt::join(problems, "\n")));
}

std::string ParameterFile::describeUnused() const {
  std::vector<std::string> all;
  for (const auto &[name, tensor] : reader.tensors())
    all.push_back(name);
  return describeUnusedTensors(plan, reader.path(), all);
}

/// The values are those that the program was compiled with.
void ParameterFile::checkOrigin() const {
  constexpr char advice[] = "compile again, or start from other parameters with --init";
  if (!seal)
    reader.reject(fmt::format("has no checksums, unlike the file that the program was compiled with; {}", advice));
  std::vector<TensorForm> forms;
  forms.reserve(plan.parameters.size());
  for (const auto &parameter : plan.parameters)
    forms.push_back(formOf(plan, *parameter));
  if (std::string model = fingerprintOf(forms); model != seal->model)
    reader.reject(
        fmt::format("belongs to model {}, but the program was compiled for model {}; {}", seal->model, model, advice));
  if (std::string digest = seal->digest(); digest != plan.parameters_digest)
    reader.reject(
        fmt::format("has values with checksum {}, but the program was compiled with values with checksum {}; {}",
                    digest, plan.parameters_digest, advice));
}

/// Before any rank starts: the parameters that none of them reads whole, on as many threads as the plan has.
void ParameterFile::verifyPieces() {
  std::vector<size_t> pieces;
  for (size_t i = 0; i < stored.size(); ++i)
    if (stored[i] && !isReadWhole(plan, *plan.parameters[i]))
      pieces.push_back(i);
  std::ranges::sort(pieces, {}, [&](size_t i) { return UINT64_MAX - stored[i]->bytes; }); // the largest first
  uint64_t planned = (uint64_t)plan.mesh->pp() * plan.mesh->dp() * plan.mesh->tp() * plan.threads;
  std::vector<std::exception_ptr> failures(
      std::min({planned, (uint64_t)std::max(1u, std::thread::hardware_concurrency()), (uint64_t)pieces.size()}));
  std::atomic<size_t> next{0};
  auto work = [&](std::exception_ptr &failure) {
    try {
      for (size_t i; (i = next++) < pieces.size();)
        if (isUnverified[pieces[i]].exchange(false))
          readVerified(pieces[i], [](const void *, uint64_t) {});
    } catch (...) {
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (size_t i = 1; i < failures.size(); ++i)
        others.emplace_back(work, std::ref(failures[i]));
    } catch (const std::system_error &) {
      failures.resize(others.size() + 1); // a limit of threads: fewer do the same work
    }
    if (!failures.empty())
      work(failures[0]);
  }
  for (const std::exception_ptr &failure : failures)
    if (failure)
      std::rethrow_exception(failure);
}

plan::Element ParameterFile::elementOf(size_t index) const {
  return storedElement(plan, plan.parameters[index]->bucket);
}

/// All elements of a parameter.
void ParameterFile::readVerified(size_t index, const Take &take) const {
  const StoredTensor &tensor = *stored[index];
  Checksum checksum;
  readBlocks(reader, tensor.begin, tensor.bytes, [&](const void *bytes, uint64_t count) {
    checksum.add(bytes, count);
    take(bytes, count);
  });
  if (std::string why = seal->findDamage(findTensor(reader, *plan.parameters[index])->first, checksum); !why.empty())
    reader.reject(why);
}

void ParameterFile::read(size_t index, uint64_t begin, uint64_t count, const Take &take) const {
  plan::Element from = *findElement(stored[index]->dtype), to = elementOf(index);
  uint64_t size = bytesOf(from);
  auto takeConverted = [&](const void *bytes, uint64_t some) {
    std::vector<char> converted = convert(from, bytes, some / size, to);
    take(converted.data(), converted.size());
  };
  Take taking = from == to ? take : Take(takeConverted);
  bool isWhole = begin == 0 && count * size == stored[index]->bytes;
  if (isWhole && isUnverified[index].load(std::memory_order_relaxed) && isUnverified[index].exchange(false))
    return readVerified(index, taking);
  readBlocks(reader, stored[index]->begin + begin * size, count * size, taking);
}

} // namespace xlc::runtime
