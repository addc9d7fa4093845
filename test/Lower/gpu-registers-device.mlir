// What NVIDIA's assembler makes of device code: nothing is spilled; at most 80 registers, but for scatters of rows, which keep 32
// sums of each lane, at most 128.
// REQUIRES: ptxas
// RUN: xlc-opt %s --xlc-emit-gpu-kernels --xlc-print-ptx="device-kernels=xlc_scatter_rows_i32_f32,xlc_scatter_rows_i64_bf16,xlc_scatter_rows_i64_f16" -o /dev/null > %t.ptx
// RUN: ptxas -v --gpu-name sm_80 %t.ptx -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: ptxas -v --gpu-name sm_90 %t.ptx -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: ptxas -v --gpu-name sm_100 %t.ptx -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: ptxas -v --gpu-name sm_120 %t.ptx -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: xlc-opt %s --xlc-emit-gpu-kernels --xlc-print-ptx="device-kernels=xlc_scatter_elements_i64,xlc_max_pool,xlc_max_pool_backward,xlc_columns,xlc_from_columns" -o /dev/null > %t.ptx
// RUN: ptxas -v --gpu-name sm_80 %t.ptx -o /dev/null 2>&1 | FileCheck %s
// RUN: ptxas -v --gpu-name sm_90 %t.ptx -o /dev/null 2>&1 | FileCheck %s
// RUN: ptxas -v --gpu-name sm_100 %t.ptx -o /dev/null 2>&1 | FileCheck %s
// RUN: ptxas -v --gpu-name sm_120 %t.ptx -o /dev/null 2>&1 | FileCheck %s

// ROWS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// ROWS-NEXT: Used {{([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])}} registers
// ROWS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// ROWS-NEXT: Used {{([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])}} registers
// ROWS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// ROWS-NEXT: Used {{([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])}} registers
// ROWS-NOT: Used

// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-6][0-9]|7[0-9]|80)}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-6][0-9]|7[0-9]|80)}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-6][0-9]|7[0-9]|80)}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-6][0-9]|7[0-9]|80)}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-6][0-9]|7[0-9]|80)}} registers
// CHECK-NOT: Used

module {}
