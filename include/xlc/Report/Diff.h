// The differences between two plans of one model, figure by figure.
#ifndef XLC_REPORT_DIFF_H
#define XLC_REPORT_DIFF_H

#include "xlc/Report/Report.h"

namespace xlc {

/// A figure that differs between two plans, or that only one of them has, as text.
struct Difference {
  std::string key;    ///< as in docs/PlanJson.md; of the fullest rank: "memory.total" for "groups[].memory.total"
  std::string a, b;   ///< "2.38 MiB"; empty: that plan does not have the figure
  std::string change; ///< "+1.20 MiB, 1.50 x"; empty if a value is missing or not a number
};

/// A plan with its name and its module after the phase Memory.
struct NamedPlan {
  std::string name; ///< of the spec's file
  const PlanReport &report;
  mlir::ModuleOp module;
};

/// The figures of the whole plan, then those of the fullest rank, in the order of the report.
std::vector<Difference> findDifferences(const PlanReport &a, const PlanReport &b);

/// Prints a table of the figures that differ.
void printDiff(const NamedPlan &a, const NamedPlan &b, llvm::StringRef model, llvm::raw_ostream &out);

/// Prints JSON: `model`, `a`, `b` and the `differences`, each with its key and both values as in docs/PlanJson.md.
void printDiffJson(const NamedPlan &a, const NamedPlan &b, llvm::StringRef model, llvm::raw_ostream &out);

/// Prints a page of HTML with the table and the memory of both plans over the step, on one scale.
void printDiffHtml(const NamedPlan &a, const NamedPlan &b, llvm::StringRef model, llvm::raw_ostream &out);

} // namespace xlc

#endif
