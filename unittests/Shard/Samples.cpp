// Samples of every op that can be split, and the arithmetic of pieces that they are compared by.
#include "Samples.h"
#include "../Graph/PlainOps.h"
#include "SampleText.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using interpret::Integers;
using interpret::Tensor;

std::string shard::functionOf(StringRef name, ArrayRef<std::string> arguments, StringRef body, StringRef results,
                              StringRef types) {
  std::string text = ("func.func @" + name + "(").str();
  for (auto [i, argument] : llvm::enumerate(arguments))
    text += (i ? ", %" : "%") + std::to_string(i) + ": " + argument;
  return text + ") -> (" + types.str() + ") {\n" + body.str() + "\nreturn " + results.str() + " : " + types.str() +
         "\n}\n";
}

std::string shard::sampleOf(ArrayRef<std::string> arguments, StringRef body, StringRef results, StringRef types) {
  return functionOf("op", arguments, body, results, types);
}

std::string shard::sampleOf(ArrayRef<std::string> arguments, StringRef body, StringRef type) {
  return sampleOf(arguments, body, "%y", type);
}

namespace {

const std::string x = "tensor<4x8xf64>", b = "tensor<4x8xi1>", rows = "tensor<4x8x6xf64>",
                  ids = "tensor<2x3xi64> {graph.limit = 8 : i64}";

void addElementwise(std::vector<std::string> &samples) {
  for (const PlainOp &plain : getPlainOps()) {
    const std::string &type = plain.isLogical ? b : x;
    samples.push_back(sampleOf(std::vector<std::string>(plain.operands, type), plain.text(type), type));
  }
  samples.push_back(sampleOf({x}, "%y = graph.scale %0 by 2 over 3 : " + x, x));
  samples.push_back(sampleOf({x, b},
                             "%d = graph.cast %1 : " + b + " -> " + x + "\n%q = graph.div %0, %d : " + x +
                                 "\n%y = graph.is_nan %q : " + x + " -> " + b,
                             b));
  samples.push_back(sampleOf({x}, "%y = graph.cast %0 : " + x + " -> tensor<4x8xf32>", "tensor<4x8xf32>"));
  samples.push_back(sampleOf({x, x}, "%y = graph.compare lt %0, %1 : " + x + " -> " + b, b));
  samples.push_back(sampleOf({b, x, x}, "%y = graph.select %0, %1, %2 : " + b + ", " + x, x));
  samples.push_back(sampleOf({x}, "%y = graph.gelu tanh %0 : " + x, x));
  samples.push_back(sampleOf({x, x}, "%y = graph.gelu_backward erf %0, %1 : " + x, x));
  const std::string zero =
      "%s = graph.constant dense<0.0> : tensor<f64>\n%z = graph.broadcast %s : tensor<f64> -> " + x;
  samples.push_back(sampleOf({b, x}, zero + "\n%y = graph.select %0, %1, %z : " + b + ", " + x, x));
  samples.push_back(sampleOf({b, x}, zero + "\n%y = graph.select %0, %z, %1 : " + b + ", " + x, x));
}

void addShape(std::vector<std::string> &samples) {
  auto unary = [&](StringRef from, StringRef how, StringRef to) {
    samples.push_back(sampleOf({from.str()}, ("%y = graph." + how + " : " + from + " -> " + to).str(), to));
  };
  samples.push_back(sampleOf({}, "%y = graph.constant dense<2.0> : " + x, x));
  samples.push_back(sampleOf({}, "%y = graph.iota dim 1 : tensor<4x8xi64>", "tensor<4x8xi64>"));
  unary("tensor<8xf64>", "broadcast %0", x);
  unary("tensor<4x1xf64>", "broadcast %0", "tensor<2x4x8xf64>");
  unary("tensor<4x24xf64>", "reshape %0", "tensor<4x3x8xf64>");
  unary("tensor<2x8x4xf64>", "reshape %0", "tensor<16x4xf64>");
  unary("tensor<2x8x4xf64>", "reshape %0", "tensor<2x1x8x2x2xf64>");
  unary(rows, "transpose %0 [2, 0, 1]", "tensor<6x4x8xf64>");
  unary("tensor<4x24xf64>", "slice %0 from [0, 8] by [1, 1]", "tensor<4x8xf64>");
  unary("tensor<4x24xf64>", "slice %0 from [1, 8] by [2, 1]", "tensor<2x16xf64>");
  unary(rows, "reduce sum %0 dims [0, 2]", "tensor<8xf64>");
  unary(rows, "reduce max %0 dims [1]", "tensor<4x6xf64>");
  samples.push_back(sampleOf({x, "tensor<4x16xf64>"},
                             "%y = graph.concat %0, %1 dim 1 : (" + x + ", tensor<4x16xf64>) -> tensor<4x24xf64>",
                             "tensor<4x24xf64>"));
  samples.push_back(sampleOf({x},
                             "%z = graph.constant dense<0.0> : tensor<f64>\n"
                             "%y = graph.pad %0, %z low [0, 1] high [0, 3] : (" +
                                 x + ", tensor<f64>) -> tensor<4x12xf64>",
                             "tensor<4x12xf64>"));
  samples.push_back(sampleOf(
      {x, "tensor<f64>"}, "%y = graph.pad %0, %1 low [1, 0] high [0, 0] : (" + x + ", tensor<f64>) -> tensor<5x8xf64>",
      "tensor<5x8xf64>"));
}

void addIndexed(std::vector<std::string> &samples) {
  std::string plain = "tensor<2x3xi64>";
  samples.push_back(
      sampleOf({"tensor<4x8x2xf64>", ids},
               "%y = graph.gather %0, %1 dim 1 : (tensor<4x8x2xf64>, " + plain + ") -> tensor<4x2x3x2xf64>",
               "tensor<4x2x3x2xf64>"));
  samples.push_back(sampleOf({"tensor<7x2xf64>", "tensor<2x3xi64> {graph.limit = 7 : i64}"},
                             "%y = graph.gather %0, %1 dim 0 : (tensor<7x2xf64>, " + plain + ") -> tensor<2x3x2xf64>",
                             "tensor<2x3x2xf64>"));
  samples.push_back(
      sampleOf({"tensor<2x3xi64> {graph.limit = 5 : i64}", "tensor<2x3x4xf64>"},
               "%y = graph.scatter_add %0, %1 dim 0 : (" + plain + ", tensor<2x3x4xf64>) -> tensor<5x4xf64>",
               "tensor<5x4xf64>"));
  std::string places = "tensor<4x3xi64>", limited = "tensor<4x3xi64> {graph.limit = 8 : i64}";
  samples.push_back(
      sampleOf({"tensor<2x4x8xf64>", limited},
               "%y = graph.gather_elements %0, %1 dim 2 : (tensor<2x4x8xf64>, " + places + ") -> tensor<2x4x3xf64>",
               "tensor<2x4x3xf64>"));
  samples.push_back(sampleOf({limited, "tensor<2x4x3xf64>"},
                             "%y = graph.scatter_elements_add %0, %1 dim 2 : (" + places +
                                 ", tensor<2x4x3xf64>) -> tensor<2x4x8xf64>",
                             "tensor<2x4x8xf64>"));
  samples.push_back(
      sampleOf({"tensor<2x3xi64> {graph.limit = 4 : i64}", "tensor<6x2x3x8xf64>"},
               "%y = graph.scatter_add %0, %1 dim 1 : (tensor<2x3xi64>, tensor<6x2x3x8xf64>) -> tensor<6x4x8xf64>",
               "tensor<6x4x8xf64>"));
  for (const std::string kind : {"last", "max"}) {
    samples.push_back(sampleOf({"tensor<2x4x8xf64>", limited, "tensor<2x4x3xf64>"},
                               "%y = graph.scatter_elements " + kind + " %0, %1, %2 dim 2 : (tensor<2x4x8xf64>, " +
                                   places + ", tensor<2x4x3xf64>) -> tensor<2x4x8xf64>",
                               "tensor<2x4x8xf64>"));
    samples.push_back(
        sampleOf({"tensor<5x4xf64>", "tensor<3x1xi64> {graph.limit = 5 : i64}", "tensor<3x4xf64>"},
                 "%y = graph.scatter_elements " + kind +
                     " %0, %1, %2 dim 0 : (tensor<5x4xf64>, tensor<3x1xi64>, tensor<3x4xf64>) -> tensor<5x4xf64>",
                 "tensor<5x4xf64>"));
  }
  std::string logits = "tensor<2x3x7xf64>", labels = "tensor<2x3xi64>",
              type = "tensor<f64>, tensor<i64>, tensor<2x3xf64>";
  samples.push_back(
      sampleOf({logits, "tensor<2x3xi64> {graph.limit = 7 : i64}"},
               "%s, %c, %l = graph.cross_entropy %0, %1 ignore 3 : (" + logits + ", " + labels + ") -> (" + type + ")",
               "%s, %c, %l", type));
  samples.push_back(sampleOf({logits, "tensor<2x3xi64> {graph.limit = 7 : i64}", "tensor<f64>"},
                             "%s, %c, %l = graph.cross_entropy %0, %1 ignore 3 : (" + logits + ", " + labels +
                                 ") -> (" + type + ")\n%y = graph.cross_entropy_backward %0, %1, %l, %2 ignore 3 : (" +
                                 logits + ", " + labels + ", tensor<2x3xf64>, tensor<f64>) -> " + logits,
                             logits));
}

void addNamed(std::vector<std::string> &samples) {
  samples.push_back(
      sampleOf({"tensor<2x4x8xf64>", "tensor<8x6xf64>"},
               "%y = graph.contract \"abc,cd->abd\" %0, %1 : (tensor<2x4x8xf64>, tensor<8x6xf64>) -> tensor<2x4x6xf64>",
               "tensor<2x4x6xf64>"));
  samples.push_back(sampleOf(
      {"tensor<4x2x8xf64>", "tensor<4x8x2xf64>"},
      "%y = graph.contract \"abc,acd->abd\" %0, %1 : (tensor<4x2x8xf64>, tensor<4x8x2xf64>) -> tensor<4x2x2xf64>",
      "tensor<4x2x2xf64>"));
  samples.push_back(sampleOf({rows}, "%y = graph.softmax %0 : " + rows, rows));
  std::string w = "tensor<6xf64>", r = "tensor<4x8xf64>";
  samples.push_back(sampleOf({rows, w, w},
                             "%y, %m, %s = graph.layer_norm %0, %1, %2 {epsilon = 0.1 : f64} : (" + rows + ", " + w +
                                 ", " + w + ") -> (" + rows + ", " + r + ", " + r + ")",
                             "%y, %m, %s", rows + ", " + r + ", " + r));
  samples.push_back(sampleOf({rows, w, r, r, rows},
                             "%y = graph.layer_norm_backward %0, %1, %2, %3, %4 : (" + rows + ", " + w + ", " + r +
                                 ", " + r + ", " + rows + ") -> " + rows,
                             rows));
  samples.push_back(sampleOf({rows, r, r, rows},
                             "%y, %z = graph.layer_norm_weight_backward %0, %1, %2, %3 : (" + rows + ", " + r + ", " +
                                 r + ", " + rows + ") -> (" + w + ", " + w + ")",
                             "%y, %z", w + ", " + w));
  samples.push_back(sampleOf({rows, w},
                             "%y, %s = graph.rms_norm %0, %1 {epsilon = 0.1 : f64} : (" + rows + ", " + w + ") -> (" +
                                 rows + ", " + r + ")",
                             "%y, %s", rows + ", " + r));
  samples.push_back(sampleOf({rows, w, r, rows},
                             "%y = graph.rms_norm_backward %0, %1, %2, %3 : (" + rows + ", " + w + ", " + r + ", " +
                                 rows + ") -> " + rows,
                             rows));
  samples.push_back(
      sampleOf({rows, r, rows},
               "%y = graph.rms_norm_weight_backward %0, %1, %2 : (" + rows + ", " + r + ", " + rows + ") -> " + w, w));
}

/// Four heads, as many groups or fewer; a bias of some shape, or none; with or without dropout.
void addAttention(std::vector<std::string> &samples, StringRef groups, StringRef bias = "", bool drops = false) {
  std::string q = "tensor<2x3x4x2xf64>", k = ("tensor<2x3x" + groups + "x2xf64>").str(), l = "tensor<2x4x3xf64>";
  std::vector<std::pair<std::string, std::string>> beside; // what stands before an operand, and its type
  if (!bias.empty())
    beside.push_back({" bias %", ("tensor<" + bias + "x3x3xf64>").str()});
  if (drops)
    beside.push_back({" dropping 0.5 by %", "tensor<2x4x3xi64>"});
  auto named = [&](unsigned first) {
    std::string text;
    for (auto &[words, type] : beside)
      text += words + std::to_string(first++);
    return text;
  };
  std::vector<std::string> given{q, k, k}, all{q, k, k, q, l, q};
  std::string typesBeside, namesBeside;
  for (auto [number, each] : llvm::enumerate(beside)) {
    given.push_back(each.second), all.push_back(each.second);
    typesBeside += ", " + each.second, namesBeside += ", %" + std::to_string(3 + number);
  }
  std::string call = "%y, %l = graph.attention causal %0, %1, %2" + named(3) + " scale 0.5 : (" + q + ", " + k + ", " +
                     k + typesBeside + ") -> (" + q + ", " + l + ")";
  samples.push_back(sampleOf(given, call, "%y, %l", q + ", " + l));
  std::vector<std::string> prepared = given;
  prepared.push_back(q);
  std::string types = q + ", " + k + ", " + k + ", " + q + ", " + l + ", " + q + typesBeside;
  std::string dout = "%" + std::to_string(given.size());
  samples.push_back(functionOf("prepare", prepared, call, "%0, %1, %2, %y, %l, " + dout + namesBeside, types) +
                    sampleOf(all,
                             "%a, %b, %c = graph.attention_backward causal %0, %1, %2, %3, %4, %5" + named(6) +
                                 " scale 0.5 : (" + types + ") -> (" + q + ", " + k + ", " + k + ")",
                             "%a, %b, %c", q + ", " + k + ", " + k));
}

dist::LayoutAttr attributeOf(MLIRContext *context, ArrayRef<int64_t> shape, const Layout &layout, int64_t tp) {
  if (!layout.isSplit())
    return {};
  return dist::LayoutAttr::get(context, DenseI64ArrayAttr::get(context, shape), layout.dim, layout.outer,
                               partsGroup(context, Layout(), layout, tp));
}

} // namespace

std::vector<std::string> shard::getSamples() {
  std::vector<std::string> samples;
  addElementwise(samples);
  addShape(samples);
  addIndexed(samples);
  addNamed(samples);
  addAttention(samples, "4");
  addAttention(samples, "2");
  addAttention(samples, "4", "2x4");
  addAttention(samples, "2", "1x1");
  addAttention(samples, "4", "", /*drops=*/true);
  addAttention(samples, "2", "2x4", /*drops=*/true);
  addWindows(samples);
  addUpdates(samples);
  return samples;
}

Datum<Field> shard::localOf(MLIRContext *context, const Datum<Field> &global, const Layout &layout, int64_t tp,
                            int64_t rank, StringRef key) {
  int64_t copies = tp / layout.parts, part = rank / copies, copy = rank % copies;
  return std::visit(
      [&](auto &whole) -> Datum<Field> {
        using T = std::decay_t<decltype(whole)>;
        T piece = interpret::pieceOf(whole, attributeOf(context, whole.shape, layout, tp), part);
        if constexpr (std::is_same_v<T, Tensor<Field>>) {
          auto term = [&](int64_t i) {
            return interpret::randomTensor<Field>(piece.shape, (key + "/" + Twine(part)).str(), 1000 + i);
          };
          if (layout.isPartial && copy > 0)
            return term(copy);
          for (int64_t i = 1; layout.isPartial && i < copies; ++i)
            for (auto [element, other] : llvm::zip(piece.elements, term(i).elements))
              element = element - other;
        }
        return piece;
      },
      global);
}

bool shard::isLaidOut(MLIRContext *context, ArrayRef<Datum<Field>> ranks, const Datum<Field> &global,
                      const Layout &layout, int64_t tp) {
  int64_t copies = tp / layout.parts;
  return std::visit(
      [&](auto &whole) {
        using T = std::decay_t<decltype(whole)>;
        dist::LayoutAttr attribute = attributeOf(context, whole.shape, layout, tp);
        for (int64_t rank = 0; rank < tp; rank += layout.isPartial ? copies : 1) {
          Datum<Field> piece = ranks[rank];
          for (int64_t copy = 1; layout.isPartial && copy < copies; ++copy)
            interpret::addTo<Field>(piece, ranks[rank + copy]);
          T found = whole;
          if (std::get<T>(piece).shape != interpret::Shape(localShape(whole.shape, layout)))
            return false;
          interpret::placePiece(found, std::get<T>(piece), attribute, rank / copies);
          for (auto [a, b] : llvm::zip(found.elements, whole.elements))
            if (!(a == b || (interpret::isUndefined(a) && interpret::isUndefined(b))))
              return false;
        }
        return true;
      },
      global);
}

std::vector<Layout> shard::layoutsOf(ArrayRef<int64_t> shape, int64_t tp) {
  std::vector<Layout> layouts{Layout::replicated(), Layout::partial()};
  for (auto [dim, size] : llvm::enumerate(shape))
    for (int64_t outer = 1; outer <= size; ++outer)
      for (int64_t parts = 2; parts <= tp; ++parts) {
        Layout layout = Layout::split(dim, outer, parts);
        if (tp % parts != 0 || size % outer != 0 || (outer > 1 && !isEven(shape, layout)))
          continue;
        layouts.push_back(layout);
        if (parts < tp)
          layouts.push_back(layout.unsummed());
      }
  return layouts;
}
