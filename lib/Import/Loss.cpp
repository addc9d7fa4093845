// What is trained: the mean over all counted targets of the global batch.
//
// @forward returns sum and count of one micro-batch, so that a batch cut into ranks and
// micro-batches of different counts still has the mean of the whole. A loss that the model computes
// is taken apart into the two where it is a mean that we know; any other is averaged as it
// stands, with a warning.
#include "Loss.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

namespace {

class LossMaker {
public:
  LossMaker(const Model &model, const Spec &spec, llvm::StringMap<ImportedValue> &values, OpBuilder &builder,
            Diagnostics &diagnostics)
      : model(model), spec(spec), values(values), builder(builder), diagnostics(diagnostics),
        loc(NameLoc::get(builder.getStringAttr("loss"))) {}

  std::optional<Loss> make() {
    return spec.loss.type == LossSpec::Type::CrossEntropy ? makeCrossEntropy() : takeOutput();
  }

private:
  std::optional<Loss> fail(const Twine &message) {
    diagnostics.error(message);
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

  static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

  static bool isScalar(Value value) {
    return value && typeOf(value).getNumElements() == 1 && isa<FloatType>(typeOf(value).getElementType());
  }

  int64_t repeats() const { return spec.microBatches() * spec.dp; }

  std::optional<Loss> takeOutput() {
    std::string name = spec.loss.output;
    if (spec.loss.type == LossSpec::Type::Default) {
      SmallVector<std::string> scalars;
      for (const std::string &output : model.outputs)
        if (isScalar(values[output].value))
          scalars.push_back(output);
      if (scalars.size() != 1)
        return fail("the model has " + Twine(scalars.size()) + " scalar outputs among " + listOutputs() +
                    "; say in the spec which one is the loss (loss: {output: NAME}), or how to compute it (loss: "
                    "{type: cross_entropy, logits: NAME, labels: NAME})");
      name = scalars.front();
    }
    Value loss = findOutput(name);
    if (!loss)
      return fail("the loss '" + name + "' is not an output that depends on the inputs; outputs are " + listOutputs());
    if (!isScalar(loss))
      return fail("the loss '" + name + "' is not a float scalar, its type is " + print(loss.getType()));
    return takeApart(loss, name);
  }

  static std::string print(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  /// sum / cast(count) of a cross-entropy is a mean over targets.
  std::optional<Loss> takeApart(Value loss, const std::string &name) {
    Value scalar = loss;
    while (auto reshape = scalar.getDefiningOp<graph::ReshapeOp>())
      scalar = reshape.getX();
    if (auto mean = scalar.getDefiningOp<graph::DivOp>()) {
      auto sum = mean.getA().getDefiningOp<graph::CrossEntropyOp>();
      auto count = mean.getB().getDefiningOp<graph::CastOp>();
      if (sum && count && mean.getA() == sum.getSum() && count.getX() == sum.getCount())
        return Loss{sum.getSum(), sum.getCount(), typeOf(sum.getLabels()).getNumElements() * repeats()};
    }
    diagnostics.warning("the loss '" + name + "' is not known to be a mean over targets: it is averaged over " +
                        "micro-batches and ranks, whatever each of them counts");
    if (typeOf(loss).getRank() != 0)
      loss = graph::ReshapeOp::create(builder, loc, typeOf(loss).clone(ArrayRef<int64_t>{}), loss);
    auto type = RankedTensorType::get({}, builder.getI64Type());
    Value one =
        graph::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, builder.getI64IntegerAttr(1)));
    return Loss{loss, one, repeats()};
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

  std::optional<Loss> makeCrossEntropy() {
    Value logits = findOutput(spec.loss.logits), labels = values[spec.loss.labels].value;
    if (!logits)
      return fail("the loss needs logits '" + spec.loss.logits +
                  "', which is not an output that depends on the inputs; outputs are " + listOutputs());
    RankedTensorType type = typeOf(logits);
    if (type.getRank() < 2 || !isa<FloatType>(type.getElementType()))
      return fail("logits '" + spec.loss.logits + "' need float type and a class dimension, the type is " +
                  print(type));
    bool addsLabels = !labels; // a loss of the spec may bring its own input
    if (addsLabels)
      labels = builder.getBlock()->addArgument(RankedTensorType::get(type.getShape().drop_back(), builder.getI64Type()),
                                               loc);
    RankedTensorType labelType = typeOf(labels);
    if (labelType.getShape() != type.getShape().drop_back() || !isa<IntegerType>(labelType.getElementType()))
      return fail("labels '" + spec.loss.labels + "' of type " + print(labelType) + " do not fit logits of type " +
                  print(type));
    if (spec.loss.shift && (labelType.getRank() < 2 || labelType.getShape().back() < 2))
      return fail("shift needs labels along a sequence of 2 or more, their type is " + print(labelType));
    if (spec.loss.shift)
      labels = shift(labels);
    auto scalar = RankedTensorType::get({}, type.getElementType());
    auto loss =
        graph::CrossEntropyOp::create(builder, loc,
                                      TypeRange{scalar, RankedTensorType::get({}, builder.getI64Type()),
                                                RankedTensorType::get(labelType.getShape(), builder.getF64Type())},
                                      logits, labels, spec.loss.ignoreIndex);
    return Loss{loss.getSum(), loss.getCount(), labelType.getNumElements() * repeats(), addsLabels};
  }

  const Model &model;
  const Spec &spec;
  llvm::StringMap<ImportedValue> &values;
  OpBuilder &builder;
  Diagnostics &diagnostics;
  Location loc;
};

} // namespace

std::optional<Loss> xlc::onnx::makeLoss(const Model &model, const Spec &spec, llvm::StringMap<ImportedValue> &values,
                                        OpBuilder &builder, Diagnostics &diagnostics) {
  return LossMaker(model, spec, values, builder, diagnostics).make();
}
