// Parses the attributes of ONNX nodes and infers shapes; shared by evaluation and import.
#include "Evaluate.h"

using namespace llvm;
using namespace xlc::onnx;

static const Attribute *find(const Node &node, StringRef name) {
  auto it = node.attributes.find(name);
  return it == node.attributes.end() ? nullptr : &it->second;
}

int64_t xlc::onnx::getInt(const Node &node, StringRef name, int64_t otherwise) {
  const Attribute *attribute = find(node, name);
  return attribute ? attribute->i : otherwise;
}

double xlc::onnx::getFloat(const Node &node, StringRef name, double otherwise) {
  const Attribute *attribute = find(node, name);
  return attribute ? attribute->f : otherwise;
}

std::string xlc::onnx::getString(const Node &node, StringRef name, StringRef otherwise) {
  const Attribute *attribute = find(node, name);
  return attribute ? attribute->s : otherwise.str();
}

std::optional<Shape> xlc::onnx::getInts(const Node &node, StringRef name) {
  const Attribute *attribute = find(node, name);
  return attribute ? std::optional<Shape>(Shape(attribute->ints.begin(), attribute->ints.end())) : std::nullopt;
}

std::optional<Shape> Evaluation::getInts(size_t i, StringRef name) const {
  if (!hasInput(i))
    return onnx::getInts(node, name);
  ConstantTensor tensor = inputs[i]->materialized();
  return Shape(tensor.ints.begin(), tensor.ints.end());
}

std::string xlc::onnx::normalizeAxis(int64_t &axis, int64_t rank) {
  int64_t given = axis;
  if (axis < 0)
    axis += rank;
  if (axis >= 0 && axis < rank)
    return "";
  return ("has axis " + Twine(given) + ", which is out of range for rank " + Twine(rank)).str();
}

std::string xlc::onnx::normalizeAxes(Shape &axes, int64_t rank) {
  for (int64_t &axis : axes)
    if (std::string problem = normalizeAxis(axis, rank); !problem.empty())
      return problem;
  llvm::sort(axes);
  return std::adjacent_find(axes.begin(), axes.end()) == axes.end() ? "" : "has the same axis twice";
}

static std::string print(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, size] : llvm::enumerate(shape))
    text += (i ? ", " : "") + std::to_string(size);
  return text + "]";
}

std::string xlc::onnx::inferReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> request, bool allowZero, Shape &result) {
  std::optional<size_t> open;
  int64_t known = 1, total = countElements(from);
  std::string problem = "cannot reshape " + print(from) + " to " + print(request);
  result.assign(request.begin(), request.end());
  for (size_t i = 0; i < result.size(); ++i) {
    if (result[i] == 0 && !allowZero && i >= from.size())
      return problem;
    if (result[i] == 0 && !allowZero)
      result[i] = from[i];
    if (result[i] < -1 || (result[i] == -1 && open))
      return problem;
    if (result[i] == -1)
      open = i;
    else if (MulOverflow(known, result[i], known))
      return problem;
  }
  if (open && (known == 0 || total % known != 0))
    return problem;
  if (open)
    result[*open] = total / known;
  return open || known == total ? "" : problem;
}

std::string xlc::onnx::inferSqueeze(ArrayRef<int64_t> from, std::optional<Shape> axes, Shape &result) {
  result.clear();
  if (axes)
    if (std::string problem = normalizeAxes(*axes, (int64_t)from.size()); !problem.empty())
      return problem;
  for (auto [i, size] : llvm::enumerate(from)) {
    bool isNamed = axes ? llvm::is_contained(*axes, (int64_t)i) : size == 1;
    if (isNamed && size != 1)
      return ("squeezes dimension " + Twine(i) + " of " + print(from) + "; squeezed dimensions must have size 1").str();
    if (!isNamed)
      result.push_back(size);
  }
  return "";
}

std::string xlc::onnx::inferUnsqueeze(ArrayRef<int64_t> from, Shape axes, Shape &result) {
  int64_t rank = (int64_t)(from.size() + axes.size());
  if (std::string problem = normalizeAxes(axes, rank); !problem.empty())
    return problem;
  result.clear();
  size_t next = 0;
  for (int64_t d = 0; d < rank; ++d)
    result.push_back(llvm::is_contained(axes, d) ? 1 : from[next++]);
  return "";
}

std::string xlc::onnx::inferSlice(ArrayRef<int64_t> from, const ConstantTensor &startsGiven,
                                  const ConstantTensor &endsGiven, const ConstantTensor *axesGiven,
                                  const ConstantTensor *stepsGiven, SliceRange &range) {
  auto list = [](const ConstantTensor *given) { return given ? given->materialized().ints : std::vector<int64_t>(); };
  std::vector<int64_t> starts = list(&startsGiven), ends = list(&endsGiven), axes = list(axesGiven),
                       steps = list(stepsGiven);
  range.offsets.assign(from.size(), 0);
  range.strides.assign(from.size(), 1);
  range.sizes.assign(from.begin(), from.end());
  size_t count = starts.size();
  if (ends.size() != count || (axesGiven && axes.size() != count) || (stepsGiven && steps.size() != count) ||
      (!axesGiven && count > from.size()))
    return "has starts, ends, axes and steps that differ in length";
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = axesGiven ? axes[i] : (int64_t)i, step = stepsGiven ? steps[i] : 1;
    if (std::string problem = normalizeAxis(axis, (int64_t)from.size()); !problem.empty())
      return problem;
    int64_t size = from[axis], start = starts[i], end = ends[i];
    if (step == 0 || step == INT64_MIN)
      return "has a step of " + std::to_string(step) + ", which is not supported";
    start = start < 0 ? std::max<int64_t>(start, -size) + size : start;
    end = end < 0 ? std::max<int64_t>(end, -size - 1) + size : end;
    start = std::clamp<int64_t>(start, 0, step > 0 ? size : size - 1);
    end = std::clamp<int64_t>(end, step > 0 ? 0 : -1, size);
    int64_t length = step > 0 ? end - start : start - end, pace = step > 0 ? step : -step;
    range.sizes[axis] = length <= 0 ? 0 : (length - 1) / pace + 1;
    range.offsets[axis] = range.sizes[axis] ? start : 0;
    range.strides[axis] = step;
  }
  return "";
}

/// What the attribute num_outputs has wrong, which from opset 18 on stands where no sizes do.
static std::string checkNumOutputs(const Node &node, bool hasSizes) {
  const Attribute *count = find(node, StringRef("num_outputs"));
  if (!count)
    return hasSizes || node.opset < 18 ? "" : "has neither sizes nor num_outputs; exactly one of them is required";
  if (hasSizes)
    return "has both sizes and num_outputs; exactly one of them is required";
  if (count->i != (int64_t)node.outputs.size())
    return ("has num_outputs = " + Twine(count->i) + ", but " + Twine(node.outputs.size()) + " outputs").str();
  return "";
}

std::string xlc::onnx::inferSplit(const Node &node, const ConstantTensor *sizes, int64_t size, Shape &pieces) {
  if (std::string problem = checkNumOutputs(node, sizes != nullptr); !problem.empty())
    return problem;
  if (sizes) {
    ConstantTensor all = sizes->materialized();
    pieces.assign(all.ints.begin(), all.ints.end());
  } else if (auto attribute = getInts(node, "split")) {
    pieces = *attribute;
  } else {
    int64_t parts = (int64_t)node.outputs.size(), piece = parts ? (size + parts - 1) / parts : 0;
    for (int64_t i = 0; i < parts; ++i)
      pieces.push_back(std::min(piece, size - std::min(size, i * piece)));
  }
  int64_t total = 0;
  for (int64_t piece : pieces) {
    if (piece < 0 || piece > size)
      return "has a piece of size " + std::to_string(piece) + " in a dimension of size " + std::to_string(size);
    total += piece;
  }
  if (pieces.size() != node.outputs.size() || total != size)
    return ("has pieces " + print(pieces) + " and " + Twine(node.outputs.size()) +
            " outputs; there must be one piece for each output, and their sum must be " + Twine(size))
        .str();
  return "";
}
