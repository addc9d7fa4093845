// What the interpreter refuses.
// RUN: xlc-opt --xlc-interpret=arithmetic=field --split-input-file --verify-diagnostics %s

func.func @no_rule() {
  // expected-error@+1 {{the interpreter has no rule for 'func.constant'}}
  %f = func.constant @no_rule : () -> ()
  return
}

// -----

// expected-error@+1 {{the interpreter requires a function body of one block}}
func.func private @no_body()
func.func @calls() {
  call @no_body() : () -> ()
  return
}

// -----

// expected-error@+1 {{calls nest deeper than 16}}
func.func @endless() {
  call @endless() : () -> ()
  return
}

// -----

func.func @outside_table() -> tensor<1xf32> {
  %t = graph.constant dense<1.0> : tensor<2xf32>
  %i = graph.constant dense<2> : tensor<1xi64>
  // expected-error@+1 {{has index 2, which is out of range for a dimension of size 2}}
  %y = graph.gather %t, %i dim 0 : (tensor<2xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// -----

func.func @outside_classes() -> tensor<f32> {
  %x = graph.constant dense<1.0> : tensor<1x2xf32>
  %l = graph.constant dense<-1> : tensor<1xi64>
  // expected-error@+1 {{has label -1, which is out of range for 2 classes}}
  %0:3 = graph.cross_entropy %x, %l ignore -100 : (tensor<1x2xf32>, tensor<1xi64>) -> (tensor<f32>, tensor<i64>, tensor<1xf32>)
  return %0#0 : tensor<f32>
}

// -----

func.func @by_zero() -> tensor<2xi64> {
  %x = graph.constant dense<[1, 0]> : tensor<2xi64>
  // expected-error@+1 {{divides an integer by zero}}
  %y = graph.div %x, %x : tensor<2xi64>
  return %y : tensor<2xi64>
}

// -----

// The residual is not that of the logits: in the field this is seen.
func.func @stale_residual() -> tensor<1x2xf32> {
  %x = graph.constant dense<1.0> : tensor<1x2xf32>
  %l = graph.constant dense<1> : tensor<1xi64>
  %lse = graph.constant dense<3.0> : tensor<1xf32>
  %one = graph.constant dense<1.0> : tensor<f32>
  // expected-error@+1 {{has a saved log-sum-exp that does not match the logits}}
  %y = graph.cross_entropy_backward %x, %l, %lse, %one ignore -100 : (tensor<1x2xf32>, tensor<1xi64>, tensor<1xf32>, tensor<f32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// -----

func.func @stale_attention() -> tensor<1x1x1x1xf32> {
  %x = graph.constant dense<1.0> : tensor<1x1x1x1xf32>
  %lse = graph.constant dense<3.0> : tensor<1x1x1xf32>
  // expected-error@+1 {{has a saved log-sum-exp that does not match q and k}}
  %0:3 = graph.attention_backward none %x, %x, %x, %x, %lse, %x scale 1.0 : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>)
  return %0#0 : tensor<1x1x1x1xf32>
}

// -----

func.func @stale_output() -> tensor<1x1x1x1xf32> {
  %x = graph.constant dense<1.0> : tensor<1x1x1x1xf32>
  %bad = graph.constant dense<2.0> : tensor<1x1x1x1xf32>
  %0:2 = graph.attention none %x, %x, %x scale 1.0 : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1xf32>)
  // expected-error@+1 {{has a saved output that does not match q, k and v}}
  %1:3 = graph.attention_backward none %x, %x, %x, %bad, %0#1, %x scale 1.0 : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>)
  return %1#0 : tensor<1x1x1x1xf32>
}

// -----

// expected-error@+1 {{result 0, element 1 is 2, expected 3}}
func.func @unexpected() -> (tensor<2xf32> {graph.expect = dense<[1.0, 3.0]> : tensor<2xf32>}) {
  %x = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %x : tensor<2xf32>
}

// -----

// expected-error@+1 {{result 0 is 'tensor<2xf32>', expected 'tensor<1xf32>'}}
func.func @unexpected_type() -> (tensor<2xf32> {graph.expect = dense<1.0> : tensor<1xf32>}) {
  %x = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %x : tensor<2xf32>
}
