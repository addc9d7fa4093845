// The `exec` dialect: registration.
#include "xlc/Dialect/Exec/Exec.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xlc::exec;

#include "xlc/Dialect/Exec/ExecDialect.cpp.inc"
#include "xlc/Dialect/Exec/ExecEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "xlc/Dialect/Exec/ExecAttrs.cpp.inc"
#include "xlc/Dialect/Exec/ExecInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "xlc/Dialect/Exec/ExecOps.cpp.inc"

void ExecDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "xlc/Dialect/Exec/ExecAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "xlc/Dialect/Exec/ExecOps.cpp.inc"
      >();
}
