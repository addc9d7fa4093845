// Parses the values of options. All functions throw CLI::ValidationError with the name of the option.
#ifndef XLC_LIB_RUNTIME_JOB_OPTIONVALUES_H
#define XLC_LIB_RUNTIME_JOB_OPTIONVALUES_H

#include "Device/Executor.h"

#include <map>
#include <string>

namespace xlc::runtime {

/// An integer from `least` to `most`, consisting of digits only.
uint64_t parseWhole(const char *option, const std::string &text, uint64_t least, uint64_t most);

/// A finite number of at least 0.
double parseAmount(const char *option, const std::string &text);

/// "rank:step:action", or "rank:step:parameter=inf"; the action may contain colons.
Fault parseFault(const std::string &text);

/// "folder" or "name=path,name=path".
void parseData(const char *option, const std::string &text, std::string &folder,
               std::map<std::string, std::string> &files);

} // namespace xlc::runtime

#endif
