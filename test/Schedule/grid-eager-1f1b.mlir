// Eager 1F1B: 2 (p - r) - 1 forwards ahead, not p - r, so that a value on its way to the next rank and back has a slot for each.
// The time of a step is 1F1B's; what it costs are residuals.
// RUN: xlc-opt %s --xlc-print-grid="schedule=eager-1f1b pp=2 micro-batches=5" | FileCheck %s --strict-whitespace --check-prefix=P2M5
// RUN: xlc-opt %s --xlc-print-grid="schedule=eager-1f1b pp=3 micro-batches=4" | FileCheck %s --strict-whitespace --check-prefix=P3M4

// 2 ranks, 5 micro-batches: the first rank has F2 where 1F1B would wait for B0.
// P2M5:      // 0 | F0 F1 F2 B0 F3 B1 F4 B2 .  B3 .  B4{{$}}
// P2M5-NEXT: // 1 | .  F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 .{{$}}

// 3 ranks, 4 micro-batches: fewer than the first rank could be ahead.
// P3M4:      // 0 | F0 F1 F2 F3 .  B0 .  B1 .  B2 .  B3{{$}}
// P3M4-NEXT: // 1 | .  F0 F1 F2 B0 F3 B1 .  B2 .  B3 .{{$}}
// P3M4-NEXT: // 2 | .  .  F0 B0 F1 B1 F2 B2 F3 B3 .  .{{$}}
