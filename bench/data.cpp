// The loader of rows beside bare reads of the same rows: what order, checks and widening to 64 bits cost.
//
//     data FOLDER [MEBIBYTES]
//
// Writes a file of tokens of 16 bits to the folder and reads rows of 1024 of them, in order and shuffled, in
// turns: by pread alone, and as a program reads them ahead (lib/Runtime/Data). Prints both rates, and the loader's
// over that of bare reads; ends with 1 where one is below 0.5.
#include "Data/Data.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

using namespace xlc;
using namespace xlc::runtime;

namespace {

constexpr uint64_t length = 1024, batch = 64, words = 50257;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void writeTokens(const std::string &path, uint64_t tokens) {
  FILE *file = std::fopen(path.c_str(), "wb");
  std::vector<uint16_t> block(1 << 16);
  uint32_t state = 1;
  for (uint64_t done = 0; file && done < tokens; done += block.size()) {
    for (uint16_t &token : block)
      token = (uint16_t)((state = state * 1664525 + 1013904223) >> 8) % words;
    std::fwrite(block.data(), 2, block.size(), file);
  }
  if (!file || std::fclose(file) != 0) {
    std::perror(path.c_str());
    std::exit(2);
  }
}

/// One rank that loads ids of a table in micro-batches.
Plan makePlan(const std::string &path, bool shuffles) {
  Plan plan;
  plan.mesh = std::make_unique<plan::Mesh>(1, 1, 1, 1), plan.micro = batch, plan.micro_batches = 1;
  auto input = std::make_unique<plan::InputT>();
  input->name = "ids", input->element = plan::Element::I64, input->row_shape = {length};
  input->has_limit = true, input->limit = words;
  plan.inputs.push_back(std::move(input));
  plan.dataset = std::make_unique<plan::DatasetT>();
  plan.dataset->inputs.push_back(std::make_unique<plan::InputDataT>());
  plan.dataset->inputs[0]->source = plan::InputSource::Tokens;
  plan.dataset->shuffle = shuffles, plan.dataset->stream = std::make_unique<plan::TokenStreamT>();
  plan.dataset->stream->files = {path}, plan.dataset->stream->type = plan::TokenType::U16;
  return plan;
}

double secondsOfReads(const std::string &path, const std::vector<uint64_t> &order) {
  int file = open(path.c_str(), O_RDONLY);
  std::vector<char> to(length * 2);
  double begin = now();
  for (uint64_t row : order)
    if (pread(file, to.data(), to.size(), (off_t)(row * length * 2)) != (ssize_t)to.size())
      std::exit(2);
  double seconds = now() - begin;
  close(file);
  return seconds;
}

double secondsOfLoads(const Data &data, uint64_t rows, uint64_t step) {
  std::vector<char> to(batch * length * 8);
  auto through = std::make_unique<Blocks>();
  double begin = now();
  for (uint64_t i = 0; i < rows / batch; ++i) {
    RowSink sink(to.data());
    data.load(0, step + i, 0, 0, sink, *through);
  }
  return now() - begin;
}

/// The best of several pairs.
double compare(const std::string &path, bool shuffles) {
  Plan plan = makePlan(path, shuffles);
  Data data(plan, {});
  uint64_t rows = data.rows() / batch * batch;
  Order order = shuffles ? Order::shuffled(data.rows(), 0) : Order::inOrder(data.rows());
  std::vector<uint64_t> read(rows);
  for (uint64_t i = 0; i < rows; ++i)
    read[i] = order.rowOf(i);
  double bare = 1e9, loader = 1e9;
  for (int repetition = 0; repetition < 5; ++repetition) {
    bare = std::min(bare, secondsOfReads(path, read));
    loader = std::min(loader, secondsOfLoads(data, rows, 0));
  }
  double bytes = (double)(rows * length * 2) * 1e-9;
  std::printf("%-9s %.2f GB/s loaded, %.2f GB/s of bare reads: %.2f\n", shuffles ? "shuffled" : "in order",
              bytes / loader, bytes / bare, bare / loader);
  return bare / loader;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fputs("usage: data FOLDER [MEBIBYTES]\n", stderr);
    return 2;
  }
  std::string path = std::string(argv[1]) + "/tokens.bin";
  writeTokens(path, (argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 256) << 19);
  double worst = std::min(compare(path, false), compare(path, true));
  unlink(path.c_str());
  return worst < 0.5 ? 1 : 0;
}
