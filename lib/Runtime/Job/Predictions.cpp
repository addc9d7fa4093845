// See Predictions.h.
#include "Predictions.h"

#include "Failure.h"
#include "Files/Npy.h"
#include "Plan/Elements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace xlc::runtime {
namespace {

[[noreturn]] void reject(const std::string &path, int reason) {
  throw Rejected(fmt::format("{}: error: cannot be written: {}", path, std::strerror(reason)));
}

StoredType storedTypeOf(plan::Element element) {
  switch (element) {
  case plan::Element::F64:
    return StoredType::F64;
  case plan::Element::I64:
    return StoredType::I64;
  case plan::Element::I32:
    return StoredType::I32;
  case plan::Element::I1:
    return StoredType::Bool;
  case plan::Element::F16:
    return StoredType::F16;
  default: // outputs of sixteen bits are widened
    return StoredType::F32;
  }
}

/// Writes all bytes at a place of a file; returns why it cannot, or 0.
int writeAt(int file, const char *from, uint64_t count, uint64_t at) {
  while (count > 0) {
    ssize_t some = pwrite(file, from, count, (off_t)at);
    if (some < 0 && errno == EINTR)
      continue;
    if (some <= 0)
      return some < 0 ? errno : ENOSPC;
    from += some, at += (uint64_t)some, count -= (uint64_t)some;
  }
  return 0;
}

} // namespace

std::string predictionPath(const std::string &folder, const plan::OutputT &output) {
  return folder + "/" + output.name + ".npy";
}

std::string unfinishedPath(const std::string &predictionPath) { return predictionPath + ".part"; }

Predictions::Predictions(const Plan &plan, const std::string &folder, uint64_t rows)
    : plan(plan), folder(folder), rows(rows), files(plan.outputs.size(), -1), isMade(plan.outputs.size(), false) {
  if (plan.outputs.empty())
    throw Rejected("error: --predict requires a program with outputs: add 'eval: {outputs: [NAME]}' to the spec");
  for (const auto &output : plan.outputs) {
    std::vector<uint64_t> shape{rows * output->lines};
    shape.insert(shape.end(), output->shape.begin(), output->shape.end());
    headers.push_back(makeNpyHeader(storedTypeOf(output->element), shape));
  }
}

Predictions::~Predictions() {
  for (uint32_t i = 0; i < files.size(); ++i) {
    if (files[i] >= 0)
      close(files[i]);
    if (isMade[i])
      unlink(unfinishedPath(pathOf(i)).c_str());
  }
}

std::string Predictions::pathOf(uint32_t output) const { return predictionPath(folder, *plan.outputs[output]); }

void Predictions::create() {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Rejected(fmt::format("{}: error: cannot be written: {}", folder, error.message()));
  for (uint32_t i = 0; i < files.size(); ++i) {
    const plan::OutputT &output = *plan.outputs[i];
    std::string path = unfinishedPath(pathOf(i));
    int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0)
      reject(path, errno);
    if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      close(file);
      throw Rejected(
          fmt::format("{}: error: cannot be written: another program is writing its predictions to it", path));
    }
    files[i] = file, isMade[i] = true;
    if (ftruncate(file, 0) != 0)
      reject(path, errno);
    uint64_t bytes = rows * sampleElements(output) * bytesOf(output.element);
    if (int reason = writeAt(file, headers[i].data(), headers[i].size(), 0))
      reject(path, reason);
    if (ftruncate(file, (off_t)(headers[i].size() + bytes)) != 0)
      reject(path, errno);
  }
}

void Predictions::open() {
  for (uint32_t i = 0; i < files.size(); ++i) {
    if (files[i] >= 0)
      continue;
    std::string path = unfinishedPath(pathOf(i));
    files[i] = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (files[i] < 0)
      throw Rejected(
          fmt::format("{}: error: cannot be opened: {}; rank 0 has created it: all hosts must share this folder", path,
                      std::strerror(errno)));
  }
}

std::string Predictions::publish() {
  std::vector<std::string> written;
  for (uint32_t i = 0; i < files.size(); ++i) {
    std::string path = pathOf(i);
    if (fsync(files[i]) != 0 || rename(unfinishedPath(path).c_str(), path.c_str()) != 0)
      reject(path, errno);
    isMade[i] = false;
    written.push_back(path);
  }
  return fmt::format("wrote {} ({} row{})", fmt::join(written, ", "), rows, rows == 1 ? "" : "s");
}

/// Micro-batch k of dp index d begins with row (k dp + d) micro of its step.
uint64_t Predictions::firstRow(uint64_t step, uint32_t microBatch, int rank) const {
  uint64_t dp = plan.mesh->dp(), dpIndex = (uint64_t)rank / plan.mesh->tp() % dp;
  return step * globalBatch(plan) + (microBatch * dp + dpIndex) * plan.micro;
}

bool Predictions::takes(uint32_t, uint64_t step, uint32_t microBatch, int rank) const {
  return rank % plan.mesh->tp() == 0 && firstRow(step, microBatch, rank) < rows;
}

void Predictions::take(uint32_t output, uint64_t step, uint32_t microBatch, int rank, const char *samples) {
  uint64_t row = firstRow(step, microBatch, rank), count = std::min<uint64_t>(plan.micro, rows - row);
  uint64_t bytes = sampleElements(*plan.outputs[output]) * bytesOf(plan.outputs[output]->element);
  if (int reason = writeAt(files[output], samples, count * bytes, headers[output].size() + row * bytes))
    reject(unfinishedPath(pathOf(output)), reason);
}

} // namespace xlc::runtime
