// What `xlc` and the programs that it makes ask of their command lines alike.
#ifndef XLC_SUPPORT_COMMANDLINE_H
#define XLC_SUPPORT_COMMANDLINE_H

#include <CLI/CLI.hpp>

namespace xlc {

/// Options of `app` refuse an empty value, say that of a variable which is not set: it would do nothing, and nothing would be said.
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
