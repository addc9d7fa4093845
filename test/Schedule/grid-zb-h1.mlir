// ZB-H1: 1F1B with I in place of B; W fills what would be idle.
// Rows are pp ranks, columns are slots; the number is that of the micro-batch.
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-h1 pp=3 micro-batches=3" | FileCheck %s --strict-whitespace --check-prefix=P3M3
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-h1 pp=3 micro-batches=6" | FileCheck %s --strict-whitespace --check-prefix=P3M6
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-h1 pp=4 micro-batches=2" | FileCheck %s --strict-whitespace --check-prefix=P4M2
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-h1 pp=4 micro-batches=4" | FileCheck %s --strict-whitespace --check-prefix=P4M4
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-h1 pp=4 micro-batches=8" | FileCheck %s --strict-whitespace --check-prefix=P4M8

// 3 ranks, 3 micro-batches.
// P3M3:      // 0 | F0 F1 F2 .  .  I0 W0 I1 W1 I2 W2{{$}}
// P3M3-NEXT: // 1 | .  F0 F1 .  I0 F2 I1 W0 I2 W1 W2{{$}}
// P3M3-NEXT: // 2 | .  .  F0 I0 F1 I1 F2 I2 W0 W1 W2{{$}}

// 3 ranks, 6 micro-batches.
// P3M6:      // 0 | F0 F1 F2 .  .  I0 W0 F3 I1 W1 F4 I2 W2 F5 I3 W3 I4 W4 I5 W5{{$}}
// P3M6-NEXT: // 1 | .  F0 F1 .  I0 F2 I1 W0 F3 I2 W1 F4 I3 W2 F5 I4 W3 I5 W4 W5{{$}}
// P3M6-NEXT: // 2 | .  .  F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 F4 I4 W2 F5 I5 W3 W4 W5{{$}}

// 4 ranks, 2 micro-batches.
// P4M2:      // 0 | F0 F1 .  .  .  .  .  I0 W0 I1 W1{{$}}
// P4M2-NEXT: // 1 | .  F0 F1 .  .  .  I0 .  I1 W0 W1{{$}}
// P4M2-NEXT: // 2 | .  .  F0 F1 .  I0 .  I1 W0 W1 .{{$}}
// P4M2-NEXT: // 3 | .  .  .  F0 I0 F1 I1 W0 W1 .  .{{$}}

// 4 ranks, 4 micro-batches.
// P4M4:      // 0 | F0 F1 F2 F3 .  .  .  I0 W0 I1 W1 I2 W2 I3 W3{{$}}
// P4M4-NEXT: // 1 | .  F0 F1 F2 .  .  I0 F3 I1 W0 I2 W1 I3 W2 W3{{$}}
// P4M4-NEXT: // 2 | .  .  F0 F1 .  I0 F2 I1 F3 I2 W0 I3 W1 W2 W3{{$}}
// P4M4-NEXT: // 3 | .  .  .  F0 I0 F1 I1 F2 I2 F3 I3 W0 W1 W2 W3{{$}}

// 4 ranks, 8 micro-batches.
// P4M8:      // 0 | F0 F1 F2 F3 .  .  .  I0 W0 F4 I1 W1 F5 I2 W2 F6 I3 W3 F7 I4 W4 I5 W5 I6 W6 I7 W7{{$}}
// P4M8-NEXT: // 1 | .  F0 F1 F2 .  .  I0 F3 I1 W0 F4 I2 W1 F5 I3 W2 F6 I4 W3 F7 I5 W4 I6 W5 I7 W6 W7{{$}}
// P4M8-NEXT: // 2 | .  .  F0 F1 .  I0 F2 I1 F3 I2 W0 F4 I3 W1 F5 I4 W2 F6 I5 W3 F7 I6 W4 I7 W5 W6 W7{{$}}
// P4M8-NEXT: // 3 | .  .  .  F0 I0 F1 I1 F2 I2 F3 I3 W0 F4 I4 W1 F5 I5 W2 F6 I6 W3 F7 I7 W4 W5 W6 W7{{$}}
