// The phase Spec: bytes, tree, values, checks of several values. Every step adds its errors; they are printed once.
#include "xlc/Spec/Spec.h"
#include "xlc/Runtime/Limits.h"

#include "DeviceFile.h"
#include "Foreign.h"
#include "SpecText.h"
#include "xlc/Pipeline/Pipeline.h"
#include "xlc/Support/InputFile.h"
#include "llvm/Support/FileSystem.h"
#include <algorithm>
#include <thread>

using namespace llvm;

namespace xlc {

Expected<std::string> spec::readSpecText(StringRef path) {
  Expected<sys::fs::file_t> file = openStream(path);
  if (!file)
    return file.takeError();
  std::string text(kMaxFileSize + 1, '\0');
  size_t size = 0;
  Error failure = Error::success();
  while (size < text.size()) {
    Expected<size_t> count = sys::fs::readNativeFile(*file, MutableArrayRef(text.data() + size, text.size() - size));
    if (!count)
      failure = joinErrors(std::move(failure), count.takeError());
    if (failure || *count == 0)
      break;
    size += *count;
  }
  (void)sys::fs::closeFile(*file); // nothing was written
  if (failure)
    return failure;
  if (size == 0 && sys::fs::get_file_type(path) == sys::fs::file_type::fifo_file)
    return createStringError("the pipe is empty");
  text.resize(size);
  return text;
}

int64_t Spec::chunksPerRank() const {
  return pipeline.chunks.value_or(pp > 1 ? findPipelineSchedule(pipeline.schedule)->leastChunks : 1);
}

int Spec::threadsPerRankOrDefault() const {
  int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  return threadsPerRank.value_or(std::clamp<int64_t>(cores / ranks(), 1, runtime::kMostThreads));
}

std::optional<Spec> parseSpec(StringRef text, StringRef path, Diagnostics &diagnostics, StringRef target) {
  spec::SpecErrors errors;
  text.consume_front(spec::kByteOrderMark);
  if (text.size() > spec::kMaxFileSize) {
    diagnostics.error(path + ":1:1", "a spec may have at most " + Twine(spec::kMaxFileSize) + " bytes");
    return std::nullopt;
  }
  spec::YamlFile file = spec::readYaml(text, errors);
  if (spec::refuseForeign(file.root, errors)) {
    errors.report(text, path, diagnostics);
    return std::nullopt;
  }
  spec::Checked checked = spec::validate(file.root, path, errors);
  if (!target.empty())
    checked.spec.target = target;
  bool hasDevice = checked.spec.deviceFile.empty() || spec::readDeviceFile(checked.spec, diagnostics);
  if (file.isWhole && hasDevice)
    spec::crossCheck(checked, errors);
  errors.report(text, path, diagnostics);
  if (errors.any() || !hasDevice)
    return std::nullopt;
  return std::move(checked.spec);
}

std::optional<Spec> readSpec(StringRef path, Diagnostics &diagnostics, StringRef target) {
  Expected<std::string> text = spec::readSpecText(path);
  if (text)
    return parseSpec(*text, path, diagnostics, target);
  diagnostics.error(path + ":1:1", "cannot read the spec: " + toString(text.takeError()));
  return std::nullopt;
}

} // namespace xlc
