// What the rows of the factor table are tried on, and how a value lies on ranks.
#ifndef XLC_UNITTESTS_SHARD_SAMPLES_H
#define XLC_UNITTESTS_SHARD_SAMPLES_H

#include "Interpret/Ranks/Pieces.h"
#include "xlc/Factors/Layout.h"
#include "xlc/Interpret/Interpret.h"

namespace xlc::shard {

using interpret::Datum;
using interpret::Field;

/// A module with @op, whose last op is the sample; others make operands of it. Arguments are random, integers below
/// `graph.limit`, unless there is @prepare, which makes them.
std::vector<std::string> getSamples();

/// What a rank has of a value that lies so. Terms of a sum are random but for one.
Datum<Field> localOf(mlir::MLIRContext *context, const Datum<Field> &global, const Layout &layout, int64_t tp,
                     int64_t rank, llvm::StringRef key);

/// Whether the ranks' values are those of a layout, where elements exist.
bool isLaidOut(mlir::MLIRContext *context, llvm::ArrayRef<Datum<Field>> ranks, const Datum<Field> &global,
               const Layout &layout, int64_t tp);

/// All layouts of a shape on tp ranks: pieces full or, of whole dimensions, with a short tail.
std::vector<Layout> layoutsOf(llvm::ArrayRef<int64_t> shape, int64_t tp);

} // namespace xlc::shard

#endif
