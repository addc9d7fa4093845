// See NoteRaised.h. Equal layers share a line: kinds are listed in the order in which they first occur.
#include "xlc/Raise/NoteRaised.h"

#include "RaiseAttention.h"
#include "xlc/Support/Bytes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace xlc;

namespace {

/// "causal, window 16, mask [8, 1, 1, 32], dropout 0.1, 2 heads per key".
std::string describe(graph::AttentionOp op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  auto say = [&]() -> llvm::raw_ostream & { return text.empty() ? out : out << ", "; };
  if (op.getMask() == graph::Mask::causal)
    say() << "causal";
  if (op.getWindow())
    say() << "window " << *op.getWindow();
  if (Value bias = op.getBias()) {
    auto type = cast<RankedTensorType>(bias.getType());
    say() << (type.getElementType().isInteger(1) ? "mask [" : "bias [");
    llvm::interleaveComma(type.getShape(), out);
    out << "]";
  }
  if (op.getRatio())
    say() << "dropout " << llvm::format("%g", op.getRatio()->convertToDouble());
  int64_t heads = cast<RankedTensorType>(op.getQ().getType()).getDimSize(2);
  int64_t groups = cast<RankedTensorType>(op.getK().getType()).getDimSize(2);
  if (heads != groups)
    say() << heads / groups << " heads per key";
  return text.empty() ? "no mask" : text;
}

/// "1 attention (causal)", "9 RMS norms".
std::string nameOf(Operation *op) {
  if (auto attention = dyn_cast<graph::AttentionOp>(op))
    return "attention (" + describe(attention) + ")";
  return isa<graph::RmsNormOp>(op)     ? "RMS norm"
         : isa<graph::LayerNormOp>(op) ? "layer norm"
         : isa<graph::GeluOp>(op)      ? "GELU"
         : isa<graph::SiluOp>(op)      ? "SiLU"
                                       : "";
}

std::string count(int64_t number, StringRef name) {
  auto [noun, rest] = name.split(" (");
  return (Twine(number) + " " + noun + (number == 1 ? "" : "s") + (rest.empty() ? "" : " (") + rest).str();
}

struct Unraised {
  int64_t number = 0;
  UnraisedAttention first;
};

} // namespace

void xlc::noteRaised(func::FuncOp forward, raw_ostream &notes) {
  llvm::MapVector<std::string, int64_t, std::map<std::string, unsigned>> whole;
  forward.walk([&](Operation *op) {
    if (std::string name = nameOf(op); !name.empty())
      ++whole[name];
  });
  notes << "raised ";
  if (whole.empty())
    notes << "nothing";
  llvm::interleaveComma(whole, notes, [&](const auto &entry) { notes << count(entry.second, entry.first); });
  notes << "\n";

  llvm::MapVector<std::string, Unraised, std::map<std::string, unsigned>> rest;
  for (UnraisedAttention &attention : findUnraisedAttentions(forward)) {
    std::string type;
    llvm::raw_string_ostream(type) << attention.softmax.getType();
    Unraised &kind = rest[type + attention.reason];
    if (kind.number++ == 0)
      kind.first = attention;
  }
  for (auto &[key, kind] : rest) {
    graph::SoftmaxOp softmax = kind.first.softmax;
    auto type = cast<RankedTensorType>(softmax.getType());
    int64_t bytes = graph::getByteSize(type);
    notes << "not raised: " << count(kind.number, "attention") << (kind.number > 1 ? ", the first" : "") << " at '"
          << graph::getSourceName(softmax) << "': " << kind.first.reason << "; the probabilities [";
    llvm::interleaveComma(type.getShape(), notes);
    notes << "] are kept for backward: " << formatBytes(bytes);
    if (kind.number > 1)
      notes << " each, " << formatBytes(bytes * kind.number) << " in all";
    notes << "\n";
  }
}
