// What a bucket says of its members must agree.
// RUN: xlc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{has 2 members, but 1 offsets and 2 sizes}}
sched.bucket @b ["v", "w"] at [0] sizes [2, 2] elements 64 group 0 params whole grads whole states whole

// -----

// expected-error @+1 {{member "w" occupies elements 1 to 3, but only 2 to 64 are free}}
sched.bucket @b ["v", "w"] at [0, 1] sizes [2, 2] elements 64 group 0 params whole grads whole states whole

// -----

// expected-error @+1 {{member "w" occupies elements 0 to 65, but only 0 to 64 are free}}
sched.bucket @b ["w"] at [0] sizes [65] elements 64 group 0 params whole grads whole states whole

// -----

// expected-error @+1 {{is rounded stochastically, but member "w" begins at element 32, which is not a multiple of 64}}
sched.bucket @b ["v", "w"] at [0, 32] sizes [2, 2] elements 64 group 0 params whole grads whole states whole {stochastic}
