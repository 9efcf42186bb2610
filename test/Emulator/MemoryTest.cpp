// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores and atomics of every space, and the faults of wrong ones.

#include "TestSupport.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;
using V = std::vector<uint64_t>;

// One thread per element of data; the kernel gets a pointer and writes through it.
static std::vector<uint32_t> runOn(const std::string &text, std::vector<uint32_t> data,
                                   uint32_t threads, LaunchOptions options = {},
                                   LaunchStats *stats = nullptr) {
  auto m = load(text);
  if (!m)
    return {};
  Device device;
  DevicePtr p = upload(device, data);
  auto r = device.launch(*m, "k", {1}, {threads}, 0, {KernelArg::value(p)}, options);
  if (!r) {
    ADD_FAILURE() << llvm::toString(r.takeError());
    return {};
  }
  if (stats)
    *stats = *r;
  return download<uint32_t>(device, p, data.size());
}
static Fault faultOn(const std::string &text, std::vector<uint32_t> data, uint32_t threads,
                     LaunchOptions options = {}) {
  auto m = load(text);
  if (!m)
    return {};
  Device device;
  DevicePtr p = upload(device, data);
  return faultOf(device.launch(*m, "k", {1}, {threads}, 0, {KernelArg::value(p)}, options));
}

static std::string kernel(const std::string &body, const std::string &globals = "") {
  return globals + R"(
.visible .entry k(.param .u64 P) {
  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>, %t, %a; .reg .b64 %d<20>, %g;
  ld.param.u64 %g, [P]; cvta.to.global.u64 %g, %g;
  mov.u32 %t, %tid.x; mul.wide.u32 %d0, %t, 4; add.u64 %g, %g, %d0; shl.b32 %a, %t, 2;
)" + body +
         "\n ret;\n}\n";
}

TEST(Memory, WidthsAndSigns) {
  V got =
      eval("st.global.b64 [%out], %la; ld.global.s8 %wd, [%out];", 'w', {V{0x80, 0x17f, 0x2ff}});
  EXPECT_EQ(got, (V{0xffffff80, 0x7f, 0xffffffff}));
  got = eval("st.global.b64 [%out], %la; ld.global.u16 %wd, [%out+2];", 'w', {V{0x89abcdef}});
  EXPECT_EQ(got, (V{0x89ab}));
  got = eval("st.global.b64 [%out], %la; ld.global.s16 %ld, [%out];", 'l', {V{0x8000}});
  EXPECT_EQ(got, (V{0xffffffffffff8000}));
  got = eval("st.global.v2.b32 [%out], {%wa, %wb}; ld.global.v4.u16 {%ha, %hb, %hc, %hd}, [%out]; ",
             'h', {V{1}, V{0x70002}});
  EXPECT_EQ(got, (V{7}));
  got = eval("st.global.b8 [%out], %la; st.global.b8 [%out+1], %wb; ld.global.u16 %wd, [%out];",
             'w', {V{0x1ff}, V{0x102}});
  EXPECT_EQ(got, (V{0x2ff}));
}

TEST(Memory, LocalParamConstAndGenericAddresses) {
  V got = eval(R"({ .local .align 8 .b8 buf[16]; .reg .b64 p;
    mov.u64 p, buf; st.local.u32 [p+4], %wa; cvta.local.u64 p, p; ld.u32 %wd, [p+4]; add.u32 %wd, %wd, 1; })",
               'w', {V{41, 42}});
  EXPECT_EQ(got, (V{42, 43}));
  got = eval("{ .reg .b64 p; mov.u64 p, table; ld.const.u32 %wd, [p+4]; ld.const.u32 %wb, "
             "[table+8]; add.u32 %wd, %wd, %wb; }",
             'w', {V{0}}, ".const .align 4 .u32 table[3] = {1, 20, 300};");
  EXPECT_EQ(got, (V{320}));
  got = eval("{ .reg .b64 p; ld.global.u64 p, [pointer]; ld.u32 %wd, [p]; }", 'w', {V{0}},
             ".global .align 4 .b8 bytes[8] = {1, 0, 0, 0, 2, 1}; .global .u64 pointer = "
             "generic(bytes)+4;");
  EXPECT_EQ(got, (V{0x102}));
  got = eval("{ .reg .b64 p; mov.b64 p, B; cvta.param.u64 p, p; ld.u64 p, [p]; ld.param.u64 %lc, "
             "[B]; sub.u64 %ld, p, %lc; }",
             'l', {V{0}});
  EXPECT_EQ(got, (V{0}));
}

TEST(Memory, SharedThroughABarrier) {
  auto text = kernel(
      R"(.shared .align 4 .b8 s[256]; mov.u32 %r0, s; add.u32 %r0, %r0, %a; st.shared.u32 [%r0], %t;
    bar.sync 0; xor.b32 %r1, %a, 252; ld.shared.u32 %r2, [s+4]; mov.u32 %r0, s; add.u32 %r1, %r0, %r1; ld.shared.u32 %r3, [%r1];
    st.global.u32 [%g], %r3;)");
  LaunchStats stats;
  auto got = runOn(text, std::vector<uint32_t>(64), 64, {}, &stats);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(got[i], 63 - i);
  EXPECT_EQ(stats.barriers, 1u);
  EXPECT_EQ(stats.sharedBytes, 256u);
  EXPECT_EQ(stats.bankConflicts, 0u);
  EXPECT_EQ(stats.opcodes["st.global.u32"], 2u);
  EXPECT_EQ(stats.globalSectors, 8u);
}

TEST(Memory, BankConflictsAreCounted) {
  // Stride of 32 words: all lanes in one bank.
  auto text = kernel(
      R"(.shared .align 4 .b8 s[4096]; shl.b32 %r0, %t, 7; mov.u32 %r1, s; add.u32 %r0, %r0, %r1;
    st.shared.u32 [%r0], %t; ld.shared.u32 %r2, [%r0]; st.global.u32 [%g], %r2;)");
  LaunchStats stats;
  runOn(text, std::vector<uint32_t>(32), 32, {}, &stats);
  EXPECT_EQ(stats.bankConflicts, 62u);
  EXPECT_EQ(stats.sharedWavefronts, 64u);
}

TEST(Memory, AtomicsInBothOrders) {
  auto text = kernel(
      R"(ld.param.u64 %d1, [P]; atom.global.add.u32 %r0, [%d1], 1; atom.global.max.s32 %r1, [%d1+4], %t;
    atom.global.exch.b32 %r1, [%d1+8], %t; atom.global.add.f32 %r2, [%d1+12], 0f3F800000; red.global.or.b32 [%d1+16], %t;
    atom.global.cas.b32 %r3, [%d1+20], 0, 5; atom.global.inc.u32 %r4, [%d1+24], 9;)");
  for (bool reverse : {false, true}) {
    LaunchOptions options;
    options.reverse = reverse;
    auto got = runOn(text, {0, 0, 0, 0, 0, 0, 0}, 96, options);
    EXPECT_EQ(got, (std::vector<uint32_t>{96, 95, reverse ? 0u : 95u, 0x42c00000, 127, 5, 6}));
  }
}

TEST(MemoryFault, OneElementPastTheEnd) {
  Fault f = faultOn(kernel("st.global.u32 [%g+4], %t;"), std::vector<uint32_t>(32), 32);
  EXPECT_EQ(f.kind, FaultKind::OutOfBounds);
  EXPECT_EQ(f.thread[0], 31u);
  EXPECT_EQ(f.lane, 31u);
  EXPECT_EQ(f.space, "global");
  EXPECT_EQ(f.instruction, "st.global.u32 [%g+4], %t");
  EXPECT_NE(f.message.find("128 bytes"), std::string::npos) << f.message;
}

TEST(MemoryFault, MisalignedVector) {
  Fault f = faultOn(kernel("ld.global.v2.u32 {%r0, %r1}, [%g];"), std::vector<uint32_t>(64), 32);
  EXPECT_EQ(f.kind, FaultKind::Misaligned);
  EXPECT_EQ(f.lane, 1u);
}

TEST(MemoryFault, SharedPastTheEndAndUninitialized) {
  Fault f = faultOn(kernel(".shared .align 4 .b8 s[124]; mov.u32 %r0, s; add.u32 %r0, %r0, %a; "
                           "st.shared.u32 [%r0], %t;"),
                    {0}, 32);
  EXPECT_EQ(f.kind, FaultKind::OutOfBounds);
  EXPECT_EQ(f.space, "shared");
  EXPECT_EQ(f.address, 124u);
  f = faultOn(
      kernel(
          R"(.shared .align 4 .b8 s[256]; mov.u32 %r0, s; add.u32 %r0, %r0, %a; setp.lt.u32 %p0, %t, 30;
    @%p0 st.shared.u32 [%r0], %t; bar.sync 0; ld.shared.u32 %r1, [%r0];)"),
      {0}, 32);
  EXPECT_EQ(f.kind, FaultKind::Uninitialized);
  EXPECT_EQ(f.lane, 30u);
}

TEST(MemoryFault, UninitializedGlobal) {
  auto m = load(kernel("ld.global.u32 %r0, [%g];"));
  Device device;
  DevicePtr p = take(device.alloc(256));
  EXPECT_EQ(faultOf(device.launch(*m, "k", {1}, {32}, 0, {KernelArg::value(p)})).kind,
            FaultKind::Uninitialized);
  LaunchOptions lax;
  lax.checkUninitialized = false;
  EXPECT_TRUE(bool(device.launch(*m, "k", {1}, {32}, 0, {KernelArg::value(p)}, lax)));
  std::vector<uint8_t> host(4);
  EXPECT_NE(llvm::toString(device.read(p, host)).find("never written"), std::string::npos);
}

TEST(MemoryFault, UseAfterFreeAndConstantWrites) {
  auto m = load(kernel("st.global.u32 [%g], %t;"));
  Device device;
  DevicePtr p = take(device.alloc(128));
  check(device.free(p));
  EXPECT_EQ(faultOf(device.launch(*m, "k", {1}, {32}, 0, {KernelArg::value(p)})).kind,
            FaultKind::OutOfBounds);
  EXPECT_FALSE(llvm::toString(device.free(p)).empty());
  auto c = load(kernel("mov.u64 %d1, table; cvta.const.u64 %d1, %d1; st.u32 [%d1], %t;",
                       ".const .u32 table[4];"));
  DevicePtr q = take(device.alloc(128));
  EXPECT_EQ(faultOf(device.launch(*c, "k", {1}, {1}, 0, {KernelArg::value(q)})).kind,
            FaultKind::OutOfBounds);
}

static const char *exchange =
    R"(.shared .align 4 .b8 s[256]; mov.u32 %r0, s; add.u32 %r1, %r0, %a; st.shared.u32 [%r1], %t;
    BARRIER xor.b32 %r2, %a, MASK; add.u32 %r2, %r2, %r0; ld.shared.u32 %r3, [%r2]; st.global.u32 [%g], %r3;)";
static std::string exchangeWith(const std::string &barrier, const std::string &mask) {
  std::string text = exchange;
  text.replace(text.find("BARRIER"), 7, barrier);
  text.replace(text.find("MASK"), 4, mask);
  return kernel(text);
}

TEST(Race, MissingBarrierBetweenWarps) {
  // Only warp 0 and 1 exchange; without initialisation checks nothing but the race shows.
  LaunchOptions options;
  options.checkUninitialized = false;
  EXPECT_EQ(faultOn(exchangeWith("", "128"), std::vector<uint32_t>(64), 64, options).kind,
            FaultKind::Race);
  EXPECT_EQ(runOn(exchangeWith("bar.sync 0;", "128"), std::vector<uint32_t>(64), 64)[0], 32u);
}

TEST(Race, MissingWarpBarrierBetweenLanes) {
  Fault f = faultOn(exchangeWith("", "4"), std::vector<uint32_t>(64), 32);
  EXPECT_EQ(f.kind, FaultKind::Race);
  EXPECT_NE(f.message.find("warp 0 lane"), std::string::npos) << f.message;
  EXPECT_EQ(runOn(exchangeWith("bar.warp.sync 0xffffffff;", "4"), std::vector<uint32_t>(64), 32)[0],
            1u);
}

TEST(Race, OverwritingBeforeTheReadersAreDone) {
  auto text = [](const char *barrier) {
    return kernel(
        std::string(
            R"(.shared .align 4 .b8 s[256]; mov.u32 %r0, s; add.u32 %r1, %r0, %a; st.shared.u32 [%r1], %t; bar.sync 0;
      xor.b32 %r2, %a, 128; add.u32 %r2, %r2, %r0; ld.shared.u32 %r3, [%r2]; )") +
        barrier + " st.shared.u32 [%r1], 7;");
  };
  Fault f = faultOn(text(""), std::vector<uint32_t>(64), 64);
  EXPECT_EQ(f.kind, FaultKind::Race);
  runOn(text("bar.sync 0;"), std::vector<uint32_t>(64), 64);
}

TEST(Race, LanesMayStoreOneValueTogether) {
  // The lanes of four store to one place: the same value each, then one of its own.
  auto text = [](const char *store) {
    return kernel(std::string(".shared .align 16 .b8 s[512]; mov.u32 %r0, s; shr.u32 %r1, %t, 2; "
                              "shl.b32 %r2, %r1, 4; add.u32 %r0, %r0, %r2;"
                              "cvt.u64.u32 %d1, %r1; cvt.u64.u32 %d2, %t; ") +
                  store);
  };
  for (const char *same : {"st.shared.u32 [%r0], %r1;", "st.shared.u32 [%r0], 5;",
                           "st.shared.v2.u32 [%r0], {%r1, %r2};", "st.shared.u8 [%r0], %d1;",
                           "st.shared.v2.b64 [%r0], {%d1, %d1};"})
    runOn(text(same), std::vector<uint32_t>(32), 32);
  for (const char *other : {"st.shared.u32 [%r0], %t;", "st.shared.v2.u32 [%r0], {%r1, %t};",
                            "st.shared.u8 [%r0], %d2;", "st.shared.v2.b64 [%r0], {%d1, %d2};",
                            "st.shared.u32 [%r0], %r1; st.shared.u32 [%r0], %t;"})
    EXPECT_EQ(faultOn(text(other), std::vector<uint32_t>(32), 32).kind, FaultKind::Race) << other;
}

TEST(Race, WarpsMayStoreWhatIsThere) {
  // Each of four warps stores four bytes per lane, without a barrier: the same everywhere, or its
  // number.
  auto text = [](const std::string &value) {
    return ".visible .entry k(.param .u64 P) { .shared .align 8 .b8 s[512]; .reg .b32 t, a, v; "
           ".reg .b64 p, o;"
           "ld.param.u64 p, [P]; mov.u32 t, %tid.x; mov.u32 v, s; and.b32 a, t, 31; shl.b32 a, a, "
           "2; add.u32 a, a, v; shr.u32 v, t, 5; " +
           value +
           " st.shared.b32 [a], v; bar.sync 0; ld.shared.b32 v, [a]; mul.wide.u32 o, t, 4; add.u64 "
           "p, p, o; st.global.u32 [p], v; ret; }";
  };
  Device device;
  DevicePtr p = take(device.alloc(512));
  auto run = [&](const std::string &source) {
    return device.launch(*load(source), "k", {1}, {128}, 0, {KernelArg::value(p)});
  };
  take(run(text("mov.u32 v, 5;")));
  EXPECT_EQ(download<uint32_t>(device, p, 128), std::vector<uint32_t>(128, 5));
  Fault f = faultOf(run(text("")));
  EXPECT_EQ(f.kind, FaultKind::Race);
  EXPECT_EQ(f.warp, 1u);
}

TEST(Race, BytesOfOneWordAreDistinct) {
  runOn(kernel(".shared .align 4 .b8 s[64]; mov.u32 %r0, s; add.u32 %r1, %r0, %t; cvt.u16.u32 %h0, "
               "%t; st.shared.b8 [%r1], %h0;"),
        {0}, 64);
}

TEST(Race, AtomicsAreOrdered) {
  auto got = runOn(
      kernel(
          R"(.shared .align 4 .b8 s[4]; setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [s], 0; bar.sync 0;
    atom.shared.add.u32 %r0, [s], 1; bar.sync 0; ld.shared.u32 %r1, [s]; st.global.u32 [%g], %r1;)"),
      std::vector<uint32_t>(128), 128);
  EXPECT_EQ(got[127], 128u);
}
