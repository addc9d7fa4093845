// The matrix products of a GPT-2 training step, alone, through oneDNN: what a step would take if all else were free.
//
//     products LAYERS WIDTH VOCABULARY ROWS THREADS REPETITIONS
//
// For each product of a step (forward, gradient of the input, gradient of the weight; attention's own products left
// out) every pair of layouts of its two factors is tried, packed by oneDNN beforehand where that is a layout of its
// own, and the fastest counts. Prints the seconds of one step, the sum over all products.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dnnl.hpp>
#include <limits>
#include <vector>

extern "C" void omp_set_num_threads(int); // libgomp, which oneDNN brings along

namespace {

using Tag = dnnl::memory::format_tag;

/// c[m, n] = a[m, k] b[k, n], `count` times in a step.
struct Product {
  int64_t m, n, k, count;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// A buffer in the layout that `wanted` describes, filled with something finite.
dnnl::memory makeFactor(const dnnl::memory::desc &wanted, const dnnl::engine &engine) {
  dnnl::memory memory(wanted, engine);
  float *values = static_cast<float *>(memory.get_data_handle());
  std::fill(values, values + wanted.get_size() / sizeof(float), 0.5f);
  return memory;
}

/// Seconds of one execution in these layouts, the best of several.
double timeLayouts(const Product &p, Tag aTag, Tag bTag, const dnnl::engine &engine, int repetitions) {
  auto type = dnnl::memory::data_type::f32;
  dnnl::matmul::desc wanted({{p.m, p.k}, type, aTag}, {{p.k, p.n}, type, bTag}, {{p.m, p.n}, type, Tag::ab});
  dnnl::matmul::primitive_desc description(wanted, engine);
  dnnl::matmul product(description);
  dnnl::stream stream(engine);
  dnnl::memory a = makeFactor(description.src_desc(), engine), b = makeFactor(description.weights_desc(), engine),
               c = makeFactor(description.dst_desc(), engine);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= repetitions; ++i) { // the first one warms up
    double begin = now();
    product.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
    stream.wait();
    if (i > 0)
      best = std::min(best, now() - begin);
  }
  return best;
}

double timeProduct(const Product &p, const dnnl::engine &engine, int repetitions) {
  double best = std::numeric_limits<double>::infinity();
  for (Tag a : {Tag::ab, Tag::ba})
    for (Tag b : {Tag::ab, Tag::ba, Tag::any})
      best = std::min(best, timeLayouts(p, a, b, engine, repetitions));
  std::fprintf(stderr, "%6ld x %5ld x %5ld: %6.1f GFLOP/s, %ld times\n", (long)p.m, (long)p.k, (long)p.n,
               2e-9 * (double)p.m * (double)p.n * (double)p.k / best, (long)p.count);
  return best * (double)p.count;
}

/// y = x w with x[rows, in], and its two gradients.
void addLinear(std::vector<Product> &products, int64_t rows, int64_t in, int64_t out, int64_t count) {
  products.push_back({rows, out, in, count});
  products.push_back({rows, in, out, count});
  products.push_back({in, out, rows, count});
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: products LAYERS WIDTH VOCABULARY ROWS THREADS REPETITIONS\n");
    return 2;
  }
  int64_t layers = std::atol(argv[1]), width = std::atol(argv[2]), vocabulary = std::atol(argv[3]);
  int64_t rows = std::atol(argv[4]);
  omp_set_num_threads(std::atoi(argv[5]));
  std::vector<Product> products;
  addLinear(products, rows, width, 3 * width, layers);
  addLinear(products, rows, width, width, layers);
  addLinear(products, rows, width, 4 * width, layers);
  addLinear(products, rows, 4 * width, width, layers);
  addLinear(products, rows, width, vocabulary, 1);
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  double seconds = 0;
  for (const Product &product : products)
    seconds += timeProduct(product, engine, std::max(1, std::atoi(argv[6])));
  std::printf("%.6f\n", seconds);
}
