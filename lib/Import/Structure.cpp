// Nodes that compute nothing: sequences, branches, casts to the type of another tensor.
//
// Unoptimised exports split into sequences and take elements out of them, and query at run time values that are known
// once the dimensions are. Here a sequence is a list of values; rules either rearrange lists, or apply the equivalent
// operator (SplitToSequence is Split), so that no op of the graph dialect is needed for sequences.
#include "Rules.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

/// The most tensors of a sequence; fewer where they are put in one by one, each time into a new list.
constexpr int64_t maximumPieces = 65536, maximumInserted = 4096;

Shape StructureImport::shape(size_t i) const {
  if (inputs[i]->constant)
    return inputs[i]->constant->shape;
  SmallVector<int64_t> shape = shapeOf(inputs[i]->value);
  return Shape(shape.begin(), shape.end());
}

const std::vector<ImportedValue> *StructureImport::sequence(size_t i) {
  if (!inputs[i]->sequence)
    fail("needs a sequence of tensors as input " + Twine(i) + ", but gets a tensor");
  return inputs[i]->sequence.get();
}

std::optional<int64_t> StructureImport::integer(size_t i) {
  const ConstantTensor *tensor = inputs[i]->constant.get();
  if (tensor && !isFloat(tensor->type) && countElements(tensor->shape) == 1)
    return tensor->ints[0];
  fail("needs an integer as input " + Twine(i) + " that is known when the model is compiled");
  return std::nullopt;
}

bool StructureImport::apply(StringRef op, std::initializer_list<std::pair<StringRef, int64_t>> attributes,
                            ArrayRef<ImportedValue> operands, size_t numOutputs, Values &results) {
  Node other;
  other.name = node.name, other.op = op.str(), other.scope = node.scope, other.opset = node.opset;
  other.outputs.resize(numOutputs);
  for (const auto &[name, value] : attributes)
    other.attributes[name].i = value;
  Values held(operands);
  SmallVector<ImportedValue *> pointers;
  for (ImportedValue &value : held)
    pointers.push_back(&value);
  other.inputs.resize(pointers.size());
  return applyNode(other, pointers, results);
}

namespace {

ImportedValue ofInts(ArrayRef<int64_t> values) {
  ImportedValue result;
  result.constant = std::make_shared<const ConstantTensor>(ConstantTensor::ofInts(values));
  return result;
}

bool produceSequence(StructureImport &n, ArrayRef<ImportedValue> values) {
  ImportedValue result;
  result.sequence = std::make_shared<const std::vector<ImportedValue>>(values.begin(), values.end());
  return n.produce(std::move(result));
}

/// Makes a possibly negative position count from the front; false outside of [0, size).
bool normalizePosition(StructureImport &n, int64_t &position, int64_t size) {
  int64_t given = position;
  if (position < 0)
    position += size;
  if (position >= 0 && position < size)
    return true;
  return n.fail("takes element " + Twine(given) + " of a sequence of " + Twine(size) + " tensors");
}

/// How long the pieces of a SplitToSequence along a dimension of `size` are.
bool findPieces(StructureImport &n, int64_t size, Shape &pieces) {
  int64_t length = 1;
  if (n.has(1)) {
    const ConstantTensor *given = n.inputs[1]->constant.get();
    if (!given || isFloat(given->type) || given->shape.size() > 1)
      return n.fail("needs piece lengths that are known when the model is compiled");
    ConstantTensor whole = given->materialized();
    if (given->shape.size() == 1)
      return pieces.assign(whole.ints.begin(), whole.ints.end()), true;
    length = whole.ints[0];
  }
  if (length <= 0)
    return n.fail("requests pieces of length " + Twine(length) + ", must be at least 1");
  if (size / length >= maximumPieces)
    return n.fail("produces a sequence of more than " + Twine(maximumPieces) + " tensors");
  for (int64_t at = 0; at < size; at += length)
    pieces.push_back(std::min(length, size - at));
  return true;
}

} // namespace

bool xlc::onnx::arrangeCastLike(StructureImport &n) {
  if (!n.inputs[0]->isTensor() || !n.inputs[1]->isTensor())
    return n.fail("takes tensors, but one of its inputs is a sequence of tensors");
  const ConstantTensor *like = n.inputs[1]->constant.get();
  std::optional<ElementType> to =
      like ? like->type : findElementType(cast<RankedTensorType>(n.inputs[1]->value.getType()).getElementType());
  return n.apply("Cast", {{"to", (int64_t)*to}}, *n.inputs[0], 1, n.outputs);
}

bool xlc::onnx::arrangeConcatFromSequence(StructureImport &n) {
  const std::vector<ImportedValue> *sequence = n.sequence(0);
  if (!sequence || sequence->empty())
    return n.fail(sequence ? "concatenates an empty sequence" : n.problem);
  int64_t axis = getInt(n.node, "axis", 0);
  StructureImport::Values parts(sequence->begin(), sequence->end());
  if (getInt(n.node, "new_axis", 0))
    for (ImportedValue &part : parts) {
      StructureImport::Values result;
      if (!n.apply("Unsqueeze", {}, {part, ofInts(axis)}, 1, result))
        return false;
      part = result[0];
    }
  return n.apply("Concat", {{"axis", axis}}, parts, 1, n.outputs);
}

/// Inputs: condition, results of the branch `then`, those of `else`. The nodes of the branches stand before.
bool xlc::onnx::arrangeIf(StructureImport &n) {
  const ConstantTensor *condition = n.inputs[0]->constant.get();
  if (!condition || isFloat(condition->type) || countElements(condition->shape) != 1)
    return n.fail("has a condition that depends on the data, which is not supported: export the model "
                  "without data-dependent control flow");
  size_t count = (n.inputs.size() - 1) / 2, first = condition->ints[0] ? 1 : 1 + count;
  for (size_t i = 0; i < count; ++i)
    n.produce(n.has(first + i) ? *n.inputs[first + i] : ImportedValue());
  return true;
}

bool xlc::onnx::arrangeIdentity(StructureImport &n) { return n.produce(*n.inputs[0]); }

bool xlc::onnx::arrangeSequenceAt(StructureImport &n) {
  const std::vector<ImportedValue> *sequence = n.sequence(0);
  std::optional<int64_t> position = sequence ? n.integer(1) : std::nullopt;
  return position && normalizePosition(n, *position, (int64_t)sequence->size()) && n.produce((*sequence)[*position]);
}

bool xlc::onnx::arrangeSequenceConstruct(StructureImport &n) {
  StructureImport::Values values;
  for (ImportedValue *input : n.inputs) {
    if (input && !input->isKnown())
      return false; // its cause has been reported
    if (!input || !input->isTensor())
      return n.fail("needs tensors, but one of its inputs is not a tensor");
    values.push_back(*input);
  }
  return produceSequence(n, values);
}

bool xlc::onnx::arrangeSequenceEmpty(StructureImport &n) { return produceSequence(n, {}); }

bool xlc::onnx::arrangeSequenceErase(StructureImport &n) {
  const std::vector<ImportedValue> *sequence = n.sequence(0);
  std::optional<int64_t> position = !sequence ? std::nullopt : n.has(1) ? n.integer(1) : std::optional<int64_t>(-1);
  if (!position || !normalizePosition(n, *position, (int64_t)sequence->size()))
    return false;
  StructureImport::Values values(sequence->begin(), sequence->end());
  values.erase(values.begin() + *position);
  return produceSequence(n, values);
}

bool xlc::onnx::arrangeSequenceInsert(StructureImport &n) {
  const std::vector<ImportedValue> *sequence = n.sequence(0);
  if (!sequence || !n.inputs[1]->isTensor())
    return n.fail(sequence ? "inserts a value that is not a tensor" : n.problem);
  int64_t size = (int64_t)sequence->size();
  std::optional<int64_t> position = n.has(2) ? n.integer(2) : std::optional<int64_t>(size);
  if (!position || !normalizePosition(n, *position, size + 1))
    return false;
  if (size >= maximumInserted)
    return n.fail("produces a sequence of more than " + Twine(maximumInserted) + " tensors");
  StructureImport::Values values(sequence->begin(), sequence->end());
  values.insert(values.begin() + *position, *n.inputs[1]);
  return produceSequence(n, values);
}

bool xlc::onnx::arrangeSequenceLength(StructureImport &n) {
  const std::vector<ImportedValue> *sequence = n.sequence(0);
  if (!sequence)
    return false;
  ConstantTensor length(ElementType::Int64, {});
  length.ints[0] = (int64_t)sequence->size();
  ImportedValue result;
  result.constant = std::make_shared<const ConstantTensor>(std::move(length));
  return n.produce(std::move(result));
}

/// What ReadSequenceMap.cpp left.
bool xlc::onnx::arrangeSequenceMap(StructureImport &n) {
  return n.fail(
      "maps a list whose tensors have no names in the file: export the model with the function applied to each tensor");
}

bool xlc::onnx::arrangeSplitToSequence(StructureImport &n) {
  if (!n.inputs[0]->isTensor())
    return n.fail("splits a value that is not a tensor");
  Shape shape = n.shape(0), pieces;
  int64_t axis = getInt(n.node, "axis", 0);
  if (std::string problem = normalizeAxis(axis, (int64_t)shape.size()); !problem.empty())
    return n.fail(problem);
  if (!findPieces(n, shape[axis], pieces))
    return false;
  StructureImport::Values parts;
  if (!n.apply("Split", {{"axis", axis}}, {*n.inputs[0], ofInts(pieces)}, pieces.size(), parts))
    return false;
  bool squeezes = !n.has(1) && !getInt(n.node, "keepdims", 1);
  for (ImportedValue &part : parts) {
    StructureImport::Values result;
    if (squeezes && !n.apply("Squeeze", {}, {part, ofInts(axis)}, 1, result))
      return false;
    if (squeezes)
      part = result[0];
  }
  return produceSequence(n, parts);
}
