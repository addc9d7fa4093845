// Measures functions once for all their runs on a stage, and kernels once for all their calls.
#include "xlc/Estimate/Clock.h"
#include "xlc/Estimate/Traffic.h"
#include "xlc/Kernels/LibraryCalls.h"

using namespace mlir;
using namespace xlc;

namespace {

double secondsOf(double bytes, double rate) { return rate > 0 ? bytes / rate : 0; }

/// What one rank has of a device: all of a GPU; of a CPU its threads, as far as there are cores for those of all ranks.
Device shareOf(const Device &device, int64_t threads, int64_t ranks) {
  Device share = device;
  if (!device.isCpu())
    return share;
  int64_t perNode = device.devicesPerNode > 0 ? std::min(device.devicesPerNode, ranks) : ranks;
  double cores = double(threads) * std::min(1.0, double(device.cores) / (double(threads) * double(perNode)));
  for (double &rate : share.products)
    rate *= cores;
  share.bandwidth *= cores;
  for (double &rate : share.packing)
    rate *= cores;
  share.call = share.call / std::min(1.0, cores) + (threads > 1 ? device.meeting : 0);
  return share;
}

} // namespace

Clock::Clock(ModuleOp module, const Device &device, int64_t threads)
    : device(shareOf(device, threads, dist::getMesh(module).getRanks())), mesh(dist::getMesh(module)), symbols(module) {
}

Clock::KernelTime Clock::ofKernel(func::FuncOp kernel) const {
  Cost cost = costOfKernel(kernel);
  KernelWork work = workOfKernel(kernel);
  double share = work == KernelWork::Attention && device.attention > 0 ? device.attention : 1;
  double arithmetic = double(cost.flops - cost.matrixFlops()) / device.productsOf(ProductType::F32);
  for (auto [flops, rate, packing] : llvm::zip_equal(cost.products, device.products, device.packing))
    if (flops)
      arithmetic += double(flops) / (share * rate) + secondsOf(double(cost.bytes), packing);
  if (Operation *product = findLibraryOp(kernel);
      product && findEpilogue(product).hasBeside()) // as measured: behind its arithmetic
    arithmetic += secondsOf(double(graph::getByteSize(graph::typeOf(kernel.front().getTerminator()->getOperand(0)))),
                            device.bandwidth);
  return {work, std::max({arithmetic, double(cost.bytes) / device.bandwidth, device.call})};
}

double Clock::ofMessage(const exec::Exchange &exchange, int64_t stage) const {
  int64_t rank = mesh.rankOf(stage, 0, 0), nodes = 1, perNode = exchange.group.size();
  if (device.devicesPerNode > 0) {
    llvm::DenseMap<int64_t, int64_t> members;
    for (int64_t member : exchange.group.members(mesh, rank))
      ++members[member / device.devicesPerNode];
    nodes = int64_t(members.size());
    perNode = members.lookup(rank / device.devicesPerNode);
  }
  double bytes = double(bytesRead(exchange, mesh, rank));
  if (nodes == 1) {
    double waiting = device.isCpu() && perNode > device.cores ? device.crowding : 0;
    return device.node.latency + waiting + secondsOf(bytes, device.node.bandwidth);
  }
  double across = double(perNode) * device.network.bandwidth;
  double rate = device.node.bandwidth > 0 ? std::min(device.node.bandwidth, across) : across;
  return device.network.latency + secondsOf(bytes, rate);
}

Clock::RunTime Clock::measure(func::FuncOp function, int64_t stage) {
  RunTime time;
  for (Operation &op : function.front()) {
    if (auto collective = dyn_cast<exec::CollectiveOp>(op))
      time.tensor += ofMessage(collective.getExchange(), stage);
    auto call = dyn_cast<exec::CallOp>(op);
    if (!call)
      continue;
    auto [kernel, isNew] = kernels.try_emplace(call.getKernel());
    if (isNew)
      kernel->second = ofKernel(symbols.lookup<func::FuncOp>(call.getKernel()));
    time.kernels[size_t(kernel->second.work)] += kernel->second.seconds;
  }
  return time;
}

const Clock::RunTime &Clock::ofRun(exec::RunOp run) {
  int64_t stage = run->getParentOfType<exec::ProgramOp>().getStage();
  auto [known, isNew] = functions.try_emplace({run.getFunctionAttr(), stage});
  if (isNew)
    known->second = measure(symbols.lookup<func::FuncOp>(run.getFunction()), stage);
  return known->second;
}

double Clock::ofExchange(exec::ExchangeOp exchange) {
  return ofMessage(exchange.getExchange(), exchange->getParentOfType<exec::ProgramOp>().getStage());
}

double Clock::ofTransfer(int64_t stage, int64_t peer, int64_t bytes) const {
  auto nodeOf = [&](int64_t stage) {
    return device.devicesPerNode > 0 ? mesh.rankOf(stage, 0, 0) / device.devicesPerNode : 0;
  };
  const Link &link = nodeOf(stage) == nodeOf(peer) ? device.node : device.network;
  return link.latency + secondsOf(double(bytes), link.bandwidth);
}
