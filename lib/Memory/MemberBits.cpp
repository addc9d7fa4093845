// See MemberBits.h. Values that the elements of a row share have the shape [rows], so that a kernel computes them once
// per row:
//
//     member       the last whose Begin is not above the row's first element
//     j            the row's first element, counted from the member's Begin
//     run, column  j div Width, j mod Width
//
// Element `lane` of the row is then j + lane + (run + over) Skip + Base of the whole parameter; `over` is the number of
// ends of runs that lie within the row before that element.
#include "MemberBits.h"
#include "xlc/Dialect/Graph/Formula.h"
#include "xlc/Runtime/States.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;
using runtime::MemberColumn;
using sched::kMemberAlignment;

MemberForm MemberForm::of(sched::BucketOp bucket) {
  MemberForm form{.count = int64_t(bucket.getMembers().size())};
  for (auto [i, size] : llvm::enumerate(bucket.getSizes())) {
    dist::LayoutAttr layout = sched::getLayout(bucket, int64_t(i));
    if (!layout || size == 0)
      continue;
    ArrayRef<int64_t> shape = layout.getShape();
    uint64_t rest = 1;
    for (int64_t behind : shape.drop_front(layout.getDim() + 1))
      rest *= uint64_t(behind);
    auto cut = runtime::PieceShape::cut(uint64_t(shape[layout.getDim()]), layout.getOuter(),
                                        uint64_t(layout.getGroup().size()), rest);
    int64_t width = int64_t(cut.block * cut.rest);
    form.hasRuns |= size > width;
    form.hasFineRuns |= size > width && width < kMemberAlignment;
  }
  return form;
}

std::string MemberForm::getSuffix() const {
  return "_of_" + std::to_string(count) + (hasFineRuns ? "_in_fine_runs" : hasRuns ? "_in_runs" : "");
}

namespace {

/// Integers of 64 bits; one for each row has the shape [rows], one for each element [rows, kMemberAlignment].
class MemberIndex {
public:
  MemberIndex(OpBuilder &builder, Location loc, const MemberForm &form, Value table, int64_t rows)
      : f(builder, loc, Spelling::Plain), form(form), table(table), i64(builder.getI64Type()), rows(rows) {
    Value first = f.mul(f.iota({rows}, 0), kMemberAlignment);
    findMembers(first);
    fromBegin = f.sub(first, column(MemberColumn::Begin));
  }

  Value getSubsequence() { return toElements(column(MemberColumn::Subsequence)); }

  /// Of each element in its whole parameter.
  Value getIndex() {
    Value lane = f.iota({rows, kMemberAlignment}, 1), inWhole = f.add(fromBegin, column(MemberColumn::Base));
    if (!form.hasRuns)
      return f.add(toElements(inWhole), lane);
    Value width = column(MemberColumn::Width), skip = column(MemberColumn::Skip), run = f.div(fromBegin, width);
    Value inRun = f.add(toElements(f.sub(fromBegin, f.mul(run, width))), lane), over;
    if (form.hasFineRuns)
      over = f.div(inRun, toElements(width));
    else // a run is as long as a row, so at most one ends in it
      over = f.convert(f.compare(Predicate::ge, inRun, toElements(width)), i64);
    Value before = toElements(f.add(inWhole, f.mul(run, skip)));
    return f.add(f.add(before, lane), f.mul(over, toElements(skip)));
  }

  Value toElements(Value perRow) { return f.broadcast(f.reshape(perRow, {rows, 1}), {rows, kMemberAlignment}); }

private:
  /// The column of all members: [members].
  Value entries(MemberColumn which) {
    return f.reshape(f.slice(table, {int64_t(which), 0}, {1, form.count}), {form.count});
  }

  /// The column of each row's member: [rows].
  Value column(MemberColumn which) {
    Value all = entries(which);
    if (!member)
      return f.broadcast(all, {rows});
    return f.gather(all, member, 0);
  }

  /// `member` becomes how many begins are not above the row's first element, less one.
  void findMembers(Value first) {
    if (form.count == 1)
      return;
    SmallVector<int64_t> shape{rows, form.count};
    Value begins = f.broadcast(entries(MemberColumn::Begin), shape);
    Value isBegun = f.compare(Predicate::ge, f.broadcast(f.reshape(first, {rows, 1}), shape), begins);
    member = f.sub(f.sum(f.convert(isBegun, i64), {1}, /*keeps=*/false), 1);
  }

  Formula f;
  const MemberForm &form;
  Value table, member, fromBegin;
  Type i64;
  int64_t rows;
};

} // namespace

Value xlc::createMemberBits(OpBuilder &builder, Location loc, const MemberForm &form, Value table, Value key,
                            int64_t rows) {
  MemberIndex index(builder, loc, form, table, rows);
  auto type = RankedTensorType::get({rows, kMemberAlignment}, builder.getI64Type());
  Value keys = BroadcastOp::create(builder, loc, type, key);
  return RandomBitsOp::create(builder, loc, index.getIndex(), keys, index.getSubsequence());
}
