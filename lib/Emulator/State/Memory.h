// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Global memory (allocations with bounds and initialisation bits) and shared memory (bounds,
// initialisation, bank conflicts, races).

#ifndef MP_LIB_EMULATOR_STATE_MEMORY_H
#define MP_LIB_EMULATOR_STATE_MEMORY_H

#include "../Decode/Program.h"
#include "mp/Emulator/Device.h"
#include "mp/Emulator/TensorMap.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

namespace mpcore::emulator {

enum class Access : uint8_t {
  Read,
  Write,
  Atomic,
  Mbarrier
}; // the last: an operation on an mbarrier

inline constexpr uint64_t kSectorBytes = 32; // of global memory
inline constexpr uint32_t kSharedSector = ~0u;

struct Allocation {
  uint64_t base = 0, size = 0;
  // Zero, and taken from the system when it is touched.
  struct Free {
    void operator()(void *p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t[], Free> data;
  std::unique_ptr<std::atomic<uint8_t>[], Free> written; // a bit per byte
  // While sectors are counted, for each: the cluster that touched it, kSharedSector if several did,
  // 0 if none did.
  std::unique_ptr<std::atomic<uint32_t>[], Free> touched;
  std::atomic<bool> allWritten{false};
  bool readOnly = false;
  std::string name;

  bool isWritten(uint64_t offset, uint64_t bytes) const;
  void markWritten(uint64_t offset, uint64_t bytes);
  void markTouched(uint64_t offset, uint64_t bytes, uint32_t cluster);
};

class GlobalMemory {
public:
  /// Null when the host has no memory for it.
  Allocation *create(uint64_t base, uint64_t size, llvm::StringRef name);
  uint64_t reserve(uint64_t size, uint64_t align);
  bool destroy(uint64_t base);
  /// The allocation whose [base, base + size) holds the address, or null.
  Allocation *find(uint64_t address);
  /// "12 bytes past the end of the 4096 bytes at 0x…", for messages.
  std::string describe(uint64_t address, uint64_t bytes);
  /// Counts sectors that accesses touch from now on. False when the host has no memory for it.
  bool beginTouched();
  /// Ends that, and returns how many were touched. Those that one cluster alone touched count
  /// `scale` times, for the clusters that did not run; those of several count once, as what all
  /// clusters share. No allocation counts for more than it has.
  uint64_t endTouched(double scale);
  std::set<uint64_t> placed; // modules whose globals are there

private:
  std::map<uint64_t, std::unique_ptr<Allocation>> allocations;
  uint64_t next = kGlobalBase;
};

/// The agent that touches shared memory: a warp (agent w), the copy engine on its behalf (agent
/// warps + w), or the wgmma of its warpgroup (agent 2 warps + w / 4). At most 72 agents.
struct Actor {
  unsigned agent = 0;
  unsigned lane = 0;
};

/// Happens-before between agents by vector clocks (FastTrack, Flanagan and Freund, PLDI 2009), with
/// one record per granule of shared memory.
class RaceDetector {
public:
  void reset(unsigned agents, uint32_t bytes, unsigned granule);
  bool enabled() const { return agents != 0; }
  using Clock = std::vector<uint32_t>;
  const uint32_t *clockOf(unsigned agent) const { return &clocks[agent * agents]; }
  uint32_t own(unsigned agent) const { return clocks[agent * agents + agent]; }
  /// clocks[agent] = max(clocks[agent], other)
  void acquire(unsigned agent, const Clock &other);
  /// other = max(other, clocks[agent]); later accesses of the agent are not covered.
  void release(unsigned agent, Clock &other);
  void join(unsigned to, unsigned from);
  /// Makes known to \p agent what \p of did up to its clock value.
  void learn(unsigned agent, unsigned of, uint32_t clock) {
    uint32_t &known = clocks[agent * agents + of];
    known = std::max(known, clock);
  }
  /// fence.proxy.async by the agent: ordinary writes it knows of are visible to the async proxy.
  void fenceProxy(unsigned agent);
  /// The agent of an ordinary write in the range that no proxy fence covers, or -1.
  int unfencedWriter(uint32_t offset, uint32_t bytes, unsigned warps) const;
  void tick(unsigned agent) { clocks[agent * agents + agent]++; }

  struct Conflict {
    bool found = false;
    bool otherWrites = false;
    unsigned agent = 0, lane = 0;
  };
  Conflict read(uint32_t offset, uint32_t bytes, Actor who);
  Conflict write(uint32_t offset, uint32_t bytes, Actor who);
  /// Atomics order the accesses of one location.
  Conflict atomic(uint32_t offset, uint32_t bytes, Actor who);

private:
  struct Cell {
    uint32_t writeClock = 0;
    uint8_t writeAgent = 0, writeLane = 0;
    uint8_t atomicWrite = 0;
    uint64_t readers[2] = {0, 0}; // agents that read since the last write, a bit each
  };
  unsigned agents = 0, shift = 2;
  std::vector<uint32_t> clocks; // agents x agents
  std::vector<uint32_t> fenced; // per agent: writes up to this clock are visible to the async proxy
  std::vector<Cell> cells;
  std::vector<uint32_t> readClocks; // cell x agents: clock << 6 | lane + 1, 63 for several lanes
  std::map<uint32_t, Clock> atomics;
};

/// State of a byte of shared memory.
enum ByteState : uint8_t { kNever = 0, kWritten = 1, kInFlight = 2, kMbarrier = 3 };

struct SharedMemory {
  std::vector<uint8_t> data, state;
  RaceDetector races;
  void reset(uint32_t bytes, unsigned agents, unsigned granule);
  /// Returns the swizzle of the tensor copy that last wrote the 16 bytes there; none if they were
  /// written otherwise.
  std::optional<TensorMap::Swizzle> swizzleAt(uint32_t offset) const;
  void setSwizzle(uint32_t offset, uint32_t bytes, std::optional<TensorMap::Swizzle> swizzle);
  uint32_t size() const { return data.size(); }

private:
  std::vector<uint8_t>
      swizzles; // 1 + the swizzle of each 16 bytes; empty before the first tensor copy
};

/// Wavefronts a warp-wide shared access needs, and the least it could need for as many bytes.
/// offsets: one per lane of mask.
void sharedWavefronts(const uint32_t *offsets, uint32_t mask, unsigned bytes, unsigned &needed,
                      unsigned &least);
/// 32-byte sectors that the lanes touch.
unsigned globalSectors(const uint64_t *addresses, uint32_t mask, unsigned bytes);

} // namespace mpcore::emulator

#endif
