// Faults of gradients, each found and told apart by the fingerprints alone.
#include "xlc/Reference/Reference.h"
#include "gtest/gtest.h"
#include <random>

using namespace xlc::reference;

namespace {

std::vector<double> draw(unsigned seed, size_t count = 200) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double &value : values)
    value = normal(random);
  return values;
}

Fingerprint print(const std::vector<double> &values) { return fingerprintOf(llvm::ArrayRef<double>(values)); }

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double &value : values)
    value *= factor;
  return values;
}

/// A model of three parameters and a running average, and what xlc makes of it: the same.
struct Judge : testing::Test {
  Judge() {
    reference.path = "folder/model.reference.safetensors";
    reference.torch = "2.15.0";
    reference.loss = 2;
    for (unsigned i = 0; i < 3; ++i) {
      std::string name = std::string(1, char('a' + i)) + ".weight";
      reference.parameters.push_back({name, print(draw(i)), 0});
      seen.values.push_back({Observed::Kind::Trained, name, "layer[" + std::to_string(i) + "]", print(draw(i))});
    }
    reference.buffers.push_back({"n.running_mean", print(draw(9))});
    seen.values.push_back({Observed::Kind::Buffer, "n.running_mean", "layer[1]", print(draw(9))});
    seen.loss = 2;
  }
  Judgement run() { return judge(reference, seen, decisions); }
  /// The notes, where something differs.
  std::vector<std::string> complaints() {
    Judgement made = run();
    EXPECT_TRUE(made.differs());
    EXPECT_EQ(made.obstacle, "");
    return made.notes;
  }
  /// Whether something differs, and one note has all of these words.
  testing::AssertionResult hasNote(std::vector<llvm::StringRef> words) {
    std::string all;
    for (const std::string &note : complaints()) {
      if (llvm::all_of(words, [&](llvm::StringRef word) { return llvm::StringRef(note).contains(word); }))
        return testing::AssertionSuccess();
      all += note + "\n";
    }
    return testing::AssertionFailure() << all;
  }

  Reference reference;
  Observation seen;
  Decisions decisions;
};

TEST_F(Judge, FindsNothingWhereAllIsEqual) {
  Judgement made = run();
  EXPECT_FALSE(made.differs());
  EXPECT_EQ(made.gradients, 3u);
  EXPECT_EQ(made.averages, 1u);
  EXPECT_EQ(made.obstacle, "");
}

TEST_F(Judge, TakesWhatFloat32Explains) {
  std::vector<double> off = draw(1), error = scaled(draw(77), 0.02);
  for (size_t i = 0; i < off.size(); ++i)
    off[i] += error[i];
  seen.values[1].value = print(off);
  EXPECT_TRUE(run().differs()); // 2 %
  reference.parameters[1].float32Distance = 1e-2;
  EXPECT_FALSE(run().differs());
}

TEST_F(Judge, ComparesAveragesThatBeginAlike) {
  reference.buffers.front().begin = seen.values[3].begin = print(draw(20));
  seen.values[3].value = print(scaled(draw(9), 1.001));
  EXPECT_TRUE(hasNote({"'n.running_mean'", "different next value"}));
  seen.values[3].begin = print(draw(21)); // the exporter has moved it: the next value is another one, too
  Judgement made = run();
  EXPECT_FALSE(made.differs());
  EXPECT_EQ(made.averages, 0u);
  EXPECT_EQ(made.moved, 1u);
}

TEST_F(Judge, NamesAMultiple) {
  seen.values[1].value = print(scaled(draw(1), 0.5));
  EXPECT_TRUE(hasNote({"'b.weight' (first read in layer[1])", "0.5000 times"}));
}

TEST_F(Judge, NamesAGradientOfAnotherDirection) {
  seen.values[0].value = print(draw(50)); // as large as PyTorch's
  EXPECT_TRUE(hasNote({"'a.weight'", "a different gradient"}));
}

TEST_F(Judge, NamesAStoppedGradient) {
  seen.values[2].value = {};
  EXPECT_TRUE(hasNote({"'c.weight'", "does not get a gradient in xlc"}));
}

TEST_F(Judge, NamesALostDetach) {
  reference.parameters[2].value = {};
  EXPECT_TRUE(hasNote({"'c.weight'", "but not in PyTorch"}));
}

TEST_F(Judge, TakesNoiseBesideLargerGradientsForNone) {
  reference.parameters[2].value = {};
  seen.values[2].value = print(scaled(draw(2), 1e-8));
  EXPECT_FALSE(run().differs());
}

TEST_F(Judge, NamesWhatIsFrozenHere) {
  seen.values[0].kind = Observed::Kind::Frozen;
  EXPECT_TRUE(hasNote({"'a.weight'", "is frozen in xlc"}));
  decisions.choosesTrainable = true; // the user has said so
  EXPECT_FALSE(run().differs());
}

TEST_F(Judge, NamesWhatIsTrainedHere) {
  seen.values.push_back({Observed::Kind::Trained, "base.weight", "", print(draw(3))});
  reference.frozen.insert("base.weight");
  EXPECT_TRUE(hasNote({"'base.weight'", "frozen in PyTorch"}));
  decisions.choosesTrainable = true;
  EXPECT_FALSE(run().differs());
}

TEST_F(Judge, NamesWhatIsNotThere) {
  seen.values.erase(seen.values.begin() + 1);
  EXPECT_TRUE(hasNote({"'b.weight'", "not a parameter in xlc"}));
  reference.parameters[1].value = {}; // forward does not read it
  EXPECT_FALSE(run().differs());
}

TEST_F(Judge, NamesALostTie) {
  seen.values.push_back({Observed::Kind::Trained, "head.weight", "", print(draw(3))});
  reference.ties["head.weight"] = "a.weight";
  EXPECT_TRUE(hasNote({"'head.weight'", "'a.weight'"}));
}

TEST_F(Judge, NamesARunningAverage) {
  seen.values[3].value = print(draw(11));
  EXPECT_TRUE(hasNote({"'n.running_mean'", "different next value"}));
}

TEST_F(Judge, NamesABufferThatIsNotChanged) {
  seen.values.pop_back();
  EXPECT_TRUE(hasNote({"'n.running_mean'", "not by a step in xlc"}));
}

TEST_F(Judge, NamesTheFirstInForward) {
  std::swap(seen.values[0], seen.values[2]); // forward reads c first
  seen.values[0].value = seen.values[2].value = print(draw(50));
  std::vector<std::string> notes = complaints();
  EXPECT_TRUE(llvm::StringRef(notes[1]).contains("'c.weight'"));
  EXPECT_TRUE(llvm::StringRef(notes[2]).contains("'a.weight'"));
}

TEST_F(Judge, SaysWhoseTheLossIs) {
  seen.loss = 2.1;
  EXPECT_TRUE(hasNote({"the loss is 2.1000000 in xlc, 2.0000000 in PyTorch 2.15.0"}));
  reference.evaluator = "onnxruntime 1", reference.evaluatedLoss = 2.1;
  EXPECT_TRUE(hasNote({"the exporter wrote a different function"}));
  reference.evaluatedLoss = 2;
  EXPECT_TRUE(hasNote({"a bug in xlc"}));
}

TEST_F(Judge, DoesNotJudgeOtherValues) {
  decisions.valuesFrom = "later.safetensors";
  EXPECT_EQ(run().obstacle, "");
  seen.loss = 1.5;
  EXPECT_EQ(run().obstacle,
            "with the values of 'later.safetensors' the loss is 1.5000000, with those of the reference 2.0000000");
}

TEST_F(Judge, DoesNotJudgeNamesThatAreNotPyTorchs) {
  for (Observed &value : seen.values)
    value.name = "MatMul_" + value.name, value.kind = Observed::Kind::Trained;
  EXPECT_EQ(run().obstacle, "the file has none of the reference's parameter names");
}

} // namespace
