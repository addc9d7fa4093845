// Layouts that the user specifies: the dimension of a parameter to split, in place of the search's choice.
#ifndef XLC_LIB_SHARD_PINS_H
#define XLC_LIB_SHARD_PINS_H

#include "xlc/Shard/Shard.h"
#include "llvm/ADT/MapVector.h"

namespace xlc::shard {

/// The pin of each parameter that has one: the last pin that matches it.
using Pins = llvm::MapVector<mlir::Value, const LayoutPin *>;

/// Fills in `pins`. An impossible pin, or one that later pins leave without effect, is an error; false if there was
/// any.
bool findPins(mlir::func::FuncOp function, const ShardOptions &options, Pins &pins, Diagnostics &diagnostics);

/// The name of a parameter of the function.
std::string nameOf(mlir::func::FuncOp function, mlir::BlockArgument parameter);

} // namespace xlc::shard

#endif
