// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A train step of transformer-like blocks as an assignment problem, of any size.

#ifndef MP_TEST_ASSIGNMENT_TRAINSTEP_H
#define MP_TEST_ASSIGNMENT_TRAINSTEP_H

#include "Graphs.h"

#include <array>

namespace mpcore::assignment::test {

struct TrainStepOptions {
  int layers;
  bool withFp8 = true;
  bool withErrors = false;
  int seed = 1;
};

/// Costs are bytes over bandwidth plus a launch for casts; products take f32, tf32, bf16 or fp8
/// operands and store f32 or bf16; everything else computes wide and chooses its storage.
class TrainStepBuilder {
public:
  explicit TrainStepBuilder(const TrainStepOptions &options)
      : options(options), random(options.seed) {
    problem.types = {"f32", "bf16"};
    if (options.withFp8)
      problem.types.push_back("fp8");
  }

  Problem build() {
    struct Saved {
      ValueId w1, w2, norm, hidden, act, input;
    };
    std::vector<Saved> saved;
    ValueId x = argument("x", 500);
    for (int i = 0; i < options.layers; ++i) {
      ValueId w1 = argument("w1", pick(500, 3000)), w2 = argument("w2", pick(500, 3000));
      ValueId norm = elementwise("norm", {x}, pick(400, 600));
      ValueId hidden = product("up", {norm, w1}, pick(1500, 2500));
      ValueId act = elementwise("act", {hidden}, pick(1500, 2500));
      ValueId down = product("down", {act, w2}, pick(400, 600));
      saved.push_back({w1, w2, norm, hidden, act, x});
      x = elementwise("add", {x, down}, 500);
    }
    ValueId gradient = elementwise("loss", {x}, 500);
    for (const Saved &s : llvm::reverse(saved)) {
      ValueId dw2 = product("dw2", {s.act, gradient}, 2000);
      ValueId dact = product("dact", {gradient, s.w2}, 2000);
      ValueId dhidden = elementwise("dhidden", {dact, s.hidden}, 2000);
      ValueId dw1 = product("dw1", {s.norm, dhidden}, 2000);
      ValueId dnorm = product("dnorm", {dhidden, s.w1}, 500);
      gradient = elementwise("dinput", {dnorm, s.input, gradient}, 500);
      elementwise("update", {s.w1, dw1}, 2000, /*frozen=*/true);
      elementwise("update", {s.w2, dw2}, 2000, /*frozen=*/true);
    }
    return std::move(problem);
  }

private:
  static constexpr TypeId f32 = 0, bf16 = 1, fp8 = 2;
  static constexpr int64_t bytes[] = {4, 2, 1};

  int64_t pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

  ValueId value(llvm::StringRef name, int64_t elements) {
    llvm::SmallVector<CastCost> casts;
    for (TypeId s = 0; s < problem.types.size(); ++s)
      for (TypeId t = 0; t < problem.types.size(); ++t)
        if (s != t)
          casts.push_back({s, t, 1000 + elements * (bytes[s] + bytes[t])});
    return problem.addValue(name, casts);
  }

  ValueId argument(llvm::StringRef name, int64_t elements) {
    ValueId v = value(name, elements);
    problem.addNode({name.str(), {{"f32", {}, {f32}}}, {}, {v}});
    return v;
  }

  ValueId product(llvm::StringRef name, llvm::ArrayRef<ValueId> operands, int64_t elements) {
    ValueId result = value(name, elements);
    Node node{name.str(), {}, {operands.begin(), operands.end()}, {result}};
    int64_t cost = pick(3000, 20000);
    auto add = [&](llvm::StringRef variant, TypeId in, TypeId out, int64_t time, int64_t error) {
      node.variants.push_back({variant.str(),
                               llvm::SmallVector<TypeId, 2>(operands.size(), in),
                               {out},
                               time + bytes[out] * elements,
                               options.withErrors ? error : 0});
    };
    add("f32", f32, f32, cost * 8, 0);
    add("tf32", f32, f32, cost * 2, pick(1, 20));
    add("bf16->f32", bf16, f32, cost, pick(10, 100));
    add("bf16->bf16", bf16, bf16, cost, pick(20, 120));
    if (options.withFp8) {
      add("fp8->f32", fp8, f32, cost / 2, pick(200, 900));
      add("fp8->bf16", fp8, bf16, cost / 2, pick(200, 900));
    }
    problem.addNode(std::move(node));
    return result;
  }

  ValueId elementwise(llvm::StringRef name, llvm::ArrayRef<ValueId> operands, int64_t elements,
                      bool frozen = false) {
    ValueId result = value(name, elements);
    Node node{name.str(), {}, {operands.begin(), operands.end()}, {result}};
    for (TypeId type : {f32, bf16})
      if (type == f32 || !frozen)
        node.variants.push_back({problem.types[type],
                                 llvm::SmallVector<TypeId, 2>(operands.size(), anyType),
                                 {type},
                                 bytes[type] * elements,
                                 options.withErrors && type != f32 ? pick(1, 30) : 0});
    problem.addNode(std::move(node));
    return result;
  }

  TrainStepOptions options;
  std::mt19937 random;
  Problem problem;
};

inline Problem trainStep(const TrainStepOptions &options) {
  return TrainStepBuilder(options).build();
}

} // namespace mpcore::assignment::test

#endif // MP_TEST_ASSIGNMENT_TRAINSTEP_H
