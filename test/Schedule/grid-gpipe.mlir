// GPipe: all forwards, then all backwards. Every rank keeps every micro-batch.
// Rows are pp ranks, columns are slots; the number is that of the micro-batch.
// RUN: xlc-opt %s --xlc-print-grid="schedule=gpipe pp=3 micro-batches=3" | FileCheck %s --strict-whitespace --check-prefix=P3M3
// RUN: xlc-opt %s --xlc-print-grid="schedule=gpipe pp=3 micro-batches=6" | FileCheck %s --strict-whitespace --check-prefix=P3M6
// RUN: xlc-opt %s --xlc-print-grid="schedule=gpipe pp=4 micro-batches=2" | FileCheck %s --strict-whitespace --check-prefix=P4M2
// RUN: xlc-opt %s --xlc-print-grid="schedule=gpipe pp=4 micro-batches=4" | FileCheck %s --strict-whitespace --check-prefix=P4M4
// RUN: xlc-opt %s --xlc-print-grid="schedule=gpipe pp=4 micro-batches=8" | FileCheck %s --strict-whitespace --check-prefix=P4M8

// 3 ranks, 3 micro-batches.
// P3M3:      // 0 | F0 F1 F2 .  .  .  .  B0 B1 B2{{$}}
// P3M3-NEXT: // 1 | .  F0 F1 F2 .  .  B0 B1 B2 .{{$}}
// P3M3-NEXT: // 2 | .  .  F0 F1 F2 B0 B1 B2 .  .{{$}}

// 3 ranks, 6 micro-batches.
// P3M6:      // 0 | F0 F1 F2 F3 F4 F5 .  .  .  .  B0 B1 B2 B3 B4 B5{{$}}
// P3M6-NEXT: // 1 | .  F0 F1 F2 F3 F4 F5 .  .  B0 B1 B2 B3 B4 B5 .{{$}}
// P3M6-NEXT: // 2 | .  .  F0 F1 F2 F3 F4 F5 B0 B1 B2 B3 B4 B5 .  .{{$}}

// 4 ranks, 2 micro-batches.
// P4M2:      // 0 | F0 F1 .  .  .  .  .  .  B0 B1{{$}}
// P4M2-NEXT: // 1 | .  F0 F1 .  .  .  .  B0 B1 .{{$}}
// P4M2-NEXT: // 2 | .  .  F0 F1 .  .  B0 B1 .  .{{$}}
// P4M2-NEXT: // 3 | .  .  .  F0 F1 B0 B1 .  .  .{{$}}

// 4 ranks, 4 micro-batches.
// P4M4:      // 0 | F0 F1 F2 F3 .  .  .  .  .  .  B0 B1 B2 B3{{$}}
// P4M4-NEXT: // 1 | .  F0 F1 F2 F3 .  .  .  .  B0 B1 B2 B3 .{{$}}
// P4M4-NEXT: // 2 | .  .  F0 F1 F2 F3 .  .  B0 B1 B2 B3 .  .{{$}}
// P4M4-NEXT: // 3 | .  .  .  F0 F1 F2 F3 B0 B1 B2 B3 .  .  .{{$}}

// 4 ranks, 8 micro-batches.
// P4M8:      // 0 | F0 F1 F2 F3 F4 F5 F6 F7 .  .  .  .  .  .  B0 B1 B2 B3 B4 B5 B6 B7{{$}}
// P4M8-NEXT: // 1 | .  F0 F1 F2 F3 F4 F5 F6 F7 .  .  .  .  B0 B1 B2 B3 B4 B5 B6 B7 .{{$}}
// P4M8-NEXT: // 2 | .  .  F0 F1 F2 F3 F4 F5 F6 F7 .  .  B0 B1 B2 B3 B4 B5 B6 B7 .  .{{$}}
// P4M8-NEXT: // 3 | .  .  .  F0 F1 F2 F3 F4 F5 F6 F7 B0 B1 B2 B3 B4 B5 B6 B7 .  .  .{{$}}
