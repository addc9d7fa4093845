// Programs of one stage take turns in one arena: what either keeps from step to step has the same offsets in both and lies below
// the rest of each, and the arena is the larger of what each needs.
// RUN: xlc-opt %s --xlc-assign-offsets | FileCheck %s
// CHECK: exec.program @train stage 0 micro_batches 1 arena 320 lower_bound 208 {
// CHECK: exec.buffer 0 {{ *}}parameters "p" size 64 offset 0 {{.*}} persistent
// CHECK: exec.buffer 1 {{ *}}workspace "scalars" size 8 offset 64 {{.*}} persistent
// CHECK: exec.buffer 2 {{ *}}gradients "g" size 128 offset 192
// CHECK: exec.program @evaluate stage 0 micro_batches 1 arena 320 lower_bound 144 purpose <evaluate> {
// CHECK: exec.buffer 0 {{ *}}parameters "p" size 64 offset 0 {{.*}} persistent
// CHECK: exec.buffer 1 {{ *}}workspace "tp index" size 8 offset 128 {{.*}} persistent
// CHECK: exec.buffer 2 {{ *}}workspace "x" size 64 offset 192
exec.program @train stage 0 micro_batches 1 arena 0 lower_bound 0 {
  exec.buffer 0 parameters "p" size 64 offset 0 live 0 to 0 persistent
  exec.buffer 1 workspace "scalars" size 8 offset 0 live 0 to 0 persistent
  exec.buffer 2 gradients "g" size 128 offset 0 live 0 to 0
  exec.release "release g" #exec.place<2 + 0 + 0> bytes 128
}
exec.program @evaluate stage 0 micro_batches 1 arena 0 lower_bound 0 purpose <evaluate> {
  exec.buffer 0 parameters "p" size 64 offset 0 live 0 to 0 persistent
  exec.buffer 1 workspace "tp index" size 8 offset 0 live 0 to 0 persistent
  exec.buffer 2 workspace "x" size 64 offset 0 live 0 to 0
  exec.release "release x" #exec.place<2 + 0 + 0> bytes 64
}
