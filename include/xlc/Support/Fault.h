// Whose it is to mend what an error says. The exit code follows from it, never from the words.
#ifndef XLC_SUPPORT_FAULT_H
#define XLC_SUPPORT_FAULT_H

#include "mlir/IR/Diagnostics.h"
#include <optional>

namespace xlc {

enum class Fault {
  User,     ///< model, spec, files or machine: exit code 1
  Compiler, ///< a gate that fails, an op that a pass left malformed: exit code 70 and a reproducer
};

/// Says whose fault an error is where that is not what its phase says (Phase::fault).
inline mlir::InFlightDiagnostic blame(Fault fault, mlir::InFlightDiagnostic diagnostic) {
  diagnostic.getUnderlyingDiagnostic()->getMetadata().push_back(mlir::DiagnosticArgument(int(fault)));
  return diagnostic;
}

/// What `blame` said of it; none where nobody did.
inline std::optional<Fault> getFault(mlir::Diagnostic &diagnostic) {
  for (mlir::DiagnosticArgument &argument : diagnostic.getMetadata())
    if (argument.getKind() == mlir::DiagnosticArgument::DiagnosticArgumentKind::Integer)
      return Fault(argument.getAsInteger());
  return std::nullopt;
}

} // namespace xlc

#endif
