// See Diagnostics.h.
#include "xlc/Support/Diagnostics.h"

using namespace mlir;
using namespace xlc;

StringRef xlc::nameOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  llvm_unreachable("all severities are named");
}

static Severity severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return Severity::Error;
  case DiagnosticSeverity::Warning:
    return Severity::Warning;
  case DiagnosticSeverity::Note:
  case DiagnosticSeverity::Remark:
    return Severity::Note;
  }
  llvm_unreachable("all severities have their like");
}

raw_ostream &xlc::operator<<(raw_ostream &out, const Message &message) {
  out << message.where << ": " << nameOf(message.severity) << ": " << message.text << "\n" << message.source;
  for (const Message &note : message.notes)
    out << note;
  return out;
}

void Diagnostics::report(const Message &message) {
  if (message.severity == Severity::Error) {
    ++errors;
    isCompilersFault |= message.fault == Fault::Compiler;
  }
  receiver(message);
}

void Diagnostics::error(const Twine &where, const Twine &text) { report({.where = where.str(), .text = text.str()}); }

InFlightDiagnostic xlc::blame(Fault fault, InFlightDiagnostic diagnostic) {
  diagnostic.getUnderlyingDiagnostic()->getMetadata().push_back(DiagnosticArgument(int(fault)));
  return diagnostic;
}

std::optional<Fault> xlc::getFault(Diagnostic &diagnostic) {
  for (DiagnosticArgument &argument : diagnostic.getMetadata())
    if (argument.getKind() == DiagnosticArgument::DiagnosticArgumentKind::Integer)
      return Fault(argument.getAsInteger());
  return std::nullopt;
}

Message xlc::toMessage(Diagnostic &diagnostic, StringRef file) {
  Message message{.severity = severityOf(diagnostic.getSeverity()), .where = file.str(), .text = diagnostic.str()};
  auto note = [&](const Twine &text) {
    message.notes.push_back({.severity = Severity::Note, .where = file.str(), .text = text.str()});
  };
  if (auto node = diagnostic.getLocation()->findInstanceOf<NameLoc>())
    if (!StringRef(message.text).contains(node.getName().getValue()))
      note("at node '" + node.getName().getValue() + "'");
  for (Diagnostic &attached : diagnostic.getNotes())
    note(attached.str());
  return message;
}
