// The names of our keys in other tools: one table, one row per key of ours.
//
// It has three readers: "did you mean" of an unknown key of a spec, the message about a file that is another
// tool's (Foreign.h), and docs/Spec.md.
#ifndef XLC_LIB_SPEC_ALIASES_H
#define XLC_LIB_SPEC_ALIASES_H

#include "Yaml.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace xlc::spec {

/// A value of another tool's file, and the whole file.
struct ForeignValue {
  const YamlNode &node;
  const YamlNode &root;
};

struct Alias {
  llvm::StringLiteral ours;   ///< a key of the table, or an option of the program, which begins with "--"
  llvm::StringLiteral theirs; ///< names, and ends of paths, with spaces between them
  /// The text of a spec for this value: "dp: 8". Empty if no text is needed; none if no text can express it. A null
  /// function means the unchanged value, below `ours`.
  std::optional<std::string> (*write)(const ForeignValue &value) = nullptr;
};

llvm::ArrayRef<Alias> aliasTable();

/// The row whose name is the longest end of `path`, in any case and with `-` for `_`; null if there is none.
const Alias *findAlias(llvm::StringRef path);

/// "a: {b: text}" for the path "a.b".
std::string writeAt(llvm::StringRef path, llvm::StringRef text);

} // namespace xlc::spec

#endif
