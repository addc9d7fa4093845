// What programs of one stage keep for each other.
// RUN: xlc-opt %s --xlc-verify-placement --split-input-file --verify-diagnostics

exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 workspace "scalars" size 64 offset 64 live 0 to 0 persistent
}
exec.program @evaluate stage 0 micro_batches 1 arena 128 lower_bound 128 purpose <evaluate> {
  exec.buffer 0 workspace "scalars" size 64 offset 64 live 0 to 0 persistent
  // expected-error @+1 {{'x' overlaps memory in which @train keeps 'scalars' between steps}}
  exec.buffer 1 workspace "x" size 100 offset 0 live 0 to 0
}

// -----

exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
}
// expected-error @+1 {{has an arena of 64 bytes, but @train of the same stage has 128}}
exec.program @evaluate stage 0 micro_batches 1 arena 64 lower_bound 64 purpose <evaluate> {
}

// -----

// Other stages have other arenas.
exec.program @train_0 stage 0 micro_batches 1 arena 128 lower_bound 128 {
}
exec.program @train_1 stage 1 micro_batches 1 arena 64 lower_bound 64 {
}
