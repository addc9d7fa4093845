// What a schedule cannot be made of: each refusal says what it needs.
// RUN: not xlc-opt %s --xlc-print-grid="schedule=interleaved pp=4 chunks=2 micro-batches=6" 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// RUN: not xlc-opt %s --xlc-print-grid="schedule=interleaved pp=4 micro-batches=4" 2>&1 | FileCheck %s --check-prefix=INTERLEAVED
// RUN: not xlc-opt %s --xlc-print-grid="schedule=zb-v pp=4 chunks=1 micro-batches=4" 2>&1 | FileCheck %s --check-prefix=V
// RUN: not xlc-opt %s --xlc-print-grid="schedule=1f1b pp=4 chunks=2 micro-batches=4" 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not xlc-opt %s --xlc-print-grid="schedule=2f2b pp=4" 2>&1 | FileCheck %s --check-prefix=NAME

// MULTIPLE: error: schedule interleaved needs a number of micro-batches divisible by pp = 4, but there are 6; 4 or 8 would work
// INTERLEAVED: error: schedule interleaved needs 2 or more chunks per rank, not 1
// V: error: schedule zb-v needs 2 chunks per rank, not 1
// ONE: error: schedule 1f1b needs 1 chunk per rank, not 2
// NAME: error: there is no schedule '2f2b'
