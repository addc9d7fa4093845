// stub
#include "xlc/Import/Passes.h"
using namespace mlir;
using namespace xlc;
namespace xlc {
#define GEN_PASS_DEF_RAISEGELUPASS
#include "xlc/Import/Passes.h.inc"
}
namespace {
struct RaiseGelu : xlc::impl::RaiseGeluPassBase<RaiseGelu> { void runOnOperation() override {} };
}
