// ZB-V: chunk a on the way down the ranks, chunk b on the way up, so that the last rank turns round by itself.
// Rows are pp ranks, columns are slots; the number is that of the micro-batch.
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-v pp=3 chunks=2 micro-batches=3" | FileCheck %s --strict-whitespace --check-prefix=P3M3
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-v pp=3 chunks=2 micro-batches=6" | FileCheck %s --strict-whitespace --check-prefix=P3M6
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-v pp=4 chunks=2 micro-batches=2" | FileCheck %s --strict-whitespace --check-prefix=P4M2
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-v pp=4 chunks=2 micro-batches=4" | FileCheck %s --strict-whitespace --check-prefix=P4M4
// RUN: xlc-opt %s --xlc-print-grid="schedule=zb-v pp=4 chunks=2 micro-batches=8" | FileCheck %s --strict-whitespace --check-prefix=P4M8

// 3 ranks, 3 micro-batches.
// P3M3:      // 0 | Fa0 Fa1 Fa2 .   .   Fb0 Ib0 Wb0 Fb1 Ib1 Wb1 Fb2 Ib2 Wb2 Ia0 Wa0 .   Ia1 Wa1 .   Ia2 Wa2{{$}}
// P3M3-NEXT: // 1 | .   Fa0 Fa1 Fa2 Fb0 .   Fb1 Ib0 Wb0 Fb2 Ib1 Wb1 Ia0 Wa0 Ib2 Wb2 Ia1 Wa1 .   Ia2 Wa2 .{{$}}
// P3M3-NEXT: // 2 | .   .   Fa0 Fb0 Fa1 Fb1 Fa2 Fb2 Ib0 Wb0 Ia0 Wa0 Ib1 Wb1 Ia1 Wa1 Ib2 Wb2 Ia2 Wa2 .   .{{$}}

// 3 ranks, 6 micro-batches.
// P3M6:      // 0 | Fa0 Fa1 Fa2 Fa3 Fa4 Fb0 Ib0 Wb0 Fb1 Ib1 Wb1 Fb2 Ib2 Wb2 Fa5 Ia0 Wa0 Fb3 Ib3 Wb3 Ia1 Wa1 Fb4 Ib4 Wb4 Ia2 Wa2 Fb5 Ib5 Wb5 Ia3 Wa3 Ia4 Wa4 Ia5 Wa5 .   .{{$}}
// P3M6-NEXT: // 1 | .   Fa0 Fa1 Fa2 Fb0 Fa3 Fb1 Ib0 Wb0 Fb2 Ib1 Wb1 Fa4 Ia0 Wa0 Fb3 Ib2 Wb2 Fa5 Ia1 Wa1 Fb4 Ib3 Wb3 Ia2 Wa2 Fb5 Ib4 Wb4 Ia3 Ib5 Ia4 Wa3 Ia5 Wa4 Wb5 Wa5 .{{$}}
// P3M6-NEXT: // 2 | .   .   Fa0 Fb0 Fa1 Fb1 Fa2 Fb2 Ib0 Wb0 Fa3 Ia0 Wa0 Fb3 Ib1 Wb1 Fa4 Ia1 Wa1 Fb4 Ib2 Wb2 Fa5 Ia2 Wa2 Fb5 Ib3 Wb3 Ia3 Ib4 Ia4 Ib5 Ia5 Wa3 Wb4 Wb5 Wa4 Wa5{{$}}

// 4 ranks, 2 micro-batches.
// P4M2:      // 0 | Fa0 Fa1 .   .   .   .   .   Fb0 Ib0 Wb0 Fb1 Ib1 Wb1 .   .   .   .   Ia0 Wa0 .   Ia1 Wa1{{$}}
// P4M2-NEXT: // 1 | .   Fa0 Fa1 .   .   .   Fb0 .   Fb1 Ib0 Wb0 .   Ib1 Wb1 .   .   Ia0 Wa0 .   Ia1 Wa1 .{{$}}
// P4M2-NEXT: // 2 | .   .   Fa0 Fa1 .   Fb0 .   Fb1 .   .   Ib0 Wb0 .   Ib1 Wb1 Ia0 Wa0 .   Ia1 Wa1 .   .{{$}}
// P4M2-NEXT: // 3 | .   .   .   Fa0 Fb0 Fa1 Fb1 .   .   .   .   Ib0 Wb0 Ia0 Wa0 Ib1 Wb1 Ia1 Wa1 .   .   .{{$}}

// 4 ranks, 4 micro-batches.
// P4M4:      // 0 | Fa0 Fa1 Fa2 Fa3 .   .   .   Fb0 Ib0 Wb0 Fb1 Ib1 Wb1 Fb2 Ib2 Wb2 Fb3 Ib3 Wb3 Ia0 Wa0 .   Ia1 Wa1 .   Ia2 Wa2 .   Ia3 Wa3{{$}}
// P4M4-NEXT: // 1 | .   Fa0 Fa1 Fa2 Fa3 .   Fb0 .   Fb1 Ib0 Wb0 Fb2 Ib1 Wb1 Fb3 Ib2 Wb2 Ia0 Wa0 Ib3 Wb3 Ia1 Wa1 .   Ia2 Wa2 .   Ia3 Wa3 .{{$}}
// P4M4-NEXT: // 2 | .   .   Fa0 Fa1 Fa2 Fb0 Fa3 Fb1 .   Fb2 Ib0 Wb0 Fb3 Ib1 Wb1 Ia0 Wa0 Ib2 Wb2 Ia1 Wa1 Ib3 Wb3 Ia2 Wa2 .   Ia3 Wa3 .   .{{$}}
// P4M4-NEXT: // 3 | .   .   .   Fa0 Fb0 Fa1 Fb1 Fa2 Fb2 Fa3 Fb3 Ib0 Wb0 Ia0 Wa0 Ib1 Wb1 Ia1 Wa1 Ib2 Wb2 Ia2 Wa2 Ib3 Wb3 Ia3 Wa3 .   .   .{{$}}

// 4 ranks, 8 micro-batches.
// P4M8:      // 0 | Fa0 Fa1 Fa2 Fa3 Fa4 Fa5 Fa6 Fb0 Ib0 Wb0 Fb1 Ib1 Wb1 Fb2 Ib2 Wb2 Fb3 Ib3 Wb3 Fa7 Ia0 Wa0 Fb4 Ib4 Wb4 Ia1 Wa1 Fb5 Ib5 Wb5 Ia2 Wa2 Fb6 Ib6 Wb6 Ia3 Wa3 Fb7 Ib7 Wb7 Ia4 Wa4 Ia5 Wa5 Ia6 Wa6 Ia7 Wa7 .   .   .{{$}}
// P4M8-NEXT: // 1 | .   Fa0 Fa1 Fa2 Fa3 Fa4 Fb0 Fa5 Fb1 Ib0 Wb0 Fb2 Ib1 Wb1 Fb3 Ib2 Wb2 Fa6 Ia0 Wa0 Fb4 Ib3 Wb3 Fa7 Ia1 Wa1 Fb5 Ib4 Wb4 Ia2 Wa2 Fb6 Ib5 Wb5 Ia3 Wa3 Fb7 Ib6 Wb6 Ia4 Ib7 Ia5 Wa4 Ia6 Wa5 Ia7 Wa6 Wb7 Wa7 .   .{{$}}
// P4M8-NEXT: // 2 | .   .   Fa0 Fa1 Fa2 Fb0 Fa3 Fb1 Fa4 Fb2 Ib0 Wb0 Fb3 Ib1 Wb1 Fa5 Ia0 Wa0 Fb4 Ib2 Wb2 Fa6 Ia1 Wa1 Fb5 Ib3 Wb3 Fa7 Ia2 Wa2 Fb6 Ib4 Wb4 Ia3 Wa3 Fb7 Ib5 Wb5 Ia4 Ib6 Ia5 Ib7 Ia6 Wa4 Ia7 Wa5 Wb6 Wb7 Wa6 Wa7 .{{$}}
// P4M8-NEXT: // 3 | .   .   .   Fa0 Fb0 Fa1 Fb1 Fa2 Fb2 Fa3 Fb3 Ib0 Wb0 Fa4 Ia0 Wa0 Fb4 Ib1 Wb1 Fa5 Ia1 Wa1 Fb5 Ib2 Wb2 Fa6 Ia2 Wa2 Fb6 Ib3 Wb3 Fa7 Ia3 Wa3 Fb7 Ib4 Wb4 Ia4 Ib5 Ia5 Ib6 Ia6 Ib7 Ia7 Wa4 Wb5 Wb6 Wb7 Wa5 Wa6 Wa7{{$}}
