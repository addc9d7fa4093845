// Builds the loss: an output of the model, or the cross-entropy that the spec adds to it. CutLoss.cpp rewrites it for a
// global batch that is cut.
#include "Loss.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;
using xlc::graph::typeOf;

namespace {

class LossMaker {
public:
  LossMaker(const Model &model, const Spec &spec, llvm::StringMap<ImportedValue> &values, func::FuncOp forward,
            OpBuilder &builder, FileDiagnostics &diagnostics)
      : model(model), spec(spec), values(values), forward(forward), builder(builder), diagnostics(diagnostics),
        loc(NameLoc::get(builder.getStringAttr("loss"))) {}

  std::optional<LossValue> make() {
    return spec.loss.type == LossSpec::Type::CrossEntropy ? makeCrossEntropy() : takeOutput();
  }

private:
  /// `key` is that of the spec which names what does not fit.
  std::optional<LossValue> fail(StringRef key, const Twine &message) {
    diagnostics.error(spec, key, message);
    return std::nullopt;
  }

  std::string listOutputs() const {
    std::string list;
    for (const std::string &name : model.outputs)
      list += (list.empty() ? "'" : ", '") + name + "'";
    return list;
  }

  Value findOutput(const std::string &name) {
    return llvm::is_contained(model.outputs, name) ? values[name].value : Value();
  }

  static bool isScalar(Value value) {
    return value && typeOf(value).getNumElements() == 1 && isa<FloatType>(typeOf(value).getElementType());
  }

  std::optional<LossValue> takeOutput() {
    std::string name = spec.loss.output;
    if (spec.loss.type == LossSpec::Type::Default) {
      SmallVector<std::string> scalars;
      for (const std::string &output : model.outputs)
        if (isScalar(values[output].value))
          scalars.push_back(output);
      if (scalars.size() != 1)
        return fail("loss", "the model has " + Twine(scalars.size()) +
                                " scalar outputs, but exactly one is required; outputs are " + listOutputs() +
                                "; set the loss in the spec (loss: {output: NAME}), or add one (loss: {type: "
                                "cross_entropy, logits: NAME, labels: NAME})");
      name = scalars.front();
    }
    Value loss = findOutput(name);
    if (!loss)
      return fail("loss.output",
                  "the loss '" + name + "' is not an output that depends on the inputs; outputs are " + listOutputs());
    if (!isScalar(loss))
      return fail("loss.output", "the loss '" + name + "' is not a float scalar; its type is " + print(loss.getType()));
    return LossValue{loss, name};
  }

  static std::string print(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  Value addInput(StringRef name, Type type) {
    unsigned number = forward.getNumArguments();
    auto attributes = builder.getDictionaryAttr(builder.getNamedAttr(graph::kInput, builder.getStringAttr(name)));
    (void)forward.insertArgument(number, type, attributes, loc);
    return forward.getArgument(number);
  }

  /// The label of position t is that of t + 1; the last has none (as Hugging Face's models do).
  Value shift(Value labels) {
    RankedTensorType type = typeOf(labels);
    SmallVector<int64_t> offsets(type.getRank(), 0), strides(type.getRank(), 1), high(type.getRank(), 0);
    SmallVector<int64_t> shape(type.getShape());
    offsets.back() = 1, high.back() = 1, shape.back() -= 1;
    SmallVector<int64_t> low(type.getRank(), 0);
    Value rest = graph::SliceOp::create(builder, loc, type.clone(shape), labels, offsets, strides);
    auto scalar = RankedTensorType::get({}, type.getElementType());
    Value ignored = graph::ConstantOp::create(
        builder, loc, scalar,
        DenseElementsAttr::get(scalar, builder.getIntegerAttr(type.getElementType(), spec.loss.ignoreIndex)));
    return graph::PadOp::create(builder, loc, type, rest, ignored, low, high);
  }

  std::optional<LossValue> makeCrossEntropy() {
    Value logits = findOutput(spec.loss.logits), labels = values[spec.loss.labels].value;
    if (!logits)
      return fail("loss.logits", "loss.logits is '" + spec.loss.logits +
                                     "', which is not an output that depends on the inputs; outputs are " +
                                     listOutputs());
    RankedTensorType type = typeOf(logits);
    if (type.getRank() < 2 || !isa<FloatType>(type.getElementType()))
      return fail("loss.logits", "logits '" + spec.loss.logits +
                                     "' must be floats with a class dimension, but their type is " + print(type));
    if (!labels) // a loss of the spec may bring its own input
      labels = addInput(spec.loss.labels, RankedTensorType::get(type.getShape().drop_back(), builder.getI64Type()));
    RankedTensorType labelType = typeOf(labels);
    if (labelType.getShape() != type.getShape().drop_back() || !isa<IntegerType>(labelType.getElementType()))
      return fail("loss.labels", "labels '" + spec.loss.labels + "' of type " + print(labelType) +
                                     " do not match logits of type " + print(type));
    if (spec.loss.shift && (labelType.getRank() < 2 || labelType.getShape().back() < 2))
      return fail("loss.shift", "loss.shift requires labels for a sequence of 2 or more positions, but their type is " +
                                    print(labelType));
    if (spec.loss.shift)
      labels = shift(labels);
    auto scalar = RankedTensorType::get({}, type.getElementType());
    auto loss =
        graph::CrossEntropyOp::create(builder, loc,
                                      TypeRange{scalar, RankedTensorType::get({}, builder.getI64Type()),
                                                RankedTensorType::get(labelType.getShape(), builder.getF64Type())},
                                      logits, labels, builder.getI64IntegerAttr(spec.loss.ignoreIndex));
    Value count = graph::CastOp::create(builder, loc, scalar, loss.getCount());
    return LossValue{graph::DivOp::create(builder, loc, scalar, loss.getSum(), count), "cross_entropy"};
  }

  const Model &model;
  const Spec &spec;
  llvm::StringMap<ImportedValue> &values;
  func::FuncOp forward;
  OpBuilder &builder;
  FileDiagnostics &diagnostics;
  Location loc;
};

} // namespace

std::optional<LossValue> xlc::onnx::findLoss(const Model &model, const Spec &spec,
                                             llvm::StringMap<ImportedValue> &values, func::FuncOp forward,
                                             OpBuilder &builder, FileDiagnostics &diagnostics) {
  return LossMaker(model, spec, values, forward, builder, diagnostics).make();
}
