// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The states of one step of the frontier search.

#ifndef MP_LIB_ASSIGNMENT_FRONTIERSTATES_H
#define MP_LIB_ASSIGNMENT_FRONTIERSTATES_H

#include "IndexedProblem.h"

#include "llvm/Support/xxhash.h"

namespace mpcore::assignment {

/// The state of a live value that the rest of the search depends on: 0 when it can cost nothing any
/// more, else its stored type and copies; for an open tie one plus its variant.
using Code = uint32_t;
inline constexpr Code settled = 0;
inline Code encode(TypeId stored, uint32_t copies) {
  return 1 + (uint32_t(stored) << maxTypes | copies);
}

/// A partial answer. Compared by weight, then by sum of variant indices, then by hash.
struct Entry {
  Weight weight, resource;
  int64_t indexSum;
  uint64_t hash;
  uint32_t trail; ///< into the list of decisions
  uint32_t next;  ///< other answers with the same key
  uint32_t key;

  bool isBetter(const Entry &other) const {
    if (weight != other.weight)
      return weight < other.weight;
    if (indexSum != other.indexSum)
      return indexSum < other.indexSum;
    return hash < other.hash;
  }
};

struct Decision {
  uint32_t previous;
  uint32_t variant;
};

/// States of one step: keys of fixed width in one array, found through an open-addressing table.
class StateTable {
public:
  static constexpr uint32_t none = ~0u;

  void reset(size_t newWidth) {
    width = newWidth;
    keys.clear();
    heads.clear();
    entries.clear();
    alive = 0;
    table.assign(1024, none);
  }

  llvm::ArrayRef<Code> key(uint32_t index) const {
    return llvm::ArrayRef(keys).slice(index * width, width);
  }
  size_t size() const { return alive; }

  /// Inserts unless dominated; drops what it dominates.
  void insert(llvm::ArrayRef<Code> key, Entry entry) {
    entry.key = find(key);
    uint32_t *link = &heads[entry.key];
    while (*link != none) {
      Entry &other = entries[*link];
      if (other.resource <= entry.resource && !entry.isBetter(other))
        return;
      if (entry.resource <= other.resource && entry.isBetter(other)) {
        *link = other.next;
        --alive;
      } else {
        link = &other.next;
      }
    }
    entry.next = heads[entry.key];
    heads[entry.key] = entries.size();
    entries.push_back(entry);
    ++alive;
  }

  template <typename Fn> void forEach(Fn visit) {
    for (uint32_t head : heads)
      for (uint32_t i = head; i != none; i = entries[i].next)
        visit(entries[i]);
  }

private:
  uint32_t find(llvm::ArrayRef<Code> key) {
    if (heads.size() * 2 >= table.size())
      grow();
    size_t slot = hashOf(key) & (table.size() - 1);
    for (; table[slot] != none; slot = (slot + 1) & (table.size() - 1))
      if (this->key(table[slot]) == key)
        return table[slot];
    table[slot] = heads.size();
    keys.insert(keys.end(), key.begin(), key.end());
    heads.push_back(none);
    return table[slot];
  }

  void grow() {
    table.assign(table.size() * 2, none);
    for (uint32_t i = 0; i < heads.size(); ++i) {
      size_t slot = hashOf(key(i)) & (table.size() - 1);
      while (table[slot] != none)
        slot = (slot + 1) & (table.size() - 1);
      table[slot] = i;
    }
  }

  static uint64_t hashOf(llvm::ArrayRef<Code> key) {
    return llvm::xxh3_64bits(llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(key.data()),
                                                     key.size() * sizeof(Code)));
  }

  size_t width = 0, alive = 0;
  std::vector<Code> keys;
  std::vector<uint32_t> heads, table;
  std::vector<Entry> entries;
};

} // namespace mpcore::assignment

#endif // MP_LIB_ASSIGNMENT_FRONTIERSTATES_H
