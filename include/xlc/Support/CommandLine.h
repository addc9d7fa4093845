// Checks of command lines that `xlc` and its compiled programs share.
#ifndef XLC_SUPPORT_COMMANDLINE_H
#define XLC_SUPPORT_COMMANDLINE_H

#include <CLI/CLI.hpp>

namespace xlc {

/// Options of `app` reject an empty value, such as that of an unset variable, which would otherwise have no effect and
/// give no message.
inline void refuseEmptyValues(CLI::App &app) {
  CLI::Validator isGiven(
      [](const std::string &text) {
        return text.empty() ? "the value is empty; give one, or leave the option out" : "";
      },
      "");
  for (CLI::Option *option : app.get_options())
    if (option->get_items_expected_max() > 0)
      option->check(isGiven);
}

} // namespace xlc

#endif
