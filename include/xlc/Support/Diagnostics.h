// The one way in which phases tell the user what is wrong: where, whose fault it is, what, and what would do.
//
//     spec.yaml, model.onnx  ->  Diagnostics  <-  MLIR's diagnostics of passes and gates
//                                     |
//                a terminal; the obstacle that a search reports; nothing, where a search only tries
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

/// Whose it is to mend what an error says. The exit code follows from it, never from the words.
enum class Fault {
  User,     ///< model, spec, files or machine: exit code 1
  Compiler, ///< a gate that fails, an op that a pass left malformed: exit code 70 and a reproducer
};

struct Message {
  Severity severity = Severity::Error;
  std::string where;             ///< "train.yaml:3:5", or a file
  std::string text;              ///< what is wrong, with both values; after a semicolon the nearest thing that works
  std::string source;            ///< that line of the file and a caret below it; empty where the place is enough
  std::vector<Message> notes;    ///< the other half of a contradiction, the node it is about, what would do
  Fault fault = Fault::User;     ///< of an error
  mlir::Operation *op = nullptr; ///< what it is about in the IR, where a pass runs alone
};

/// `where: severity: text`, the source and the notes, a line each.
llvm::raw_ostream &operator<<(llvm::raw_ostream &out, const Message &message);

class Diagnostics {
public:
  using Receiver = std::function<void(const Message &)>;

  explicit Diagnostics(Receiver receiver) : receiver(std::move(receiver)) {}
  /// Prints each message as it comes.
  explicit Diagnostics(llvm::raw_ostream &out) : Diagnostics([&out](const Message &message) { out << message; }) {}
  /// Collects them.
  explicit Diagnostics(std::vector<Message> &messages)
      : Diagnostics([&messages](const Message &message) { messages.push_back(message); }) {}
  /// Only counts them.
  Diagnostics() : Diagnostics([](const Message &) {}) {}
  Diagnostics(const Diagnostics &) = delete;

  void report(const Message &message);
  /// An error of the user, without notes.
  void error(const llvm::Twine &where, const llvm::Twine &text);

  bool hasErrors() const { return errors > 0; }
  /// Whether an error was reported that only xlc's developers can mend.
  bool hasCompilerFault() const { return isCompilersFault; }

private:
  Receiver receiver;
  int errors = 0;
  bool isCompilersFault = false;
};

/// Says whose fault an MLIR diagnostic is where that is not what its phase says (Phase::fault).
mlir::InFlightDiagnostic blame(Fault fault, mlir::InFlightDiagnostic diagnostic);

/// What `blame` said of it; none where nobody did.
std::optional<Fault> getFault(mlir::Diagnostic &diagnostic);

/// MLIR's diagnostic as a message about `file`: a note names the node of the model that the op comes from.
Message toMessage(mlir::Diagnostic &diagnostic, llvm::StringRef file);

} // namespace xlc

#endif
