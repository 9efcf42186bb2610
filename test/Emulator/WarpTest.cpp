// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exchanges inside a warp, and barriers.

#include "TestSupport.h"
#include <bit>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;
using V = std::vector<uint64_t>;

static V lanes(unsigned n = 32) {
  V v;
  for (unsigned i = 0; i < n; ++i)
    v.push_back(100 + i);
  return v;
}
template <class F> static void expectLanes(const std::string &body, F want, unsigned n = 32) {
  V got = eval(body, 'w', {lanes(n)});
  ASSERT_EQ(got.size(), n);
  for (unsigned l = 0; l < n; ++l)
    EXPECT_EQ(got[l], uint64_t(uint32_t(want(l)))) << body << " lane " << l;
}

TEST(Shuffle, Modes) {
  expectLanes("shfl.sync.bfly.b32 %wd, %wa, 5, 31, -1;", [](int l) { return 100 + (l ^ 5); });
  expectLanes("shfl.sync.down.b32 %wd, %wa, 3, 31, -1;",
              [](int l) { return 100 + (l + 3 <= 31 ? l + 3 : l); });
  expectLanes("shfl.sync.up.b32 %wd, %wa, 3, 0, -1;",
              [](int l) { return 100 + (l >= 3 ? l - 3 : l); });
  expectLanes("shfl.sync.idx.b32 %wd, %wa, 9, 31, -1;", [](int) { return 109; });
  // Segments of 8 lanes: c = (32 - 8) << 8 | 31.
  expectLanes("shfl.sync.idx.b32 %wd, %wa, 2, 6175, -1;", [](int l) { return 100 + (l & 24) + 2; });
  expectLanes("shfl.sync.down.b32 %wd, %wa, 3, 6175, -1;",
              [](int l) { return 100 + ((l & 7) + 3 <= 7 ? l + 3 : l); });
  expectLanes("{ .reg .pred p; shfl.sync.up.b32 %wd|p, %wa, 1, 0, -1; selp.b32 %wd, 1, 0, p; }",
              [](int l) { return l >= 1; });
}

TEST(Shuffle, MemberMaskOfDivergedLanesIsAFault) {
  auto m = load(
      R"(.visible .entry k() { .reg .pred p; .reg .b32 a, t; mov.u32 t, %tid.x; setp.lt.u32 p, t, 16;
    @p shfl.sync.bfly.b32 a, t, 1, 31, -1; ret; })");
  Device device;
  Fault f = faultOf(device.launch(*m, "k", {1}, {32}, 0, {}));
  EXPECT_EQ(f.kind, FaultKind::Divergence);
  EXPECT_EQ(f.lane, 16u);
}

TEST(Vote, AllForms) {
  expectLanes("{ .reg .pred p; setp.gt.u32 p, %wa, 115; vote.sync.ballot.b32 %wd, p, -1; }",
              [](int) { return 0xffff0000; });
  expectLanes("{ .reg .pred p; setp.ge.u32 p, %wa, 100; vote.sync.all.pred p, p, -1; selp.u32 %wd, "
              "1, 0, p; }",
              [](int) { return 1; });
  expectLanes("{ .reg .pred p; setp.ge.u32 p, %wa, 101; vote.sync.all.pred p, p, -1; selp.u32 %wd, "
              "1, 0, p; }",
              [](int) { return 0; });
  expectLanes("{ .reg .pred p; setp.ge.u32 p, %wa, 101; vote.sync.any.pred p, !p, -1; selp.u32 "
              "%wd, 1, 0, p; }",
              [](int) { return 1; });
  expectLanes("activemask.b32 %wd;", [](int) { return ~0u; });
  expectLanes("and.b32 %wb, %wa, 3; match.any.sync.b32 %wd, %wb, -1;",
              [](int l) { return 0x11111111u << (l & 3); });
  expectLanes("redux.sync.add.u32 %wd, %wa, -1;", [](int) { return 3200 + 31 * 16; });
  expectLanes("redux.sync.max.s32 %wd, %wa, -1;", [](int) { return 131; });
  expectLanes("{ .reg .pred p; elect.sync %wd|p, -1; selp.u32 %wd, 1, 0, p; }",
              [](int l) { return l == 0; });
}

TEST(Warp, PartialWarps) {
  // 40 threads: the second warp has 8 lanes.
  auto m = load(
      R"(.visible .entry k(.param .u64 P) { .reg .b32 t, m; .reg .b64 p, o; ld.param.u64 p, [P]; mov.u32 t, %tid.x;
    mul.wide.u32 o, t, 4; add.u64 p, p, o; activemask.b32 m; bar.sync 0; st.global.u32 [p], m; ret; })");
  Device device;
  DevicePtr p = take(device.alloc(160));
  take(device.launch(*m, "k", {1}, {40}, 0, {KernelArg::value(p)}));
  auto got = download<uint32_t>(device, p, 40);
  EXPECT_EQ(got[0], ~0u);
  EXPECT_EQ(got[39], 0xffu);
}

TEST(Barrier, ReductionsAndNamedBarriers) {
  auto m =
      load(R"(.visible .entry k(.param .u64 P) { .reg .b32 t, m; .reg .b64 p, o; .reg .pred q, r;
    ld.param.u64 p, [P]; mov.u32 t, %tid.x; mul.wide.u32 o, t, 4; add.u64 p, p, o; setp.lt.u32 q, t, 50;
    barrier.cta.red.popc.aligned.u32 m, 0, q; bar.red.and.pred r, 1, q; selp.u32 t, 1000, 0, r; add.u32 m, m, t;
    bar.red.or.pred r, 2, q; selp.u32 t, 100, 0, r; add.u32 m, m, t; st.global.u32 [p], m; ret; })");
  Device device;
  DevicePtr p = take(device.alloc(256));
  take(device.launch(*m, "k", {1}, {64}, 0, {KernelArg::value(p)}));
  for (uint32_t v : download<uint32_t>(device, p, 64))
    EXPECT_EQ(v, 150u);
}

TEST(Barrier, ProducerArrivesConsumerWaits) {
  // Warp 1 fills, arrives on barrier 3; warp 0 syncs on it. 64 threads take part.
  const char *text =
      R"(.visible .entry k(.param .u64 P) { .shared .align 4 .b8 s[128]; .reg .b32 t, a, v; .reg .b64 p, o; .reg .pred q;
    ld.param.u64 p, [P]; mov.u32 t, %tid.x; setp.lt.u32 q, t, 32; and.b32 a, t, 31; shl.b32 a, a, 2; mov.u32 v, s; add.u32 a, a, v;
    @q bra CONSUMER;
    st.shared.u32 [a], t; ARRIVE ret;
    CONSUMER: WAIT ld.shared.u32 v, [a]; mul.wide.u32 o, t, 4; add.u64 p, p, o; st.global.u32 [p], v; ret; })";
  auto with = [&](const char *arrive, const char *wait) {
    std::string s = text;
    s.replace(s.find("ARRIVE"), 6, arrive);
    s.replace(s.find("WAIT"), 4, wait);
    return load(s);
  };
  Device device;
  DevicePtr p = take(device.alloc(128));
  take(device.launch(*with("bar.arrive 3, 64;", "bar.sync 3, 64;"), "k", {1}, {64}, 0,
                     {KernelArg::value(p)}));
  EXPECT_EQ(download<uint32_t>(device, p, 32)[5], 37u);
  // Nobody arrives: a deadlock that names the barrier and the count.
  Fault f = faultOf(
      device.launch(*with("", "bar.sync 3, 64;"), "k", {1}, {64}, 0, {KernelArg::value(p)}));
  EXPECT_EQ(f.kind, FaultKind::Deadlock);
  EXPECT_NE(f.message.find("barrier 3: 32 of 64"), std::string::npos) << f.message;
  EXPECT_NE(f.message.find("bar.sync 3, 64"), std::string::npos) << f.message;
}

TEST(Barrier, InDivergentCodeIsAFault) {
  auto m = load(
      R"(.visible .entry k() { .reg .pred p; .reg .b32 t; mov.u32 t, %tid.x; setp.lt.u32 p, t, 7; @p bra L; bar.sync 0; L: bar.warp.sync -1; ret; })");
  Device device;
  for (bool reverse : {false, true}) {
    LaunchOptions options;
    options.reverse = reverse;
    Fault f = faultOf(device.launch(*m, "k", {1}, {32}, 0, {}, options));
    EXPECT_EQ(f.kind, FaultKind::Divergence);
    EXPECT_NE(f.message.find("lanes 0x7f of the warp are not at the barrier"), std::string::npos)
        << f.message;
  }
}

TEST(Barrier, ExitedThreadsDoNotCount) {
  // Lanes that return early are no part of it, nor of a shuffle that names them.
  for (const char *body :
       {"setp.ge.u32 p, t, 32; @p exit; bar.sync 0; ret;",
        "setp.lt.u32 p, t, 7; @p bra L; bar.sync 0; L: ret;",
        "setp.lt.u32 p, t, 7; @p bra L; vote.sync.any.pred p, p, -1; bar.sync 0; L: exit;"}) {
    auto m =
        load(std::string(".visible .entry k() { .reg .pred p; .reg .b32 t; mov.u32 t, %tid.x; ") +
             body + " }");
    Device device;
    EXPECT_EQ(take(device.launch(*m, "k", {1}, {96}, 0, {})).barriers, 1u) << body;
  }
}

// Three ways lead to one shuffle and barrier, a fourth around them, so that they meet only behind
// it.
static const char *threeWays =
    R"(.visible .entry k(.param .u64 P, .param .u32 N) { .reg .b32 t, v, n; .reg .b64 p, o; .reg .pred a, b, q;
    ld.param.u64 p, [P]; ld.param.u32 n, [N]; mov.u32 t, %tid.x; mul.wide.u32 o, t, 4; add.u64 p, p, o;
    and.b32 v, t, 3; setp.eq.u32 a, v, 0; setp.eq.u32 b, v, 1; setp.lt.u32 q, t, n; mov.u32 v, t;
    @a bra A; @b bra B; add.u32 v, v, 100; @q bra AROUND; bra MEET;
    A: add.u32 v, v, 200; bra MEET; B: add.u32 v, v, 300;
    MEET: shfl.sync.bfly.b32 v, v, 3, 31, -1; bar.sync 0;
    AROUND: st.global.u32 [p], v; ret; })";

TEST(Warp, LanesReachAnExchangeOnDifferentWays) {
  auto m = load(threeWays);
  Device device;
  for (bool reverse : {false, true}) {
    LaunchOptions options;
    options.reverse = reverse;
    DevicePtr p = take(device.alloc(256));
    LaunchStats stats = take(
        device.launch(*m, "k", {1}, {64}, 0, {KernelArg::value(p), KernelArg::value(0u)}, options));
    auto got = download<uint32_t>(device, p, 64);
    for (uint32_t t = 0; t < 64; ++t)
      EXPECT_EQ(got[t], (t ^ 3) + (t % 4 == 3 ? 200 : t % 4 == 2 ? 300 : 100)) << t;
    EXPECT_EQ(stats.opcodes["shfl.sync.bfly.b32"], 2u);
    EXPECT_EQ(stats.barriers, 1u);
    // One lane goes around: it is named, and so is where it is missed.
    Fault f = faultOf(
        device.launch(*m, "k", {1}, {64}, 0, {KernelArg::value(p), KernelArg::value(3u)}, options));
    EXPECT_EQ(f.kind, FaultKind::Divergence);
    EXPECT_EQ(f.lane, 2u);
    EXPECT_NE(f.message.find("lanes 0x4 are named by the member mask but are elsewhere"),
              std::string::npos)
        << f.message;
    EXPECT_NE(f.instruction.find("shfl.sync.bfly.b32"), std::string::npos);
  }
}
