// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maximum flow by Dinic's algorithm on a graph whose terminals are implicit: each vertex has a
// signed surplus, positive when the source side feeds it and negative when it drains into the sink.

#ifndef MP_LIB_ASSIGNMENT_MAXFLOW_H
#define MP_LIB_ASSIGNMENT_MAXFLOW_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace mpcore::assignment {

template <typename Cap> class MaxFlow {
public:
  explicit MaxFlow(uint32_t numVertices)
      : surplus(numVertices, 0), head(numVertices, none), level(numVertices), current(numVertices) {
  }

  void addSurplus(uint32_t v, Cap amount) { surplus[v] += amount; }

  /// Adds an arc; its flow is later given by flow(). Returns its index.
  uint32_t addArc(uint32_t from, uint32_t to, Cap capacity) {
    uint32_t index = arcs.size();
    arcs.push_back({to, head[from], capacity});
    head[from] = index;
    arcs.push_back({from, head[to], 0});
    head[to] = index + 1;
    return index;
  }

  void run() {
    while (buildLevels())
      for (uint32_t v = 0; v < surplus.size(); ++v)
        if (surplus[v] > 0 && level[v] != none)
          discharge(v);
  }

  Cap flow(uint32_t arc) const { return arcs[arc ^ 1].residual; }

  /// True for vertices that residual paths from the source reach: the least source side.
  std::vector<bool> reachableFromSource() const {
    return sweep([](Cap s) { return s > 0; }, [&](uint32_t arc) { return arcs[arc].residual; });
  }
  /// True for vertices from which residual paths reach the sink; the rest is the greatest source
  /// side.
  std::vector<bool> reachingSink() const {
    return sweep([](Cap s) { return s < 0; }, [&](uint32_t arc) { return arcs[arc ^ 1].residual; });
  }

private:
  static constexpr uint32_t none = ~0u;
  struct Arc {
    uint32_t to, next;
    Cap residual;
  };

  /// Distances to the sink over residual arcs. False when no source vertex reaches it.
  bool buildLevels() {
    std::fill(level.begin(), level.end(), none);
    queue.clear();
    for (uint32_t v = 0; v < surplus.size(); ++v)
      if (surplus[v] < 0) {
        level[v] = 0;
        queue.push_back(v);
      }
    bool found = false;
    for (size_t i = 0; i < queue.size(); ++i) {
      uint32_t v = queue[i];
      found |= surplus[v] > 0;
      for (uint32_t a = head[v]; a != none; a = arcs[a].next)
        if (arcs[a ^ 1].residual > 0 && level[arcs[a].to] == none) {
          level[arcs[a].to] = level[v] + 1;
          queue.push_back(arcs[a].to);
        }
    }
    current = head;
    return found;
  }

  /// Pushes the surplus of `start` down the levels, depth first without recursion.
  void discharge(uint32_t start) {
    path.clear();
    uint32_t v = start;
    while (true) {
      if (surplus[v] < 0 && v != start) {
        Cap amount = std::min(surplus[start], Cap(-surplus[v]));
        for (uint32_t a : path)
          amount = std::min(amount, arcs[a].residual);
        surplus[start] -= amount;
        surplus[v] += amount;
        size_t keep = path.size();
        for (size_t i = path.size(); i-- > 0;) {
          arcs[path[i]].residual -= amount;
          arcs[path[i] ^ 1].residual += amount;
          if (arcs[path[i]].residual == 0)
            keep = i;
        }
        if (surplus[start] == 0)
          return;
        if (keep < path.size()) { // continue before the first arc that is full now
          v = arcs[path[keep] ^ 1].to;
          path.resize(keep);
        }
        if (surplus[v] < 0 && v != start)
          continue;
      }
      uint32_t &a = current[v];
      while (a != none && !(arcs[a].residual > 0 && level[arcs[a].to] != none &&
                            level[arcs[a].to] + 1 == level[v]))
        a = arcs[a].next;
      if (a != none) {
        path.push_back(a);
        v = arcs[a].to;
        continue;
      }
      if (path.empty())
        return;
      uint32_t back = path.back();
      path.pop_back();
      v = arcs[back ^ 1].to;
      current[v] = arcs[back].next;
    }
  }

  template <typename IsSeed, typename Residual>
  std::vector<bool> sweep(IsSeed isSeed, Residual residual) const {
    std::vector<bool> seen(surplus.size(), false);
    std::vector<uint32_t> work;
    for (uint32_t v = 0; v < surplus.size(); ++v)
      if (isSeed(surplus[v])) {
        seen[v] = true;
        work.push_back(v);
      }
    while (!work.empty()) {
      uint32_t v = work.back();
      work.pop_back();
      for (uint32_t a = head[v]; a != none; a = arcs[a].next)
        if (residual(a) > 0 && !seen[arcs[a].to]) {
          seen[arcs[a].to] = true;
          work.push_back(arcs[a].to);
        }
    }
    return seen;
  }

  std::vector<Cap> surplus;
  std::vector<uint32_t> head, level, current;
  std::vector<Arc> arcs;
  std::vector<uint32_t> queue, path;
};

} // namespace mpcore::assignment

#endif // MP_LIB_ASSIGNMENT_MAXFLOW_H
