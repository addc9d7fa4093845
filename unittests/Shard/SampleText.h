// How samples of the factor table are written.
#ifndef XLC_UNITTESTS_SHARD_SAMPLETEXT_H
#define XLC_UNITTESTS_SHARD_SAMPLETEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace xlc::shard {

/// A function of arguments %0, %1, ... of these types.
std::string functionOf(llvm::StringRef name, llvm::ArrayRef<std::string> arguments, llvm::StringRef body,
                       llvm::StringRef results, llvm::StringRef types);

/// @op: its last op is the sample.
std::string sampleOf(llvm::ArrayRef<std::string> arguments, llvm::StringRef body, llvm::StringRef results,
                     llvm::StringRef types);
/// The same with one result, %y.
std::string sampleOf(llvm::ArrayRef<std::string> arguments, llvm::StringRef body, llvm::StringRef type);

void addWindows(std::vector<std::string> &samples);
void addUpdates(std::vector<std::string> &samples);

} // namespace xlc::shard

#endif
