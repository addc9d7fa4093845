// Writes the files of a finished plan: the training program, and its initial parameters beside it.
#include "CompileProgram.h"
#include "DescribePlan.h"
#include "Failure.h"
#include "Files/InputFile.h"
#include "Files/OutputFile.h"
#include "Plan/Plan.h"
#include "xlc/Emit/Emit.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Runtime/Limits.h"
#include "xlc/Spec/SpecPlace.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace xlc;

namespace {

/// Writes the initial value of one parameter: bytes from the model, from a file beside it, or a constant. Throws
/// runtime::Rejected where a file cannot be read.
LogicalResult writeInitialValue(const ParameterSource &source, llvm::raw_ostream &out) {
  uint64_t bytes = 4;
  for (int64_t size : source.shape)
    bytes *= size;
  if (source.kind == ParameterSource::Kind::Data && source.file.empty()) {
    out << source.bytes;
    return success();
  }
  if (source.kind == ParameterSource::Kind::Data) {
    runtime::InputFile file(source.file);
    std::vector<char> block(1 << 20);
    for (uint64_t at = 0; at < bytes; at += block.size()) {
      uint64_t some = std::min<uint64_t>(block.size(), bytes - at);
      file.read(source.offset + at, some, block.data());
      out.write(block.data(), some);
    }
    return success();
  }
  std::vector<float> block(1 << 14, source.kind == ParameterSource::Kind::Ones ? 1.0f : 0.0f);
  for (uint64_t left = bytes, some; left > 0; left -= some) {
    some = std::min<uint64_t>(block.size() * 4, left);
    out.write(reinterpret_cast<const char *>(block.data()), some);
  }
  return success();
}

/// Every parameter must have an initial value before anything is written.
LogicalResult checkInitialValues(const Compilation &compilation) {
  std::string missing;
  size_t count = 0;
  SmallVector<const ParameterSource *> firstOfFile;
  for (const ParameterSource &source : compilation.parameters) {
    if (source.kind != ParameterSource::Kind::Absent)
      continue;
    if (++count <= 3)
      missing += (count > 1 ? ", '" : "'") + source.name + "'";
    if (!llvm::any_of(firstOfFile, [&](const ParameterSource *other) { return other->file == source.file; }))
      firstOfFile.push_back(&source);
  }
  if (!count)
    return success();
  Message message{.where = compilation.modelPath,
                  .text = llvm::formatv("{0} of {1} parameters have no initial value in the model ({2}{3})", count,
                                        compilation.parameters.size(), missing, count > 3 ? ", ..." : "")};
  for (const ParameterSource *source : ArrayRef(firstOfFile).take_front(3))
    message.notes.push_back({.severity = Severity::Note,
                             .where = compilation.modelPath,
                             .text = "the values of '" + source->name + "' are external data, but their file '" +
                                     source->file + "' does not exist; put this file next to the model"});
  message.notes.push_back({.severity = Severity::Note,
                           .where = compilation.specPath,
                           .text = "set init.from to random to initialize the parameters"});
  compilation.diagnostics.report(message);
  return failure();
}

/// Constants cannot be drawn: the model's own values are needed.
LogicalResult checkConstants(const Compilation &compilation) {
  if (compilation.absentConstants.empty())
    return success();
  const AbsentConstant &first = compilation.absentConstants.front();
  compilation.diagnostics.error(compilation.modelPath,
                                "constant '" + first.name + "' has no values: its external file '" + first.file +
                                    "' does not exist; xlc compile requires this file, but xlc plan does not");
  return failure();
}

LogicalResult checkRanks(const Compilation &compilation) {
  const Spec &spec = compilation.spec;
  if (spec.ranks() <= runtime::kMostRanks)
    return success();
  StringRef largest = spec.dp >= std::max(spec.pp, spec.tp) ? "dp" : spec.pp >= spec.tp ? "pp" : "tp";
  compilation.diagnostics.error(
      findPlace(spec, largest).value_or(spec.path),
      llvm::formatv(
          "pp * dp * tp = {0} * {1} * {2} = {3} ranks, but a program can run at most {4}; xlc plan accepts more",
          spec.pp, spec.dp, spec.tp, spec.ranks(), runtime::kMostRanks));
  return failure();
}

/// The parameters' initial values. Returns their digest.
FailureOr<std::string> writeParameters(const Compilation &compilation, runtime::OutputFile &file) {
  Location loc = (*compilation.module)->getLoc();
  SmallVector<InitialTensor> tensors;
  for (const ParameterSource &source : compilation.parameters)
    tensors.push_back({source.name, SmallVector<int64_t>(source.shape.begin(), source.shape.end()),
                       [&](llvm::raw_ostream &out) { return writeInitialValue(source, out); }});
  return writeSafetensors(file, tensors, loc);
}

/// The files that `xlc compile` is asked for; none where only the object is.
SmallVector<std::string> listOutputs(const Compilation &compilation) {
  SmallVector<std::string> outputs;
  if (const std::string &output = compilation.request.output; !output.empty()) {
    outputs.push_back(output);
    if (compilation.spec.init.from != InitSpec::From::Random)
      outputs.push_back(output + ".safetensors");
  }
  return outputs;
}

/// What the program will say of itself is what it checks when it starts.
LogicalResult verifyEmitted(Compilation &compilation, const plan::PlanT &plan) {
  auto kernels = compilation.module->lookupSymbol<ModuleOp>(kKernelModule).getOps<func::FuncOp>();
  try {
    runtime::checkPlan(plan, std::distance(kernels.begin(), kernels.end()));
  } catch (const runtime::Rejected &problem) {
    return compilation.module->emitError() << "gate of Emit: " << problem.what();
  }
  return success();
}

LogicalResult makeProgramObject(Compilation &compilation, plan::PlanT &plan) {
  compilation.object = makeObject(*compilation.module, compilation.getTarget(), plan);
  return success(compilation.object && succeeded(verifyEmitted(compilation, plan)));
}

LogicalResult writeSimulatorImage(const Compilation &compilation, const plan::PlanT &plan) {
  const std::string &path = compilation.request.simulatorImage;
  if (path.empty())
    return success();
  std::unique_ptr<llvm::MemoryBuffer> object =
      compilation.getTarget().backend().makeSimulatorObject(*compilation.module, plan);
  runtime::OutputFile image(path);
  if (!object || failed(linkImage(ModuleOp(*compilation.module).getLoc(), *object, image)))
    return failure();
  image.publish();
  return success();
}

/// Copies libraries into a folder. Throws runtime::Rejected.
void writeLibraries(ArrayRef<std::string> libraries, const std::string &folder) {
  if (std::error_code error =
          llvm::sys::fs::create_directories(folder, /*IgnoreExisting=*/true, llvm::sys::fs::all_all))
    throw runtime::Rejected(folder + ": error: cannot be written: " + error.message());
  for (StringRef path : libraries) {
    auto bytes = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!bytes)
      throw runtime::Rejected(path.str() + ": error: cannot be read: " + bytes.getError().message());
    runtime::OutputFile copy((folder + "/" + llvm::sys::path::filename(path)).str());
    copy.write((*bytes)->getBufferStart(), (*bytes)->getBufferSize());
    copy.publish();
  }
}

/// Writes the program and, where they are not random, the parameters that belong to it. Throws runtime::Rejected.
LogicalResult writeProgram(Compilation &compilation, ArrayRef<std::string> outputs, plan::PlanT &plan) {
  runtime::OutputFile program(outputs[0]);
  std::vector<runtime::OutputFile *> files = {&program};
  std::optional<runtime::OutputFile> parameters;
  if (outputs.size() > 1) {
    files.push_back(&parameters.emplace(outputs[1]));
    FailureOr<std::string> digest = writeParameters(compilation, *parameters);
    if (failed(digest))
      return failure();
    plan.parameters_digest = *digest;
  }
  Location loc = ModuleOp(*compilation.module).getLoc();
  FailureOr<LinkFiles> with = findLinkFiles(compilation.getTarget(), compilation.request.driver, loc);
  if (failed(with) || failed(makeProgramObject(compilation, plan)) ||
      failed(linkProgram(loc, *with, *compilation.object, program)) || failed(writeSimulatorImage(compilation, plan)))
    return failure();
  if (compilation.request.bundles)
    writeLibraries(compilation.getTarget().backend().findLibraries(), outputs[0] + ".libs");
  runtime::OutputFile::publishTogether(files);
  return success();
}

} // namespace

LogicalResult xlc::checkProgram(const Compilation &compilation) {
  if (!compilation.request.simulatorImage.empty() && !compilation.getTarget().backend().hasSimulator()) {
    compilation.diagnostics.error("--simulator-image", "target " + compilation.getTarget().name() +
                                                           " runs on this machine; only cuda has a simulator");
    return failure();
  }
  if (compilation.request.bundles && compilation.getTarget().backend().findLibraries().empty()) {
    compilation.diagnostics.error("--bundle",
                                  "programs for target " + compilation.getTarget().name() +
                                      " cannot be bundled: they use libraries of the GPU's vendor, which must be "
                                      "installed on each machine that runs the program");
    return failure();
  }
  SmallVector<std::string> outputs = listOutputs(compilation);
  bool needsValues = outputs.size() > 1;
  if (!compilation.request.simulatorImage.empty())
    outputs.push_back(compilation.request.simulatorImage);
  return success((!needsValues || succeeded(checkInitialValues(compilation))) &&
                 succeeded(checkConstants(compilation)) && succeeded(checkRanks(compilation)) &&
                 succeeded(checkOutputs(compilation, outputs)));
}

LogicalResult xlc::emitProgram(Compilation &compilation) {
  SmallVector<std::string> outputs = listOutputs(compilation);
  std::unique_ptr<plan::PlanT> plan = describePlan(compilation);
  if (outputs.empty())
    return makeProgramObject(compilation, *plan);
  return writeProgram(compilation, outputs, *plan); // throws Rejected where a file cannot be written
}
