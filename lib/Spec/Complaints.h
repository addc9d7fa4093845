// Everything that is wrong with one spec file, collected first and printed once, in the order of the file.
//
// A user mends a file from top to bottom, so all its errors come in one run, sorted by place, each with its
// source line and a caret; a note under an error says where the other half of a contradiction stands.
#ifndef XLC_LIB_SPEC_COMPLAINTS_H
#define XLC_LIB_SPEC_COMPLAINTS_H

#include "xlc/Spec/Spec.h"

#include "llvm/ADT/Twine.h"

namespace xlc::spec {

class Complaints {
public:
  /// Adds an error; a location that is nowhere stands for the beginning of the file.
  void error(SpecLocation location, const llvm::Twine &message);

  /// Adds a note to the last error. A location that is nowhere is that of the error.
  void note(SpecLocation location, const llvm::Twine &message);

  bool any() const { return !errors.empty(); }

  /// `path:line:column: error: ...` with line and caret for each; past a few hundred it only counts.
  void print(llvm::StringRef text, llvm::StringRef path, llvm::raw_ostream &out) const;

private:
  struct Message {
    SpecLocation location;
    std::string text;
  };
  struct Error : Message {
    std::vector<Message> notes;
  };
  std::vector<Error> errors;
};

/// The user's text between quotes, shortened and without control characters, for a message.
std::string quoted(llvm::StringRef text);

} // namespace xlc::spec

#endif
