// The interface through which phases report errors to the user: the place, the responsible party, the error, and a
// remedy.
//
//     spec.yaml, model.onnx  ->  Diagnostics  <-  MLIR's diagnostics of passes and gates
//                                     |
//                a terminal; the obstacle that a search reports; nothing, if a search only tries
#ifndef XLC_SUPPORT_DIAGNOSTICS_H
#define XLC_SUPPORT_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace xlc {

enum class Severity { Error, Warning, Note };
llvm::StringRef nameOf(Severity severity);

/// The party that can fix an error. It determines the exit code; the text of the message does not.
enum class Fault {
  User,     ///< model, spec, files or machine: exit code 1
  Compiler, ///< a gate that fails, an op that a pass left malformed: exit code 70 and a reproducer
};

struct Message {
  Severity severity = Severity::Error;
  std::string where;             ///< "train.yaml:3:5", or a file
  std::string text;              ///< the error with both values; after a semicolon the nearest valid value
  std::string source;            ///< the line of the file with a caret below it; empty if `where` is sufficient
  std::vector<Message> notes;    ///< the other half of a contradiction, the node concerned, a remedy
  Fault fault = Fault::User;     ///< of an error
  mlir::Operation *op = nullptr; ///< the op in the IR that the error is about, if a pass runs alone
};

/// Prints `where: severity: text`, the source and the notes, one line each.
llvm::raw_ostream &operator<<(llvm::raw_ostream &out, const Message &message);

class Diagnostics {
public:
  using Receiver = std::function<void(const Message &)>;

  explicit Diagnostics(Receiver receiver) : receiver(std::move(receiver)) {}
  /// Prints each message when it is reported.
  explicit Diagnostics(llvm::raw_ostream &out) : Diagnostics([&out](const Message &message) { out << message; }) {}
  /// Appends each message to `messages`.
  explicit Diagnostics(std::vector<Message> &messages)
      : Diagnostics([&messages](const Message &message) { messages.push_back(message); }) {}
  /// Only counts messages.
  Diagnostics() : Diagnostics([](const Message &) {}) {}
  Diagnostics(const Diagnostics &) = delete;

  void report(const Message &message);
  /// An error of the user, without notes.
  void error(const llvm::Twine &where, const llvm::Twine &text);

  bool hasErrors() const { return errors > 0; }
  /// Whether an error was reported that only xlc's developers can fix.
  bool hasCompilerFault() const { return isCompilersFault; }

private:
  Receiver receiver;
  int errors = 0;
  bool isCompilersFault = false;
};

/// Sets the responsible party of an MLIR diagnostic, if it differs from that of its phase (Phase::fault).
mlir::InFlightDiagnostic blame(Fault fault, mlir::InFlightDiagnostic diagnostic);

/// The party that `blame` has set; none if it was not called.
std::optional<Fault> getFault(mlir::Diagnostic &diagnostic);

/// Converts MLIR's diagnostic to a message about `file`. A note names the node of the model that the op comes from.
Message toMessage(mlir::Diagnostic &diagnostic, llvm::StringRef file);

} // namespace xlc

#endif
