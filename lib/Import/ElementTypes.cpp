// ONNX has no implicit conversions: an Add of float and double is invalid. The types of the file are compared before
// Import narrows 16-bit floats and doubles to float32, after which they would be equal.
//
// Most operators require operands of one type, which is that of their results. The table has all others.
#include "ElementTypes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

constexpr int unknown = 0, boolType = (int)ElementType::Bool, int64Type = (int)ElementType::Int64;

/// What the type of a node's first result is, beside that of an operand.
enum Result { First = 0, Second, Third, Bool, Int64, OfAttribute, Unknown };

struct TypeRule {
  StringLiteral op;
  StringLiteral alike; ///< numbers of the operands that have one type; *: all
  Result result;
};

constexpr TypeRule rules[] = {
    {"ArgMax", "", Int64},
    {"ArgMin", "", Int64},
    {"BatchNormalization", "", First},
    {"Bernoulli", "", OfAttribute},
    {"Cast", "", OfAttribute},
    {"CastLike", "", Second},
    {"Compress", "", First},
    {"ConcatFromSequence", "", Unknown},
    {"Constant", "", OfAttribute},
    {"ConstantOfShape", "", OfAttribute},
    {"CumSum", "", First},
    {"Dropout", "", First},
    {"Equal", "*", Bool},
    {"Expand", "", First},
    {"EyeLike", "", OfAttribute},
    {"Gather", "", First},
    {"GatherElements", "", First},
    {"GatherND", "", First},
    {"Greater", "*", Bool},
    {"GreaterOrEqual", "*", Bool},
    {"If", "", Unknown},
    {"IsInf", "", Bool},
    {"IsNaN", "", Bool},
    {"LayerNormalization", "12", First}, // of half models the old exporter casts the data alone
    {"Less", "*", Bool},
    {"LessOrEqual", "*", Bool},
    {"NegativeLogLikelihoodLoss", "02", First},
    {"NonZero", "", Int64},
    {"OneHot", "", Third},
    {"Pad", "02", First},
    {"Pow", "", First},
    {"RandomNormal", "", OfAttribute},
    {"RandomNormalLike", "", OfAttribute},
    {"RandomUniform", "", OfAttribute},
    {"RandomUniformLike", "", OfAttribute},
    {"ReduceL1", "", First},
    {"ReduceL2", "", First},
    {"ReduceLogSum", "", First},
    {"ReduceLogSumExp", "", First},
    {"ReduceMax", "", First},
    {"ReduceMean", "", First},
    {"ReduceMin", "", First},
    {"ReduceProd", "", First},
    {"ReduceSum", "", First},
    {"ReduceSumSquare", "", First},
    {"Reshape", "", First},
    {"Resize", "", First},
    {"ScatterElements", "02", First},
    {"ScatterND", "02", First},
    {"SequenceAt", "", Unknown},
    {"SequenceConstruct", "", Unknown},
    {"SequenceEmpty", "", Unknown},
    {"SequenceErase", "", Unknown},
    {"SequenceInsert", "", Unknown},
    {"SequenceLength", "", Int64},
    {"Shape", "", Int64},
    {"Size", "", Int64},
    {"Slice", "", First},
    {"SoftmaxCrossEntropyLoss", "02", First},
    {"Split", "", First},
    {"SplitToSequence", "", Unknown},
    {"Squeeze", "", First},
    {"Tile", "", First},
    {"TopK", "", First},
    {"Trilu", "", First},
    {"Unsqueeze", "", First},
    {"Where", "12", Second},
};
constexpr TypeRule usual = {"", "*", First};

const TypeRule &findRule(StringRef op) {
  const TypeRule *row = lower_bound(rules, op, [](const TypeRule &rule, StringRef name) { return rule.op < name; });
  return row != std::end(rules) && row->op == op ? *row : usual;
}

/// The type that a node's attributes say, or that of its first operand.
int typeOfAttributes(const Node &node, int first) {
  using Kind = Attribute::Kind;
  for (StringRef name : {"to", "dtype", "value", "value_float", "value_floats", "value_int", "value_ints"})
    if (auto found = node.attributes.find(name); found != node.attributes.end()) {
      const Attribute &attribute = found->second;
      if (name == "to" || name == "dtype")
        return (int)attribute.i;
      if (attribute.kind == Kind::Tensor)
        return attribute.tensor ? attribute.tensor->storedType : unknown;
      return attribute.kind == Kind::Int || attribute.kind == Kind::Ints ? int64Type : (int)ElementType::Float;
    }
  return node.op == "ConstantOfShape" ? (int)ElementType::Float : first;
}

/// Whether Import computes both types in one; of others its rules see the difference.
bool becomeOne(int one, int other) {
  auto isFloating = [](int type) {
    return isHalf(type) || type == (int)ElementType::Float || type == (int)ElementType::Double;
  };
  constexpr int uint16 = 4, int16 = 5, uint32 = 12;
  auto isWide = [](int type) { return llvm::is_contained({uint16, int16, uint32, int64Type}, type); };
  return (isFloating(one) && isFloating(other)) || (isWide(one) && isWide(other));
}

class TypeComparison {
public:
  explicit TypeComparison(const Model &model) {
    for (const ModelInput &input : model.inputs)
      types[input.name] = input.storedType;
    for (const FileTensor &tensor : model.initializers)
      types[tensor.name] = tensor.storedType;
  }

  void visit(Node &node) {
    const TypeRule &rule = findRule(node.op);
    bool isKnown = node.domain.empty() && compare(node, rule);
    for (auto [i, output] : enumerate(node.outputs))
      if (i == 0 || node.op == "Split")
        types[output] = isKnown ? typeOfResult(node, rule.result) : unknown;
  }

private:
  int typeOf(const Node &node, size_t operand) const {
    return node.hasInput(operand) ? types.lookup(node.inputs[operand]) : unknown;
  }

  int typeOfResult(const Node &node, Result result) const {
    switch (result) {
    case Bool:
      return boolType;
    case Int64:
      return int64Type;
    case OfAttribute:
      return typeOfAttributes(node, typeOf(node, 0));
    case Unknown:
      return unknown;
    default:
      return typeOf(node, result);
    }
  }

  /// Writes what is wrong with the node; whether nothing is.
  bool compare(Node &node, const TypeRule &rule) const {
    std::optional<size_t> first;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      bool isAlike = rule.alike == "*" || (i < 10 && rule.alike.contains((char)('0' + i)));
      if (!isAlike || typeOf(node, i) == unknown)
        continue;
      if (!first)
        first = i;
      int one = typeOf(node, *first), other = typeOf(node, i);
      if (one == other || !becomeOne(one, other))
        continue;
      node.misfit = "requires operands of one element type, but '" + node.inputs[*first] + "' is " + nameOfType(one) +
                    " and '" + node.inputs[i] + "' is " + nameOfType(other) + "; cast one of them";
      return false;
    }
    return true;
  }

  StringMap<int> types; ///< ONNX's number of the type in the file
};

} // namespace

void xlc::onnx::compareTypes(Model &model) {
  TypeComparison comparison(model);
  for (Node &node : model.nodes)
    comparison.visit(node);
}
