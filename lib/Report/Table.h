// Lines of a report: a name, a figure, a remark.
#ifndef XLC_LIB_REPORT_TABLE_H
#define XLC_LIB_REPORT_TABLE_H

#include "xlc/Support/Bytes.h"
#include "xlc/Support/Numbers.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace xlc {

class Table {
public:
  explicit Table(llvm::raw_ostream &out) : out(out) {}

  void title(const llvm::Twine &text) { out << "\n" << text << "\n"; }
  void row(llvm::StringRef name, llvm::StringRef figure, const llvm::Twine &remark = "") {
    std::string line = llvm::formatv("  {0,-16}{1,12}  {2}", name, figure, remark.str());
    out << llvm::StringRef(line).rtrim() << "\n";
  }
  void bytes(llvm::StringRef name, Quantity bytes, const llvm::Twine &remark = "") {
    std::string exact = llvm::formatv("{0,18} B  {1}", groupDigits(bytes), remark.str());
    row(name, formatBytes(bytes), exact);
  }

private:
  llvm::raw_ostream &out;
};

} // namespace xlc

#endif
