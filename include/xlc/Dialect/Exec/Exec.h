// The `exec` dialect in C++. See docs/rationale/Exec.md.
#ifndef XLC_DIALECT_EXEC_EXEC_H
#define XLC_DIALECT_EXEC_EXEC_H

#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "xlc/Dialect/Dist/Dist.h"

#include "xlc/Dialect/Exec/ExecEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "xlc/Dialect/Exec/ExecAttrs.h.inc"

#include "xlc/Dialect/Exec/ExecDialect.h.inc"

#define GET_OP_CLASSES
#include "xlc/Dialect/Exec/ExecOps.h.inc"

#endif
