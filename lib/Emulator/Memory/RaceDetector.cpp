// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detects races in shared memory with vector clocks per agent.

#include "../State/Memory.h"
#include <algorithm>
#include <bit>

using namespace mpcore::emulator;

void RaceDetector::reset(unsigned agentCount, uint32_t bytes, unsigned granule) {
  agents = agentCount;
  shift = std::countr_zero(granule);
  clocks.assign(size_t(agents) * agents, 0);
  for (unsigned a = 0; a < agents; ++a)
    clocks[a * agents + a] = 1;
  size_t count = agents ? (bytes + granule - 1) >> shift : 0;
  fenced.assign(agents, 0);
  cells.assign(count, Cell());
  readClocks.resize(count * agents);
  atomics.clear();
}

void RaceDetector::acquire(unsigned agent, const Clock &other) {
  for (unsigned a = 0; a < std::min<size_t>(agents, other.size()); ++a)
    clocks[agent * agents + a] = std::max(clocks[agent * agents + a], other[a]);
}

void RaceDetector::release(unsigned agent, Clock &other) {
  if (other.size() < agents)
    other.resize(agents, 0);
  for (unsigned a = 0; a < agents; ++a)
    other[a] = std::max(other[a], clocks[agent * agents + a]);
  tick(agent);
}

void RaceDetector::fenceProxy(unsigned agent) {
  for (unsigned a = 0; a < agents; ++a)
    fenced[a] = std::max(fenced[a], clocks[agent * agents + a]);
  tick(agent);
}

int RaceDetector::unfencedWriter(uint32_t offset, uint32_t bytes, unsigned warps) const {
  for (uint32_t c = offset >> shift, end = (offset + bytes - 1) >> shift; c <= end; ++c) {
    const Cell &cell = cells[c];
    if (cell.writeClock && cell.writeAgent < warps && cell.writeClock > fenced[cell.writeAgent])
      return cell.writeAgent;
  }
  return -1;
}

void RaceDetector::join(unsigned to, unsigned from) {
  for (unsigned a = 0; a < agents; ++a)
    clocks[to * agents + a] = std::max(clocks[to * agents + a], clocks[from * agents + a]);
}

/// True if the last write to the cell is known to whom `mine` is the clock of.
template <typename Cell, typename Actor>
static bool isWrittenBefore(const Cell &cell, const uint32_t *mine, Actor who) {
  bool ordered = cell.writeAgent == who.agent
                     ? cell.writeLane == who.lane || cell.writeClock < mine[who.agent]
                     : cell.writeClock <= mine[cell.writeAgent];
  return !cell.writeClock || ordered;
}

RaceDetector::Conflict RaceDetector::read(uint32_t offset, uint32_t bytes, Actor who) {
  const uint32_t *mine = clockOf(who.agent);
  for (uint32_t c = offset >> shift, end = (offset + bytes - 1) >> shift; c <= end; ++c) {
    Cell &cell = cells[c];
    if (!isWrittenBefore(cell, mine, who))
      return {true, true, cell.writeAgent, cell.writeLane};
    uint32_t &record = readClocks[size_t(c) * agents + who.agent];
    uint32_t entry = mine[who.agent] << 6 | (who.lane + 1);
    uint64_t &readers = cell.readers[who.agent / 64], bit = uint64_t(1) << who.agent % 64;
    bool again = (readers & bit) && record >> 6 == mine[who.agent];
    record = again && record != entry ? mine[who.agent] << 6 | 63 : entry;
    readers |= bit;
  }
  return {};
}

RaceDetector::Conflict RaceDetector::write(uint32_t offset, uint32_t bytes, Actor who) {
  const uint32_t *mine = clockOf(who.agent);
  for (uint32_t c = offset >> shift, end = (offset + bytes - 1) >> shift; c <= end; ++c) {
    Cell &cell = cells[c];
    if (!isWrittenBefore(cell, mine, who))
      return {true, true, cell.writeAgent, cell.writeLane};
    for (unsigned half = 0; half < 2; ++half) {
      for (uint64_t readers = cell.readers[half]; readers; readers &= readers - 1) {
        unsigned agent = 64 * half + std::countr_zero(readers);
        uint32_t record = readClocks[size_t(c) * agents + agent];
        uint32_t clock = record >> 6, lane = (record & 63) - 1;
        bool fine =
            agent == who.agent ? lane == who.lane || clock < mine[agent] : clock <= mine[agent];
        if (!fine)
          return {true, false, agent, lane == 62 ? 0 : lane};
      }
      cell.readers[half] = 0;
    }
    cell.writeClock = mine[who.agent];
    cell.writeAgent = who.agent;
    cell.writeLane = who.lane;
    cell.atomicWrite = 0;
  }
  return {};
}

RaceDetector::Conflict RaceDetector::atomic(uint32_t offset, uint32_t bytes, Actor who) {
  // Two atomics on one location never race, and the later sees what the earlier thread did before.
  Clock &clock = atomics[offset >> shift];
  acquire(who.agent, clock);
  Cell &cell = cells[offset >> shift];
  bool chained = cell.atomicWrite;
  Conflict conflict;
  if (!chained || cell.writeAgent != who.agent)
    conflict = write(offset, bytes, who);
  else
    cell.writeLane = who.lane;
  if (clock.size() < agents)
    clock.resize(agents, 0);
  for (unsigned a = 0; a < agents; ++a)
    clock[a] = std::max(clock[a], clocks[who.agent * agents + a]);
  for (uint32_t c = offset >> shift, end = (offset + bytes - 1) >> shift; c <= end; ++c)
    cells[c].atomicWrite = 1;
  return conflict;
}
