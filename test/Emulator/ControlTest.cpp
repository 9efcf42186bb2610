// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches that diverge, loops, calls, tables of targets, and what is refused.

#include "TestSupport.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;
using V = std::vector<uint64_t>;

static V iota(unsigned n) {
  V v;
  for (unsigned i = 0; i < n; ++i)
    v.push_back(i);
  return v;
}

TEST(Control, LanesLeaveALoopOneByOne) {
  // wd = sum of 0..a-1, with another branch inside the loop.
  V a = iota(100);
  V got = eval(R"({ .reg .pred p; .reg .b32 i; mov.u32 i, 0;
    LOOP: setp.ge.u32 p, i, %wa; @p bra END;
    and.b32 %wb, i, 1; setp.eq.u32 p, %wb, 0; @p bra EVEN;
    add.u32 %wd, %wd, i; bra NEXT;
    EVEN: add.u32 %wd, %wd, i;
    NEXT: add.u32 i, i, 1; bra LOOP;
    END: })",
               'w', {a});
  ASSERT_EQ(got.size(), a.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(got[i], i * (i - 1) / 2 * (i > 0));
}

TEST(Control, SidesMeetAgainBeforeTheBallot) {
  // Lanes 0..9 take one side; the vote after the join must see all 32.
  V a = iota(32);
  V got = eval(R"({ .reg .pred p; setp.lt.u32 p, %wa, 10; @p bra THEN;
    add.u32 %wb, %wa, 1; bra JOIN;
    THEN: add.u32 %wb, %wa, 2;
    JOIN: setp.gt.u32 p, %wb, 11; vote.sync.ballot.b32 %wd, p, 0xffffffff; })",
               'w', {a});
  // wb = a + 2 for a < 10, a + 1 above: over 11 from lane 11 on.
  for (uint64_t v : got)
    EXPECT_EQ(v, 0xfffff800u);
}

TEST(Control, EarlyReturnAndNestedDivergence) {
  V a = iota(64);
  V got = eval(R"({ .reg .pred p, q; setp.lt.u32 p, %wa, 40; @!p bra HIGH;
    setp.lt.u32 q, %wa, 20; @q bra LOW; mov.u32 %wd, 2; bra OUT;
    LOW: mov.u32 %wd, 1; bra OUT;
    HIGH: mov.u32 %wd, 3; OUT: })",
               'w', {a});
  for (unsigned i = 0; i < 64; ++i)
    EXPECT_EQ(got[i], i < 20 ? 1 : i < 40 ? 2 : 3);
}

TEST(Control, CallsWithDivergentReturnsAndRecursion) {
  const char *functions = R"(
.func (.param .b32 r) collatz(.param .b32 x) {
  .reg .b32 %a, %b; .reg .pred %p;
  ld.param.b32 %a, [x];
  setp.le.u32 %p, %a, 1; @%p bra DONE;
  and.b32 %b, %a, 1; setp.eq.u32 %p, %b, 0; @%p bra EVEN;
  mad.lo.u32 %a, %a, 3, 1; bra REC;
EVEN: shr.u32 %a, %a, 1;
REC: { .param .b32 p0; st.param.b32 [p0], %a; .param .b32 r0;
  call.uni (r0), collatz, (p0); ld.param.b32 %b, [r0]; }
  add.u32 %b, %b, 1; st.param.b32 [r], %b; ret;
DONE: st.param.b32 [r], 0; ret;
}
)";
  V a = iota(28); // at most 23 calls deep among them, 111 for 27
  a.resize(27);
  V got = eval(R"({ .param .b32 p0; st.param.b32 [p0], %wa; .param .b32 r0;
    call (r0), collatz, (p0); ld.param.b32 %wd, [r0]; })",
               'w', {a}, functions);
  for (unsigned i = 0; i < a.size(); ++i) {
    unsigned steps = 0;
    for (unsigned x = i; x > 1; ++steps)
      x = x & 1 ? 3 * x + 1 : x / 2;
    EXPECT_EQ(got[i], steps) << i;
  }
}

// A table of functions, one of which calls another through it.
static const char *table = R"(
.func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, %a; st.param.b32 [r], %a; ret; }
.func (.param .b32 r) next(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, 1; st.param.b32 [r], %a; ret; }
.func (.param .b32 r) both(.param .b32 x);
.func wide(.param .b64 x) { ret; }
.global .align 8 .u64 table[4] = {twice, next, both, wide};
.func (.param .b32 r) both(.param .b32 x) {
  .reg .b32 %a; .reg .b64 %f; ld.param.b32 %a, [x]; ld.global.u64 %f, [table+8];
  { .param .b32 p0; st.param.b32 [p0], %a; .param .b32 r0;
    P: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (r0), %f, (p0), P; ld.param.b32 %a, [r0]; }
  mul.lo.u32 %a, %a, 10; st.param.b32 [r], %a; ret;
}
)";

TEST(Control, CallsThroughRegistersAndUnderPredicates) {
  V a = iota(96);
  V got = eval(
      R"({ .reg .b64 t, f; .reg .b32 k; .reg .pred p; mov.u64 t, table; rem.u32 k, %wa, 3; mad.wide.u32 t, k, 8, t; ld.global.u64 f, [t];
    setp.gt.u32 p, %wa, 40; .param .b32 p0; st.param.b32 [p0], %wa; .param .b32 r0; st.param.b32 [r0], 7;
    P: .callprototype (.param .b32 _) _ (.param .b32 _);
    @p call (r0), f, (p0), P; @!p call (r0), next, (p0); ld.param.b32 %wd, [r0]; })",
      'w', {a}, table);
  for (uint64_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(got[i], i <= 40 || i % 3 == 1 ? i + 1 : i % 3 == 0 ? 2 * i : 10 * (i + 1)) << i;
}

TEST(Fault, CallsOfWhatIsNoSuchFunction) {
  auto m = load(
      std::string(table) +
      R"(.visible .entry k(.param .u64 F) { .reg .b64 f; ld.param.u64 f, [F]; .param .b32 p0; st.param.b32 [p0], 1;
    .param .b32 r0; P: .callprototype (.param .b32 _) _ (.param .b32 _); call (r0), f, (p0), P; ret; })");
  Device device;
  auto functions = take(device.global(*m, "table"));
  auto of = [&](uint64_t address) {
    return device.launch(*m, "k", {1}, {32}, 0, {KernelArg::value(address)});
  };
  auto addresses = download<uint64_t>(device, functions.first, 4);
  take(of(addresses[0]));
  EXPECT_EQ(faultOf(of(addresses[3])).message,
            "the parameters of 'wide' are not those of the call");
  Fault f = faultOf(of(0x1234));
  EXPECT_EQ(f.kind, FaultKind::Misuse);
  EXPECT_EQ(f.message, "a call of 0x1234, where no function is");
  EXPECT_EQ(f.instruction, "call (r0), f, (p0), P");
}

TEST(Control, TableOfTargets) {
  V a;
  for (unsigned i = 0; i < 96; ++i)
    a.push_back(i * 7 % 3);
  V got = eval(R"({ TABLE: .branchtargets A, B, C; brx.idx %wa, TABLE;
    A: mov.u32 %wd, 10; bra OUT; B: mov.u32 %wd, 11; bra OUT; C: mov.u32 %wd, 12; OUT: })",
               'w', {a});
  for (unsigned i = 0; i < a.size(); ++i)
    EXPECT_EQ(got[i], 10 + a[i]);
}

TEST(Control, LabelsHaveScopes) {
  V got =
      eval(R"({ bra L; mov.u32 %wd, 9; L: } { bra L; mov.u32 %wd, 9; L: add.u32 %wd, %wd, 1; })",
           'w', {V{0}});
  EXPECT_EQ(got, V{1});
}

TEST(Refusal, NamesFileLineAndText) {
  std::string e = loadError(".visible .entry k() {\n .reg .b32 %a;\n frobnicate.b32 %a, %a;\n}\n");
  EXPECT_NE(e.find("test.ptx:6:"), std::string::npos) << e;
  EXPECT_NE(e.find("unknown opcode 'frobnicate'"), std::string::npos) << e;
  EXPECT_NE(e.find("frobnicate.b32 %a, %a"), std::string::npos) << e;
}

TEST(Refusal, EveryUnknownCombination) {
  for (const char *bad : {"add.s8 %wd, %wa, %wb;",
                          "add.sat.u32 %wd, %wa, %wb;",
                          "add.ftz.f64 %ld, %la, %lb;",
                          "add.wibble.u32 %wd, %wa, %wb;",
                          "mul.s32 %wd, %wa, %wb;",
                          "mul.wide.s64 %ld, %la, %lb;",
                          "fma.f32 %wd, %wa, %wb, %wc;",
                          "setp.lt.b32 %pd, %wa, %wb;",
                          "setp.ltu.s32 %pd, %wa, %wb;",
                          "cvt.f32.s32 %wd, %wa;",
                          "cvt.s32.f32 %wd, %wa;",
                          "cvt.rn.f32.f16 %wd, %ha;",
                          "cvt.rn.e4m3x2.f32 %hd, %wa, %wb;",
                          "shl.u32 %wd, %wa, %wb;",
                          "and.u32 %wd, %wa, %wb;",
                          "add.u32 %wd, %wa;",
                          "add.u32 %wd, %wa, %lb;",
                          "add.u32 %nope, %wa, %wb;",
                          "add.u32 %wd, %nope, %wb;",
                          "add.f32 %wd, %wa, 1;",
                          "ld.global.f16x2 %wd, [%la];",
                          "ld.global.u32 %wd, [%wa];",
                          "st.const.u32 [%la], %wa;",
                          "tex.1d.v4.f32.s32 {%wd, %wd, %wd, %wd}, [%la, {%wa}];",
                          "vadd.s32.s32.s32 %wd, %wa, %wb;",
                          "shfl.up.b32 %wd, %wa, 1, 0;",
                          "vote.all.pred %pd, %pd;",
                          "bra NOWHERE;",
                          "sin.f32 %wd, %wa;",
                          "tanh.f32 %wd, %wa;",
                          "bar.sync 0, 32, 7;",
                          "atom.global.add.s64 %ld, [%la], %lb;",
                          "atom.add.f16 %hd, [%la], %ha;",
                          "red.global.exch.b32 [%la], %wa;",
                          "call undefined_function;",
                          "mov.u8 %hd, %ha;",
                          "min.sat.s32 %wd, %wa, %wb;",
                          "selp.f16 %hd, %ha, %hb, %pd;",
                          "rsqrt.rn.f32 %wd, %wa;",
                          "prmt.b64 %ld, %la, %lb, %lc;",
                          "fence.proxy.unheard_of;",
                          "mov.u32 %wd, %nosuch;"})
    EXPECT_NE(loadError(evalText(bad, 'w')).find("test.ptx:"), std::string::npos) << bad;
}

// Forms that docs/reference/Emulator.md lists as not implemented are refused when the module is
// loaded, and the message holds the whole statement, so that the instruction is named with its
// modifiers.
TEST(Refusal, WhatIsNotImplementedIsNamed) {
  for (const char *bad :
       {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%wa], 32;",
        "tcgen05.mma.cta_group::1.kind::f16 [%wa], %la, %lb, %wb, %pd;",
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%wd}, [%wa];", "tcgen05.wait::ld.sync.aligned;",
        "cvt.rs.bf16x2.f32 %wd, %wa, %wb, %wc;",
        "cvt.rs.satfinite.e4m3x4.f32 %wd, {%wa, %wb, %wa, %wb}, %wc;", "mov.u32 %wd, %envreg2;",
        "mov.u32 %wd, %reserved_smem_offset_1;", "cvt.rn.e2m3x2.f32 %hd, %wa, %wb;",
        "cvt.rn.satfinite.e3m2x2.f16x2 %hd, %wa;",
        "red.async.relaxed.cluster.global.add.u32 [%la], %wa;"}) {
    std::string message = loadError(evalText(bad, 'w'));
    EXPECT_NE(message.find("test.ptx:"), std::string::npos) << bad;
    llvm::StringRef opcode = llvm::StringRef(bad).split(' ').first;
    EXPECT_NE(message.find(opcode.rtrim(';').str()), std::string::npos) << message;
  }
}

TEST(Refusal, BrokenText) {
  for (const char *bad :
       {".visible .entry k() {", ".visible .entry k() { add.u32 %r }",
        ".entry k() { .reg .b32 %a; mov.u32 %a, 0x; }", ".global .align 3 .b8 x[4];",
        ".visible .entry k(.param .u32 p, .param .u32 p) { ret; }", "}", "@", ".entry",
        ".visible .entry k() { .reg .b32 %a; .reg .b32 %a; ret; }", ".global .b8 x[2] = {1, 2, 3};",
        ".extern .global .b8 y[4];", ".global .u64 p = generic(nothing);", "\"open"})
    EXPECT_FALSE(loadError(bad).empty()) << bad;
  // Depth is bounded.
  std::string deep = ".visible .entry k() { mov.u32 ";
  EXPECT_NE(loadError(deep + std::string(100000, '{')).find("nested too deeply"),
            std::string::npos);
  EXPECT_NE(loadError(".global .u32 x[2] = " + std::string(100000, '{')).find("nested too deeply"),
            std::string::npos);
  std::string masks;
  for (int i = 0; i < 50000; ++i)
    masks += "1(";
  EXPECT_NE(loadError(".global .u32 x = " + masks).find("nested too deeply"), std::string::npos);
  auto none = loadModule("", "empty.ptx");
  ASSERT_FALSE(bool(none));
  EXPECT_NE(llvm::toString(none.takeError()).find(".version"), std::string::npos);
}

TEST(Fault, Trap) {
  auto m = load(".visible .entry k() { .reg .pred p; .reg .b32 t; mov.u32 t, %tid.x; setp.eq.u32 "
                "p, t, 37; @p trap; ret; }");
  Device device;
  Fault f = faultOf(device.launch(*m, "k", {3}, {64}, 0, {}));
  EXPECT_EQ(f.kind, FaultKind::Trap);
  EXPECT_EQ(f.thread[0], 37u);
  EXPECT_EQ(f.warp, 1u);
  EXPECT_EQ(f.lane, 5u);
  EXPECT_EQ(f.kernel, "k");
  EXPECT_EQ(f.line, 4u);
  EXPECT_EQ(f.instruction, "@p trap");
}

TEST(Fault, EndlessLoopMeetsTheLimit) {
  auto m = load(".visible .entry k() { L: bra L; }");
  Device device;
  LaunchOptions options;
  options.maxInstructions = 100000;
  EXPECT_EQ(faultOf(device.launch(*m, "k", {1}, {32}, 0, {}, options)).kind, FaultKind::Limit);
}

TEST(Fault, EndlessRecursionMeetsTheStack) {
  auto m = load(".func f() { call f; ret; } .visible .entry k() { call f; ret; }");
  Device device;
  Fault f = faultOf(device.launch(*m, "k", {1}, {32}, 0, {}));
  EXPECT_EQ(f.kind, FaultKind::OutOfBounds);
  EXPECT_NE(f.message.find("call stack"), std::string::npos) << f.message;
}

TEST(Launch, HugeVariablesTakeNothingUntilTheyAreTouched) {
  EXPECT_NE(loadError(".visible .entry k() { .local .b8 a[400000]; .local .b8 b[200000]; ret; }")
                .find("of local memory per thread, 524288 are allowed"),
            std::string::npos);
  auto m = load(".global .align 4 .b8 big[4294967295]; .visible .entry k() { .reg .b32 %r<65536>; "
                "st.global.u32 [big+4000000000], 7; ld.global.u32 %r5, [big+4000000000]; ret; }");
  Device device;
  auto r = device.launch(*m, "k", {1}, {1}, 0, {});
  EXPECT_TRUE(bool(r)) << llvm::toString(r.takeError());
}

TEST(Launch, ChecksItsArguments) {
  auto m = load(".visible .entry k(.param .u32 n) .reqntid 64 { ret; }");
  Device device;
  auto message = [&](llvm::Expected<LaunchStats> r) {
    return r ? std::string() : llvm::toString(r.takeError());
  };
  KernelArg n = KernelArg::value(uint32_t(1)), wide = KernelArg::value(uint64_t(1));
  EXPECT_EQ(message(device.launch(*m, "k", {1}, {64}, 0, {n})), "");
  EXPECT_NE(message(device.launch(*m, "q", {1}, {64}, 0, {n})).find("no kernel 'q'"),
            std::string::npos);
  EXPECT_NE(message(device.launch(*m, "k", {0}, {64}, 0, {n})).find("zero extent"),
            std::string::npos);
  EXPECT_NE(message(device.launch(*m, "k", {1, 70000}, {64}, 0, {n})).find("65535"),
            std::string::npos);
  EXPECT_NE(
      message(device.launch(*m, "k", {1}, {32}, 0, {n})).find("requires a block of (64, 1, 1)"),
      std::string::npos);
  EXPECT_NE(message(device.launch(*m, "k", {1}, {64}, 0, {})).find("takes 1 arguments"),
            std::string::npos);
  EXPECT_NE(message(device.launch(*m, "k", {1}, {64}, 0, {wide})).find("8 bytes"),
            std::string::npos);
  EXPECT_NE(message(device.launch(*m, "k", {1}, {64}, 1 << 20, {n})).find("shared memory"),
            std::string::npos);
}
