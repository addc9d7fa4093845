// Import rules for element-wise operators.
#include "Rules.h"

#include "xlc/Dialect/Graph/TrainingAttributes.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

/// A tensor like `like` of another element type.
static Type withElements(Value like, Type elementType) {
  return cast<RankedTensorType>(like.getType()).clone(elementType);
}

static bool isFloatValue(Value x) { return isa<FloatType>(cast<RankedTensorType>(x.getType()).getElementType()); }

bool xlc::onnx::importCompare(NodeImport &n, graph::Predicate predicate) {
  Value a, b;
  if (!n.broadcastPair(0, 1, a, b))
    return false;
  return n.produce(graph::CompareOp::create(n.builder, n.loc, withElements(a, n.builder.getI1Type()), predicate, a, b));
}

bool xlc::onnx::importIdentity(NodeImport &n) {
  Value x = n.value(0);
  return x && n.produce(x);
}

bool xlc::onnx::importNot(NodeImport &n) {
  if (n.elementType(0) != n.builder.getI1Type())
    return n.fail("needs a boolean input");
  return importUnary<graph::NotOp>(n);
}

bool xlc::onnx::importIsNaN(NodeImport &n) {
  Value x = n.value(0);
  return x && n.produce(graph::IsNanOp::create(n.builder, n.loc, withElements(x, n.builder.getI1Type()), x));
}

bool xlc::onnx::importCast(NodeImport &n) {
  int64_t to = getInt(n.node, "to", 0);
  Type type = byteWidth((int)to) ? convertType((ElementType)to, n.builder.getContext()) : Type();
  if (!type)
    return n.fail("casts to element type " + Twine(to) + ", which is not supported");
  Value x = n.value(0);
  if (!x || n.elementType(0) == type)
    return x && n.produce(x);
  return n.produce(graph::CastOp::create(n.builder, n.loc, withElements(x, type), x));
}

bool xlc::onnx::importWhere(NodeImport &n) {
  Shape pair, shape;
  if (!broadcastShapes(n.shape(1), n.shape(2), pair) || !broadcastShapes(pair, n.shape(0), shape))
    return n.fail("has inputs whose shapes do not broadcast");
  if (n.elementType(1) != n.elementType(2) || n.elementType(0) != n.builder.getI1Type())
    return n.fail("needs a boolean condition and two values of one type");
  Value condition = n.broadcast(0, shape), a = n.broadcast(1, shape), b = n.broadcast(2, shape);
  return condition && a && b && n.produce(graph::SelectOp::create(n.builder, n.loc, a.getType(), condition, a, b));
}

bool xlc::onnx::importClip(NodeImport &n) {
  Value x = n.value(0);
  Shape shape = n.shape(0);
  for (size_t i = 1; x && i <= 2; ++i) {
    if (!n.has(i))
      continue;
    if (n.elementType(i) != n.elementType(0) || countElements(n.shape(i)) != 1)
      return n.fail("needs scalar bounds of the input's type");
    Value bound = n.broadcast(n.reshape(n.value(i), {}), shape);
    x = i == 1 ? Value(graph::MaxOp::create(n.builder, n.loc, x.getType(), x, bound))
               : Value(graph::MinOp::create(n.builder, n.loc, x.getType(), x, bound));
  }
  return x && n.produce(x);
}

/// Small whole exponents become products, which are exact and have exact gradients.
void xlc::onnx::shareTies(Operation *op, const Node &node) {
  if (op->hasTrait<graph::Extremum>() && !StringRef(node.call.target).starts_with("aten.clamp"))
    op->setAttr(graph::kSharesTies, UnitAttr::get(op->getContext()));
}

bool xlc::onnx::importPow(NodeImport &n) {
  const ConstantTensor *exponent = n.constant(1);
  Value x;
  if (exponent && exponent->isSplat() && countElements(exponent->shape) == 1) {
    double power = exponent->asDouble(0);
    x = n.value(0);
    if (!x)
      return false;
    Type type = x.getType();
    if (power == 1)
      return n.produce(x);
    if (power == 2 || power == 3) {
      Value square = graph::MulOp::create(n.builder, n.loc, type, x, x);
      return n.produce(power == 2 ? square : Value(graph::MulOp::create(n.builder, n.loc, type, square, x)));
    }
    if (power == 0.5 && isFloatValue(x))
      return n.produce(graph::SqrtOp::create(n.builder, n.loc, type, x));
    if (power == -1 && isFloatValue(x))
      return n.produce(graph::DivOp::create(n.builder, n.loc, type, n.number(1, x), x));
  }
  if (!isa_and_nonnull<FloatType>(n.elementType(0)))
    return n.fail("needs a float input, or an exponent that is the constant 1, 2 or 3");
  Shape common;
  if (!broadcastShapes(n.shape(0), n.shape(1), common))
    return n.fail("has inputs whose shapes do not broadcast");
  Value base = n.broadcast(0, common), power = n.broadcast(1, common);
  return base && power && n.produce(n.pow(base, n.convert(power, n.elementType(0)))); // of a type of its own
}

bool xlc::onnx::importRelu(NodeImport &n) {
  Value x = n.value(0);
  return x && n.produce(graph::MaxOp::create(n.builder, n.loc, x.getType(), x, n.number(0, x)));
}

bool xlc::onnx::importLeakyRelu(NodeImport &n) {
  Value x = n.value(0);
  if (!x || !isFloatValue(x))
    return n.fail("needs a float input");
  Value small = graph::MulOp::create(n.builder, n.loc, x.getType(), x, n.number(getFloat(n.node, "alpha", 0.01), x));
  Value isPositive = graph::CompareOp::create(n.builder, n.loc, withElements(x, n.builder.getI1Type()),
                                              graph::Predicate::gt, x, n.number(0, x));
  return n.produce(graph::SelectOp::create(n.builder, n.loc, x.getType(), isPositive, x, small));
}

bool xlc::onnx::importReciprocal(NodeImport &n) {
  Value x = n.value(0);
  return x && n.produce(graph::DivOp::create(n.builder, n.loc, x.getType(), n.number(1, x), x));
}

bool xlc::onnx::importGelu(NodeImport &n) {
  std::string form = getString(n.node, "approximate", "none");
  if (form != "none" && form != "tanh")
    return n.fail("has approximate = '" + form + "'; none and tanh are supported");
  Value x = n.value(0);
  auto kind = form == "tanh" ? graph::GeluKind::tanh : graph::GeluKind::erf;
  return x && n.produce(graph::GeluOp::create(n.builder, n.loc, x.getType(), kind, x));
}
