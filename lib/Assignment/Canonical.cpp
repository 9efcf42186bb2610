// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hashes nodes by their sources and readers, in two rounds, and orders them by the hash.

#include "Canonical.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mpcore::assignment;

namespace {

/// Mixes words into a 64-bit hash that is the same on every machine and run.
class Mixer {
public:
  Mixer &add(uint64_t word) {
    for (int i = 0; i < 64; i += 8)
      bytes.push_back(uint8_t(word >> i));
    return *this;
  }
  Mixer &add(llvm::StringRef text) {
    add(text.size());
    bytes.append(text.bytes_begin(), text.bytes_end());
    return *this;
  }
  uint64_t hash() const { return llvm::xxh3_64bits(bytes); }

private:
  llvm::SmallVector<uint8_t, 256> bytes;
};

uint64_t localKey(const Node &node) {
  Mixer mixer;
  mixer.add(node.name).add(node.frequency).add(node.pinned ? *node.pinned + 1 : 0);
  for (const Variant &v : node.variants) {
    mixer.add(v.name).add(v.cost).add(v.error);
    for (TypeId t : v.in)
      mixer.add(t);
    for (TypeId t : v.out)
      mixer.add(t);
  }
  return mixer.hash();
}

} // namespace

std::vector<uint64_t> mpcore::assignment::canonicalKeys(const IndexedProblem &indexed) {
  const Problem &problem = indexed.problem();
  std::vector<NodeId> order = indexed.topologicalOrder();
  std::vector<uint64_t> keys(problem.nodes.size());
  for (NodeId n = 0; n < keys.size(); ++n)
    keys[n] = localKey(problem.nodes[n]);

  // The second round tells apart nodes with equal sources and readers by what surrounds those.
  for (int round = 0; round < 2; ++round) {
    std::vector<uint64_t> up = keys, down = keys;
    for (NodeId n : order) {
      Mixer mixer;
      mixer.add(keys[n]);
      for (ValueId value : problem.nodes[n].operands) {
        Use def = indexed.definition(value);
        mixer.add(up[def.node]).add(def.index).add(problem.values[value].constant);
        for (const CastCost &cast : problem.values[value].casts)
          mixer.add(cast.from).add(cast.to).add(cast.cost);
      }
      up[n] = mixer.hash();
    }
    for (NodeId n : llvm::reverse(order)) {
      Mixer mixer;
      mixer.add(keys[n]);
      for (ValueId value : problem.nodes[n].results) {
        llvm::SmallVector<uint64_t, 8> readers;
        for (Use use : indexed.uses(value))
          readers.push_back(Mixer().add(down[use.node]).add(use.index).hash());
        llvm::sort(readers);
        mixer.add(readers.size());
        for (uint64_t reader : readers)
          mixer.add(reader);
      }
      down[n] = mixer.hash();
    }
    for (NodeId n = 0; n < keys.size(); ++n)
      keys[n] = Mixer().add(up[n]).add(down[n]).hash();
  }
  return keys;
}

std::vector<NodeId> mpcore::assignment::canonicalOrder(const IndexedProblem &indexed) {
  std::vector<uint64_t> keys = canonicalKeys(indexed);
  std::vector<NodeId> order = indexed.topologicalOrder();
  std::vector<uint32_t> depth(keys.size(), 0);
  for (NodeId n : order)
    for (ValueId value : indexed.problem().nodes[n].operands)
      depth[n] = std::max(depth[n], depth[indexed.definition(value).node] + 1);
  llvm::stable_sort(order, [&](NodeId a, NodeId b) {
    return std::pair(depth[a], keys[a]) < std::pair(depth[b], keys[b]);
  });
  return order;
}
