// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a running warp and block.
//
// Divergence: a warp is a tree of splits. The lanes of a divergent branch become children that run
// until the branch's immediate post-dominator, where the parent takes over when its last child has
// arrived. Only leaves run; when one blocks, another leaf of the warp may go on.

#ifndef MP_LIB_EMULATOR_STATE_WARP_H
#define MP_LIB_EMULATOR_STATE_WARP_H

#include "../Decode/Program.h"
#include "Memory.h"
#include "mp/Numerics/TensorCore.h"
#include <array>
#include <deque>
#include <mutex>

namespace mpcore::emulator {

struct Block;
struct Launch;

struct Frame {
  const FunctionCode *fn = nullptr;
  std::vector<uint32_t> regs;
  uint32_t localBase = 0;
  Frame *caller = nullptr;
  uint32_t callPc = 0;
  uint32_t depth = 0; // calls above it
};

struct Split {
  bool alive = false, blocked = false;
  uint32_t mask = 0, pc = 0, rpc = kNoPc;
  Frame *frame = nullptr, *rpcFrame = nullptr;
  int parent = -1;
  unsigned children = 0;
  int barrier = -1;                // blocked at this block barrier
  uint32_t waitMask = 0;           // blocked at bar.warp.sync
  bool meeting = false;            // blocked at a wgmma
  const Inst *syncPoint = nullptr; // stands at it until other lanes come
  uint32_t syncMask = 0;           // those that execute it then
  bool runs() const { return alive && !blocked && !children && !syncPoint; }
};

/// A cp.async not yet complete: its bytes, taken when it was issued.
struct PendingCopy {
  uint32_t lane = 0, dst = 0, bytes = 0;
  uint32_t group = 0; // number of the lane's group
  uint32_t clock = 0; // of the asynchronous agent
  uint8_t data[16];
};

/// Work that a wait_group ends: the agent's clock when it was committed.
struct AsyncGroup {
  unsigned agent = 0;
  uint32_t clock = 0;
  uint32_t lanes = 0;         // bulk copies: those that committed it and did not wait for it yet
  std::vector<Reg> registers; // wgmma: the accumulators
};

struct Warp {
  // Hot part: the split that runs.
  uint32_t *base[3] = {nullptr, nullptr, nullptr};
  uint32_t active = 0; // lanes of the split
  uint32_t exec = 0;   // those whose guard holds
  uint32_t pc = 0;
  Frame *frame = nullptr;
  int current = -1;

  Block *block = nullptr;
  Launch *launch = nullptr;
  unsigned index = 0;
  uint32_t live = 0;    // lanes that have not exited
  uint32_t members = 0; // lanes that exist
  uint32_t carry = 0;   // condition code of add.cc etc., a bit per lane
  bool done = false;
  Allocation *lastAllocation = nullptr;

  std::vector<Split> splits;
  llvm::SmallVector<int, 4>
      met; // splits that execute the instruction at hand with the current one, behind it already
  std::deque<Frame> frames;
  std::vector<Frame *> freeFrames;
  std::vector<uint32_t> special;
  std::vector<uint8_t> local; // lane-major
  uint32_t localStride = 0;

  std::vector<PendingCopy> copies; // cp.async, oldest first
  uint32_t copyGroup[kLanes] = {}; // groups each lane has committed
  std::vector<AsyncGroup> wgmmaGroups;
  AsyncGroup wgmmaOpen;
  bool wgmmaFenced = false;
  std::vector<AsyncGroup> bulkGroups; // cp.async.bulk into global memory

  unsigned asyncAgent() const;
  template <class T> T *lanes(Reg r) { return reinterpret_cast<T *>(base[r.base()] + r.offset()); }
  uint32_t &pred(Reg r) { return base[r.base()][r.offset()]; }

  Step fault(FaultKind kind, const Inst &inst, const llvm::Twine &message, uint32_t lane,
             llvm::StringRef space = "", uint64_t address = 0);
  Fault describe(FaultKind kind, const Inst &inst, const llvm::Twine &message, uint32_t lane,
                 llvm::StringRef space, uint64_t address) const;
  void start(uint32_t members, const FunctionCode &fn);
  Frame *newFrame(const FunctionCode &fn);
  void dropFrame(Frame *frame);
  void enter(int split); // loads the hot part
  void save();           // stores pc into the current split
  int pick();            // a runnable leaf, or -1
  /// For an instruction that needs more lanes than are here. Next: others stood at it; they are in
  /// exec and met now. Leave: the split waits for them. Fault: those left in \p missing cannot
  /// come.
  Step syncLanes(const Inst &inst, uint32_t &missing);
  Step diverge(uint32_t taken, uint32_t target, uint32_t fall, uint32_t rpc);
  Step reconverge();             // the current split stands at its rpc
  Step exitLanes(uint32_t mask); // they are gone
  void unblock(int split);

private:
  int newSplit();
  void childDone(int parent);
  /// Joins a split at the same place whose lanes would not meet these later; false if they would.
  bool absorb(int split);
};

struct Barrier {
  struct Waiter {
    unsigned warp;
    int split;
    const Inst *inst;
  };
  uint32_t arrivedLanes = 0;   // threads that came
  uint32_t arrivedThreads = 0; // the same, whole warps counted as 32
  uint32_t expected = 0;       // 0: all threads that have not exited
  std::vector<Waiter> waiting;
  RaceDetector::Clock clock;
  uint32_t trueCount = 0, voters = 0; // bar.red
};

struct Mbarrier {
  uint32_t expected = 0, pending = 0; // arrivals per phase; still missing
  int64_t tx = 0;
  uint32_t phase = 0;
  RaceDetector::Clock clock;
};

/// A bulk copy into shared memory whose bytes appear when its mbarrier is next looked at.
struct BulkCopy {
  uint32_t barrier = 0; // offset of the mbarrier in the receiving block
  unsigned agent = 0;   // in the receiving block; only set for copies of its own warps
  bool ownBlock = false;
  uint32_t clock = 0;
  struct Piece {
    uint32_t dst, from, bytes;
  };
  std::vector<Piece> pieces;
  std::vector<uint8_t> data;
  std::optional<TensorMap::Swizzle> swizzle; // of a tensor
};

/// The four warps of a warpgroup at a wgmma.
struct WarpgroupMeeting {
  uint32_t arrived = 0;
  const Inst *inst = nullptr;
  int split[4] = {-1, -1, -1, -1};
};

/// barrier.cluster of the blocks of a cluster.
struct ClusterBarrier {
  uint32_t generation = 0;
};

struct Counters {
  std::vector<uint64_t> warps, lanes; // per pc
  LaunchStats stats;
};

/// Records who touched shared memory last, while a launch watches (LaunchOptions::watch).
struct SharedTrace {
  struct Site {
    const Inst *inst = nullptr;
    uint32_t thread = 0;
  };
  std::vector<Site> writers; // per byte
  struct Read {
    const Inst *inst = nullptr;
    uint32_t offset = 0;
    Site writer;
  };
  std::vector<Read> reads; // per thread, the last one
};

struct Block {
  Launch *launch = nullptr;
  Counters *counters = nullptr;
  uint32_t id[3] = {0, 0, 0};
  uint32_t rank = 0;       // in the cluster
  uint32_t clusterTag = 0; // tells clusters apart; neither 0 nor kSharedSector
  std::vector<Block *> *cluster = nullptr;
  ClusterBarrier clusterBarrier; // the first block's counts for all
  std::vector<std::array<uint32_t, kLanes>>
      clusterGoal; // per warp and lane: the generation after the one it arrived in
  RaceDetector::Clock clusterClock;
  SharedMemory shared;
  SharedTrace trace;
  std::vector<std::unique_ptr<Warp>> warps;
  Barrier barriers[16];
  std::map<uint32_t, Mbarrier> mbarriers;
  std::vector<BulkCopy> bulk; // on their way into this block
  std::vector<WarpgroupMeeting> meetings;
  uint64_t instructions = 0;
  uint64_t progress = 0; // grows with everything that can wake a waiter
  unsigned liveThreads = 0, liveWarps = 0;

  void start(Launch &launch, Counters &counters, const uint32_t id[3]);
  /// Runs every warp for a while; false when a fault stopped the launch.
  bool round(bool &anyWork);
  bool done() const { return liveWarps == 0; }
  /// Runs until the warp blocks, polls in vain, ends or has spent its turn (\p anyWork is set
  /// then).
  bool runWarp(Warp &warp, bool &anyWork);
  void barrierCheck(unsigned id);
  void threadsExited(unsigned count);
  Step barrierArrive(Warp &warp, const Inst &inst, unsigned id, uint32_t count, bool wait,
                     uint32_t votes);
  void clusterArrive(uint32_t lanes, unsigned warp, bool releases);
  /// True if the lanes, which arrived, may go on.
  bool clusterPassed(uint32_t lanes, unsigned warp);
  void clusterCheck();
  /// Faults the first stuck warp with a list of all.
  void reportDeadlock();

private:
  void fillSpecials(Warp &warp);
};

struct Launch {
  const Program *program = nullptr;
  const FunctionCode *kernel = nullptr;
  const KernelInfo *info = nullptr;
  GlobalMemory *global = nullptr;
  LaunchOptions options;
  Dim3 grid, block, cluster;
  uint32_t sharedBytes = 0, dynamicBytes = 0, staticBytes = 0;
  std::vector<uint8_t> params;
  std::optional<numerics::Architecture> architecture; // of the Tensor Cores
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> spent{0}; // instructions of the blocks that are done
  std::mutex mutex;               // guards what follows
  bool hasFault = false;
  Fault fault;
  std::optional<Fault> watched;
  std::string printed;
};

/// False after a fault: the instruction touches registers that a wgmma in flight will write.
bool checkPending(Warp &warp, const Inst &inst);
/// Writes bar.red's result for one waiting split.
void finishReduction(Warp &warp, int split, const Inst &inst, uint32_t trueCount, uint32_t voters);

// Host addresses for the active lanes of an access to a space; false after a fault. Counts and
// checks.
bool resolveLanes(Warp &warp, const Inst &inst, MemSpace space, const uint64_t *addresses,
                  uint32_t mask, unsigned bytes, Access access, uint8_t **pointers);
/// The same for one contiguous range of shared memory on behalf of `who` (matrix loads, copies).
bool touchShared(Warp &warp, const Inst &inst, Block &block, uint32_t offset, uint32_t bytes,
                 Access access, Actor who);
/// \p sync: a volatile or ordered access, which takes part in no race.
bool checkShared(Warp &warp, const Inst &inst, Block &block, uint32_t offset, uint32_t bytes,
                 Access access, Actor who, bool sync);
bool resolveGlobal(Warp &warp, const Inst &inst, uint64_t address, uint64_t bytes, Access access,
                   uint32_t lane, uint8_t *&pointer);
/// Keeps what LaunchOptions::watch is there for: of an access to shared memory that is about to
/// happen, and of a write to global memory.
void traceShared(Warp &warp, const Inst &inst, Block &block, uint32_t offset, uint32_t bytes,
                 Access access, Actor who);
void traceGlobal(Warp &warp, const Inst &inst, uint64_t address, uint64_t bytes, unsigned lane);

/// The block and offset that a shared address means; null after a fault. \p ownOnly: of
/// .shared::cta.
Block *sharedBlock(Warp &warp, const Inst &inst, uint64_t address, bool ownOnly, unsigned lane,
                   uint32_t &offset);

} // namespace mpcore::emulator

#endif
