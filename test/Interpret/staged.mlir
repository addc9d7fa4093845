// Cut into unit functions, @micro_batch computes what it computed before.
// RUN: xlc-opt %S/Inputs/linear.mlir --xlc-differentiate --xlc-append-update -o %t.mlir
// RUN: xlc-opt %t.mlir --xlc-outline-units --xlc-verify-against=reference=%t.mlir | FileCheck %s
// CHECK: over 2 steps of 1 rank x 2 micro-batches
// CHECK: all equal
// CHECK: call @linear_F
// A sum that became a difference is seen.
// RUN: sed 's/graph.add/graph.sub/' %t.mlir | not xlc-opt --xlc-verify-against=reference=%t.mlir 2>&1 | FileCheck %s --check-prefix=CHANGED
// CHANGED: error: the partitioned program differs from the unpartitioned one: step 1, rank 0: '@loss' element 0
