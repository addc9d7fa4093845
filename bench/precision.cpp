// Matrix products of GPT-2 as a compiled program does them, in float32, bf16 and f16, one after the other in one run.
//
//     precision ROWS THREADS REPETITIONS
//
// For each linear layer of GPT-2 124M the forward product, the gradient of the input (both rounded to the type) and that
// of the weight (to float32, as gradients are). Prints a row per product: GFLOP/s in float32, and how many times as fast
// the others are; the best repetition counts, and repetitions of the three take turns. Last the sums over a step.
#include "Cpu/Contract.h"
#include "Cpu/LibraryProduct.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

using namespace xlc::runtime;

namespace {

constexpr std::array types = {FloatType::F32, FloatType::BF16, FloatType::F16};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// A product in one type, with its memory.
class Call {
public:
  Call(const ContractShape &shape, int threads)
      : contraction(shape, threads, false), a(shape.m * shape.k * bytesOf(shape.operands), 60),
        b(shape.k * shape.n * bytesOf(shape.operands), 60), y(shape.m * shape.n * bytesOf(shape.result)),
        workspace(contraction.workspace() + 64) {}

  /// Seconds.
  double run() {
    char *room = (char *)(((uintptr_t)workspace.data() + 63) / 64 * 64);
    double begin = now();
    std::barrier together(contraction.parts());
    std::vector<std::thread> threads;
    for (int part = 0; part < contraction.parts(); ++part)
      threads.emplace_back([&, part] {
        for (int64_t piece = 0; piece < contraction.pieces(); ++piece) {
          contraction.pack(piece, part, b.data(), room);
          together.arrive_and_wait();
          contraction.run(piece, part, a.data(), b.data(), nullptr, y.data(), room);
          together.arrive_and_wait();
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    return now() - begin;
  }

private:
  Contraction contraction;
  std::vector<char> a, b, y, workspace;
};

using Seconds = std::array<double, types.size()>;

Seconds timeProduct(const char *name, ContractShape shape, bool isGradient, int threads, int repetitions) {
  std::vector<Call> calls;
  for (FloatType type : types) {
    shape.operands = type, shape.result = isGradient ? FloatType::F32 : type;
    calls.emplace_back(shape, threads);
  }
  Seconds best;
  best.fill(std::numeric_limits<double>::infinity());
  for (int i = 0; i <= repetitions; ++i) // the first one warms up
    for (size_t t = 0; t < calls.size(); ++t)
      if (double seconds = calls[t].run(); i > 0)
        best[t] = std::min(best[t], seconds);
  std::printf("%-8s %5ld x %5ld x %5ld: %6.1f GFLOP/s, bf16 %.2f, f16 %.2f\n", name, (long)shape.m, (long)shape.k,
              (long)shape.n, 2e-9 * (double)(shape.m * shape.n * shape.k) / best[0], best[0] / best[1],
              best[0] / best[2]);
  return best;
}

/// y = x w with x[rows, in] and w[in, out], and its two gradients; `count` of them in a step.
void addLinear(Seconds &step, int64_t rows, int64_t in, int64_t out, int count, int threads, int repetitions) {
  ContractShape forward{rows, out, in, in, 1, out, 1, out, 1, {}};
  ContractShape input{rows, in, out, out, 1, 1, out, in, 1, {}};
  ContractShape weight{in, out, rows, 1, in, out, 1, out, 1, {}};
  for (const Seconds &each : {timeProduct("forward", forward, false, threads, repetitions),
                              timeProduct("input", input, false, threads, repetitions),
                              timeProduct("weight", weight, true, threads, repetitions)})
    for (size_t t = 0; t < types.size(); ++t)
      step[t] += count * each[t];
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: precision ROWS THREADS REPETITIONS\n");
    return 2;
  }
  int64_t rows = std::atol(argv[1]);
  int threads = std::max(1, std::atoi(argv[2])), repetitions = std::max(1, std::atoi(argv[3]));
  Seconds step{};
  addLinear(step, rows, 768, 2304, 12, threads, repetitions);
  addLinear(step, rows, 768, 768, 12, threads, repetitions);
  addLinear(step, rows, 768, 3072, 12, threads, repetitions);
  addLinear(step, rows, 3072, 768, 12, threads, repetitions);
  addLinear(step, rows, 768, 50304, 1, threads, repetitions);
  std::printf("a step: %.3f s in f32, bf16 %.2f, f16 %.2f\n", step[0], step[0] / step[1], step[0] / step[2]);
}
