// From a finished plan to files: the training program, and its initial parameters beside it.
#include "DescribePlan.h"
#include "Failure.h"
#include "Files/InputFile.h"
#include "Files/OutputFile.h"
#include "xlc/Emit/Emit.h"
#include "xlc/Spec/SpecPlace.h"
#include "llvm/Support/MemoryBuffer.h"

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
  for (const ParameterSource &source : compilation.parameters)
    if (source.kind == ParameterSource::Kind::Absent && ++count <= 3)
      missing += (count > 1 ? ", '" : "'") + source.name + "'";
  if (!count)
    return success();
  compilation.errors << compilation.modelPath << ": error: " << count << " of " << compilation.parameters.size()
                     << " parameters have no initial value in the model (" << missing << (count > 3 ? ", ..." : "")
                     << ")\n"
                     << compilation.specPath << ": note: init: {from: random} draws them\n";
  return failure();
}

/// Constants cannot be drawn: the model's own values are needed.
LogicalResult checkConstants(const Compilation &compilation) {
  if (compilation.absentConstants.empty())
    return success();
  compilation.errors << compilation.modelPath << ": error: constant '" << compilation.absentConstants.front()
                     << "' has no values: its external file cannot be read; that is enough to plan, not to compile\n";
  return failure();
}

LogicalResult checkRanks(const Compilation &compilation) {
  const Spec &spec = compilation.spec;
  if (spec.ranks() <= kMostRanks)
    return success();
  StringRef largest = spec.dp >= std::max(spec.pp, spec.tp) ? "dp" : spec.pp >= spec.tp ? "pp" : "tp";
  compilation.errors << findPlace(spec, largest).value_or(spec.path) << ": error: pp * dp * tp = " << spec.pp << " * "
                     << spec.dp << " * " << spec.tp << " = " << spec.ranks() << " ranks, a program can run at most "
                     << kMostRanks << "; xlc plan takes more\n";
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

LogicalResult lowerKernels(Compilation &compilation) {
  PassManager manager(&compilation.context);
  compilation.target.addLowering(manager);
  return manager.run(*compilation.module);
}

/// Writes the program and, where they are not random, the parameters that belong to it. Throws runtime::Rejected.
LogicalResult writeProgram(Compilation &compilation, const std::string &output, const EmitOptions &options,
                           StringRef compiler) {
  bool isRandom = compilation.spec.init.from == InitSpec::From::Random;
  std::unique_ptr<plan::PlanT> plan = describePlan(compilation, compiler);
  if (failed(lowerKernels(compilation)))
    return failure();
  runtime::OutputFile program(output);
  std::vector<runtime::OutputFile *> files = {&program};
  std::optional<runtime::OutputFile> parameters;
  if (!isRandom) {
    files.push_back(&parameters.emplace(output + ".safetensors"));
    FailureOr<std::string> digest = writeParameters(compilation, *parameters);
    if (failed(digest))
      return failure();
    plan->parameters_digest = *digest;
  }
  std::unique_ptr<llvm::MemoryBuffer> object = makeObject(*compilation.module, compilation.target, *plan);
  if (!object || failed(linkProgram((*compilation.module)->getLoc(), compilation.target, *object, options, program)))
    return failure();
  runtime::OutputFile::publishTogether(files);
  return success();
}

} // namespace

std::unique_ptr<llvm::MemoryBuffer> xlc::compileObject(Compilation &compilation, StringRef compiler) {
  if (failed(checkConstants(compilation)) || failed(checkRanks(compilation)))
    return nullptr;
  std::unique_ptr<plan::PlanT> plan = describePlan(compilation, compiler);
  if (failed(lowerKernels(compilation)))
    return nullptr;
  return makeObject(*compilation.module, compilation.target, *plan);
}

LogicalResult xlc::compileProgram(Compilation &compilation, StringRef output, StringRef driver, StringRef compiler) {
  bool isRandom = compilation.spec.init.from == InitSpec::From::Random;
  SmallVector<std::string> outputs = {output.str()};
  if (!isRandom)
    outputs.push_back(outputs[0] + ".safetensors");
  if ((!isRandom && failed(checkInitialValues(compilation))) || failed(checkConstants(compilation)) ||
      failed(checkRanks(compilation)) || failed(checkOutputs(compilation, outputs)))
    return failure();
  EmitOptions options;
  options.runtime = findRuntime(compilation.target, driver);
  try {
    return writeProgram(compilation, outputs[0], options, compiler);
  } catch (const runtime::Rejected &problem) {
    compilation.errors << problem.what() << "\n";
    return failure();
  }
}
