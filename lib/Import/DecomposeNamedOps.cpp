// stub
#include "xlc/Import/Passes.h"
using namespace mlir;
using namespace xlc;
namespace xlc {
#define GEN_PASS_DEF_DECOMPOSENAMEDOPSPASS
#include "xlc/Import/Passes.h.inc"
}
namespace {
struct DecomposeNamedOps : xlc::impl::DecomposeNamedOpsPassBase<DecomposeNamedOps> { void runOnOperation() override {} };
}
