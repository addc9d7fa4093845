// Sites: nodes of the file that draw random numbers in each step. They are numbered from 0 in the order of the file,
// including unused ones, so a site's numbers do not depend on the nodes that the compiler removes.
//
// Element e of a site belongs to a sample, a row of the global batch, and to a position within that row:
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

/// The sites of a model at another batch. A tensor of known elements, from which stochastic depth draws, does not
/// depend on any input: its batch dimension is found by comparison with another batch size.
struct SitesElsewhere {
  int64_t rows = 0;
  std::vector<Site> sites;
};

class Sites {
public:
  /// `rows`: samples of a micro-batch. `dropsNothing`: the spec disables dropouts. Without `elsewhere`, a dimension
  /// that `rows` divides is taken for the batch if there is no other evidence.
  Sites(const Model &model, int64_t rows, bool dropsNothing, const SitesElsewhere *elsewhere);

  /// Adds a site for the node and returns its number.
  int64_t add(const NodeImport &n, llvm::ArrayRef<int64_t> shape, std::optional<double> ratio = std::nullopt);
  /// All so far.
  const std::vector<Site> &list() const { return sites; }
  bool dropsNothing() const { return isOff; }
  /// Whether a Dropout without training_mode drops: if another node of the file is in training mode, the exporter
  /// omitted it.
  bool isTraining() const { return trains; }

  /// 32 random bits for each element of a site, whose rows are those of `like` (null: a tensor of known elements).
  /// Null, and a problem at the node, if the rows of `like` cannot be tracked. `places` maps the elements' numbers to
  /// those that are drawn.
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
