// Proposals for an unknown word. A wrong proposal is worse than none, because it is accepted without checking. So a
// proposal begins like the word and has no other digits (A100 is not h100); its case may differ.
#ifndef XLC_LIB_SPEC_MEANT_H
#define XLC_LIB_SPEC_MEANT_H

#include "xlc/Spec/Spec.h"

namespace xlc::spec {

/// Whether the two are equal except for their case, `-`, `_` and spaces.
bool isSameName(llvm::StringRef one, llvm::StringRef other);

/// The words of `choices`, "a|b|c", that `written` may mean; none if none is similar.
llvm::SmallVector<llvm::StringRef> findMeantWords(llvm::StringRef written, llvm::StringRef choices);

/// The same if there is exactly one.
std::optional<llvm::StringRef> findWord(llvm::StringRef written, llvm::StringRef choices);

/// "did you mean 'a' or 'b'?"; empty without words.
std::string askWhetherMeant(llvm::ArrayRef<llvm::StringRef> words);

} // namespace xlc::spec

#endif
