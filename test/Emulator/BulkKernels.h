// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that copy between two blocks of a cluster and memory, and what they leave.

#ifndef MP_TEST_EMULATOR_BULKKERNELS_H
#define MP_TEST_EMULATOR_BULKKERNELS_H

#include "FormTable.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace mpcore::emulator::test {

inline std::vector<uint8_t> randomBytes(size_t count, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<uint8_t> bytes(count);
  for (uint8_t &b : bytes)
    b = uint8_t(rng());
  return bytes;
}

/// Two blocks of one thread in a cluster, with 16 KB of shared memory `buf` (aligned to 1024) and
/// an mbarrier %b that expects one arrival. IN (at %i) is copied to `buf` by block 0, `known` lets
/// both know. %r: rank; %first: rank 0; %o: 16 KB of OUT for each block.
inline std::string clusterKernel(const std::string &body) {
  return ".extern .shared .align 1024 .b8 buf[];\n.visible .entry k(.param .u64 IN, .param .u64 "
         "OUT) .explicitcluster .reqnctapercluster 2, 1, 1 {\n.shared .align 8 .b64 bar;\n"
         ".reg .pred %p, %first, %second; .reg .b16 %h; .reg .b32 %r, %b, %s, %t, %m, %v, %n; .reg "
         ".b64 %i, %o, %w, %x, %y;\n"
         "mov.u32 %r, %cluster_ctarank; setp.eq.u32 %first, %r, 0; setp.ne.u32 %second, %r, 0; "
         "mov.u32 %b, bar; mov.u32 %s, buf; ld.param.u64 %i, [IN]; ld.param.u64 %o, [OUT];\n"
         "mul.wide.u32 %w, %r, 16384; add.u64 %o, %o, %w; mbarrier.init.shared.b64 [%b], 1; "
         "fence.mbarrier_init.release.cluster;\n" +
         body + "\nbarrier.cluster.arrive; barrier.cluster.wait;\n ret; }";
}
inline const std::string known =
    "fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait; ";
inline const std::string awaited =
    "W: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p, [%b], 0; @!%p bra W; ";
/// `bytes` from buf to OUT, or from IN to buf.
inline std::string copyLoop(bool out, unsigned bytes, const std::string &label) {
  return "mov.u32 %v, 0; mov.u32 %t, %s; mov.b64 %x, " + std::string(out ? "%o" : "%i") + "; " +
         label + ": " +
         (out ? "ld.shared.u64 %y, [%t]; st.global.u64 [%x], %y; "
              : "ld.global.u64 %y, [%x]; st.shared.u64 [%t], %y; ") +
         "add.u32 %v, %v, 8; add.u32 %t, %t, 8; add.u64 %x, %x, 8; setp.lt.u32 %p, %v, " +
         std::to_string(bytes) + "; @%p bra " + label + "; ";
}

struct RangeRun {
  std::vector<uint8_t> in = randomBytes(1 << 14, 5), out = randomBytes(1 << 15, 6);
  llvm::Expected<LaunchStats> launch(const std::string &text) {
    auto module = load(text);
    Device device;
    DevicePtr from = upload(device, in), to = upload(device, out);
    auto r = device.launch(*module, "k", {2}, {1}, 1 << 14,
                           {KernelArg::value(from), KernelArg::value(to)});
    if (r)
      in = download<uint8_t>(device, from, in.size()),
      out = download<uint8_t>(device, to, out.size());
    return r;
  }
  void run(const std::string &text) {
    auto r = launch(text);
    EXPECT_TRUE(bool(r)) << llvm::toString(r.takeError()) << "\n" << text;
  }
};
inline bool same(const std::vector<uint8_t> &a, size_t at, const std::vector<uint8_t> &b,
                 size_t from, size_t bytes) {
  return std::memcmp(&a[at], &b[from], bytes) == 0;
}

struct ReductionForm {
  std::string op, type;
  Kind kind; // floats
  unsigned bytes;
  bool shared; // exists between blocks, too
};
const ReductionForm reductions[] = {
    {"add", "u32", Kind::S32, 4, true},          {"add", "s32", Kind::S32, 4, true},
    {"add", "u64", Kind::S32, 8, true},          {"add.noftz", "f16", Kind::F16, 2, false},
    {"add.noftz", "bf16", Kind::BF16, 2, false}, {"add", "f32", Kind::F32, 4, false},
    {"add", "f64", Kind::F64, 8, false},         {"min", "u32", Kind::S32, 4, true},
    {"min", "s32", Kind::S32, 4, true},          {"min", "u64", Kind::S32, 8, false},
    {"min", "s64", Kind::S32, 8, false},         {"min", "f16", Kind::F16, 2, false},
    {"min", "bf16", Kind::BF16, 2, false},       {"max", "u32", Kind::S32, 4, true},
    {"max", "s32", Kind::S32, 4, true},          {"max", "u64", Kind::S32, 8, false},
    {"max", "s64", Kind::S32, 8, false},         {"max", "f16", Kind::F16, 2, false},
    {"max", "bf16", Kind::BF16, 2, false},       {"inc", "u32", Kind::S32, 4, true},
    {"dec", "u32", Kind::S32, 4, true},          {"and", "b32", Kind::S32, 4, true},
    {"and", "b64", Kind::S32, 8, false},         {"or", "b32", Kind::S32, 4, true},
    {"or", "b64", Kind::S32, 8, false},          {"xor", "b32", Kind::S32, 4, true},
    {"xor", "b64", Kind::S32, 8, false},
};

/// One element by the manual: what was there, and what is added.
inline uint64_t reduced(const ReductionForm &f, uint64_t x, uint64_t y) {
  const std::string op = f.op.substr(0, 3);
  if (f.kind != Kind::S32) {
    const double a = decode(f.kind, x), b = decode(f.kind, y);
    if (op == "add")
      return f.kind == Kind::F64 ? std::bit_cast<uint64_t>(a + b) : roundTo(f.kind, a + b);
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) && std::isnan(b) ? 0x7fff : std::isnan(a) ? y : x;
    if (a == b)
      return (op == "min") == std::signbit(a) ? x : y;
    return (a < b) == (op == "min") ? x : y;
  }
  const bool isSigned = f.type[0] == 's';
  const auto less = [&](uint64_t a, uint64_t b) {
    return !isSigned ? a < b : f.bytes == 4 ? int32_t(a) < int32_t(b) : int64_t(a) < int64_t(b);
  };
  const uint64_t mask = f.bytes == 4 ? 0xffffffff : ~uint64_t(0);
  return (op == "add"                 ? x + y
          : op == "min"               ? (less(x, y) ? x : y)
          : op == "max"               ? (less(y, x) ? x : y)
          : op == "inc"               ? (x >= y ? 0 : x + 1)
          : op == "dec"               ? (x == 0 || x > y ? y : x - 1)
          : op == "and"               ? (x & y)
          : op == "or." || op == "or" ? (x | y)
                                      : (x ^ y)) &
         mask;
}

inline void makeFinite(std::vector<uint8_t> &bytes, const ReductionForm &f) {
  // f32: no NaN, whose bits are another matter, and no subnormals, which the test below looks at.
  for (size_t k = 0; f.bytes >= 4 && f.kind != Kind::S32 && k < bytes.size(); k += f.bytes)
    bytes[k + f.bytes - 1] = (bytes[k + f.bytes - 1] & 0x80) | 0x3f, bytes[k + f.bytes - 2] &= 0x9f;
}
inline uint64_t at(const std::vector<uint8_t> &bytes, size_t offset, unsigned size) {
  uint64_t v = 0;
  std::memcpy(&v, &bytes[offset], size);
  return v;
}

} // namespace mpcore::emulator::test

#endif // MP_TEST_EMULATOR_BULKKERNELS_H
