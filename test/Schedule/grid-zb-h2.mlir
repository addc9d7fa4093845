// ZB-H2: more forwards at the start, so that no rank idles from its first slot to its last where there are 2p - 1 micro-batches.
// Rows are pp ranks, columns are slots; the number is that of the micro-batch.
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-h2 pp=3 micro-batches=3" | FileCheck %s --strict-whitespace --check-prefix=P3M3
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-h2 pp=3 micro-batches=6" | FileCheck %s --strict-whitespace --check-prefix=P3M6
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-h2 pp=4 micro-batches=2" | FileCheck %s --strict-whitespace --check-prefix=P4M2
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-h2 pp=4 micro-batches=4" | FileCheck %s --strict-whitespace --check-prefix=P4M4
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-h2 pp=4 micro-batches=8" | FileCheck %s --strict-whitespace --check-prefix=P4M8

// 3 ranks, 3 micro-batches.
// P3M3:      // 0 | F0 F1 F2 .  .  I0 W0 I1 W1 I2 W2 .{{$}}
// P3M3-NEXT: // 1 | .  F0 F1 F2 I0 .  I1 .  I2 W0 W1 W2{{$}}
// P3M3-NEXT: // 2 | .  .  F0 I0 F1 I1 F2 I2 W0 W1 W2 .{{$}}

// 3 ranks, 6 micro-batches.
// P3M6:      // 0 | F0 F1 F2 F3 F4 I0 W0 F5 I1 W1 I2 W2 I3 W3 I4 W4 I5 W5 .  .{{$}}
// P3M6-NEXT: // 1 | .  F0 F1 F2 I0 F3 I1 F4 I2 W0 F5 I3 W1 I4 W2 I5 W3 W4 W5 .{{$}}
// P3M6-NEXT: // 2 | .  .  F0 I0 F1 I1 F2 I2 F3 I3 F4 I4 W0 F5 I5 W1 W2 W3 W4 W5{{$}}

// 4 ranks, 2 micro-batches.
// P4M2:      // 0 | F0 F1 .  .  .  .  .  I0 W0 I1 W1{{$}}
// P4M2-NEXT: // 1 | .  F0 F1 .  .  .  I0 .  I1 W0 W1{{$}}
// P4M2-NEXT: // 2 | .  .  F0 F1 .  I0 .  I1 W0 W1 .{{$}}
// P4M2-NEXT: // 3 | .  .  .  F0 I0 F1 I1 W0 W1 .  .{{$}}

// 4 ranks, 4 micro-batches.
// P4M4:      // 0 | F0 F1 F2 F3 .  .  .  I0 W0 I1 W1 I2 W2 I3 W3 .{{$}}
// P4M4-NEXT: // 1 | .  F0 F1 F2 F3 .  I0 .  I1 .  I2 W0 I3 W1 W2 W3{{$}}
// P4M4-NEXT: // 2 | .  .  F0 F1 F2 I0 F3 I1 .  I2 .  I3 W0 W1 W2 W3{{$}}
// P4M4-NEXT: // 3 | .  .  .  F0 I0 F1 I1 F2 I2 F3 I3 W0 W1 W2 W3 .{{$}}

// 4 ranks, 8 micro-batches.
// P4M8:      // 0 | F0 F1 F2 F3 F4 F5 F6 I0 W0 F7 I1 W1 I2 W2 I3 W3 I4 W4 I5 W5 I6 W6 I7 W7 .  .  .{{$}}
// P4M8-NEXT: // 1 | .  F0 F1 F2 F3 F4 I0 F5 I1 F6 I2 W0 F7 I3 W1 I4 W2 I5 W3 I6 W4 I7 W5 W6 W7 .  .{{$}}
// P4M8-NEXT: // 2 | .  .  F0 F1 F2 I0 F3 I1 F4 I2 F5 I3 F6 I4 W0 F7 I5 W1 I6 W2 I7 W3 W4 W5 W6 W7 .{{$}}
// P4M8-NEXT: // 3 | .  .  .  F0 I0 F1 I1 F2 I2 F3 I3 F4 I4 F5 I5 F6 I6 W0 F7 I7 W1 W2 W3 W4 W5 W6 W7{{$}}
