// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Picks the loops that matter and counts them.

#include "mp/Cubin/CubinStatistics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <tuple>

using namespace mpcore::cubin;

unsigned FunctionStatistics::barriers() const {
  auto it = whole.opcodes.find("BAR");
  return it == whole.opcodes.end() ? 0 : it->second;
}

namespace {
/// A function with its blocks, while statistics are collected.
struct Collector {
  const Function &function;
  ControlFlow flow;

  explicit Collector(const Function &function) : function(function), flow(function) {}

  template <class F> void forInstructions(const std::set<unsigned> &blocks, F &&fn) const {
    for (unsigned b : blocks)
      for (unsigned k = flow.blocks[b].first; k < flow.blocks[b].last; ++k)
        fn(function.instructions[k]);
  }
  Tally tally(const std::set<unsigned> &blocks) const {
    Tally t;
    forInstructions(blocks, [&](const Instruction &i) { t.add(i); });
    return t;
  }
  bool multiplies(unsigned block) const {
    const Block &b = flow.blocks[block];
    for (unsigned k = b.first; k < b.last; ++k)
      if (function.instructions[k].kind == Kind::Matrix)
        return true;
    return false;
  }
};
} // namespace

static LoopStatistics statisticsOf(const Collector &c, const Loop &loop) {
  LoopStatistics s;
  s.depth = loop.depth;
  const auto &code = c.function.instructions;
  s.begin = code[c.flow.blocks[*loop.blocks.begin()].first].address;
  s.end = code[c.flow.blocks[*loop.blocks.rbegin()].last - 1].address + 16;
  std::set<unsigned> products;
  for (unsigned block : loop.blocks)
    if (c.multiplies(block))
      products.insert(block);
  s.hasProducts = !products.empty();
  const std::set<unsigned> hot = c.flow.everyIteration(loop, products);
  s.own = c.tally(c.flow.ownBlocks(loop));
  s.hot = c.tally(hot);
  s.rare = c.tally(loop.blocks).instructions - s.hot.instructions;
  return s;
}

static bool isInside(const Loop &inner, const Loop &outer) {
  return inner.head != outer.head && inner.blocks.size() < outer.blocks.size() &&
         outer.blocks.count(inner.head);
}

/// Innermost with products, most multiply-adds (instructions where the shape is not encoded), then
/// shortest: of a masked and an unmasked loop the unmasked one is the steady state.
static std::optional<size_t> findMainLoop(const Collector &c, const FunctionStatistics &s) {
  std::optional<size_t> best;
  std::tuple<double, int> bestKey;
  for (auto [k, loop] : llvm::enumerate(s.loops)) {
    const Loop &blocks = c.flow.loops[k];
    bool innermost = loop.hasProducts;
    for (auto [j, other] : llvm::enumerate(c.flow.loops))
      innermost &= !(s.loops[j].hasProducts && isInside(other, blocks));
    if (!innermost)
      continue;
    double work = 0;
    int length = 0;
    c.forInstructions(blocks.blocks, [&](const Instruction &i) {
      ++length;
      if (i.product)
        work += i.product->m ? double(i.product->m) * i.product->n * i.product->k : 1;
    });
    const std::tuple key(work, -length);
    if (!best || key > bestKey) {
      best = k;
      bestKey = key;
    }
  }
  return best;
}

/// Deepest, then fewest blocks.
static std::optional<size_t> findProducerLoop(const Collector &c, const FunctionStatistics &s) {
  std::optional<size_t> best;
  std::tuple<int, int> bestKey;
  for (auto [k, loop] : llvm::enumerate(s.loops)) {
    if (loop.hasProducts || !(loop.own[Kind::BulkLoad] || loop.own[Kind::AsyncCopy]))
      continue;
    const std::tuple key(int(loop.depth), -int(c.flow.loops[k].blocks.size()));
    if (!best || key > bestKey) {
      best = k;
      bestKey = key;
    }
  }
  return best;
}

/// Loads count from their issue until somebody waits for their scoreboard, which counts all loads
/// of its number down to none.
static unsigned mostBytesInFlight(llvm::ArrayRef<Instruction> code) {
  unsigned pending[8] = {}, most = 0;
  for (const Instruction &i : code) {
    for (unsigned board = 0; board < 6; ++board)
      if (i.waitMask >> board & 1)
        pending[board] = 0;
    if (i.kind != Kind::GlobalLoad || i.writeBarrier > 5)
      continue;
    pending[i.writeBarrier] += i.bytes;
    unsigned all = 0;
    for (unsigned bytes : pending)
      all += bytes;
    most = std::max(most, all);
  }
  return most;
}

FunctionStatistics mpcore::cubin::statisticsOf(const Function &function, unsigned sm) {
  FunctionStatistics s;
  s.function = &function;
  s.sm = sm;
  llvm::ArrayRef<Instruction> code = function.instructions;
  while (!code.empty() && code.back().opcode == "NOP")
    code = code.drop_back();
  for (const Instruction &i : code) {
    s.whole.add(i);
    s.unknown += i.opcode.empty();
  }
  s.bytesInFlight = mostBytesInFlight(code);
  const Collector c(function);
  for (const Loop &loop : c.flow.loops)
    s.loops.push_back(::statisticsOf(c, loop));
  s.mainLoop = findMainLoop(c, s);
  s.producerLoop = findProducerLoop(c, s);
  return s;
}

static llvm::json::Object toJSON(const LoopStatistics &loop) {
  llvm::json::Object object = mpcore::cubin::toJSON(loop.hot);
  object["begin"] = "0x" + llvm::utohexstr(loop.begin, /*LowerCase=*/true);
  object["end"] = "0x" + llvm::utohexstr(loop.end, /*LowerCase=*/true);
  object["depth"] = loop.depth;
  object["rare_instructions"] = loop.rare;
  object["own_instructions"] = loop.own.instructions;
  return object;
}

llvm::json::Object mpcore::cubin::toJSON(const FunctionStatistics &s) {
  const Function &f = *s.function;
  llvm::json::Array loops;
  for (const LoopStatistics &loop : s.loops)
    loops.push_back(::toJSON(loop));
  llvm::json::Object object{{"kernel", f.name},
                            {"arch", "sm_" + std::to_string(s.sm)},
                            {"registers", f.registers},
                            {"stack_bytes", f.stackBytes},
                            {"shared_bytes", f.sharedBytes},
                            {"threads", f.threads},
                            {"code_bytes", f.codeBytes},
                            {"spill_instructions", s.spills()},
                            {"barriers", s.barriers()},
                            {"bytes_in_flight_per_thread", s.bytesInFlight},
                            {"unknown_instructions", s.unknown},
                            {"whole", toJSON(s.whole)},
                            {"loops", std::move(loops)}};
  if (s.mainLoop)
    object["main_loop"] = ::toJSON(s.loops[*s.mainLoop]);
  if (s.producerLoop)
    object["producer_loop"] = ::toJSON(s.loops[*s.producerLoop]);
  return object;
}
