// A plan's report as JSON (docs/PlanJson.md), for the code that prints or compares it.
#ifndef XLC_LIB_REPORT_REPORTJSON_H
#define XLC_LIB_REPORT_REPORTJSON_H

#include "xlc/Report/Report.h"
#include "xlc/Support/QuantityJson.h"

namespace xlc {

nlohmann::ordered_json reportToJson(const PlanReport &report, llvm::StringRef model);

} // namespace xlc

#endif
