// --xlc-replay: runs the unpartitioned program in float64 on the numbers of a real run, for tests of the distance of a
// 16-bit program from it. Steps that the run skipped are not in its rows.
#include "../Ranks/Model.h"
#include "xlc/Interpret/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstring>

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace xlc::interpret {
#define GEN_PASS_DEF_REPLAYPASS
#include "xlc/Interpret/Passes.h.inc"
} // namespace xlc::interpret

namespace {

struct ReplayPass : xlc::interpret::impl::ReplayPassBase<ReplayPass> {
  using ReplayPassBase::ReplayPassBase;

  void runOnOperation() override {
    FailureOr<Model> model = Model::read(getOperation());
    if (failed(model) || failed(readAll(*model)))
      return signalPassFailure();
    Cut cut{1, given.globalBatch / model->inputs.front().type.getDimSize(0)};
    auto run = makeUnpartitioned<double>(*model, Source<double>{0, &given}, cut, Options{});
    for (int64_t t = 1; t <= steps; ++t) {
      if (failed(run->step(t)))
        return signalPassFailure();
      auto valueOf = [&](StringRef name) { return std::get<Tensor<double>>(*run->find(0, name.str())).elements[0]; };
      llvm::outs() << llvm::formatv("// step {0} loss {1:e16} norm {2:e16}\n", t, valueOf(kLoss), valueOf(kNorm));
    }
  }

private:
  LogicalResult readAll(const Model &model) {
    given.globalBatch = batch;
    for (const Model::Parameter &parameter : model.parameters)
      if (failed(read(parameter.name, parameter.shape, /*isInteger=*/false, given.parameters)))
        return failure();
    for (const Model::Input &input : model.inputs) {
      Shape shape(input.type.getShape());
      shape[0] = batch * steps;
      if (input.wholeOf.empty() && !input.isSampleNumber &&
          failed(read(input.name, shape, input.type.getElementType().isInteger(), given.rows)))
        return failure();
    }
    return success();
  }

  /// Elements of eight bytes, one after the other.
  LogicalResult read(const std::string &name, ArrayRef<int64_t> shape, bool isInteger,
                     std::map<std::string, Datum<double>> &to) {
    auto file = llvm::MemoryBuffer::getFile(data + "/" + name, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    size_t bytes = countOf(shape) * 8;
    if (!file || (*file)->getBufferSize() != bytes)
      return getOperation().emitError() << "'" << data << "/" << name << "' must be a file of " << bytes << " bytes";
    auto copy = [&](auto tensor) {
      std::memcpy(tensor.elements.data(), (*file)->getBufferStart(), bytes);
      to[name] = std::move(tensor);
    };
    isInteger ? copy(Integers(shape)) : copy(Tensor<double>(shape));
    return success();
  }

  GivenData given;
};
} // namespace
