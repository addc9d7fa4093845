// Compares nodes with the calls in PyTorch that they came from, for properties that exporters are known to drop:
//
//   cross_entropy(..., label_smoothing=0.1)         SoftmaxCrossEntropyLoss, which has no smoothing
//   scaled_dot_product_attention(..., dropout_p)    products and a softmax
//   avg_pool2d(..., divisor_override=1)             AveragePool, which divides by the elements of a window
//   index_reduce(..., reduce="mean")                ScatterElements, which keeps the last
//   bernoulli of something known                    an initializer: one mask forever
//   instance_norm that keeps running averages       InstanceNormalization, which keeps none (a warning)
//
// Each is rejected, because the nodes alone describe another model. A Dropout without its training_mode (dynamo=False
// writes the dropout of attention in this way, and so does optimize=False) drops if another node of the file is in
// training mode, or if its call has a probability: modules pass one in training only.
#include "TracedCalls.h"

#include "BatchNorms.h"
#include "DescribeNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

/// An argument of a call that a node `sign` shows to be lost, unless a node `holder` of the same call has it.
struct Argument {
  StringLiteral function, target, keyword;
  size_t position;
  StringLiteral sign, holder;
  StringLiteral only; ///< the value that is lost; empty: any but None and 0
  StringLiteral helps;
};

constexpr StringLiteral byExport = "export the model with xlc_export, or write the mean as a sum over a count";

constexpr StringLiteral attentionTarget = "aten.scaled_dot_product_attention.default";

constexpr Argument arguments[] = {
    {"cross_entropy", "aten.cross_entropy_loss.default", "label_smoothing", 5, "SoftmaxCrossEntropyLoss", "Mul", "",
     "export the model with xlc_export, or compute the smoothed loss from log_softmax in the model"},
    {"scaled_dot_product_attention", attentionTarget, "dropout_p", 4, "Softmax", "Dropout", "",
     "export the model with xlc_export, or with attn_implementation=\"eager\""},
    {"avg_pool2d", "aten.avg_pool2d.default", "divisor_override", 6, "AveragePool", "Mul", "",
     "export the model with xlc_export, or multiply the mean in the model"},
    {"avg_pool3d", "aten.avg_pool3d.default", "divisor_override", 6, "AveragePool", "Mul", "",
     "export the model with xlc_export, or multiply the mean in the model"},
    {"index_reduce", "aten.index_reduce.default", "reduce", 4, "ScatterElements", "Div", "mean", byExport},
};

bool isNothing(StringRef value) {
  double number = 1;
  return value.empty() || value == "None" || (!value.getAsDouble(number) && number == 0);
}

/// Whether the call of attention that a Dropout is of drops, whatever the node says of its mode.
bool isDroppingCall(const Node &node) {
  return node.op == "Dropout" && node.call.target == attentionTarget && !isNothing(node.call.find(4, "dropout_p"));
}

class CallCheck {
public:
  CallCheck(const Model &model, FileDiagnostics &diagnostics) : model(model), diagnostics(diagnostics) {
    for (const Node &node : model.nodes) {
      if (!node.call.name.empty())
        ops[node.call.name].insert(node.op);
      for (const std::string &output : node.outputs)
        producers[output] = &node;
    }
  }

  void run() {
    for (const Argument &argument : arguments)
      checkArgument(argument);
    checkDraws();
    checkDropouts();
    noteSeeds();
    checkInstanceNorms();
  }

private:
  static bool isGiven(StringRef value, const Argument &argument) {
    return argument.only.empty() ? !isNothing(value) : value == argument.only;
  }

  void checkArgument(const Argument &argument) {
    const Node *first = nullptr;
    StringSet<> calls;
    for (const Node &node : model.nodes)
      if (node.op == argument.sign && node.call.target == argument.target &&
          isGiven(node.call.find(argument.position, argument.keyword), argument) &&
          !ops[node.call.name].contains(argument.holder) && calls.insert(node.call.name).second && !first)
        first = &node;
    if (!first)
      return;
    std::string others = calls.size() > 1 ? " and " + std::to_string(calls.size() - 1) + " like it" : "";
    diagnostics.error(first->describe() + others + (others.empty() ? " is " : " are ") + argument.function + " with " +
                      argument.keyword + " = " + first->call.find(argument.position, argument.keyword) +
                      " in PyTorch, but the exporter dropped this argument: " + argument.helps);
  }

  /// Running averages of instance norms, which no node of the file keeps. Nothing else of training depends on them.
  void checkInstanceNorms() {
    std::vector<std::string> names;
    for (const Node &node : model.nodes) {
      StringRef average = node.call.find(3, "running_mean");
      if (node.op == "InstanceNormalization" && node.call.target == "aten.instance_norm.default" &&
          average.starts_with("%") && node.call.find(5, "use_input_stats") == "True")
        names.push_back(node.name);
    }
    if (!names.empty())
      diagnostics.warning(listNames(names) +
                          ": PyTorch updates the running averages of instance norms in training, but the exporter "
                          "dropped the update: the averages are not saved; export the model with xlc_export");
  }

  /// What a call in PyTorch drew anew in each step, and is a tensor of the file.
  void checkDraws() {
    for (const Node &node : model.nodes)
      for (const std::string &value : node.call.values())
        if (isDraw(value) && !ops.contains(value) && !producers.contains(value)) {
          diagnostics.error(node.describe() + " reads the random tensor '" + value +
                            "', which PyTorch draws in each step, but the exporter drew only once: draw from a value "
                            "that depends on an input, or export the model with dynamo=False");
          return;
        }
  }

  /// "bernoulli", "bernoulli_1": what PyTorch calls the result of a draw.
  static bool isDraw(StringRef name) {
    return name.consume_front("bernoulli") &&
           (name.empty() || (name.consume_front("_") && all_of(name, [](char c) { return isDigit(c); })));
  }

  /// ONNX reads a Dropout without training_mode as one that drops nothing, and exporters forget the mode of
  /// attention's. Where another node trains, or the call drops, the model was in training mode.
  void checkDropouts() {
    std::vector<std::string> names;
    for (const Node &node : model.nodes)
      if (node.op == "Dropout" && node.hasInput(1) && !node.hasInput(2))
        names.push_back(node.name);
    if (names.empty())
      return;
    const Node *training = findTraining(model);
    std::string what = listNames(names) + (names.size() == 1 ? " is a Dropout" : " are Dropouts") +
                       " with a ratio but without training_mode, which the exporter omits: ";
    if (training)
      diagnostics.note(what + "elements are dropped, since " + training->describe() + " is in training mode");
    else
      diagnostics.warning(what + "elements are not dropped, since no other node of the file is in training mode");
  }

  /// A seed of a node's own would draw the same numbers in each step.
  void noteSeeds() {
    std::vector<std::string> names;
    for (const Node &node : model.nodes)
      if (node.attributes.count("seed"))
        names.push_back(node.name);
    if (!names.empty())
      diagnostics.note(listNames(names) +
                       ": the attribute 'seed' is ignored: init.seed or --seed applies to all random numbers");
  }

  const Model &model;
  FileDiagnostics &diagnostics;
  StringMap<StringSet<>> ops; ///< of the nodes of a call
  StringMap<const Node *> producers;
};

} // namespace

const Node *xlc::onnx::findTraining(const Model &model) {
  for (const Node &node : model.nodes)
    if ((node.op == "BatchNormalization" && isTrainingForm(node, node.opset)) ||
        (node.op == "Dropout" && node.hasInput(2)) || isDroppingCall(node))
      return &node;
  return nullptr;
}

void xlc::onnx::checkTracedCalls(const Model &model, FileDiagnostics &diagnostics) {
  CallCheck(model, diagnostics).run();
}
