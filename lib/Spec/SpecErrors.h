// Everything that is wrong with one spec file, collected first and reported at its end, in the order of the file.
//
// A user mends a file from top to bottom, so all its errors come in one run, sorted by place, each with its
// source line and a caret; a note under an error says where the other half of a contradiction stands.
#ifndef XLC_LIB_SPEC_SPECERRORS_H
#define XLC_LIB_SPEC_SPECERRORS_H

#include "xlc/Spec/Spec.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

namespace xlc::spec {

class SpecErrors {
public:
  /// Adds an error; a location that is nowhere stands for the beginning of the file.
  void error(SpecLocation location, const llvm::Twine &message);

  /// The same for what is odd, but can be done.
  void warning(SpecLocation location, const llvm::Twine &message);

  /// Adds a note to the last error. A location that is nowhere is that of the error.
  void note(SpecLocation location, const llvm::Twine &message);

  /// Whether there is an error; a warning is none.
  bool any() const {
    return llvm::any_of(errors, [](const Error &error) { return error.severity == Severity::Error; });
  }

  /// Each with `path:line:column`, the line of `text` and a caret.
  void report(llvm::StringRef text, llvm::StringRef path, Diagnostics &diagnostics) const;

private:
  struct Note {
    SpecLocation location;
    std::string text;
  };
  struct Error : Note {
    Severity severity = Severity::Error;
    std::vector<Note> notes;
  };
  std::vector<Error> errors;
};

/// The user's text between quotes, shortened and without control characters, for a message.
std::string quote(llvm::StringRef text);

} // namespace xlc::spec

#endif
