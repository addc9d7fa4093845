// The plan's entries for tensors that the host reads: the operands of calls, and outputs of the model.
#include "PlanComplaints.h"

#include <gtest/gtest.h>

using namespace xlc::runtime;
using namespace xlc::test;
namespace plan = xlc::plan;

namespace {

/// Operands are views of the plan's table, within the bytes that their call may touch.
TEST(PlanOutputs, OperandsAreTensors) {
  expect("has 0 views for 1 operands", [](Plan &p) { p.functions[1]->calls[0]->out_views.clear(); });
  expect("uses view 1000, but there are ", [](Plan &p) { p.functions[1]->calls[0]->out_views[0] = 1000; });
  expect("has an operand of 8 bytes, but view 0 is larger",
         [](Plan &p) { p.functions[1]->calls[0]->out_views[0] = 0; });
  expect("view 0 is not a tensor that fits into an arena", [](Plan &p) { p.views[0]->strides = {-1}; });
  expect("view 0 is not a tensor that fits into an arena", [](Plan &p) { p.views[0]->sizes = {2, 64}; });
  expect("view 0 is not a tensor that fits into an arena", [](Plan &p) { p.views[0]->sizes = {(uint64_t)1 << 62}; });
}

/// Outputs of the model have names of files; an action that stores them has places for all of them.
TEST(PlanOutputs, OutputsAreStored) {
  auto add = [](Plan &p, const std::string &name) {
    auto output = std::make_unique<plan::OutputT>();
    output->name = name, output->shape = {8};
    p.outputs.push_back(std::move(output));
  };
  auto store = [](Plan &p, plan::StoreT made) {
    auto step = std::make_unique<plan::StepT>();
    step->label = "store", step->action.Set(std::move(made));
    p.programs[0]->steps.push_back(std::move(step));
  };
  plan::StoreT good;
  good.outputs = {0}, good.places = {plan::Place(0, 0, 0)};
  for (const char *name : {"", "a/b", ".", ".."})
    expect("has a name that is not a valid file name", [&](Plan &p) { add(p, name); });
  expect("output 'y' has 0 lines per sample", [&](Plan &p) { add(p, "y"), p.outputs.back()->lines = 0; });
  expect("action 'store' stores outputs, but is in a training step", [&](Plan &p) { add(p, "y"), store(p, good); });
  expect("action 'store' stores output 0, but there are 0 outputs", [&](Plan &p) { store(p, good); });
  expect("action 'store' has outputs without places",
         [&](Plan &p) { add(p, "y"), good.places.clear(), store(p, good); });
  expect("invalid time of products: -1 s", [](Plan &p) { p.product_seconds = -1; });
}

} // namespace
