// Interleaved 1F1B, two chunks per rank: the pipeline fills in half the time. The micro-batches come in groups of p.
// Rows are pp ranks, columns are slots; the number is that of the micro-batch.
// RUN: xlc-opt %s --xlc-print-grid="schedule=interleaved pp=3 chunks=2 micro-batches=3" | FileCheck %s --strict-whitespace --check-prefix=P3M3
// RUN: xlc-opt %s --xlc-print-grid="schedule=interleaved pp=3 chunks=2 micro-batches=6" | FileCheck %s --strict-whitespace --check-prefix=P3M6
// RUN: xlc-opt %s --xlc-print-grid="schedule=interleaved pp=4 chunks=2 micro-batches=4" | FileCheck %s --strict-whitespace --check-prefix=P4M4
// RUN: xlc-opt %s --xlc-print-grid="schedule=interleaved pp=4 chunks=2 micro-batches=8" | FileCheck %s --strict-whitespace --check-prefix=P4M8

// 3 ranks, 3 micro-batches.
// P3M3:      // 0 | Fa0 Fa1 Fa2 Fb0 Fb1 Fb2 .   .   Bb0 .   Bb1 .   Bb2 Ba0 Ba1 Ba2{{$}}
// P3M3-NEXT: // 1 | .   Fa0 Fa1 Fa2 Fb0 Fb1 Fb2 Bb0 .   Bb1 .   Bb2 Ba0 Ba1 Ba2 .{{$}}
// P3M3-NEXT: // 2 | .   .   Fa0 Fa1 Fa2 Fb0 Bb0 Fb1 Bb1 Fb2 Bb2 Ba0 Ba1 Ba2 .   .{{$}}

// 3 ranks, 6 micro-batches.
// P3M6:      // 0 | Fa0 Fa1 Fa2 Fb0 Fb1 Fb2 Fa3 Fa4 Bb0 Fa5 Bb1 .   Fb3 Bb2 Fb4 Ba0 Fb5 Ba1 Ba2 .   Bb3 .   Bb4 .   Bb5 Ba3 Ba4 Ba5{{$}}
// P3M6-NEXT: // 1 | .   Fa0 Fa1 Fa2 Fb0 Fb1 Fb2 Bb0 Fa3 Bb1 Fa4 Bb2 Fa5 Ba0 Fb3 Ba1 Fb4 Ba2 Fb5 Bb3 .   Bb4 .   Bb5 Ba3 Ba4 Ba5 .{{$}}
// P3M6-NEXT: // 2 | .   .   Fa0 Fa1 Fa2 Fb0 Bb0 Fb1 Bb1 Fb2 Bb2 Fa3 Ba0 Fa4 Ba1 Fa5 Ba2 Fb3 Bb3 Fb4 Bb4 Fb5 Bb5 Ba3 Ba4 Ba5 .   .{{$}}

// 4 ranks, 4 micro-batches.
// P4M4:      // 0 | Fa0 Fa1 Fa2 Fa3 Fb0 Fb1 Fb2 Fb3 .   .   .   Bb0 .   Bb1 .   Bb2 .   Bb3 Ba0 Ba1 Ba2 Ba3{{$}}
// P4M4-NEXT: // 1 | .   Fa0 Fa1 Fa2 Fa3 Fb0 Fb1 Fb2 Fb3 .   Bb0 .   Bb1 .   Bb2 .   Bb3 Ba0 Ba1 Ba2 Ba3 .{{$}}
// P4M4-NEXT: // 2 | .   .   Fa0 Fa1 Fa2 Fa3 Fb0 Fb1 Fb2 Bb0 Fb3 Bb1 .   Bb2 .   Bb3 Ba0 Ba1 Ba2 Ba3 .   .{{$}}
// P4M4-NEXT: // 3 | .   .   .   Fa0 Fa1 Fa2 Fa3 Fb0 Bb0 Fb1 Bb1 Fb2 Bb2 Fb3 Bb3 Ba0 Ba1 Ba2 Ba3 .   .   .{{$}}

// 4 ranks, 8 micro-batches.
// P4M8:      // 0 | Fa0 Fa1 Fa2 Fa3 Fb0 Fb1 Fb2 Fb3 Fa4 Fa5 Fa6 Bb0 Fa7 Bb1 .   .   Fb4 Bb2 Fb5 Bb3 Fb6 Ba0 Fb7 Ba1 Ba2 Ba3 .   Bb4 .   Bb5 .   Bb6 .   Bb7 Ba4 Ba5 Ba6 Ba7{{$}}
// P4M8-NEXT: // 1 | .   Fa0 Fa1 Fa2 Fa3 Fb0 Fb1 Fb2 Fb3 Fa4 Bb0 Fa5 Bb1 Fa6 Bb2 Fa7 Bb3 Fb4 Ba0 Fb5 Ba1 Fb6 Ba2 Fb7 Ba3 .   Bb4 .   Bb5 .   Bb6 .   Bb7 Ba4 Ba5 Ba6 Ba7 .{{$}}
// P4M8-NEXT: // 2 | .   .   Fa0 Fa1 Fa2 Fa3 Fb0 Fb1 Fb2 Bb0 Fb3 Bb1 Fa4 Bb2 Fa5 Bb3 Fa6 Ba0 Fa7 Ba1 Fb4 Ba2 Fb5 Ba3 Fb6 Bb4 Fb7 Bb5 .   Bb6 .   Bb7 Ba4 Ba5 Ba6 Ba7 .   .{{$}}
// P4M8-NEXT: // 3 | .   .   .   Fa0 Fa1 Fa2 Fa3 Fb0 Bb0 Fb1 Bb1 Fb2 Bb2 Fb3 Bb3 Fa4 Ba0 Fa5 Ba1 Fa6 Ba2 Fa7 Ba3 Fb4 Bb4 Fb5 Bb5 Fb6 Bb6 Fb7 Bb7 Ba4 Ba5 Ba6 Ba7 .   .   .{{$}}
