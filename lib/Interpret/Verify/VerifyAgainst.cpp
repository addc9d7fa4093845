// --xlc-verify-against: the verification of a plan as a pass, for tests after each phase.
#include "mlir/Parser/Parser.h"
#include "xlc/Interpret/Passes.h"
#include "xlc/Interpret/Verify.h"
#include "xlc/Support/Numbers.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace xlc::interpret;

namespace xlc::interpret {
#define GEN_PASS_DEF_VERIFYAGAINSTPASS
#include "xlc/Interpret/Passes.h.inc"
} // namespace xlc::interpret

namespace {
/// Every line as a comment of IR, so that the output stays a module.
void printAsComment(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, false);
  for (StringRef line : lines)
    llvm::outs() << "// " << line << "\n";
}

struct VerifyAgainstPass : xlc::interpret::impl::VerifyAgainstPassBase<VerifyAgainstPass> {
  using VerifyAgainstPassBase::VerifyAgainstPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto known = llvm::StringSwitch<std::optional<Arithmetic>>(arithmetic)
                     .Case("f64", Arithmetic::F64)
                     .Case("f32", Arithmetic::F32)
                     .Case("field", Arithmetic::Field)
                     .Default(std::nullopt);
    if (!known) {
      module.emitError() << "arithmetic must be f64, f32 or field, not '" << arithmetic << "'";
      return signalPassFailure();
    }
    OwningOpRef<ModuleOp> parsed;
    if (!reference.empty()) {
      parsed = parseSourceFile<ModuleOp>(reference, module.getContext());
      if (!parsed)
        return signalPassFailure();
    }
    Programs programs{parsed ? *parsed : module, module};
    VerifyOptions options{*known, seed, steps, 10, heldParameters, std::nullopt};
    printAsComment(estimateCost(programs, options).toString());
    llvm::FailureOr<VerifyReport> report = verify(programs, options);
    if (failed(report))
      return signalPassFailure();
    printAsComment(report->summary(options));
    if (orders > 0 && report->isEqual()) {
      report = verifyOrders(programs, options, orders);
      if (failed(report))
        return signalPassFailure();
      printAsComment("in " + xlc::formatCount(orders, "random order") + " of streams; the last one:\n" +
                     report->summary(options));
    }
    if (!report->isEqual()) {
      module.emitError() << "the partitioned program differs from the unpartitioned one: "
                         << report->differences.front();
      signalPassFailure();
    }
  }
};
} // namespace
