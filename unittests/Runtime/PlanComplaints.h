// What is said of a plan with one mistake: the tiny program's, edited.
#ifndef XLC_UNITTESTS_RUNTIME_PLANCOMPLAINTS_H
#define XLC_UNITTESTS_RUNTIME_PLANCOMPLAINTS_H

#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace xlc::test {

/// The plan as a binary has it.
inline std::vector<uint8_t> pack(const runtime::Plan &plan) {
  flatbuffers::FlatBufferBuilder builder;
  plan::FinishPlanBuffer(builder, plan::CreatePlan(builder, &plan));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

/// What is said of the tiny plan after `edit`; nothing where it is accepted.
inline std::string complaintAfter(const std::function<void(runtime::Plan &)> &edit) {
  runtime::Plan plan = runtime::tiny::makePlan(3);
  edit(plan);
  std::vector<uint8_t> bytes = pack(plan);
  try {
    runtime::checkPlan(*runtime::readPlan(runtime::sealPlan(bytes.data(), bytes.size())), 5);
  } catch (const runtime::Rejected &problem) {
    return problem.what();
  }
  return "";
}

inline void expect(const std::string &words, const std::function<void(runtime::Plan &)> &edit) {
  std::string complaint = complaintAfter(edit);
  EXPECT_NE(complaint.find(words), std::string::npos) << "wanted: " << words << "\ngot: " << complaint;
}

} // namespace xlc::test

#endif
