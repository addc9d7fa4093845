// Fills a page of HTML: a Mustache template of this folder.
#ifndef XLC_LIB_REPORT_HTML_RENDER_H
#define XLC_LIB_REPORT_HTML_RENDER_H

#include "llvm/Support/JSON.h"

namespace xlc {

/// Quotes JSON so that it is valid inside both HTML and XML.
std::string quoteForScript(const llvm::json::Value &value);

/// `page` is a file of this folder; `data` has the values of its names, except the style and the script.
void render(llvm::StringRef page, llvm::json::Object data, llvm::raw_ostream &out);

} // namespace xlc

#endif
