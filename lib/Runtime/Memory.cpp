// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of compiled code: blocks are reused by size, and everything can be
// dropped at once, so that a result may be an argument, a constant or a fresh
// buffer without the caller having to know.

#include "Failure.h"
#include "mp/Runtime/Runtime.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <vector>

namespace {

struct Arena {
  std::unordered_map<void *, int64_t> live; // address, size
  std::map<int64_t, std::vector<void *>> spare;
  int64_t held = 0, peak = 0;
  int64_t limit = 0; ///< of bytes held; 0: none

  void *take(int64_t bytes) {
    if (limit > 0 && bytes > limit - held)
      return nullptr;
    auto found = spare.find(bytes);
    void *block = nullptr;
    if (found != spare.end() && !found->second.empty()) {
      block = found->second.back();
      found->second.pop_back();
    } else if (!(block = std::aligned_alloc(64, size_t(bytes)))) {
      return nullptr;
    }
    live.emplace(block, bytes);
    held += bytes;
    peak = held > peak ? held : peak;
    return block;
  }

  void give(void *block) {
    auto found = live.find(block);
    if (found == live.end())
      return; // an argument or a constant: not ours
    held -= found->second;
    spare[found->second].push_back(block);
    live.erase(found);
  }

  void clear() {
    for (auto &entry : live)
      std::free(entry.first);
    for (auto &entry : spare)
      for (void *block : entry.second)
        std::free(block);
    live.clear();
    spare.clear();
    held = peak = 0;
  }

  ~Arena() { clear(); }
};

} // namespace

static thread_local Arena arena;
static thread_local std::jmp_buf *landing = nullptr;
static thread_local int64_t failure = 0;

std::string &mpcore::runtime::failureText() {
  static thread_local std::string text;
  return text;
}

extern "C" {

int64_t mp_rt_invoke(void (*entry)(void **), void **args) {
  std::jmp_buf buffer;
  failure = 0;
  mpcore::runtime::failureText().clear();
  // Compiled code has no destructors, so jumping out of it is well defined.
  if (setjmp(buffer) == 0) {
    landing = &buffer;
    entry(args);
  }
  landing = nullptr;
  return failure;
}

void mp_rt_set_memory_limit(int64_t bytes) { arena.limit = bytes; }

int mp_rt_is_running(void) { return landing != nullptr; }

const char *mp_rt_failure_text(void) { return mpcore::runtime::failureText().c_str(); }

void mp_rt_release(void) { arena.clear(); }

int64_t mp_rt_peak_bytes(void) { return arena.peak; }

void mp_rt_fail(int64_t code) {
  if (!landing) {
    std::fprintf(stderr, "error: compiled code failed a check (code %lld) %s\n", (long long)code,
                 mp_rt_failure_text());
    std::exit(1);
  }
  failure = code;
  std::longjmp(*landing, 1);
}

void *_mlir_memref_to_llvm_alloc(int64_t bytes) {
  if (bytes < 0 || bytes > INT64_MAX - 64)
    mp_rt_fail(-1);
  void *block = arena.take(((bytes > 0 ? bytes : 1) + 63) / 64 * 64);
  if (!block)
    mp_rt_fail(-1);
  return block;
}

void *_mlir_memref_to_llvm_aligned_alloc(int64_t alignment, int64_t bytes) {
  (void)alignment; // at most 64, which every block has
  return _mlir_memref_to_llvm_alloc(bytes);
}

void _mlir_memref_to_llvm_free(void *address) { arena.give(address); }

} // extern "C"
