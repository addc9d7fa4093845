// A plan is verified and checked before any step runs: damaged bytes and impossible numbers are rejected.
#include "PlanComplaints.h"
#include "xlc/Runtime/Limits.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace xlc::runtime;
using namespace xlc::test;
namespace plan = xlc::plan;

namespace {

TEST(Plan, TheTinyPlanIsAccepted) {
  EXPECT_EQ(complaintAfter([](Plan &) {}), "");
}

TEST(Plan, ImpossibleNumbersAreRefusedInWords) {
  expect("error: the plan in this program has version 1, but its runtime supports version ",
         [](Plan &p) { p.version = 1; });
  expect("invalid mesh: pp 1, dp 0, tp 1; the product must be 1 to", [](Plan &p) { *p.mesh = plan::Mesh(1, 0, 1, 1); });
  expect("3 shards do not divide dp = 2", [](Plan &p) { *p.mesh = plan::Mesh(1, 2, 1, 3); });
  expect("invalid batch: 0 micro-batches of 2 samples", [](Plan &p) { p.micro_batches = 0; });
  expect("invalid number of threads: 0", [](Plan &p) { p.threads = 0; });
  expect("runs its streams in threads, which only CPUs support", [](Plan &p) { p.gpu = "sm_80", p.overlap = true; });
  expect("invalid size of an arena: 0 bytes", [](Plan &p) { p.programs[0]->arena = 0; });
  expect("invalid alignment: 3", [](Plan &p) { p.alignment = 3; });
  expect("unknown processor level", [](Plan &p) { p.cpu = 5; });
  expect("the table of traffic is empty", [](Plan &p) { p.traffic.clear(); });
  expect("buffer 'w' is not within the arena", [](Plan &p) { p.programs[0]->buffers[0]->offset = ~0ull; });
  expect("bucket 'bucket' is larger than the sum of its shards", [](Plan &p) { p.buckets[0]->elements = 1000; });
  expect("parameter 'w' refers to bucket 1, but there are 1 buckets", [](Plan &p) { p.parameters[0]->bucket = 1; });
  expect("parameter 'w' is not within its bucket", [](Plan &p) { p.parameters[0]->offset = 100; });
  expect("parameter 'w' has 70 elements, which does not match its shape",
         [](Plan &p) { p.parameters[0]->shape = {~0ull, ~0ull}; });
  expect("a row of input 'x' is larger than any arena",
         [](Plan &p) { p.inputs[0]->row_shape = {1ull << 40, 1ull << 40}; });
  expect("input 'x' holds sample numbers, which must be I64 scalars, but has element type 0",
         [](Plan &p) { p.inputs[0]->samples = true; });
  expect("input 'x' has a type that data files do not support",
         [](Plan &p) { p.inputs[0]->element = plan::Element::BF16; });
  expect("has code number 5, but the program has code for 5 kernels", [](Plan &p) { p.kernels[0]->code = 5; });
  auto launch = [](Plan &p, uint32_t block) {
    p.kernels[0]->launches.push_back(std::make_unique<plan::LaunchT>());
    p.kernels[0]->launches[0]->function = "k", p.kernels[0]->launches[0]->grid = 1;
    p.kernels[0]->launches[0]->block = block;
  };
  expect("kernel 'gradient' has an invalid launch: 1 blocks of 2048 threads",
         [&](Plan &p) { launch(p, 2048), p.gpu = "sm_90"; });
  expect("kernel 'gradient' is for GPUs, but the plan is for CPUs", [&](Plan &p) { launch(p, 32); });
  expect("kernel 'gradient' has an invalid extent (1) or grain (0)", [](Plan &p) { p.kernels[0]->grain = 0; });
}

TEST(Plan, InputsGetTheirRowsFromSomewhere) {
  using plan::InputSource;
  auto addStream = [](Plan &p) -> plan::TokenStreamT & {
    p.dataset->stream = std::make_unique<plan::TokenStreamT>();
    p.dataset->stream->files = {"a"};
    p.dataset->inputs[1]->source = InputSource::Tokens, p.inputs[1]->row_shape = {1};
    return *p.dataset->stream;
  };
  EXPECT_EQ(complaintAfter([&](Plan &p) { addStream(p); }), "");
  expect("input 'x' has an unknown source of rows", [](Plan &p) { p.dataset->inputs[0]->source = (InputSource)9; });
  expect("input 'x' has the fill value inf, which is not finite",
         [](Plan &p) { p.dataset->inputs[0]->fill = INFINITY; });
  expect("input 'ids' has ids for a table with 0 rows; a table must have at least 1",
         [](Plan &p) { p.inputs[1]->limit = 0; });
  expect("a token stream has no files", [&](Plan &p) { addStream(p).files.clear(); });
  expect("a token stream has tokens of an unknown type", [&](Plan &p) { addStream(p).type = (plan::TokenType)9; });
  constexpr char cannot[] = "input 'ids' does not match its token stream, which has rows of integers of one length";
  expect(cannot, [](Plan &p) { p.dataset->inputs[1]->source = InputSource::NextTokens; });
  expect(cannot, [&](Plan &p) { addStream(p), p.inputs[1]->row_shape = {0}; });
  expect(cannot, [&](Plan &p) { addStream(p), p.inputs[1]->row_shape = {}; });
  expect("input 'x' does not match its token stream, which has rows of integers of one length",
         [&](Plan &p) { addStream(p), p.dataset->inputs[0]->source = InputSource::Tokens; });
}

TEST(Plan, StatesHaveTheirPlacesAndTheirWords) {
  using plan::StateKind;
  auto place = [](Plan &p, StateKind kind, const char *name = "") {
    return const_cast<plan::Place *>(findNumber(p, *p.programs[0], kind, name));
  };
  auto add = [](Plan &p, StateKind kind, plan::Place at) {
    auto state = std::make_unique<plan::StateT>(*p.states[0]);
    state->kind = kind, state->name = kind == StateKind::Optimizer ? "m" : "";
    auto home = std::make_unique<plan::StatePlaceT>();
    home->state = (uint32_t)p.states.size(), home->place = std::make_unique<plan::Place>(at);
    p.states.push_back(std::move(state));
    p.programs[0]->states.push_back(std::move(home));
  };
  expect("bucket 'bucket' is not within the arena",
         [&](Plan &p) { *place(p, StateKind::Value) = plan::Place(2500, 0, 0); });
  expect("bucket 'bucket' has no place", [](Plan &p) { p.programs[0]->states[0]->place.reset(); });
  expect("the master of bucket 'bucket' is not within the arena",
         [&](Plan &p) { add(p, StateKind::Master, plan::Place(2500, 0, 0)); });
  expect("state 'm' of bucket 'bucket' is not within the arena",
         [&](Plan &p) { add(p, StateKind::Optimizer, plan::Place(2500, 0, 0)); });
  expect("the loss of a step is not within the arena",
         [&](Plan &p) { *place(p, StateKind::Result, "loss") = plan::Place(2558, 0, 0); });
  expect("counter 'applied' is not within the arena",
         [&](Plan &p) { *place(p, StateKind::Counter, "applied") = plan::Place(p.programs[0]->arena, 0, 0); });
  auto addSite = [](Plan &p, std::optional<uint64_t> number, plan::Place at) {
    addIndex(p, at);
    p.states.back()->kind = StateKind::Site, p.states.back()->begins = plan::Beginning::Site;
    p.states.back()->group = flatbuffers::nullopt;
    if (number)
      p.states.back()->site = *number;
  };
  expect("the number of site 3 is not within the arena",
         [&](Plan &p) { addSite(p, 3, plan::Place(p.programs[0]->arena, 0, 0)); });
  expect("state 4, '', must have a site number", [&](Plan &p) { addSite(p, std::nullopt, plan::Place(0, 0, 0)); });
  expect("state 0, '', must not have a site number", [](Plan &p) { p.states[0]->site = 3; });
  expect("stage 0 refers to state 7, but there are 4 states", [](Plan &p) { p.programs[0]->states[0]->state = 7; });
  expect("no stage holds parameter 'w'", [](Plan &p) { p.programs[0]->states.erase(p.programs[0]->states.begin()); });
  expect("state 0, '', has an invalid bucket (7 of 1) or group (none of 1)", [](Plan &p) { p.states[0]->bucket = 7; });
  expect("state 1, 'loss', has an invalid bucket (0 of 1) or group (none of 1)",
         [](Plan &p) { p.states[1]->bucket = 0; });
  expect("state 2, 'norm', has an invalid bucket (none of 1) or group (0 of 1)",
         [](Plan &p) { p.states[2]->group = 0; });
  expect("state 3, 'applied', has type F64, which its kind does not allow",
         [](Plan &p) { p.states[3]->element = plan::Element::F64; });
  expect("state 0, '', has type I64, which its kind does not allow",
         [](Plan &p) { p.states[0]->element = plan::Element::I64; });
  expect("state 0, '', has initial values of kind Index, which its own kind does not allow",
         [](Plan &p) { p.states[0]->begins = plan::Beginning::Index; });
  expect("state 3, 'applied', has initial values of kind Parameters, which its own kind does not allow",
         [](Plan &p) { p.states[3]->begins = plan::Beginning::Parameters; });
  expect("state 2, 'loss', occurs twice", [](Plan &p) { p.states[2]->name = "loss"; });
  for (int kind : {-1, 9}) {
    expect("state 0, '', is of an unknown kind", [&](Plan &p) { p.states[0]->kind = (StateKind)kind; });
    expect("state 0, '', is of an unknown kind", [&](Plan &p) { p.states[0]->begins = (plan::Beginning)kind; });
  }
}

TEST(Plan, ALossScaleHasItsPlacesAndItsNumbers) {
  auto scale = [](double initial, double min) {
    plan::LossScaleT made;
    made.initial = initial, made.min = min, made.window = 2000, made.hysteresis = 1, made.dynamic = true;
    return std::make_unique<plan::LossScaleT>(made);
  };
  auto place = [] { return plan::NumberPlace(plan::Place(0, 0, 0), (uint8_t)StepNumber::LossScale); };
  expect("invalid loss scale: initial 0, minimum 1, window 2000, hysteresis 1",
         [&](Plan &p) { p.loss_scale = scale(0, 1); });
  expect("invalid loss scale: initial 2, minimum 4, window", [&](Plan &p) { p.loss_scale = scale(2, 4); });
  expect("stage 0 has a gradient norm, but not the counter 'applied'",
         [&](Plan &p) { p.programs[0]->states.pop_back(); });
  expect("action 'begin' has no place for the loss scale", [&](Plan &p) { p.loss_scale = scale(8, 1); });
  expect("action 'begin' has a place for a loss scale, but the plan has none",
         [&](Plan &p) { p.programs[0]->steps[0]->action.AsBegin()->numbers.push_back(place()); });
  expect("stage 0 has the counter 'applied', but not a gradient norm",
         [&](Plan &p) { p.programs[0]->states.erase(p.programs[0]->states.begin() + 2); });
}

/// What a Begin writes beside the numbers of groups.
TEST(Plan, TheNumbersOfAStepHavePlaces) {
  auto write = [](Plan &p, uint8_t number, uint64_t offset = 0) {
    p.programs[0]->steps[0]->action.AsBegin()->numbers.emplace_back(plan::Place(offset, 0, 0), number);
  };
  auto key = (uint8_t)StepNumber::RandomKey, rate = (uint8_t)StepNumber::LearningRate;
  for (uint8_t number : {rate, (uint8_t)std::size(kStepNumbers), (uint8_t)255})
    expect("action 'begin' writes scalar " + std::to_string(number) + ", which is not a scalar of the step",
           [&](Plan &p) { write(p, number); });
  expect("action 'begin' writes scalar " + std::to_string(key) +
             ", which is not a scalar of the step or was already written",
         [&](Plan &p) { write(p, key), write(p, key); });
  expect("action 'begin' is not within the arena", [&](Plan &p) { write(p, key, p.programs[0]->arena - 4); });
}

TEST(Plan, ATableOfMembersIsOfABucket) {
  auto tabulate = [](Plan &p) -> plan::StateT & {
    p.states[0]->kind = plan::StateKind::Members, p.states[0]->begins = plan::Beginning::Members;
    p.states[0]->element = plan::Element::I64;
    return *p.states[0];
  };
  expect("state 0, '', has an invalid bucket (none of 1)", [&](Plan &p) { tabulate(p).bucket.reset(); });
  expect("state 0, '', has type F32, which its kind does not allow",
         [&](Plan &p) { tabulate(p).element = plan::Element::F32; });
  expect("state 0, '', has initial values of kind Zero, which its own kind does not allow",
         [&](Plan &p) { tabulate(p).begins = plan::Beginning::Zero; });
  expect("the members of bucket 'bucket' is not within the arena", [&](Plan &p) {
    tabulate(p);
    *p.programs[0]->states[0]->place = plan::Place(p.programs[0]->arena - 8, 0, 0);
  });
  expect("state 0, '', has initial values of kind Members, which its own kind does not allow",
         [&](Plan &p) { p.states[0]->begins = plan::Beginning::Members; });
}

TEST(Plan, AnElementOfABucketBelongsToOneParameter) {
  expect("parameters 'w' and 'other' overlap in their bucket", [](Plan &p) {
    p.parameters.push_back(std::make_unique<plan::ParameterT>(*p.parameters[0]));
    p.parameters[1]->name = "other", p.parameters[1]->offset = 58;
  });
}

TEST(Plan, CallsAndActionsMustStayInTheArena) {
  expect("call 'gradient' of 'gradient' runs kernel 9, but there are 4 kernels",
         [](Plan &p) { p.functions[0]->calls[0]->kernel = 9; });
  expect("call 'gradient' of 'gradient' uses slot 9, but the function has 4 slots",
         [](Plan &p) { p.functions[0]->calls[0]->ins[0] = plan::Operand(9, 0); });
  expect("call 'gradient' of 'gradient' has operands without sizes",
         [](Plan &p) { p.functions[0]->calls[0]->in_bytes.pop_back(); });
  expect("action 'gradient 0', call 'gradient' is not within the arena of 2560 bytes",
         [](Plan &p) { p.functions[0]->calls[0]->ins[0] = plan::Operand(0, -4096); });
  expect("action 'gradient 0' runs function 9, but there are 4 functions",
         [](Plan &p) { p.programs[0]->steps[3]->action.AsRun()->function = 9; });
  expect("action 'gradient 0' has 3 places, but its function has 4 slots",
         [](Plan &p) { p.programs[0]->steps[3]->action.AsRun()->places.pop_back(); });
  expect("action 'load 0' loads input 7, but there are 2 inputs",
         [](Plan &p) { p.programs[0]->steps[2]->action.AsLoad()->inputs[0] = 7; });
  expect("action 'load 0' loads micro-batch 2, but there are 2 micro-batches",
         [](Plan &p) { p.programs[0]->steps[2]->action.AsLoad()->micro_batch = 2; });
  expect("action 'load 0' has inputs without places",
         [](Plan &p) { p.programs[0]->steps[2]->action.AsLoad()->places.pop_back(); });
  expect("action 'gather w' is not within the arena",
         [](Plan &p) { p.programs[0]->steps[1]->action.AsExchange()->chunk = ~0ull; });
  expect("action 'gather w' refers to buffer 99, but there are 10 buffers",
         [](Plan &p) { *p.programs[0]->steps[1]->action.AsExchange()->src = plan::Place(0, 0, 99); });
  expect("action 'gather w' has no place", [](Plan &p) { p.programs[0]->steps[1]->action.AsExchange()->dst.reset(); });
  expect("action 'gather w' is not a supported collective",
         [](Plan &p) { p.programs[0]->steps[1]->action.AsExchange()->kind = (plan::CollectiveKind)9; });
  expect("action 'begin' has places for 0 optimizer groups, but the plan has 1",
         [](Plan &p) { p.programs[0]->steps[0]->action.AsBegin()->places.clear(); });
  expect("action 'begin' is of an unknown kind", [](Plan &p) { p.programs[0]->steps[0]->action.Reset(); });
}

TEST(Plan, GroupsMustCutTheRanks) {
  auto group = [](Plan &p, std::vector<uint32_t> digits, std::vector<uint32_t> stages) {
    p.rank_groups[0]->digits = std::move(digits), p.rank_groups[0]->stages = std::move(stages);
  };
  expect("the mesh is missing", [](Plan &p) { p.mesh.reset(); });
  expect("invalid mesh: pp 1, dp " + std::to_string(kMostRanks + 1) + ", tp 1",
         [](Plan &p) { *p.mesh = plan::Mesh(1, kMostRanks + 1, 1, 1); });
  expect("there are 1 programs for 2 stages, but each stage must have exactly one",
         [](Plan &p) { *p.mesh = plan::Mesh(2, 2, 1, 2); });
  expect("there are 2000 groups of ranks, but at most 1024 are allowed", [](Plan &p) {
    for (size_t i = p.rank_groups.size(); i < 2000; ++i)
      p.rank_groups.push_back(std::make_unique<plan::RankGroupT>());
  });
  expect("group 0 is not a valid group of the 2 ranks", [&](Plan &p) { group(p, {4, 1}, {}); });
  expect("group 0 is not a valid group of the 2 ranks", [&](Plan &p) { group(p, {2}, {}); });
  expect("group 0 is not a valid group of the 2 ranks", [&](Plan &p) { group(p, {2, 1}, {3}); });
  expect("group 0 contains a rank twice", [&](Plan &p) {
    *p.mesh = plan::Mesh(1, 4, 1, 2);
    group(p, {2, 1, 2, 1}, {});
  });
  expect("action 'gather w' refers to group 9, but there are 1 groups",
         [](Plan &p) { p.programs[0]->steps[1]->action.AsExchange()->group = 9; });
  expect("action 'gather w' has elements that cannot be summed",
         [](Plan &p) { p.programs[0]->steps[1]->action.AsExchange()->element = plan::Element::I1; });
  expect( // only sums are rounded on their way
      "action 'gather w' sends its elements as a different type; only sums of F32 can be sent as F16 or BF16",
      [](Plan &p) { p.programs[0]->steps[1]->action.AsExchange()->wire = plan::Element::BF16; });
  for (int type : {-1, 9}) // an enum of signed bytes would let the first one pass
    expect("the plan has elements of type", [&](Plan &p) { p.states[0]->element = (plan::Element)type; });
  for (int axis : {-1, 9})
    expect("traffic has an unknown axis", [&](Plan &p) { p.traffic[0]->axis = (plan::Axis)axis; });
  expect("no stage has a loss and a gradient norm", [](Plan &p) { p.states[1]->name = "other"; });
  expect("an index is not within the arena", [](Plan &p) { addIndex(p, plan::Place(2556, 0, 0)); });
}

TEST(Plan, PiecesOfParametersMustFit) {
  auto cut = [](Plan &p, uint32_t dim, uint64_t outer) {
    p.parameters[0]->layout = std::make_unique<plan::LayoutT>();
    p.parameters[0]->layout->dim = dim, p.parameters[0]->layout->outer = outer;
  };
  expect("parameter 'w' has 70 elements, which does not match its shape",
         [&](Plan &p) { cut(p, 0, 1); }); // 7 rows: 4 and 3
  expect("parameter 'w' cannot be split as its layout requires", [&](Plan &p) { cut(p, 2, 1); });
  expect("parameter 'w' cannot be split as its layout requires", [&](Plan &p) { cut(p, 1, 3); });
  expect("parameter 'w' cannot be split as its layout requires", [&](Plan &p) { cut(p, 1, 0); });
  EXPECT_EQ(complaintAfter([&](Plan &p) {
              cut(p, 0, 1);
              p.parameters[0]->elements = 40;
            }),
            "");
}

TEST(Plan, CollectivesInsideFunctionsMustCoverWhatTheyTouch) {
  auto make = [](Plan &p, plan::CollectiveKind kind, uint64_t outer, uint64_t chunk) {
    plan::CallT &call = *p.functions[1]->calls[0]; // squares: 256 bytes to 8
    call.exchange = std::make_unique<plan::ExchangeT>();
    call.exchange->kind = kind, call.exchange->outer = outer, call.exchange->chunk = chunk;
  };
  EXPECT_EQ(complaintAfter([&](Plan &p) { make(p, plan::CollectiveKind::reduce_scatter, 1, 2); }), "");
  expect("bytes beyond the end of an operand", [&](Plan &p) { make(p, plan::CollectiveKind::all_reduce, 1, 3); });
  expect("bytes beyond the end of an operand", [&](Plan &p) { make(p, plan::CollectiveKind::all_gather, 2, 1); });
  expect("bytes beyond the end of an operand",
         [&](Plan &p) { make(p, plan::CollectiveKind::all_reduce, 1ull << 40, 1ull << 40); });
  EXPECT_EQ(complaintAfter([&](Plan &p) { make(p, plan::CollectiveKind::all_to_all, 1, 1); }), "");
  expect("bytes beyond the end of an operand", [&](Plan &p) {
    make(p, plan::CollectiveKind::all_to_all, 1, 1);
    p.functions[1]->calls[0]->exchange->rows = 2;
  });
  expect("bytes beyond the end of an operand", [&](Plan &p) { // rows are an all_to_all's
    make(p, plan::CollectiveKind::all_reduce, 1, 3);
    p.functions[1]->calls[0]->exchange->rows = 0;
  });
  expect("is not a supported collective", [&](Plan &p) {
    make(p, plan::CollectiveKind::all_reduce, 1, 1);
    p.functions[1]->calls[0]->exchange->element = plan::Element::I1;
  });
  expect("is not a supported collective", [&](Plan &p) { // between calls, values cross as they are
    make(p, plan::CollectiveKind::reduce_scatter, 1, 2);
    p.functions[1]->calls[0]->exchange->wire = plan::Element::BF16;
  });
  expect("is not a supported collective", [&](Plan &p) { // calls do not add to what is there
    make(p, plan::CollectiveKind::reduce_scatter, 1, 2);
    p.functions[1]->calls[0]->exchange->accumulate = true;
  });
  EXPECT_EQ(complaintAfter([&](Plan &p) { // masks have no sum, but are moved
              make(p, plan::CollectiveKind::all_gather, 1, 1);
              p.functions[1]->calls[0]->exchange->element = plan::Element::I1;
            }),
            "");
  expect("is a collective over several stages, which a function cannot contain", [&](Plan &p) {
    make(p, plan::CollectiveKind::all_reduce, 1, 1);
    p.rank_groups.push_back(std::make_unique<plan::RankGroupT>());
    p.rank_groups[1]->stages = {0};
    p.functions[1]->calls[0]->exchange->group = 1;
  });
}

TEST(Plan, StagesMustMeet) {
  auto expectStages = [](const std::string &words,
                         const std::function<void(Plan &, plan::StepT &, plan::StepT &)> &edit) {
    Plan plan = makeTwoStages();
    size_t last = plan.programs[0]->steps.size() - 1;
    edit(plan, *plan.programs[1]->steps[last - 1], *plan.programs[1]->steps[last]);
    std::string complaint;
    try {
      checkPlan(plan, 5);
    } catch (const Rejected &problem) {
      complaint = problem.what();
    }
    EXPECT_NE(complaint.find(words), std::string::npos) << "wanted: " << words << "\ngot: " << complaint;
    EXPECT_EQ(words.empty(), complaint.empty()) << complaint;
  };
  using plan::StepT;
  expectStages("", [](Plan &, StepT &, StepT &) {});
  expectStages("stage 0 waits forever at action 'send'",
               [](Plan &, StepT &receive, StepT &) { receive.action.AsReceive()->message = 6; });
  expectStages("stage 1 waits forever at action 'receive'",
               [](Plan &, StepT &receive, StepT &) { receive.action.AsReceive()->bytes = 60; });
  expectStages("stage 1 waits forever at action 'reduce'", [](Plan &, StepT &receive, StepT &reduce) {
    std::swap(receive, reduce); // each waits for the other
  });
  expectStages("action 'reduce' is not within the arena",
               [](Plan &, StepT &, StepT &reduce) { reduce.action.AsExchange()->chunk = 4000; });
  expectStages("stage 0 waits forever at action 'reduce'", [](Plan &, StepT &, StepT &reduce) {
    reduce.action.AsExchange()->kind = plan::CollectiveKind::all_reduce_max;
  });
  expectStages("stage 0 waits forever at action 'reduce'",
               [](Plan &, StepT &, StepT &reduce) { reduce.stream = plan::Stream::reduce; });
  expectStages("action 'reduce' runs on stream 7, but there are 7 streams",
               [](Plan &, StepT &, StepT &reduce) { reduce.stream = (plan::Stream)7; });
  expectStages("but waits for action 1000, which", [](Plan &, StepT &, StepT &reduce) { reduce.after = {1000}; });
  expectStages("action 'update' runs a function on a stream that is not for computations",
               [](Plan &p, StepT &, StepT &) {
                 for (auto &step : p.programs[0]->steps)
                   step->stream = plan::Stream::gather;
               });
  auto setGradientBeside = [](Plan &p) {
    for (auto &step : p.programs[0]->steps)
      if (step->label == "gradient 0")
        step->stream = plan::Stream::weights;
  };
  expectStages("action 'gradient 0' runs a function on a stream that is not for computations", // of a processor
               [&](Plan &p, StepT &, StepT &) { setGradientBeside(p); });
  expectStages("runs on the stream of weight gradients, but its call", [&](Plan &p, StepT &, StepT &) {
    setGradientBeside(p);
    p.gpu = "sm_80";
    for (auto &function : p.functions)
      function->calls[0]->exchange = std::make_unique<plan::ExchangeT>();
  });
  expectStages("connects stage 1 with stage 1, but must connect two different stages, numbered below 2",
               [](Plan &, StepT &receive, StepT &) { receive.action.AsReceive()->peer = 1; });
  expectStages("has a group that does not include stage 1",
               [](Plan &p, StepT &, StepT &) { p.rank_groups[1]->stages = {0}; });
  expectStages("action 'gather w' gathers or scatters over several stages; only reductions may span stages",
               [](Plan &p, StepT &, StepT &) {
                 for (auto &program : p.programs)
                   program->steps[1]->action.AsExchange()->group = 1, program->steps[1]->action.AsExchange()->chunk = 8;
               });
}

TEST(Plan, BytesThatAreNoPlanAreRefused) {
  std::vector<uint8_t> bytes(100, 7);
  try {
    readPlan(sealPlan(bytes.data(), bytes.size()));
    FAIL();
  } catch (const Rejected &problem) {
    EXPECT_STREQ(problem.what(), "error: the plan in this program is damaged");
  }
}

} // namespace
