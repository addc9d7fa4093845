// The moments and buffers of a program (Lifetimes.h), as reports name them.
#ifndef XLC_LIB_REPORT_MOMENTS_H
#define XLC_LIB_REPORT_MOMENTS_H

#include "xlc/Memory/Lifetimes.h"
#include "llvm/ADT/StringMap.h"
#include <array>

namespace xlc {

/// The first moment at which most bytes are live.
int64_t findPeak(const Lifetimes &lifetimes);

using BytesByCause = std::array<int64_t, 6>; ///< index: exec::Cause

/// For each moment, the bytes that become live at it minus those that ended before it; and one more entry after the
/// last.
std::vector<BytesByCause> changesOfMemory(exec::ProgramOp program, const Lifetimes &lifetimes);

/// Bytes that are live at the fullest moment of each action.
std::vector<BytesByCause> memoryOfActions(exec::ProgramOp program);

/// The number of the action that runs at a moment.
size_t actionAt(const Lifetimes &lifetimes, int64_t moment);

/// "layer[3] B", or the name of an action without functions; empty where the program has no action at that moment.
std::string describeMoment(exec::ProgramOp program, const Lifetimes &lifetimes, int64_t moment);

/// Names of buffers with the parameters of their bucket: "bucket_3 gathered: h.2.attn.weight and 11 more".
class BufferNames {
public:
  explicit BufferNames(mlir::ModuleOp module);
  std::string describe(llvm::StringRef buffer) const;

private:
  llvm::StringMap<mlir::ArrayAttr> members;
};

} // namespace xlc

#endif
