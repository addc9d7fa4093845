// What differs between two plans of one model, figure by figure.
#ifndef XLC_REPORT_DIFF_H
#define XLC_REPORT_DIFF_H

#include "xlc/Report/Report.h"

namespace xlc {

/// A figure that two plans have unequal, or one alone, as text.
struct Difference {
  std::string key;    ///< as docs/PlanJson.md has it; of the fullest rank: "memory.total" for "groups[].memory.total"
  std::string a, b;   ///< "2.38 MiB"; empty: that plan has no such figure
  std::string change; ///< "+1.20 MiB, 1.50 x"; empty where it is not a number in both
};

/// A plan with its name and its module, as Memory leaves it.
struct NamedPlan {
  std::string name; ///< of the spec's file
  const PlanReport &report;
  mlir::ModuleOp module;
};

/// Figures of the whole, then those of the fullest rank, in the order of the report.
std::vector<Difference> findDifferences(const PlanReport &a, const PlanReport &b);

/// A table of both plans' figures where they differ.
void printDiff(const NamedPlan &a, const NamedPlan &b, llvm::StringRef model, llvm::raw_ostream &out);

/// For programs: `model`, `a`, `b` and the `differences`, each with its key and both values as in docs/PlanJson.md.
void printDiffJson(const NamedPlan &a, const NamedPlan &b, llvm::StringRef model, llvm::raw_ostream &out);

/// A page with the table, and with memory over the step of both plans in one scale.
void printDiffHtml(const NamedPlan &a, const NamedPlan &b, llvm::StringRef model, llvm::raw_ostream &out);

} // namespace xlc

#endif
