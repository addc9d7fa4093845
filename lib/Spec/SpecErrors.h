// All errors of one spec file, collected first and reported at its end, in the order of the file.
//
// A user corrects a file from top to bottom, so all its errors are reported in one run, sorted by place, each with its
// source line and a caret; a note under an error gives the location of the other half of a contradiction.
#ifndef XLC_LIB_SPEC_SPECERRORS_H
#define XLC_LIB_SPEC_SPECERRORS_H

#include "xlc/Spec/Spec.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

namespace xlc::spec {

class SpecErrors {
public:
  /// Adds an error; an empty location means the beginning of the file.
  void error(SpecLocation location, const llvm::Twine &message);

  /// The same for an unusual but valid value.
  void warning(SpecLocation location, const llvm::Twine &message);

  /// Adds a note to the last error. An empty location means that of the error.
  void note(SpecLocation location, const llvm::Twine &message);

  /// Whether there is an error; warnings do not count.
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
