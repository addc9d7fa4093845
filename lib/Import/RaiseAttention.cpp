// stub
#include "xlc/Import/Passes.h"
using namespace mlir;
using namespace xlc;
namespace xlc {
#define GEN_PASS_DEF_RAISEATTENTIONPASS
#include "xlc/Import/Passes.h.inc"
}
namespace {
struct RaiseAttention : xlc::impl::RaiseAttentionPassBase<RaiseAttention> { void runOnOperation() override {} };
}
