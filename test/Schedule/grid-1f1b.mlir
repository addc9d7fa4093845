// 1F1B: as many forwards ahead as there are ranks behind, then one forward, one backward.
// Rows are pp ranks, columns are slots; the number is that of the micro-batch.
// RUN: xlc-opt %s --xlc-print-grid="schedule=1f1b pp=3 micro-batches=3" | FileCheck %s --strict-whitespace --check-prefix=P3M3
// RUN: xlc-opt %s --xlc-print-grid="schedule=1f1b pp=3 micro-batches=6" | FileCheck %s --strict-whitespace --check-prefix=P3M6
// RUN: xlc-opt %s --xlc-print-grid="schedule=1f1b pp=4 micro-batches=2" | FileCheck %s --strict-whitespace --check-prefix=P4M2
// RUN: xlc-opt %s --xlc-print-grid="schedule=1f1b pp=4 micro-batches=4" | FileCheck %s --strict-whitespace --check-prefix=P4M4
// RUN: xlc-opt %s --xlc-print-grid="schedule=1f1b pp=4 micro-batches=8" | FileCheck %s --strict-whitespace --check-prefix=P4M8

// 3 ranks, 3 micro-batches.
// P3M3:      // 0 | F0 F1 F2 .  .  B0 .  B1 .  B2{{$}}
// P3M3-NEXT: // 1 | .  F0 F1 .  B0 F2 B1 .  B2 .{{$}}
// P3M3-NEXT: // 2 | .  .  F0 B0 F1 B1 F2 B2 .  .{{$}}

// 3 ranks, 6 micro-batches.
// P3M6:      // 0 | F0 F1 F2 .  .  B0 F3 B1 F4 B2 F5 B3 .  B4 .  B5{{$}}
// P3M6-NEXT: // 1 | .  F0 F1 .  B0 F2 B1 F3 B2 F4 B3 F5 B4 .  B5 .{{$}}
// P3M6-NEXT: // 2 | .  .  F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 .  .{{$}}

// 4 ranks, 2 micro-batches.
// P4M2:      // 0 | F0 F1 .  .  .  .  .  B0 .  B1{{$}}
// P4M2-NEXT: // 1 | .  F0 F1 .  .  .  B0 .  B1 .{{$}}
// P4M2-NEXT: // 2 | .  .  F0 F1 .  B0 .  B1 .  .{{$}}
// P4M2-NEXT: // 3 | .  .  .  F0 B0 F1 B1 .  .  .{{$}}

// 4 ranks, 4 micro-batches.
// P4M4:      // 0 | F0 F1 F2 F3 .  .  .  B0 .  B1 .  B2 .  B3{{$}}
// P4M4-NEXT: // 1 | .  F0 F1 F2 .  .  B0 F3 B1 .  B2 .  B3 .{{$}}
// P4M4-NEXT: // 2 | .  .  F0 F1 .  B0 F2 B1 F3 B2 .  B3 .  .{{$}}
// P4M4-NEXT: // 3 | .  .  .  F0 B0 F1 B1 F2 B2 F3 B3 .  .  .{{$}}

// 4 ranks, 8 micro-batches.
// P4M8:      // 0 | F0 F1 F2 F3 .  .  .  B0 F4 B1 F5 B2 F6 B3 F7 B4 .  B5 .  B6 .  B7{{$}}
// P4M8-NEXT: // 1 | .  F0 F1 F2 .  .  B0 F3 B1 F4 B2 F5 B3 F6 B4 F7 B5 .  B6 .  B7 .{{$}}
// P4M8-NEXT: // 2 | .  .  F0 F1 .  B0 F2 B1 F3 B2 F4 B3 F5 B4 F6 B5 F7 B6 .  B7 .  .{{$}}
// P4M8-NEXT: // 3 | .  .  .  F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7 .  .  .{{$}}
