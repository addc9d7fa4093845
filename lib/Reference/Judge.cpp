// See Reference.h. The tolerance for float32: a part in a thousand of a gradient, sixty-four times the error of
// PyTorch's own float32, and a millionth of the largest gradient of the model, below which a sum of cancelling terms is
// noise.
#include "xlc/Reference/Reference.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace xlc;
using namespace xlc::reference;
using llvm::StringRef;

namespace {

constexpr double relativeTolerance = 1e-3, averageTolerance = 1e-4, distanceFactor = 64, noise = 1e-6,
                 lossTolerance = 2e-5;
constexpr size_t mostNotes = 8; // parameters named

/// In what way a gradient is not PyTorch's.
enum class Way { Frozen, Trained, Absent, Tied, Missing, Extra, Multiple, Other, Buffer, Kept };

struct WayRow {
  Way way;
  StringRef says;  ///< of the parameter
  StringRef usual; ///< the usual cause, and what helps
};
constexpr WayRow ways[] = {
    {Way::Frozen, "is frozen in xlc, but trained in PyTorch",
     "`trainable` excludes it, or its use is detached or folded to a constant in the file"},
    {Way::Trained, "is trained in xlc, but frozen in PyTorch",
     "plain exports do not record requires_grad: list frozen parameters in trainable, as \"!NAME\""},
    {Way::Absent, "is not a parameter in xlc, but has a gradient in PyTorch",
     "the exporter folded or merged it, or `trainable` and `tie` of the spec name another parameter"},
    {Way::Tied, "is tied to another name in PyTorch, but not in xlc",
     "the file does not record the tie; list both names in `tie` of the spec"},
    {Way::Missing, "does not get a gradient in xlc",
     "its gradient is stopped in xlc, but not in PyTorch (detach, no_grad), or the parameter is read through a "
     "constant that the exporter precomputed"},
    {Way::Extra, "gets a gradient in xlc, but not in PyTorch",
     "a detach, a no_grad, a padding row or a mask is missing in the file"},
    {Way::Multiple, "gets a multiple of PyTorch's gradient",
     "a sum replaces PyTorch's mean, or one of several uses was folded to a constant"},
    {Way::Other, "gets a different gradient",
     "a use that was folded to a constant, a lost detach, another mask, or another mode (dropout, batch norm)"},
    {Way::Kept, "is changed by PyTorch's forward, but not by a step in xlc",
     "the exporter dropped the change, or wrote a norm in inference form: export the module in training mode with "
     "xlc_export"},
    {Way::Buffer, "has a different next value",
     "running averages: the model was exported in another mode, or forward changes a buffer that the file holds as a "
     "constant"},
};

const WayRow &rowOf(Way way) {
  // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): each way has a row
  return *llvm::find_if(ways, [&](const WayRow &row) { return row.way == way; });
}

struct Difference {
  Way way;
  std::string name, unit;
  double here = 0, there = 0, factor = 0;
};

/// The factor c for which `here` is nearest to c times `there`.
double fitFactor(const Fingerprint &here, const Fingerprint &there) {
  double products = 0, squares = 0;
  for (auto [x, y] : llvm::zip(here.projections, there.projections))
    products += x * y, squares += y * y;
  return squares > 0 ? products / squares : 0;
}

Fingerprint scale(Fingerprint value, double factor) {
  value.norm *= std::abs(factor);
  for (double &projection : value.projections)
    projection *= factor;
  return value;
}

class Judging {
public:
  Judging(const Reference &reference, const Observation &observation, const Decisions &decisions)
      : reference(reference), observation(observation), decisions(decisions) {
    for (const Expectation &each : reference.parameters)
      expected.try_emplace(each.name, &each), largest = std::max(largest, each.value.norm);
    for (const Expectation &each : reference.buffers)
      buffers.try_emplace(each.name, &each);
  }

  Judgement run() {
    for (const Observed &each : observation.values)
      each.kind == Observed::Kind::Buffer ? judgeBuffer(each) : judgeParameter(each);
    if (!decisions.valuesFrom.empty() && !isLossEqual()) {
      result.obstacle = llvm::formatv("with the values of '{0}' the loss is {1:f7}, with those of the reference {2:f7}",
                                      decisions.valuesFrom, observation.loss, reference.loss);
      return std::move(result);
    }
    if (result.gradients == 0 && !reference.parameters.empty()) {
      result.obstacle = "the file has none of the reference's parameter names";
      return std::move(result);
    }
    for (const Expectation &each : reference.parameters)
      if (!seen.contains(each.name) && each.value.norm > bound(each))
        differences.push_back({Way::Absent, each.name, "", 0, each.value.norm});
    for (const Expectation &each : reference.buffers)
      if (!seen.contains(each.name))
        differences.push_back({Way::Kept, each.name, ""});
    describe();
    return std::move(result);
  }

private:
  double bound(const Expectation &each) const {
    return relativeTolerance * each.value.norm + distanceFactor * each.float32Distance + noise * largest;
  }

  void judgeParameter(const Observed &observed) {
    auto found = expected.find(observed.name);
    bool isTrained = observed.kind == Observed::Kind::Trained;
    if (found == expected.end())
      return judgeUnexpected(observed, isTrained);
    seen.insert(observed.name);
    ++result.gradients;
    const Expectation &wanted = *found->second;
    Difference difference{Way::Other, observed.name, observed.unit, observed.value.norm, wanted.value.norm};
    if (!isTrained) {
      difference.way = Way::Frozen;
      if (!decisions.choosesTrainable && wanted.value.norm > bound(wanted))
        differences.push_back(difference);
      return;
    }
    bool isEqual = estimateDistance(observed.value, wanted.value) <= bound(wanted) &&
                   std::abs(observed.value.norm - wanted.value.norm) <= bound(wanted);
    if (isEqual)
      return;
    difference.factor = fitFactor(observed.value, wanted.value);
    if (observed.value.norm <= bound(wanted))
      difference.way = Way::Missing;
    else if (wanted.value.norm <= noise * largest)
      difference.way = Way::Extra;
    else if (estimateDistance(observed.value, scale(wanted.value, difference.factor)) <= bound(wanted))
      difference.way = Way::Multiple;
    differences.push_back(difference);
  }

  /// A name that PyTorch's trained parameters do not have.
  void judgeUnexpected(const Observed &observed, bool isTrained) {
    if (!isTrained)
      return;
    bool isFrozenThere = reference.frozen.contains(observed.name), isTied = reference.ties.contains(observed.name);
    if (isTied)
      differences.push_back({Way::Tied, observed.name, observed.unit, observed.value.norm});
    else if (isFrozenThere && !decisions.choosesTrainable)
      differences.push_back({Way::Trained, observed.name, observed.unit, observed.value.norm});
    result.gradients += isTied || isFrozenThere;
  }

  void judgeBuffer(const Observed &observed) {
    auto found = buffers.find(observed.name);
    if (found == buffers.end())
      return;
    seen.insert(observed.name);
    auto isFar = [](const Fingerprint &here, const Fingerprint &there) {
      return estimateDistance(here, there) > averageTolerance * there.norm + noise;
    };
    const Fingerprint &wanted = found->second->value;
    if (found->second->begin && isFar(observed.begin, *found->second->begin)) {
      ++result.moved; // dynamo=False moves them when it exports in training mode
      return;
    }
    ++result.averages;
    if (isFar(observed.value, wanted))
      differences.push_back({Way::Buffer, observed.name, observed.unit, observed.value.norm, wanted.norm});
  }

  bool isLossEqual() const {
    return std::abs(observation.loss - reference.loss) <=
           lossTolerance * std::abs(reference.loss) + distanceFactor * reference.lossFloat32Distance + 1e-7;
  }

  void describe() {
    if (differences.empty() && isLossEqual())
      return;
    std::string file = llvm::sys::path::filename(reference.path).str();
    result.headline = "trains differently from PyTorch: ";
    if (differences.empty())
      result.headline += "the loss differs from that in '" + file + "'";
    else
      result.headline +=
          llvm::formatv("{0} of {1} gradients and running averages differ from those in '{2}'", differences.size(),
                        std::max(result.gradients + result.averages, differences.size()), file);
    describeLoss();
    for (const Difference &each : llvm::ArrayRef(differences).take_front(mostNotes))
      result.notes.push_back(describe(each));
    if (differences.size() > mostNotes)
      result.notes.push_back(llvm::formatv("and {0} more", differences.size() - mostNotes));
    std::set<Way> told;
    for (const Difference &each : differences)
      if (told.insert(each.way).second)
        result.notes.push_back("usual cause if a parameter " + rowOf(each.way).says.str() + ": " +
                               rowOf(each.way).usual.str());
  }

  std::string describe(const Difference &each) const {
    std::string text = "'" + each.name + "'" + (each.unit.empty() ? "" : " (first read in " + each.unit + ")") + " " +
                       rowOf(each.way).says.str();
    if (each.way == Way::Multiple)
      text += llvm::formatv(": {0:f4} times", each.factor);
    if (each.way == Way::Buffer || each.way == Way::Multiple || each.way == Way::Other || each.way == Way::Missing ||
        each.way == Way::Extra)
      text += llvm::formatv("; its norm is {0} in xlc, {1} in PyTorch", shorten(each.here), shorten(each.there));
    if (each.way == Way::Tied)
      text += ": '" + reference.ties.at(each.name) + "'";
    return text;
  }

  static std::string shorten(double value) { return llvm::formatv("{0:e4}", value).str(); }

  void describeLoss() {
    std::string text = llvm::formatv("the loss is {0:f7} in xlc, {1:f7} in PyTorch {2}", observation.loss,
                                     reference.loss, reference.torch);
    if (reference.evaluatedLoss) {
      double off = std::abs(*reference.evaluatedLoss - reference.loss);
      bool isExporters =
          off > lossTolerance * std::abs(reference.loss) + distanceFactor * reference.lossFloat32Distance;
      text += llvm::formatv(", {0:f7} by {1} from the same file", *reference.evaluatedLoss, reference.evaluator);
      if (!isLossEqual())
        text += isExporters ? ": the exporter wrote a different function" : ": this is a bug in xlc";
    }
    result.notes.push_back(text);
  }

  const Reference &reference;
  const Observation &observation;
  const Decisions &decisions;
  llvm::StringMap<const Expectation *> expected, buffers;
  std::set<std::string> seen;
  double largest = 0;                  // norm of a gradient
  std::vector<Difference> differences; // in the order of forward
  Judgement result;
};

} // namespace

Judgement reference::judge(const Reference &reference, const Observation &observation, const Decisions &decisions) {
  return Judging(reference, observation, decisions).run();
}
