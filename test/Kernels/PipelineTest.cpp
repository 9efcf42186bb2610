// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The protocol of the ring of stages, by exploring every interleaving of the warps of a block: no
// warp reads what has not arrived or what somebody has begun to overwrite, and none waits forever.
// The same lists with one wait, commit or barrier left out must fail.

#include "mp/Kernels/Build/Pipeline.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir::mp;
using Events = llvm::SmallVector<PipelineEvent>;

namespace {

/// One thing of those that a warp does from start to end, steps in absolute numbers.
struct Instruction {
  PipelineEvent::Kind kind;
  int step = 0, pending = 0;
};
using Program = std::vector<Instruction>;

Program unrolled(const Events &prologue, const Events &step, const Events &drain, int steps) {
  Program program;
  auto append = [&](const Events &events, int first) {
    for (const PipelineEvent &e : events)
      program.push_back({e.kind, first + e.ahead, e.pending});
  };
  append(prologue, 0);
  for (int s = 0; s < steps; ++s)
    append(step, s);
  append(drain, steps);
  return program;
}

/// Warps that run one program. Each copies a share of every stage and reads all shares.
class Block {
public:
  Block(const Program &program, int warps, int stages)
      : program(program), warps(warps), stages(stages) {}

  /// The first violation that some interleaving meets; empty if there is none.
  std::string explore() {
    std::set<std::vector<int>> seen;
    std::vector<std::vector<int>> pending = {std::vector<int>(warps, 0)};
    while (!pending.empty()) {
      std::vector<int> at = pending.back();
      pending.pop_back();
      if (!seen.insert(at).second)
        continue;
      bool moved = false, done = true;
      for (int warp = 0; warp < warps; ++warp) {
        if (at[warp] == int(program.size()))
          continue;
        done = false;
        const Instruction &next = program[at[warp]];
        if (next.kind == PipelineEvent::Barrier && !everyoneArrived(at, warp))
          continue;
        if (next.kind == PipelineEvent::Read)
          if (std::string wrong = read(at, next.step); !wrong.empty())
            return wrong;
        std::vector<int> then = at;
        ++then[warp];
        pending.push_back(std::move(then));
        moved = true;
      }
      if (!moved && !done)
        return "all warps wait";
    }
    return {};
  }

private:
  int barriersBefore(int at) const {
    return llvm::count_if(llvm::ArrayRef(program).take_front(at),
                          [](const Instruction &i) { return i.kind == PipelineEvent::Barrier; });
  }
  /// A barrier opens when every warp has reached it or is beyond it already.
  bool everyoneArrived(const std::vector<int> &at, int warp) const {
    int number = barriersBefore(at[warp]);
    return llvm::all_of(at, [&](int other) {
      int passed = barriersBefore(other);
      bool isThere = other < int(program.size()) && program[other].kind == PipelineEvent::Barrier;
      return passed > number || (passed == number && isThere);
    });
  }
  /// Returns what the share of a warp that has come to `at` looks like in the stage of `step`:
  /// which step, and whether it has arrived for certain. What a warp writes depends on its own
  /// progress only.
  std::pair<int, bool> share(int at, int step) const {
    struct Copy {
      int step, group;
      bool arrived;
    };
    std::vector<Copy> copies;
    int group = 0;
    for (const Instruction &i : llvm::ArrayRef(program).take_front(at))
      switch (i.kind) {
      case PipelineEvent::Copy: copies.push_back({i.step, group, false}); break;
      case PipelineEvent::Put: copies.back().arrived = true; break;
      case PipelineEvent::Commit: ++group; break;
      case PipelineEvent::Wait:
        for (Copy &copy : copies)
          copy.arrived |= copy.group < group - i.pending;
        break;
      default: break;
      }
    for (const Copy &copy : llvm::reverse(copies))
      if (copy.step % stages == step % stages)
        return {copy.step, copy.arrived};
    return {-1, false};
  }
  std::string read(const std::vector<int> &at, int step) const {
    for (int progress : at) {
      auto [found, arrived] = share(progress, step);
      if (found != step)
        return "step " + std::to_string(step) + " reads step " + std::to_string(found);
      if (!arrived)
        return "step " + std::to_string(step) + " reads what may not have arrived";
    }
    return {};
  }

  const Program &program;
  int warps, stages;
};

std::string explore(const Pipeline &p, const Events &prologue, const Events &step) {
  Program program = unrolled(prologue, step, p.drain(), p.stages + 2);
  return Block(program, /*warps=*/3, p.stages).explore();
}

std::vector<Pipeline> pipelines() {
  std::vector<Pipeline> all;
  for (int stages : {2, 3, 4})
    all.push_back(Pipeline(stages, 2, true, false));
  all.push_back(Pipeline(2, 3, true, false));
  all.push_back(Pipeline(2, 2, false, true));
  return all;
}

TEST(Pipeline, EveryInterleavingReadsWhatWasMeant) {
  for (const Pipeline &p : pipelines())
    EXPECT_EQ(explore(p, p.prologue(), p.step()), "")
        << p.stages << " stages, " << p.parts << " parts";
}

/// All lists that lack one event of `kinds`.
std::vector<Events> mutants(const Events &events, std::set<PipelineEvent::Kind> kinds) {
  std::vector<Events> all;
  for (size_t i = 0; i < events.size(); ++i)
    if (kinds.count(events[i].kind)) {
      Events without = events;
      without.erase(without.begin() + i);
      all.push_back(without);
    }
  return all;
}

TEST(Pipeline, EachWaitCommitAndBarrierIsNeeded) {
  const std::set<PipelineEvent::Kind> kinds = {PipelineEvent::Wait, PipelineEvent::Commit,
                                               PipelineEvent::Barrier};
  unsigned tried = 0;
  for (const Pipeline &p : pipelines()) {
    for (const Events &prologue : mutants(p.prologue(), kinds)) {
      EXPECT_NE(explore(p, prologue, p.step()), "") << p.stages << " stages";
      ++tried;
    }
    for (const Events &step : mutants(p.step(), kinds)) {
      EXPECT_NE(explore(p, p.prologue(), step), "") << p.stages << " stages";
      ++tried;
    }
  }
  EXPECT_GE(tried, 20u);
}

TEST(Pipeline, OneBarrierAStep) {
  for (const Pipeline &p : pipelines())
    EXPECT_EQ(
        llvm::count_if(p.step(),
                       [](const PipelineEvent &e) { return e.kind == PipelineEvent::Barrier; }),
        1);
}

} // namespace
