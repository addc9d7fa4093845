// Reads `layout:` for the parameters of the model. Every pin is checked by itself: its pattern, its dimension, and
// whether it has an effect.
#include "Pins.h"
#include "Matrices.h"
#include "ShardMessages.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

namespace {

class PinReader {
public:
  PinReader(func::FuncOp function, const ShardOptions &options, Pins &pins, Diagnostics &diagnostics)
      : function(function), options(options), pins(pins), diagnostics(diagnostics) {}

  bool run() {
    for (BlockArgument argument : function.getArguments())
      if (Argument(argument).getParameter())
        names.push_back({argument, nameOf(function, argument)});
    for (const LayoutPin &pin : options.pins)
      for (auto &[parameter, name] : names)
        if (matchesPatterns(name, {pin.pattern}))
          pins[parameter] = &pin;
    for (const LayoutPin &pin : options.pins)
      check(pin);
    return isFine;
  }

private:
  void check(const LayoutPin &pin) {
    int64_t matched = 0, outdone = 0;
    llvm::SmallPtrSet<const LayoutPin *, 2> later;
    for (auto &[parameter, name] : names) {
      if (!matchesPatterns(name, {pin.pattern}))
        continue;
      ++matched;
      const LayoutPin *last = pins.lookup(parameter);
      if (last == &pin && !checkDimension(pin, parameter, name))
        return;
      if (last->dimensions != pin.dimensions)
        ++outdone, later.insert(last);
    }
    if (matched == 0)
      complain(pin, llvm::formatv("layout names '{0}', which matches no parameter{1}", pin.pattern, adviseName(pin)));
    else if (outdone == matched)
      complainOutdone(pin, **later.begin(), later.size() > 1);
  }

  void complainOutdone(const LayoutPin &pin, const LayoutPin &later, bool isOneOfSeveral) {
    std::string others =
        isOneOfSeveral ? "later patterns override all of its matches"
                       : llvm::formatv("the later pattern '{0}' matches the same parameters and splits dimension {1}",
                                       later.pattern, later.dimensions.front())
                             .str();
    complain(
        pin,
        llvm::formatv("layout splits dimension {0} of '{1}', but {2}", pin.dimensions.front(), pin.pattern, others),
        "this pattern has no effect, because the last matching pattern decides; remove it");
  }

  bool checkDimension(const LayoutPin &pin, BlockArgument parameter, StringRef name) {
    ArrayRef<int64_t> shape = shapeOf(parameter);
    int64_t dim = pin.dimensions.front();
    std::string text;
    if (dim < 0 || dim >= int64_t(shape.size()))
      text = llvm::formatv("layout splits dimension {0} of '{1}', which has {2} dimensions, numbered from 0", dim, name,
                           shape.size());
    else if (shape[dim] % options.tp != 0 && !isVocabulary(parameter, dim))
      text = llvm::formatv("tp = {0} does not divide dimension {1} of '{2}', which has size {3}", options.tp, dim, name,
                           shape[dim]);
    else
      return true;
    complain(pin, text, adviseDimensions(shape));
    return false;
  }

  /// The rows of a vocabulary may be split unevenly.
  bool isVocabulary(BlockArgument parameter, int64_t dim) {
    auto tables = findVocabularies(function, options.tp, /*elements=*/0);
    auto found = tables.find(parameter);
    return found != tables.end() && found->second.dim == dim;
  }

  std::string adviseDimensions(ArrayRef<int64_t> shape) {
    std::string text;
    for (auto [dim, size] : llvm::enumerate(shape))
      if (size % options.tp == 0)
        text += llvm::formatv("{0}dimension {1} of size {2}", text.empty() ? "" : " or ", dim, size);
    return text.empty() ? "tp does not divide any dimension of this parameter" : text + " would work";
  }

  /// The nearest name; behind a leading star the nearest end of one.
  std::string adviseName(const LayoutPin &pin) {
    StringRef pattern = pin.pattern;
    bool isEnd = pattern.consume_front("*");
    SmallVector<StringRef> candidates;
    for (auto &[parameter, name] : names)
      candidates.push_back(isEnd ? StringRef(name).take_back(pattern.size()) : StringRef(name));
    std::optional<StringRef> nearest = findNearest(pattern, candidates);
    return nearest ? "; did you mean '" + std::string(isEnd ? "*" : "") + nearest->str() + "'?" : "";
  }

  void complain(const LayoutPin &pin, std::string text, std::string advice = "") {
    Message message = makeMessage(options, std::move(text), pin);
    if (!advice.empty())
      addNote(message, std::move(advice));
    diagnostics.report(message);
    isFine = false;
  }

  func::FuncOp function;
  const ShardOptions &options;
  Pins &pins;
  Diagnostics &diagnostics;
  bool isFine = true;
  std::vector<std::pair<BlockArgument, std::string>> names;
};

} // namespace

std::string shard::nameOf(func::FuncOp function, BlockArgument parameter) {
  return Argument(parameter).getParameter().str();
}

bool shard::findPins(func::FuncOp function, const ShardOptions &options, Pins &pins, Diagnostics &diagnostics) {
  return PinReader(function, options, pins, diagnostics).run();
}
