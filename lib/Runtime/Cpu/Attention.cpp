// See Attention.h. Tiles are up to 64 queries x 128 keys: a tile of scores (32 kB) and the packed panels of its
// operands stay in L2.
//
//   forward item  = (sample, head, up to 256 queries)         backward item = (sample, group)
//     for each block of keys: pack K^T, V                        for each block of keys: pack K^T, K, V^T
//       for each tile of queries:                                  for each head of the group, tile of queries:
//         S = Q K^T; running softmax; O += P V                       P from S, lse; dV += P^T dO; dS;
//                                                                    dK += dS^T Q; dQ += dS K
//
// If probabilities are dropped, P is masked before it is multiplied by V or dO, and dO V^T before dS is computed from
// it. P in dS, and the sums of rows, use all probabilities.
//
// Operands of sixteen bits are converted to floats when they are packed, or a tile at a time. The exceptions are Q K^T
// and dO V^T if the processor multiplies bf16 (AttentionProducts.h). Sums over several tiles are kept as separate
// floats (with float results, in the results themselves) and are rounded once.
#include "Attention.h"

#include "AttentionDropout.h"
#include "AttentionProducts.h"
#include "AttentionRows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace xlc::runtime {
namespace {

constexpr int64_t queryTile = 64, queryChunk = 256;

int64_t roundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }
int64_t ceilDiv(int64_t value, int64_t by) { return (value + by - 1) / by; }

/// Cuts scratch in arrays that begin on cache lines; with a null base it only counts.
class Scratch {
public:
  explicit Scratch(char *base) : base(base) {}
  float *take(int64_t floats) {
    float *result = base ? (float *)(base + used) : nullptr;
    used += roundUp(floats * 4, 64);
    return result;
  }
  int64_t bytes() const { return used; }

private:
  char *base;
  int64_t used = 0;
};

/// Some keys, [begin, end).
struct Keys {
  int64_t begin, end;

  /// Those among the block [j, j + count), counted from j.
  Keys within(int64_t j, int64_t count) const {
    Keys keys{std::clamp<int64_t>(begin - j, 0, count), std::clamp<int64_t>(end - j, 0, count)};
    return {std::min(keys.begin, keys.end), keys.end};
  }
};

/// Keys that query `i` may see as far as causality and the window go.
Keys visibleKeys(const AttentionShape &s, int64_t i) {
  int64_t begin = s.window ? std::max<int64_t>(0, i - s.window + 1) : 0;
  int64_t end = s.causal ? i + 1 : s.window ? i + s.window : s.keys;
  return {begin, std::min(end, s.keys)};
}

/// What any of the queries [i, i + rows) may see.
Keys visibleKeys(const AttentionShape &s, int64_t i, int64_t rows) {
  return {visibleKeys(s, i).begin, visibleKeys(s, i + rows - 1).end};
}

/// Queries of the tile from `i` and the block of keys from `j`: half as many where each of them sees more keys than the
/// one before, so that less is computed that none of them sees.
int64_t tileRows(const AttentionShape &s, int64_t i, int64_t j) {
  return s.causal && i < j + keyBlock ? queryTile / 2 : queryTile;
}

constexpr float infinity = std::numeric_limits<float>::infinity();
/// The log-sum-exp of queries that attend to all keys alike; that of queries without any key is -infinity.
constexpr double uniformLse = std::numeric_limits<float>::lowest();
bool hasNoKey(double lse) { return lse <= forbiddenScore; }

/// Floats of scratch that only operands of sixteen bits need.
int64_t ifNarrow(const AttentionShape &s, int64_t floats) { return s.type == FloatType::F32 ? 0 : floats; }

struct ForwardScratch {
  float *keys, *values, *scores, *sums, *maximum, *total, *queries;
  ForwardScratch(const AttentionShape &s, Scratch &scratch) {
    int64_t block = std::min(keyBlock, roundUp(s.keys, panelWidth)), chunk = std::min(queryChunk, s.queries);
    keys = scratch.take(panelFloats(s.d, block));
    values = scratch.take(panelFloats(block, s.e));
    scores = scratch.take(std::min(queryTile, chunk) * block);
    sums = scratch.take(chunk * s.e);
    maximum = scratch.take(chunk);
    total = scratch.take(chunk);
    queries = scratch.take(ifNarrow(s, std::min(queryTile, chunk) * s.d));
  }
};

/// Where an item's vectors begin.
template <class T> struct Head {
  const T *q, *k, *v, *dout = nullptr;
  T *out, *dq = nullptr, *dk = nullptr, *dv = nullptr; ///< dout, dq, dk and dv: of backward
  double *lse;
  const char *bias;       ///< of query 0, key 0; null without
  const HeadDraws *draws; ///< null: no probability is dropped
  Head(const AttentionShape &s, const AttentionOperands &o, int64_t sample, int64_t head) {
    int64_t group = head / (s.heads / s.groups);
    q = (const T *)o.q + sample * s.q.batch + head * s.q.head;
    k = (const T *)o.k + sample * s.k.batch + group * s.k.head;
    v = (const T *)o.v + sample * s.v.batch + group * s.v.head;
    out = (T *)o.out + sample * s.out.batch + head * s.out.head;
    lse = o.lse + (sample * s.heads + head) * s.queries;
    int64_t biasBytes = s.biasKind == AttentionBias::Add ? sizeof(float) : 1;
    bias = (const char *)o.bias + (sample * s.bias.batch + head * s.bias.head) * biasBytes;
    draws = s.ratio > 0 ? o.draws + sample * s.heads + head : nullptr;
    if (!s.backward)
      return;
    dout = (const T *)o.dout + sample * s.dout.batch + head * s.dout.head;
    dq = (T *)o.dq + sample * s.dq.batch + head * s.dq.head;
    dk = (T *)o.dk + sample * s.dk.batch + group * s.dk.head;
    dv = (T *)o.dv + sample * s.dv.batch + group * s.dv.head;
  }
};

/// Scales the products of query `i` with the keys [j, j + count), adds the bias, and forbids what is not seen; returns
/// the factor that is left for later (1 where there is a bias).
float maskRow(const AttentionShape &s, const char *bias, float *scores, Keys seen, int64_t i, int64_t j) {
  std::fill(scores, scores + seen.begin, -infinity);
  if (s.biasKind == AttentionBias::None)
    return (float)s.scale;
  int64_t at = i * s.bias.query + j;
  if (s.biasKind == AttentionBias::Add)
    addBiasRow(scores, seen.end, (float)s.scale, (const float *)bias + at);
  else
    allowRow(scores, seen.end, (float)s.scale, (const uint8_t *)bias + at);
  return 1;
}

/// One tile of `rows` queries from `i` (chunk-relative `r`) against the packed block of keys [j, j + count).
template <class T>
void forwardTile(const AttentionShape &s, const Head<T> &head, const ForwardScratch &w, int64_t i, int64_t r,
                 int64_t rows, int64_t j, int64_t count) {
  Keys tile = visibleKeys(s, i, rows).within(j, count);
  int64_t seen = tile.end, padded = roundUp(seen, panelWidth);
  if (tile.begin == tile.end)
    return;
  Rows<const T> q{head.q + i * s.q.position, s.q.position};
  multiplyColumns(s, q, rows, s.d, w.keys, padded, w.scores, w.queries);
  for (int64_t row = 0; row < rows; ++row) {
    Keys keys = visibleKeys(s, i + row).within(j, count);
    float *scores = w.scores + row * padded, *sums = w.sums + (r + row) * s.e;
    int64_t end = keys.begin == keys.end ? 0 : roundUp(keys.end, rowLanes);
    std::fill(scores + end, scores + padded, 0.0f);
    if (end == 0)
      continue;
    float scale = maskRow(s, head.bias, scores, keys, i + row, j);
    float factor = softmaxRow(scores, keys.end, end, scale, w.maximum[r + row], w.total[r + row]);
    if (factor != 1)
      scaleRow(sums, sums, s.e, factor);
    Dropping(s, head.draws, i + row, j, keys.end).apply(scores);
  }
  multiplyPanels(w.scores, padded, 1, {w.values, count}, rows, s.e, depthOf(s, seen), w.sums + r * s.e, s.e, true);
}

/// Adds the values of all keys that query `i`, which attends to all alike, keeps.
template <class T> void addValues(const AttentionShape &s, const Head<T> &head, int64_t i, float *out) {
  for (int64_t j = 0; j < s.keys; j += keyBlock) {
    int64_t count = std::min(keyBlock, s.keys - j);
    float weights[keyBlock];
    std::fill_n(weights, count, 1.0f);
    Dropping(s, head.draws, i, j, count).apply(weights);
    for (int64_t key = 0; key < count; ++key)
      for (int64_t x = 0; x < s.e; ++x)
        out[x] += weights[key] * head.v[(j + key) * s.v.position + x];
  }
}

/// out and lse of query `i`, row `r` of the chunk, once all keys were there.
template <class T>
void finishRow(const AttentionShape &s, const Head<T> &head, const ForwardScratch &w, int64_t i, int64_t r) {
  T *to = head.out + i * s.out.position;
  float *sums = w.sums + r * s.e, maximum = w.maximum[r];
  Rows<float> out = sumRows(to, s.out.position, s.e, sums);
  if (maximum > forbiddenScore) {
    scaleRow(sums, out.data, s.e, 1 / w.total[r]);
    head.lse[i] = maximum + std::log((double)w.total[r]);
  } else {
    bool isUniform = s.uniform || maximum > -infinity;
    head.lse[i] = isUniform ? uniformLse : -infinity;
    clearRows(out, 1, s.e);
    if (isUniform)
      addValues(s, head, i, out.data);
    scaleRow(out.data, out.data, s.e, 1.0f / (float)s.keys);
  }
  finishRows(out, 1, s.e, to, s.out.position);
}

template <class T>
void forwardItem(const AttentionShape &s, const AttentionOperands &operands, int64_t item, char *base) {
  int64_t chunks = ceilDiv(s.queries, queryChunk);
  int64_t sample = item / chunks / s.heads, begin = item % chunks * queryChunk;
  int64_t rows = std::min(queryChunk, s.queries - begin);
  Head<T> head(s, operands, sample, item / chunks % s.heads);
  Scratch scratch(base);
  ForwardScratch w(s, scratch);
  std::fill(w.sums, w.sums + rows * s.e, 0.0f);
  std::fill(w.maximum, w.maximum + rows, -infinity);
  std::fill(w.total, w.total + rows, 0.0f);
  Keys visible = visibleKeys(s, begin, rows);
  for (int64_t j = visible.begin / keyBlock * keyBlock; j < visible.end; j += keyBlock) {
    int64_t count = std::min(keyBlock, s.keys - j);
    packColumns(s, head.k + j * s.k.position, s.k.position, s.d, count, w.keys);
    packPanels(head.v + j * s.v.position, s.v.position, 1, count, s.e, w.values);
    for (int64_t r = 0, some; r < rows; r += some) {
      some = std::min(tileRows(s, begin + r, j), rows - r);
      forwardTile(s, head, w, begin + r, r, some, j, count);
    }
  }
  for (int64_t r = 0; r < rows; ++r)
    finishRow(s, head, w, begin + r, r);
}

struct BackwardScratch {
  float *keysT, *keys, *valuesT, *queries, *douts, *p, *ds, *delta;
  float *aside, *dq, *dk, *dv; ///< of sixteen bits: a tile as floats, sums of all heads, sums of a block of keys
  BackwardScratch(const AttentionShape &s, Scratch &scratch) {
    int64_t block = std::min(keyBlock, roundUp(s.keys, panelWidth)), rows = std::min(queryTile, s.queries);
    keysT = scratch.take(panelFloats(s.d, block));
    keys = scratch.take(panelFloats(block, s.d));
    valuesT = scratch.take(panelFloats(s.e, block));
    queries = scratch.take(panelFloats(rows, s.d));
    douts = scratch.take(panelFloats(rows, s.e));
    p = scratch.take(rows * block);
    ds = scratch.take(rows * block);
    delta = scratch.take(s.heads / s.groups * s.queries);
    aside = scratch.take(ifNarrow(s, rows * std::max(s.d, s.e)));
    dq = scratch.take(ifNarrow(s, s.heads / s.groups * s.queries * s.d));
    dk = scratch.take(ifNarrow(s, block * s.d));
    dv = scratch.take(ifNarrow(s, block * s.e));
  }
};

/// One of the heads that share keys and values.
template <class T> struct HeadOfGroup : Head<T> {
  int64_t number; ///< among them
};

/// Sums of dq of a head, and of dk and dv of the block of keys from j.
template <class T> Rows<float> dqOf(const AttentionShape &s, const HeadOfGroup<T> &head, const BackwardScratch &w) {
  return sumRows(head.dq, s.dq.position, s.d, w.dq + head.number * s.queries * s.d);
}
template <class T> Rows<float> dkOf(const AttentionShape &s, const Head<T> &head, const BackwardScratch &w, int64_t j) {
  return sumRows(head.dk + j * s.dk.position, s.dk.position, s.d, w.dk);
}
template <class T> Rows<float> dvOf(const AttentionShape &s, const Head<T> &head, const BackwardScratch &w, int64_t j) {
  return sumRows(head.dv + j * s.dv.position, s.dv.position, s.e, w.dv);
}

/// Turns a row of products into probabilities, and dout V^T into the gradient of the products.
template <class T>
void backwardRow(const AttentionShape &s, const Head<T> &head, float *p, float *ds, Keys seen, int64_t padded,
                 float delta, int64_t i, int64_t j, int64_t count) {
  double lse = head.lse[i];
  bool isUniform = lse == uniformLse, isConstant = hasNoKey(lse) && !(isUniform && s.added);
  int64_t attended = isUniform ? count : hasNoKey(lse) ? 0 : seen.end, end = roundUp(attended, rowLanes);
  std::fill(p + attended, p + padded, 0.0f), std::fill(ds + (isConstant ? 0 : end), ds + padded, 0.0f);
  if (isUniform)
    std::fill(p, p + attended, 1.0f / (float)s.keys);
  else if (!isConstant)
    probabilitiesRow(p, attended, end, maskRow(s, head.bias, p, seen, i, j), lse);
  Dropping dropping(s, head.draws, i, j, attended);
  if (isConstant) // no gradient reaches the scores
    return dropping.apply(p);
  dropping.apply(ds);
  // Gradients of a row's scores sum to zero. Where the row is all here, the mean that they are taken from is exact
  // enough to keep that; the rounding of dout * out would be common to the row, and add up in dq and dk.
  bool isWhole = j == 0 && count == s.keys;
  scoreGradientRow(p, ds, end, isWhole ? meanRow(p, ds, end) : delta, (float)s.scale);
  dropping.apply(p);
}

/// Adds what one tile of queries, from `i`, and the packed block of keys [j, j + count) contribute.
template <class T>
void backwardTile(const AttentionShape &s, const HeadOfGroup<T> &head, const BackwardScratch &w, int64_t i,
                  int64_t rows, int64_t j, int64_t count) {
  bool isAnyUniform = std::any_of(head.lse + i, head.lse + i + rows, [](double lse) { return lse == uniformLse; });
  Keys tile = isAnyUniform ? Keys{0, count} : visibleKeys(s, i, rows).within(j, count);
  int64_t seen = tile.end, padded = roundUp(seen, panelWidth);
  if (tile.begin == tile.end)
    return;
  Rows<const T> q{head.q + i * s.q.position, s.q.position};
  Rows<const T> dout{head.dout + i * s.dout.position, s.dout.position};
  Rows<float> dq = dqOf(s, head, w), dk = dkOf(s, head, w, j), dv = dvOf(s, head, w, j);
  multiplyColumns(s, q, rows, s.d, w.keysT, padded, w.p, w.aside);
  multiplyColumns(s, dout, rows, s.e, w.valuesT, padded, w.ds, w.aside);
  for (int64_t row = 0; row < rows; ++row)
    backwardRow(s, head, w.p + row * padded, w.ds + row * padded, visibleKeys(s, i + row).within(j, count), padded,
                w.delta[head.number * s.queries + i + row], i + row, j, count);
  packPanels(dout.data, dout.stride, 1, rows, s.e, w.douts);
  multiplyPanels(w.p, 1, padded, {w.douts, rows}, seen, s.e, depthOf(s, rows), dv.data, dv.stride, true);
  packPanels(q.data, q.stride, 1, rows, s.d, w.queries);
  multiplyPanels(w.ds, 1, padded, {w.queries, rows}, seen, s.d, depthOf(s, rows), dk.data, dk.stride, true);
  multiplyPanels(w.ds, padded, 1, {w.keys, count}, rows, s.d, depthOf(s, seen), dq.data + i * dq.stride, dq.stride,
                 true);
}

/// delta = rowwise sum of dout * out; dq, to which every block of keys adds, begins at zero.
template <class T> void beginHead(const AttentionShape &s, const HeadOfGroup<T> &head, const BackwardScratch &w) {
  clearRows(dqOf(s, head, w), s.queries, s.d);
  for (int64_t i = 0; i < s.queries; ++i)
    w.delta[head.number * s.queries + i] = dotRow(head.dout + i * s.dout.position, head.out + i * s.out.position, s.e);
}

/// Packs a block of keys and values; dk and dv, to which every tile of queries adds, begin at zero.
template <class T>
void beginKeys(const AttentionShape &s, const Head<T> &head, const BackwardScratch &w, int64_t j, int64_t count) {
  packColumns(s, head.k + j * s.k.position, s.k.position, s.d, count, w.keysT);
  packPanels(head.k + j * s.k.position, s.k.position, 1, count, s.d, w.keys);
  packColumns(s, head.v + j * s.v.position, s.v.position, s.e, count, w.valuesT);
  clearRows(dkOf(s, head, w, j), count, s.d);
  clearRows(dvOf(s, head, w, j), count, s.e);
}

template <class T>
void backwardItem(const AttentionShape &s, const AttentionOperands &operands, int64_t item, char *base) {
  int64_t sample = item / s.groups, perGroup = s.heads / s.groups, group = item % s.groups;
  Scratch scratch(base);
  BackwardScratch w(s, scratch);
  auto headOf = [&](int64_t h) { return HeadOfGroup<T>{{s, operands, sample, group * perGroup + h}, h}; };
  for (int64_t h = 0; h < perGroup; ++h)
    beginHead(s, headOf(h), w);
  for (int64_t j = 0; j < s.keys; j += keyBlock) {
    int64_t count = std::min(keyBlock, s.keys - j);
    Head<T> first = headOf(0);
    beginKeys(s, first, w, j, count);
    for (int64_t h = 0; h < perGroup; ++h)
      for (int64_t i = 0, some; i < s.queries; i += some) {
        some = std::min(tileRows(s, i, j), s.queries - i);
        backwardTile(s, headOf(h), w, i, some, j, count);
      }
    finishRows(dkOf(s, first, w, j), count, s.d, first.dk + j * s.dk.position, s.dk.position);
    finishRows(dvOf(s, first, w, j), count, s.e, first.dv + j * s.dv.position, s.dv.position);
  }
  for (int64_t h = 0; h < perGroup; ++h)
    finishRows(dqOf(s, headOf(h), w), s.queries, s.d, headOf(h).dq, s.dq.position);
}

} // namespace

int64_t attentionItems(const AttentionShape &shape) {
  return shape.backward ? shape.batch * shape.groups : shape.batch * shape.heads * ceilDiv(shape.queries, queryChunk);
}

int64_t attentionScratch(const AttentionShape &shape) {
  Scratch scratch(nullptr);
  if (shape.backward)
    BackwardScratch(shape, scratch);
  else
    ForwardScratch(shape, scratch);
  return scratch.bytes();
}

void runAttention(const AttentionShape &shape, const AttentionOperands &operands, int64_t item, char *scratch) {
  withType(shape.type, [&](auto type) {
    using T = decltype(type)::type;
    if (shape.backward)
      backwardItem<T>(shape, operands, item, scratch);
    else
      forwardItem<T>(shape, operands, item, scratch);
  });
}

int64_t attentionWorkspace(const AttentionShape &shape, int threads) {
  return attentionScratch(shape) * std::min<int64_t>(threads, attentionItems(shape));
}

} // namespace xlc::runtime
