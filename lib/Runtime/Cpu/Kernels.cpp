// See Kernels.h.
#include "Kernels.h"

#include "Plan/Shapes.h"
#include "xlc/Runtime/Workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace xlc::runtime {
namespace {

constexpr uint64_t smallestCall = 64 << 10; // bytes of operands; less is not worth waking a thread for

/// Operands and result of a convolution in the order of the call.
ConvolutionOperands operandsOf(ConvolutionShape::Kind kind, char *const *p) {
  auto f = [&](int i) { return (float *)p[i]; };
  switch (kind) {
  case ConvolutionShape::Kind::Forward:
    return {f(0), f(1), f(2)};
  case ConvolutionShape::Kind::Transpose:
    return {f(2), f(1), f(0)};
  case ConvolutionShape::Kind::WeightBackward:
    return {f(0), f(2), f(1)};
  }
  return {};
}

/// q, k, v [, bias] [, draws], out, lse; in backward q, k, v, out, lse, dout [, bias] [, draws], dq, dk, dv.
AttentionOperands operandsOf(const AttentionShape &shape, char *const *p) {
  int bias = shape.biasKind == AttentionBias::None ? 0 : 1, draws = shape.ratio > 0 ? 1 : 0,
      at = shape.backward ? 6 : 3;
  auto f = [&](int i) { return (void *)p[i < at ? i : i + bias + draws]; };
  const void *biasAt = bias ? p[at] : nullptr;
  const auto *drawsAt = draws ? (const HeadDraws *)p[at + bias] : nullptr;
  double *lse = (double *)f(4);
  if (!shape.backward)
    return {f(0), f(1), f(2), f(3), lse, nullptr, nullptr, nullptr, nullptr, biasAt, drawsAt};
  return {f(0), f(1), f(2), f(3), lse, f(5), f(6), f(7), f(8), biasAt, drawsAt};
}

} // namespace

/// A kernel is prepared at its first call; contractions once for writing and once for adding, as calls demand.
static ScatterIntoShape shapeOf(const plan::ScatterIntoT &s) {
  using Element = ScatterIntoShape::Element;
  return {(ScatterKind)s.kind,
          (int64_t)s.outer,
          (int64_t)s.distinct,
          (int64_t)s.indices,
          (int64_t)s.rows,
          (int64_t)s.width,
          s.per_element,
          s.index == plan::Element::I64,
          s.element == plan::Element::F32   ? Element::F32
          : s.element == plan::Element::I32 ? Element::I32
                                            : Element::I64};
}

void Kernels::prepare(const plan::CallT &call) {
  const plan::KernelT &kernel = *plan.kernels[call.kernel];
  Prepared &ready = prepared[call.kernel];
  int64_t workspace = 0;
  if (const plan::ContractT *contract = kernel.library.AsContract()) {
    ContractShape shape = shapeOf(*contract);
    if (shape.epilogue.hasBeside())
      throw Rejected(
          fmt::format("error: call '{}': for CPUs, the only supported epilogue of a product is a bias", call.name));
    int64_t room = (int64_t)call.workspace_bytes;
    if (call.accumulate[0] != plan::Accumulate::Always && !ready.write)
      ready.write.emplace(shape, pool.size(), false, true, room);
    if (call.accumulate[0] != plan::Accumulate::Never && !ready.add)
      ready.add.emplace(shape, pool.size(), true, true, room);
    for (const std::optional<Contraction> *c : {&ready.write, &ready.add})
      if (*c)
        workspace = std::max(workspace, (*c)->workspace());
  } else if (const plan::AttentionT *attention = kernel.library.AsAttention()) {
    ready.attention = shapeOf(*attention);
    workspace = attentionWorkspace(*ready.attention, pool.size());
  } else if (const plan::ScatterAddT *scatter = kernel.library.AsScatterAdd()) {
    ready.scatter = {(int64_t)scatter->outer,
                     (int64_t)scatter->distinct,
                     (int64_t)scatter->indices,
                     (int64_t)scatter->rows,
                     (int64_t)scatter->width,
                     scatter->per_element,
                     scatter->index == plan::Element::I64,
                     floatOf(scatter->result)};
  } else if (const plan::ScatterIntoT *into = kernel.library.AsScatterInto()) {
    ready.into = shapeOf(*into);
  } else if (const plan::ConvolutionT *convolution = kernel.library.AsConvolution()) {
    ready.convolution = shapeOf(*convolution);
    workspace = convolutionWorkspace(*ready.convolution, pool.size());
  } else if (const plan::MaxPoolT *pool = kernel.library.AsMaxPool()) {
    ready.pool = {pool->backward, (int64_t)pool->planes, dimsOf(pool->dims)};
  } else {
    ready.code = codes[kernel.code], ready.extent = kernel.extent, ready.grain = kernel.grain;
  }
  if (workspace > (int64_t)call.workspace_bytes || (workspace > 0 && call.workspace.empty()))
    throw Rejected(fmt::format("error: call '{}' needs {} bytes of workspace with this machine's libraries, but the "
                               "plan reserves {}: compile the program with these libraries",
                               call.name, workspace, call.workspace_bytes));
}

void Kernels::run(const plan::CallT &call, const CallOperands &given) {
  const Prepared &kernel = prepared[call.kernel];
  if (kernel.code)
    return runCode(kernel, call, given);
  char *const *operands = given.addresses;
  const uint8_t *accumulate = given.accumulate;
  char *workspace = given.workspace;
  if (kernel.attention)
    return runAttentionCall(*kernel.attention, operands, workspace);
  if (const auto &shape = kernel.scatter)
    return pool.run(pool.size(), [&](int part) {
      int64_t rows = shape->outer * shape->rows;
      int64_t begin = rows * part / pool.size(), end = rows * (part + 1) / pool.size();
      scatterAdd(*shape, operands[0], (const float *)operands[1], operands[2], accumulate[0], begin, end);
    });
  if (const auto &shape = kernel.into)
    return pool.run(pool.size(), [&](int part) {
      int64_t rows = shape->outer * shape->rows;
      int64_t begin = rows * part / pool.size(), end = rows * (part + 1) / pool.size();
      scatterInto(*shape, operands[0], operands[1], operands[2], operands[3], begin, end);
    });
  if (kernel.convolution)
    return runConvolutionCall(*kernel.convolution, operands, accumulate[0], workspace);
  if (kernel.pool)
    return runPool(*kernel.pool, operands, accumulate[0]);
  runContraction(accumulate[0] ? *kernel.add : *kernel.write, call, operands, workspace);
}

void Kernels::runCode(const Prepared &kernel, const plan::CallT &call, const CallOperands &operands) {
  uint64_t bytes = 0;
  for (uint64_t some : call.in_bytes)
    bytes += some;
  for (uint64_t some : call.out_bytes)
    bytes += some;
  uint64_t grains = (kernel.extent + kernel.grain - 1) / kernel.grain;
  uint64_t parts = bytes < smallestCall ? 1 : std::min<uint64_t>(grains, pool.size());
  auto runRows = [&](uint64_t begin, uint64_t end) {
    kernel.code(operands.addresses, (int64_t)begin, (int64_t)end, operands.accumulate);
  };
  if (parts <= 1)
    return runRows(0, kernel.extent);
  pool.run((int)parts, [&](int part) {
    uint64_t begin = grains * part / parts * kernel.grain,
             end = std::min(kernel.extent, grains * (part + 1) / parts * kernel.grain);
    if (begin < end)
      runRows(begin, end);
  });
}

void Kernels::runContraction(const Contraction &contraction, const plan::CallT &call, char *const *operands,
                             char *workspace) {
  bool bias = call.ins.size() == 3;
  const char *a = operands[0], *b = operands[1], *added = bias ? operands[2] : nullptr;
  char *y = operands[bias ? 3 : 2];
  for (int64_t piece = 0; piece < contraction.pieces(); ++piece) {
    if (contraction.packs())
      pool.run(contraction.parts(), [&](int part) { contraction.pack(piece, part, b, workspace); });
    pool.run(contraction.parts(), [&](int part) { contraction.run(piece, part, a, b, added, y, workspace); });
  }
}

void Kernels::runConvolutionCall(const ConvolutionShape &shape, char *const *operands, bool add, char *workspace) {
  ConvolutionOperands addresses = operandsOf(shape.kind, operands);
  int64_t items = convolutionItems(shape), scratch = convolutionScratch(shape);
  std::atomic<int64_t> next{0};
  pool.run((int)std::min<int64_t>(pool.size(), items), [&](int part) {
    for (int64_t item; (item = next.fetch_add(1, std::memory_order_relaxed)) < items;)
      runConvolution(shape, addresses, item, add, workspace + part * scratch);
  });
}

void Kernels::runPool(const MaxPoolShape &shape, char *const *operands, bool add) {
  pool.run(pool.size(), [&](int part) {
    int64_t begin = shape.planes * part / pool.size(), end = shape.planes * (part + 1) / pool.size();
    if (shape.backward)
      maxPoolBackward(shape, (const float *)operands[0], (const float *)operands[1], (float *)operands[2], add, begin,
                      end);
    else
      maxPool(shape, (const float *)operands[0], (float *)operands[1], add, begin, end);
  });
}

void Kernels::runAttentionCall(const AttentionShape &shape, char *const *operands, char *workspace) {
  AttentionOperands addresses = operandsOf(shape, operands);
  int64_t items = attentionItems(shape), scratch = attentionScratch(shape);
  std::atomic<int64_t> next{0}; // causal items differ in length: threads take the next one
  pool.run((int)std::min<int64_t>(pool.size(), items), [&](int part) {
    for (int64_t item; (item = next.fetch_add(1, std::memory_order_relaxed)) < items;)
      runAttention(shape, addresses, item, workspace + part * scratch);
  });
}

} // namespace xlc::runtime
