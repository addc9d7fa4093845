// The update is made of the micro-batch and the optimizer's groups.
// RUN: xlc-opt %s --xlc-append-update --verify-diagnostics
// expected-error @+1 {{the update needs a training entry and the module attributes graph.groups and graph.nominal_count}}
module attributes {graph.nominal_count = 8 : i64} {
}
