// What the verifiers of the graph dialect refuse, one op each.
// RUN: xlc-opt %s --split-input-file --verify-diagnostics

func.func @scale(%x: tensor<2xf32>) {
  // expected-error @+1 {{denominator is zero}}
  %0 = graph.scale %x by 1 over 0 : tensor<2xf32>
  return
}

// -----
func.func @iota() {
  // expected-error @+1 {{dimension 2 is out of range for rank 1}}
  %0 = graph.iota dim 2 : tensor<3xi64>
  return
}

// -----
func.func @broadcast(%x: tensor<2xf32>) {
  // expected-error @+1 {{[2] does not broadcast to [3, 4]}}
  %0 = graph.broadcast %x : tensor<2xf32> -> tensor<3x4xf32>
  return
}

// -----
func.func @reshape(%x: tensor<2xf32>) {
  // expected-error @+1 {{cannot reshape 'tensor<2xf32>' to 'tensor<3xf32>'}}
  %0 = graph.reshape %x : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----
func.func @permutation(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{[0, 0] is not a permutation of the dimensions of [2, 3]}}
  %0 = graph.transpose %x [0, 0] : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----
func.func @transposed(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{result must have shape [3, 2], but has [2, 3]}}
  %0 = graph.transpose %x [1, 0] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----
func.func @slice_rank(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{needs one offset and one stride per dimension}}
  %0 = graph.slice %x from [0] by [1] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----
func.func @slice_range(%x: tensor<4xf32>) {
  // expected-error @+1 {{selects elements 1 to 5 of a dimension of size 4}}
  %0 = graph.slice %x from [1] by [2] : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----
func.func @concat_nothing() {
  // expected-error @+1 {{needs an operand}}
  %0 = graph.concat dim 0 : () -> tensor<0xf32>
  return
}

// -----
func.func @concat_result(%x: tensor<2xf32>) {
  // expected-error @+1 {{operands and result differ in rank}}
  %0 = graph.concat %x, %x dim 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return
}

// -----
func.func @concat_rank(%x: tensor<2xf32>, %y: tensor<2x2xf32>) {
  // expected-error @+1 {{operands differ in rank}}
  %0 = graph.concat %x, %y dim 0 : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<4xf32>
  return
}

// -----
func.func @concat_size(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{operands differ in dimension 1: 4 and 3}}
  %0 = graph.concat %x, %y dim 0 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----
func.func @pad_rank(%x: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{needs one `low` and one `high` per dimension}}
  %0 = graph.pad %x, %v low [1, 1] high [0, 0] : (tensor<2xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----
func.func @pad_negative(%x: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{padding must not be negative}}
  %0 = graph.pad %x, %v low [-1] high [0] : (tensor<2xf32>, tensor<f32>) -> tensor<1xf32>
  return
}

// -----
func.func @reduce(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{dimensions [1, 0] must be in ascending order and less than 2}}
  %0 = graph.reduce sum %x dims [1, 0] : tensor<2x3xf32> -> tensor<f32>
  return
}

// -----
func.func @contract_rank(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'abc,bc->ac' does not fit a tensor of rank 2}}
  %0 = graph.contract "abc,bc->ac" %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
func.func @contract_size(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{index 'b' has two sizes, 3 and 2}}
  %0 = graph.contract "ab,bc->ac" %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
func.func @contract_twice(%x: tensor<2x2xf32>) {
  // expected-error @+1 {{index 'a' occurs twice in 'aa'}}
  %0 = graph.contract "aa,aa->a" %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
  return
}

// -----
func.func @contract_once(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{index 'b' occurs only once in 'a,b->a'}}
  %0 = graph.contract "a,b->a" %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----
func.func @layer_norm(%x: tensor<f32>) {
  // expected-error @+1 {{needs at least one dimension}}
  %y, %mean, %rstd = graph.layer_norm %x, %x, %x {epsilon = 1.0e-5 : f64} : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return
}

// -----
func.func @attention_rank(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{q, k and v must have rank 4}}
  %out, %lse = graph.attention causal %x, %x, %x scale 1.0 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3xf32>)
  return
}

// -----
func.func @attention_sizes(%q: tensor<2x3x4x5xf32>, %k: tensor<2x3x3x5xf32>) {
  // expected-error @+1 {{q [2, 3, 4, 5], k [2, 3, 3, 5] and v [2, 3, 3, 5] have incompatible shapes}}
  %out, %lse = graph.attention causal %q, %k, %k scale 1.0 : (tensor<2x3x4x5xf32>, tensor<2x3x3x5xf32>, tensor<2x3x3x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x4x3xf32>)
  return
}

// -----
func.func @cross_entropy(%x: tensor<f32>, %y: tensor<i64>) {
  // expected-error @+1 {{logits need a class dimension}}
  %sum, %count, %lse = graph.cross_entropy %x, %y ignore -100 : (tensor<f32>, tensor<i64>) -> (tensor<f32>, tensor<i64>, tensor<f32>)
  return
}

// -----
func.func @states(%p: tensor<2xf32>, %s: tensor<6xf32>) {
  // expected-error @+1 {{needs 1 states, but has 2}}
  %0, %1, %2 = graph.optimizer_step sgd %p, %p, %s states %p, %p {momentum = 0.9 : f64} : (tensor<2xf32>, tensor<2xf32>, tensor<6xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----
func.func @pad_value(%x: tensor<2xf32>) {
  // expected-error @+1 {{value must have shape [], but has [2]}}
  %0 = graph.pad %x, %x low [1] high [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----
func.func @layer_norm_weight(%x: tensor<2x3xf32>, %w: tensor<2xf32>) {
  // expected-error @+1 {{weight must have shape [3], but has [2]}}
  %y, %mean, %rstd = graph.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----
func.func @attention_lse(%x: tensor<2x3x4x5xf32>) {
  // expected-error @+1 {{lse must have shape [2, 4, 3], but has [2, 3, 4]}}
  %out, %lse = graph.attention causal %x, %x, %x scale 1.0 : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x3x4xf32>)
  return
}

// -----
func.func @attention_bias_shape(%x: tensor<2x3x4x5xf32>, %b: tensor<2x1x1x4xf32>) {
  // expected-error @+1 {{bias [2, 1, 1, 4] does not broadcast to scores [2, 4, 3, 3]}}
  %out, %lse = graph.attention none %x, %x, %x bias %b scale 1.0 : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x1x1x4xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x4x3xf32>)
  return
}

// -----
func.func @attention_bias_type(%x: tensor<2x3x4x5xf32>, %b: tensor<2x1x1x3xi64>) {
  // expected-error @+1 {{bias has element type 'i64', but must be i1, the element type of q ('f32'), or f32 if q is narrow}}
  %out, %lse = graph.attention none %x, %x, %x bias %b scale 1.0 : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x1x1x3xi64>) -> (tensor<2x3x4x5xf32>, tensor<2x4x3xf32>)
  return
}

// -----
func.func @attention_ratio(%x: tensor<2x3x4x5xf32>, %d: tensor<2x4x3xi64>) {
  // expected-error @+1 {{has dropout probability 1.000000e+00, which must be above 0 and below 1}}
  %out, %lse = graph.attention none %x, %x, %x dropping 1.0 by %d scale 1.0 : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x4x3xi64>) -> (tensor<2x3x4x5xf32>, tensor<2x4x3xf32>)
  return
}

// -----
func.func @attention_draws(%x: tensor<2x3x4x5xf32>, %d: tensor<2x4xi64>) {
  // expected-error @+1 {{draws must have shape [2, 4, 3], but has [2, 4]}}
  %out, %lse = graph.attention none %x, %x, %x dropping 0.5 by %d scale 1.0 : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x4xi64>) -> (tensor<2x3x4x5xf32>, tensor<2x4x3xf32>)
  return
}

// -----
func.func @attention_ratio_alone(%x: tensor<2x3x4x5xf32>) {
  // expected-error @+1 {{must have both a ratio and draws, or neither}}
  %out, %lse = graph.attention none %x, %x, %x scale 1.0 {ratio = 0.5 : f64} : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x4x3xf32>)
  return
}

// -----
func.func @attention_window(%x: tensor<2x3x4x5xf32>) {
  // expected-error @+1 {{window is 0, but must be at least 1}}
  %out, %lse = graph.attention none %x, %x, %x scale 1.0 {window = 0 : i64} : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x4x3xf32>)
  return
}

// -----
func.func @attention_scale(%x: tensor<2x3x4x5xf32>) {
  // expected-error @+1 {{scale is -1.000000e+00, but must be positive}}
  %out, %lse = graph.attention none %x, %x, %x scale -1.0 : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x4x3xf32>)
  return
}

// -----
func.func @rms_norm_weight(%x: tensor<2x3xf32>, %w: tensor<2xf32>) {
  // expected-error @+1 {{weight must have shape [3], but has [2]}}
  %y, %rstd = graph.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  return
}

// -----
func.func @cross_entropy_labels(%x: tensor<2x3xf32>, %y: tensor<3xi64>) {
  // expected-error @+1 {{labels must have shape [2], but has [3]}}
  %sum, %count, %lse = graph.cross_entropy %x, %y ignore -100 : (tensor<2x3xf32>, tensor<3xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf32>)
  return
}

// -----
func.func @optimizer(%p: tensor<2xf32>, %s: tensor<6xf32>) {
  // expected-error @+1 {{has unknown optimizer 'sdg'}}
  %0 = graph.optimizer_step sdg %p, %p, %s : (tensor<2xf32>, tensor<2xf32>, tensor<6xf32>) -> tensor<2xf32>
  return
}

// -----
// expected-error @+1 {{graph.groups must be an array}}
module attributes {graph.groups = "sgd"} {}

// -----
// expected-error @+1 {{graph.groups: a group must have the name of an optimizer as its kind}}
module attributes {graph.groups = [{kind = "sdg"}]} {}

// -----
// expected-error @+1 {{graph.groups: 'momentum' must be a float}}
module attributes {graph.groups = [{kind = "sgd", momentum = 1 : i64}]} {}

// -----
// expected-error @+1 {{graph.groups: 'clip_value' must be a float above 0}}
module attributes {graph.groups = [{kind = "sgd", clip_value = 0.0 : f64}]} {}

// -----
// expected-error @+1 {{graph.groups: an average of the parameters requires a float 'ema_decay' and an integer 'ema_start'}}
module attributes {graph.groups = [{kind = "sgd", ema_decay = 0.5 : f64}]} {}

// -----
// expected-error @+1 {{graph.lr_schedule must have the name of a schedule as its type}}
module attributes {graph.lr_schedule = {type = "cosin"}} {}

// -----
// expected-error @+1 {{graph.lr_schedule of type linear cannot have power = 2.000000e+00 : f64}}
module attributes {graph.lr_schedule = {type = "linear", power = 2.0 : f64}} {}

// -----
func.func @scalars(%p: tensor<2xf32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{scalars must have shape [6], but has [3]}}
  %0 = graph.optimizer_step sgd %p, %p, %s : (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----
func.func @gather_elements(%x: tensor<2x3xf32>, %i: tensor<4xi64>) {
  // expected-error @+1 {{indices have rank 1, but must have rank 2 to 2 for dimension 0 of a tensor of rank 2}}
  %0 = graph.gather_elements %x, %i dim 0 : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  return
}

// -----
func.func @gather_elements_shape(%x: tensor<2x3xf32>, %i: tensor<5x4xi64>) {
  // expected-error @+1 {{indices must have shape [2, 4], but has [5, 4]}}
  %0 = graph.gather_elements %x, %i dim 1 : (tensor<2x3xf32>, tensor<5x4xi64>) -> tensor<2x4xf32>
  return
}

// -----
func.func @scatter_elements(%u: tensor<2x4xf32>, %i: tensor<5xi64>) {
  // expected-error @+1 {{updates must have shape [2, 5], but has [2, 4]}}
  %0 = graph.scatter_elements_add %i, %u dim 1 : (tensor<5xi64>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----
func.func @scatter_elements_by_row(%x: tensor<2x3xf32>, %u: tensor<4x3xf32>, %i: tensor<5x1xi64>) {
  // expected-error @+1 {{updates must have shape [5, 3], but has [4, 3]}}
  %0 = graph.scatter_elements last %x, %i, %u dim 0 : (tensor<2x3xf32>, tensor<5x1xi64>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
func.func @scatter_elements_lists(%x: tensor<4x2x3xf32>, %u: tensor<4x5x3xf32>, %i: tensor<2x5x1xi64>) {
  // expected-error @+1 {{indices must have shape [4, 5, 1], but has [2, 5, 1]}}
  %0 = graph.scatter_elements max %x, %i, %u dim 1 : (tensor<4x2x3xf32>, tensor<2x5x1xi64>, tensor<4x5x3xf32>) -> tensor<4x2x3xf32>
  return
}

// -----
func.func @convolution_rank(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) {
  // expected-error @+1 {{needs tensors of equal rank with one to three spatial dimensions, but has [2, 3] and [2, 4]}}
  %y = graph.convolution %x, %w groups 1 by [] dilations [] pads [] : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  return
}

// -----
func.func @convolution_strides(%x: tensor<2x3x4xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error @+1 {{needs a window, stride, dilation and pad for each of 1 spatial dimensions}}
  %y = graph.convolution %x, %w groups 1 by [1, 1] dilations [1] pads [0] : (tensor<2x3x4xf32>, tensor<4x3x2xf32>) -> tensor<2x4x3xf32>
  return
}

// -----
func.func @convolution_zero(%x: tensor<2x3x4xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error @+1 {{windows, strides, dilations and sizes must be positive and below 2^31}}
  %y = graph.convolution %x, %w groups 1 by [0] dilations [1] pads [0] : (tensor<2x3x4xf32>, tensor<4x3x2xf32>) -> tensor<2x4x3xf32>
  return
}

// -----
func.func @convolution_groups(%x: tensor<2x3x4xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error @+1 {{x [2, 3, 4], w [4, 3, 2] and y [2, 4, 3] have incompatible shapes with 2 groups}}
  %y = graph.convolution %x, %w groups 2 by [1] dilations [1] pads [0] : (tensor<2x3x4xf32>, tensor<4x3x2xf32>) -> tensor<2x4x3xf32>
  return
}

// -----
func.func @convolution_transpose_batch(%y: tensor<2x4x3xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error @+1 {{x [1, 3, 4], w [4, 3, 2] and y [2, 4, 3] have incompatible shapes with 1 groups}}
  %x = graph.convolution_transpose %y, %w groups 1 by [1] dilations [1] pads [0] : (tensor<2x4x3xf32>, tensor<4x3x2xf32>) -> tensor<1x3x4xf32>
  return
}

// -----
func.func @convolution_weight(%x: tensor<2x3x4xf32>, %dy: tensor<2x4x3xf32>) {
  // expected-error @+1 {{x [2, 3, 4], w [5, 3, 2] and y [2, 4, 3] have incompatible shapes with 1 groups}}
  %dw = graph.convolution_weight_backward %x, %dy groups 1 by [1] dilations [1] pads [0] : (tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<5x3x2xf32>
  return
}

// -----
func.func @max_pool_channels(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{x [2, 3, 4] and y [2, 4, 3] differ in batch or channels}}
  %y = graph.max_pool %x window [2] by [1] dilations [1] pads [0] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  return
}

// -----
func.func @cast_rounds_twice(%x: tensor<4xf64>) {
  // expected-error @+1 {{converts 'f64' to 'bf16'; sixteen-bit types can only be converted from and to f32}}
  %y = graph.cast %x : tensor<4xf64> -> tensor<4xbf16>
  return
}

// -----
func.func @cast_between_narrow(%x: tensor<4xf16>) {
  // expected-error @+1 {{converts 'f16' to 'bf16'}}
  %y = graph.cast %x : tensor<4xf16> -> tensor<4xbf16>
  return
}

// -----
func.func @nothing_computes_in_sixteen_bits(%x: tensor<4xbf16>) {
  // expected-error @+1 {{must be statically shaped tensor of 32-bit float}}
  %y = graph.add %x, %x : tensor<4xbf16>
  return
}

// -----
func.func @max_pool_outside(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{window 2 of spatial dimension 0 is outside of x}}
  %y = graph.max_pool %x window [2] by [2] dilations [1] pads [0] : (tensor<2x3x4xf32>) -> tensor<2x3x3xf32>
  return
}

// -----
func.func @max_pool_backward(%x: tensor<2x3x4xf32>, %dy: tensor<2x3x2xf32>) {
  // expected-error @+1 {{dx must have the type of x, but has 'tensor<2x3x5xf32>'}}
  %dx = graph.max_pool_backward %x, %dy window [2] by [2] dilations [1] pads [0] : (tensor<2x3x4xf32>, tensor<2x3x2xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @narrow_product_to_f64(%a: tensor<2x3xbf16>, %b: tensor<3x4xbf16>) -> tensor<2x4xf64> {
  // expected-error @+1 {{sums products of 'bf16' in 'f64'; the result must have the type of the operands, or f32 if this type is narrow}}
  %0 = graph.contract "ab,bc->ac" %a, %b : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf64>
  return %0 : tensor<2x4xf64>
}

// -----

func.func @scatter_add(%ids: tensor<2xi64>, %x: tensor<2x3xf64>) {
  // expected-error @+1 {{adds updates of type 'f64' to a result of type 'bf16'; the types must be equal, or f32 and a narrow type}}
  %y = graph.scatter_add %ids, %x dim 0 : (tensor<2xi64>, tensor<2x3xf64>) -> tensor<4x3xbf16>
  return
}

// -----
func.func @draw(%x: tensor<2xf32>, %bits: tensor<2xi32>) -> tensor<2xbf16> {
  // expected-error @+1 {{has draw 3, which must be 0 to 2}}
  %y = graph.stochastic_cast %x, %bits draw 3 : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xbf16>
  return %y : tensor<2xbf16>
}

// -----
func.func @unknown_number() {
  // expected-error @+1 {{'warp' is not a per-step number; choose one of loss_scale, random_key}}
  %x = graph.step_number warp : tensor<f32>
  return
}

// -----
func.func @number_of_a_group() {
  // expected-error @+1 {{'learning_rate' is not a per-step number; choose one of loss_scale, random_key}}
  %x = graph.step_number learning_rate : tensor<f32>
  return
}

// -----
func.func @key_of_floats() {
  // expected-error @+1 {{'random_key' must be a single i64, not 'tensor<f32>'}}
  %x = graph.step_number random_key : tensor<f32>
  return
}

// -----
func.func @several_scales() {
  // expected-error @+1 {{'loss_scale' must be a single f32, not 'tensor<2xf32>'}}
  %x = graph.step_number loss_scale : tensor<2xf32>
  return
}

// -----
func.func @evaluate(%x: tensor<2xi64>, %y: tensor<2xi64>, %z: tensor<2xi64>) attributes {graph.entry = #graph.purpose<evaluate>} {
  // expected-error @+1 {{draws random numbers in an evaluation}}
  %0 = graph.random_bits %x, %y, %z : tensor<2xi32>
  return
}

// -----
// expected-error @+1 {{has the same purpose as 'other'}}
func.func @evaluate() attributes {graph.entry = #graph.purpose<evaluate>} {
  return
}
// expected-error @+1 {{has the same purpose as 'evaluate'}}
func.func @other() attributes {graph.entry = #graph.purpose<evaluate>} {
  return
}

// -----
// expected-error @+1 {{graph.entry must be a purpose and belong to a function}}
func.func @evaluate() attributes {graph.entry = "evaluate"} {
  return
}
