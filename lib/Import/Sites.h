// Sites: nodes of the file that draw random numbers in each step. They are numbered from 0 in the order of the file,
// those that nothing reads included, so a site's numbers do not depend on what the compiler removes.
//
// Element e of a site belongs to a sample, a row of the global batch, and to a place within that row:
//
//     e = sample x (elements of a row) + place,   place: row-major in the node's shape without the batch
//
// So ranks, micro-batches, chunks of the loss and a second computation draw the same numbers for a row
// (include/xlc/Runtime/Philox.h has the words). The numbers of a micro-batch's samples are an input that no file gives.
#ifndef XLC_IMPORT_SITES_H
#define XLC_IMPORT_SITES_H

#include "Importer.h"
#include "SampleRows.h"

namespace xlc::onnx {

/// The sites of a model at another batch. A tensor of known elements, as stochastic depth draws from, follows from no
/// input: which of its dimensions is the batch shows where the batch has another size.
struct SitesElsewhere {
  int64_t rows = 0;
  std::vector<Site> sites;
};

class Sites {
public:
  /// `rows`: samples of a micro-batch. `dropsNothing`: the spec leaves out dropouts. Without `elsewhere`, a dimension
  /// that `rows` divides is taken for the batch where nothing else tells.
  Sites(const Model &model, int64_t rows, bool dropsNothing, const SitesElsewhere *elsewhere);

  /// The number of the next site, which is that of the node.
  int64_t add(const NodeImport &n, llvm::ArrayRef<int64_t> shape, std::optional<double> ratio = std::nullopt);
  /// All so far.
  const std::vector<Site> &list() const { return sites; }
  bool dropsNothing() const { return isOff; }
  /// Whether a Dropout without training_mode drops: where another node of the file trains, the exporter forgot it.
  bool isTraining() const { return trains; }

  /// 32 random bits for each element of a site, whose rows are those of `like` (null: a tensor of known elements).
  /// Null, and a problem at the node, where the rows of `like` cannot be followed. `places` maps the elements' numbers
  /// to those that are drawn.
  using Places = llvm::function_ref<mlir::Value(graph::Formula &, mlir::Value)>;
  mlir::Value draw(NodeImport &n, int64_t site, mlir::Value like, llvm::ArrayRef<int64_t> shape, Places places);

private:
  SampleRows::Lie ofShape(int64_t site, llvm::ArrayRef<int64_t> shape) const;
  mlir::Value index(NodeImport &n, const SampleRows::Lie &of, llvm::ArrayRef<int64_t> shape);

  int64_t rows;
  SampleRows lies;
  std::vector<Site> sites;
  bool isOff, trains;
  const SitesElsewhere *elsewhere;
};

} // namespace xlc::onnx

#endif
