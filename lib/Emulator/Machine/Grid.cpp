// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches: checks, host threads over blocks, counts.

#include "../State/Warp.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <chrono>
#include <cmath>
#include <thread>

using namespace mpcore;
using namespace mpcore::emulator;
using llvm::createStringError;
using llvm::Twine;

// The cost of starting a block, in instructions, beside those it executes: for the limit of a
// launch.
static constexpr uint64_t kBlockStart = 1000;

static void spend(Launch &launch, const std::vector<Block *> &members) {
  uint64_t spent = 0;
  for (const Block *b : members)
    spent += b->instructions + kBlockStart;
  const uint64_t limit = launch.options.maxLaunchInstructions;
  if (launch.spent.fetch_add(spent) + spent > limit && limit)
    members.front()->warps.front()->fault(
        FaultKind::Limit, launch.program->code[launch.kernel->begin],
        "the launch executed more than " + Twine(limit) +
            " warp instructions, each block counted as " + Twine(kBlockStart) + " more",
        0);
}

// Rounds without any event before the waiters are called stuck: pollers may do some work between
// polls.
static constexpr unsigned kPatience = 4096;

static void runCluster(Launch &launch, std::vector<std::unique_ptr<Block>> &blocks,
                       std::vector<Block *> &members, Counters &counters, uint64_t cluster) {
  const Dim3 g = launch.grid, c = launch.cluster;
  const uint32_t gx = g.x / c.x, gy = g.y / c.y;
  const uint32_t cx = cluster % gx, cy = cluster / gx % gy, cz = cluster / (uint64_t(gx) * gy);
  const unsigned size = c.x * c.y * c.z;
  members.clear();
  for (unsigned r = 0; r < size; ++r) {
    if (blocks.size() <= r)
      blocks.push_back(std::make_unique<Block>());
    Block &b = *blocks[r];
    uint32_t where[3] = {cx * c.x + r % c.x, cy * c.y + r / c.x % c.y, cz * c.z + r / (c.x * c.y)};
    b.rank = r;
    b.clusterTag = uint32_t(cluster % (kSharedSector - 1)) + 1;
    b.cluster = &members;
    b.start(launch, counters, where);
    members.push_back(&b);
  }
  unsigned idle = 0;
  uint64_t before = 0;
  for (;;) {
    bool anyWork = false, allDone = true;
    uint64_t progress = 0;
    for (Block *b : members) {
      if (!b->done() && !b->round(anyWork))
        return;
      allDone &= b->done();
      progress += b->progress;
    }
    if (allDone)
      return;
    if (launch.stop)
      return;
    idle = anyWork || progress != before ? 0 : idle + 1;
    before = progress;
    if (idle > kPatience) {
      for (Block *b : members)
        if (!b->done())
          b->reportDeadlock();
      return;
    }
  }
}

void LaunchStats::add(const LaunchStats &o) {
  warpInstructions += o.warpInstructions;
  laneInstructions += o.laneInstructions;
  for (auto &[name, count] : o.opcodes)
    opcodes[name] += count;
  globalRequests += o.globalRequests;
  globalSectors += o.globalSectors;
  globalBytes += o.globalBytes;
  sharedRequests += o.sharedRequests;
  sharedWavefronts += o.sharedWavefronts;
  bankConflicts += o.bankConflicts;
  barriers += o.barriers;
  touchedSectors += o.touchedSectors;
  blocks += o.blocks;
  sampledBlocks += o.sampledBlocks;
  threads = std::max(threads, o.threads);
  sharedBytes = std::max(sharedBytes, o.sharedBytes);
  seconds += o.seconds;
  printed += o.printed;
}

void LaunchStats::print(llvm::raw_ostream &os) const {
  os << "blocks " << blocks;
  if (sampledBlocks < blocks)
    os << " (" << sampledBlocks << " ran, counts are scaled)";
  os << ", warp instructions " << warpInstructions << ", lane instructions " << laneInstructions
     << "\n"
     << "global: " << globalRequests << " requests, " << globalSectors << " sectors, "
     << globalBytes << " bytes\n"
     << "shared: " << sharedBytes << " bytes per block, " << sharedRequests << " requests, "
     << sharedWavefronts << " wavefronts, " << bankConflicts << " bank conflicts\n"
     << "barriers " << barriers << "\n";
  for (auto &[name, count] : opcodes)
    os << "  " << name << " " << count << "\n";
}

namespace {
/// Returns how many clusters a launch has, and how many of them run.
struct Sampling {
  uint64_t clusters, ran;
  /// The cluster that runs as number `n`: the middle one of as many equal ranges as clusters run.
  uint64_t cluster(uint64_t n) const {
    return ran == clusters ? n : uint64_t((double(n) + 0.5) * double(clusters) / double(ran));
  }
};
} // namespace

/// True if blocks go on by what others have counted: none can be left out.
static bool countsBlocks(const Launch &l) {
  for (uint32_t pc = l.kernel->begin; pc < l.kernel->end; ++pc)
    if (llvm::StringRef opcode = l.program->where[pc].opcode;
        opcode.starts_with("atom.") && opcode.contains(".global.inc"))
      return true;
  return false;
}

static Sampling sample(const Launch &l) {
  const uint64_t size = uint64_t(l.cluster.x) * l.cluster.y * l.cluster.z;
  const uint64_t clusters = uint64_t(l.grid.x) * l.grid.y * l.grid.z / size;
  const uint64_t asked = l.options.sampleBlocks;
  return {clusters,
          !asked || countsBlocks(l) ? clusters : std::min(clusters, llvm::divideCeil(asked, size))};
}

/// Multiplies what is counted by events; what is said of a block stays.
static void scaleCounts(LaunchStats &s, double scale) {
  for (uint64_t *count :
       {&s.warpInstructions, &s.laneInstructions, &s.globalRequests, &s.globalSectors,
        &s.globalBytes, &s.sharedRequests, &s.sharedWavefronts, &s.bankConflicts, &s.barriers})
    *count = uint64_t(std::llround(double(*count) * scale));
  for (auto &[name, count] : s.opcodes)
    count = uint64_t(std::llround(double(count) * scale));
}

/// Runs clusters on host threads and adds up what they counted.
static LaunchStats runGrid(Launch &l, const Sampling &sampling) {
  const Program &program = *l.program;
  const LaunchOptions &options = l.options;
  unsigned threads =
      options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  threads = std::min<uint64_t>(threads, sampling.ran);
  std::vector<Counters> counters(threads);
  std::atomic<uint64_t> nextCluster{0};
  auto work = [&](unsigned t) {
    Counters &c = counters[t];
    c.warps.assign(program.code.size(), 0);
    c.lanes.assign(program.code.size(), 0);
    std::vector<std::unique_ptr<Block>> blocks;
    std::vector<Block *> members;
    for (uint64_t n; !l.stop && (n = nextCluster++) < sampling.ran;) {
      runCluster(l, blocks, members, c,
                 sampling.cluster(options.reverse ? sampling.ran - 1 - n : n));
      spend(l, members);
    }
  };
  std::vector<std::thread> pool;
  for (unsigned t = 1; t < threads; ++t)
    pool.emplace_back(work, t);
  work(0);
  for (std::thread &t : pool)
    t.join();
  LaunchStats stats;
  for (Counters &c : counters) {
    for (size_t pc = 0; pc < c.warps.size(); ++pc)
      if (c.warps[pc]) {
        c.stats.warpInstructions += c.warps[pc];
        c.stats.laneInstructions += c.lanes[pc];
        c.stats.opcodes[program.where[pc].opcode.str()] += c.warps[pc];
      }
    stats.add(c.stats);
  }
  return stats;
}

static llvm::Error checkShape(const KernelInfo &k, Dim3 grid, Dim3 block, uint64_t shared,
                              const LaunchOptions &options) {
  if (!grid.x || !grid.y || !grid.z)
    return createStringError("kernel '" + k.name + "': the grid has a zero extent");
  if (grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
    return createStringError("kernel '" + k.name + "': grid (" + Twine(grid.x) + ", " +
                             Twine(grid.y) + ", " + Twine(grid.z) +
                             ") exceeds (2147483647, 65535, 65535)");
  uint64_t threads = uint64_t(block.x) * block.y * block.z;
  if (threads == 0 || threads > 1024 || block.x > 1024 || block.y > 1024 || block.z > 64)
    return createStringError("kernel '" + k.name + "': block (" + Twine(block.x) + ", " +
                             Twine(block.y) + ", " + Twine(block.z) +
                             ") must have 1 to 1024 threads, at most 64 in z");
  const uint32_t b[3] = {block.x, block.y, block.z}, g[3] = {grid.x, grid.y, grid.z};
  uint64_t most = 1;
  for (unsigned d = 0; d < 3; ++d) {
    if (k.requiredBlock[0] && k.requiredBlock[d] != b[d])
      return createStringError("kernel '" + k.name + "' requires a block of (" +
                               Twine(k.requiredBlock[0]) + ", " + Twine(k.requiredBlock[1]) + ", " +
                               Twine(k.requiredBlock[2]) + ")");
    most *= k.maxBlock[d];
    if (g[d] % k.cluster[d])
      return createStringError("kernel '" + k.name +
                               "': the grid is no multiple of the cluster in dimension " +
                               Twine(d));
  }
  if (k.maxBlock[0] && threads > most)
    return createStringError("kernel '" + k.name + "' allows at most " + Twine(most) +
                             " threads per block");
  if (shared > options.maxSharedBytes)
    return createStringError("kernel '" + k.name + "' needs " + Twine(shared) +
                             " bytes of shared memory, " + Twine(options.maxSharedBytes) +
                             " are allowed");
  return llvm::Error::success();
}

llvm::Expected<LaunchStats> Device::launch(const Module &module, llvm::StringRef kernel, Dim3 grid,
                                           Dim3 block, uint32_t dynamicShared,
                                           llvm::ArrayRef<KernelArg> args,
                                           const LaunchOptions &options) {
  const Program &program = module.program();
  const KernelInfo *info = module.findKernel(kernel);
  if (!info) {
    std::string known;
    for (const KernelInfo &k : program.kernels)
      known += " " + k.name;
    return createStringError("no kernel '" + kernel + "' in " + program.file + "; it has:" + known);
  }
  if (llvm::Error e = checkShape(*info, grid, block,
                                 uint64_t(info->staticSharedBytes) + dynamicShared, options))
    return std::move(e);
  if (args.size() != info->params.size())
    return createStringError("kernel '" + kernel + "' takes " + Twine(info->params.size()) +
                             " arguments, " + Twine(args.size()) + " are given");
  Launch l;
  l.params.assign(info->paramBytes, 0);
  for (unsigned k = 0; k < args.size(); ++k) {
    const KernelParam &p = info->params[k];
    if (args[k].data.size() != p.bytes)
      return createStringError("argument " + Twine(k) + " of kernel '" + kernel + "' has " +
                               Twine(args[k].data.size()) + " bytes, parameter '" + p.name +
                               "' has " + Twine(p.bytes));
    std::memcpy(l.params.data() + p.offset, args[k].data.data(), p.bytes);
  }
  if (llvm::Error e = place(module))
    return std::move(e);
  l.program = &program;
  l.kernel = &program.functions[program.kernelFunction[info - program.kernels.data()]];
  l.info = info;
  l.global = memory.get();
  l.options = options;
  if (l.options.chip.empty())
    l.options.chip = program.target;
  l.architecture = numerics::parseArchitecture(l.options.chip);
  if (!options.chip.empty() && !l.architecture)
    return createStringError("chip '" + options.chip +
                             "' has no Tensor Core model; for example sm_80 or sm_90a");
  l.grid = grid;
  l.block = block;
  l.cluster = {info->cluster[0], info->cluster[1], info->cluster[2]};
  l.dynamicBytes = dynamicShared;
  l.staticBytes = info->staticSharedBytes;
  l.sharedBytes = info->staticSharedBytes + dynamicShared;

  if (options.countTouched && !memory->beginTouched())
    return createStringError("the host has no memory to count the sectors that kernel '" + kernel +
                             "' touches");
  auto began = std::chrono::steady_clock::now();
  const Sampling sampling = sample(l);
  LaunchStats stats = runGrid(l, sampling);
  const double scale = double(sampling.clusters) / double(sampling.ran);
  const uint64_t touched = options.countTouched ? memory->endTouched(scale) : 0;
  if (l.hasFault)
    return llvm::make_error<FaultError>(l.fault);
  if (sampling.ran < sampling.clusters)
    scaleCounts(stats, scale);
  stats.touchedSectors = touched;
  stats.blocks = uint64_t(grid.x) * grid.y * grid.z;
  stats.sharedBytes = l.sharedBytes;
  stats.threads = block.x * block.y * block.z;
  stats.printed = l.printed;
  stats.watched = l.watched;
  stats.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return stats;
}
