// What a word that is not known may have been meant for. A proposal that is wrong is worse than none: it is taken over
// without a look. So a proposal begins as the word does, has no other digits (A100 is no h100), and its case is free.
#ifndef XLC_LIB_SPEC_MEANT_H
#define XLC_LIB_SPEC_MEANT_H

#include "xlc/Spec/Spec.h"

namespace xlc::spec {

/// Whether the two are one but for their case, `-`, `_` and spaces.
bool isSameName(llvm::StringRef one, llvm::StringRef other);

/// Of `choices`, "a|b|c", those that `written` may stand for; none where nothing is near.
llvm::SmallVector<llvm::StringRef> findMeantWords(llvm::StringRef written, llvm::StringRef choices);

/// The same where it is one.
std::optional<llvm::StringRef> findWord(llvm::StringRef written, llvm::StringRef choices);

/// "did you mean 'a' or 'b'?"; empty without words.
std::string askWhetherMeant(llvm::ArrayRef<llvm::StringRef> words);

} // namespace xlc::spec

#endif
