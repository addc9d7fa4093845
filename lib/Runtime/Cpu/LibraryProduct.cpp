// See LibraryProduct.h. Only oneDNN's "brg" kernels are used: they require dense operands and use the caller's scratch;
// "gemm" allocates its packing buffers in each call, and "ref" is slow. Deep products run faster in Product.h, which
// blocks k: from k > 2560 if oneDNN reads B in place, from 4096 if it packs B. Products of bf16 all use oneDNN if the
// CPU multiplies such numbers (only then do its kernels have names that begin with "brg"): it packs operands that it
// cannot use in place, and blocks k. These instructions treat subnormal numbers as zero.
#include "LibraryProduct.h"

#include "OneDnn.h"

#include <dnnl.hpp>

#include <algorithm>
#include <string_view>

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): libgomp's, which oneDNN brings along
void omp_set_num_threads(int);
int omp_get_max_threads(void);
// NOLINTEND(readability-identifier-naming)
}

namespace xlc::runtime {

struct LibraryProduct::State {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::matmul::primitive_desc description;
  dnnl::matmul primitive;
  dnnl::stream stream;
  dnnl::memory a, b, bias, c, scratch;
  std::vector<dnnl_exec_arg_t> arguments;
};

namespace {

constexpr int64_t deepestPlain = 2560, deepestPacked = 4096;

/// The library's calls of this thread use no others: our pools cut the work.
void useOneThread() {
  static thread_local bool isOne = false;
  if (!isOne)
    omp_set_num_threads(1);
  isOne = true;
}

/// Restores the caller's number of OpenMP threads.
class OneThread {
public:
  OneThread() : before(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before); }

private:
  int before;
};

/// The strides oneDNN sees; a dimension of size 1 gets the dense one.
dnnl::memory::desc describe(FloatType type, int64_t rows, int64_t columns, int64_t row, int64_t column) {
  if (columns == 1 && row == 1)
    column = rows;
  else if (columns == 1)
    column = 1;
  if (rows == 1)
    row = column == 1 ? columns : 1;
  auto element = type == FloatType::BF16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
  return {{rows, columns}, element, dnnl::memory::dims{row, column}};
}

bool isDense(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  return (column == 1 && (row == columns || rows == 1)) || (row == 1 && (column == rows || columns == 1));
}

dnnl::memory::desc describeRight(const ProductShape &s, RightOperand right) {
  if (right == RightOperand::Strided)
    return describe(s.operands, s.k, s.n, s.bK, s.bN);
  return {{s.k, s.n}, dnnl::memory::data_type::bf16, dnnl::memory::format_tag::BA16a64b2a};
}

} // namespace

std::unique_ptr<LibraryProduct> LibraryProduct::tryMake(const ProductShape &s, RightOperand right, bool bias, bool add,
                                                        bool run) {
  int64_t deepest = s.operands != FloatType::F32 ? INT64_MAX : s.bN == 1 ? deepestPlain : deepestPacked;
  if (s.operands == FloatType::F16 || s.k > deepest || !isDense(s.m, s.k, s.aM, s.aK) ||
      (right == RightOperand::Strided && !isDense(s.k, s.n, s.bK, s.bN)) || s.cN != 1 || (s.cM != s.n && s.m != 1))
    return nullptr;
  openOneDnn();
  OneThread single;
  auto state = std::make_unique<State>();
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (add) {
    dnnl::post_ops sum;
    sum.append_sum(1);
    attributes.set_post_ops(sum);
  }
  auto a = describe(s.operands, s.m, s.k, s.aM, s.aK), b = describeRight(s, right);
  auto c = describe(s.result, s.m, s.n, s.n, 1), row = describe(s.result, 1, s.n, s.n, 1);
  auto wanted = bias ? dnnl::matmul::desc(a, b, row, c) : dnnl::matmul::desc(a, b, c);
  state->description = dnnl::matmul::primitive_desc(wanted, attributes, state->engine, true);
  if (!state->description || !std::string_view(state->description.impl_info_str()).starts_with("brg"))
    return nullptr;
  auto product = std::make_unique<LibraryProduct>();
  if (run) {
    state->primitive = dnnl::matmul(state->description);
    state->stream = dnnl::stream(state->engine);
    auto memory = [&](const dnnl::memory::desc &of) { return dnnl::memory(of, state->engine, nullptr); };
    state->a = memory(a), state->b = memory(b), state->bias = memory(row), state->c = memory(c);
    state->scratch = memory(state->description.scratchpad_desc());
    state->arguments = {{DNNL_ARG_SRC, state->a.get()},
                        {DNNL_ARG_WEIGHTS, state->b.get()},
                        {DNNL_ARG_DST, state->c.get()},
                        {DNNL_ARG_SCRATCHPAD, state->scratch.get()}};
    if (bias)
      state->arguments.push_back({DNNL_ARG_BIAS, state->bias.get()});
  }
  product->state = std::move(state);
  return product;
}

LibraryProduct::~LibraryProduct() = default;

int64_t LibraryProduct::scratch() const { return (int64_t)state->description.scratchpad_desc().get_size(); }

void LibraryProduct::run(const void *a, const void *b, const void *bias, void *c, char *scratch) const {
  useOneThread();
  state->a.set_data_handle(const_cast<void *>(a));
  state->b.set_data_handle(const_cast<void *>(b));
  state->bias.set_data_handle(const_cast<void *>(bias));
  state->c.set_data_handle(c);
  state->scratch.set_data_handle(scratch);
  dnnl::error::wrap_c_api(dnnl_primitive_execute(state->primitive.get(), state->stream.get(),
                                                 (int)state->arguments.size(), state->arguments.data()),
                          "a matrix product failed in oneDNN");
}

} // namespace xlc::runtime
