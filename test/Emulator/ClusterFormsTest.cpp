// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of a cluster: addresses of each other's shared memory, the barrier, stores and reductions
// that count bytes.

#include "FormTable.h"

#include <bit>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
/// Four blocks of 32 threads in a cluster. %first: lane 0; %r: rank; %n: rank of the next block;
/// OUT: 32 words per block.
std::string kernel(const std::string &body) {
  return ".visible .entry k(.param .u64 P) .explicitcluster .reqnctapercluster 4, 1, 1 {\n.shared "
         ".align 16 .b8 sh[1024]; .shared .align 8 .b64 bar;\n"
         ".reg .pred %p, %first; .reg .b32 %t, %r, %n, %a, %b, %m, %v, %x<4>; .reg .b64 %o, %g, "
         "%w, %y<4>; .reg .f32 %f<4>; .reg .f64 %e<2>;\n"
         "mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, 0; mov.u32 %r, %cluster_ctarank; add.u32 %n, "
         "%r, 1; and.b32 %n, %n, 3;\n"
         "ld.param.u64 %o, [P]; mad.lo.u32 %v, %r, 32, %t; mul.wide.u32 %w, %v, 4; add.u64 %o, %o, "
         "%w;\n" +
         body + "\nret; }";
}
const char *const everyone = "barrier.cluster.arrive; barrier.cluster.wait; ";

llvm::Expected<std::vector<uint32_t>> tryRun(const std::string &text) {
  auto module = load(text);
  if (!module)
    return std::vector<uint32_t>();
  Device device;
  DevicePtr out = upload(device, std::vector<uint32_t>(128));
  auto r = device.launch(*module, "k", {4}, {32}, 0, {KernelArg::value(out)});
  if (!r)
    return r.takeError();
  return download<uint32_t>(device, out, 128);
}
std::vector<uint32_t> run(const std::string &text) {
  auto r = tryRun(text);
  if (r)
    return std::move(*r);
  ADD_FAILURE() << llvm::toString(r.takeError()) << "\n" << text;
  return std::vector<uint32_t>(128);
}
Fault faultIn(const std::string &text) {
  auto module = load(text);
  Device device;
  DevicePtr out = upload(device, std::vector<uint32_t>(128));
  return faultOf(device.launch(*module, "k", {4}, {32}, 0, {KernelArg::value(out)}));
}
} // namespace

TEST(ClusterForms, AddressesAndRanks) {
  // Each form reaches the next block's word, which holds 100 times its rank.
  struct {
    const char *address, *rank, *load;
  } const forms[] = {
      {"mov.u32 %a, sh; mapa.shared::cluster.u32 %a, %a, %n;",
       "getctarank.shared::cluster.u32 %v, %a;", "ld.shared::cluster.u32 %v, [%a];"},
      {"mapa.shared::cluster.u32 %a, sh, %n;", "getctarank.shared::cluster.u32 %v, %a;",
       "ld.volatile.shared::cluster.u32 %v, [%a];"},
      {"mov.u64 %g, sh; mapa.shared::cluster.u64 %g, %g, %n;",
       "getctarank.shared::cluster.u64 %v, %g;", "ld.shared::cluster.u32 %v, [%g];"},
      {"mapa.shared::cluster.u64 %g, sh, %n;", "getctarank.shared::cluster.u64 %v, %g;",
       "ld.relaxed.cluster.shared::cluster.u32 %v, [%g];"},
      {"mov.u64 %g, sh; cvta.shared.u64 %g, %g; mapa.u64 %g, %g, %n;", "getctarank.u64 %v, %g;",
       "ld.u32 %v, [%g];"},
      {"mov.u64 %g, sh; cvta.shared.u64 %g, %g; mapa.u64 %g, %g, %n;", "getctarank.u64 %v, %g;",
       "ld.acquire.cluster.u32 %v, [%g];"},
  };
  for (auto &f : forms)
    for (const char *barrier :
         {"barrier.cluster.arrive; barrier.cluster.wait; ",
          "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ",
          "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; ",
          "barrier.cluster.arrive.release; barrier.cluster.wait.acquire; "}) {
      const std::string text =
          kernel("mul.lo.u32 %v, %r, 100; @%first st.shared.u32 [sh], %v; " + std::string(barrier) +
                 f.address + f.rank + "mov.u32 %x0, %v; " + f.load +
                 "mad.lo.u32 %v, %v, 10, %x0; st.global.u32 [%o], %v; " + barrier);
      auto got = run(text);
      for (unsigned i = 0; i < 128; ++i)
        ASSERT_EQ(got[i], (i / 32 + 1) % 4 * 1001) << text;
    }
  auto own = run(kernel("getctarank.shared::cluster.u32 %v, sh; getctarank.shared::cluster.u64 "
                        "%x0, sh; mad.lo.u32 %v, %v, 10, %x0; st.global.u32 [%o], %v;"));
  EXPECT_EQ(own[96], 33u);
}

TEST(ClusterForms, LoadsStoresAndAtomics) {
  // Into the next block: a store, sums by all of its lanes, an exchange.
  for (bool generic : {false, true}) {
    const std::string at = generic ? "[%g" : "[%a", space = generic ? "" : ".shared::cluster";
    auto got = run(kernel(
        "@%first st.shared.v2.u32 [sh], {1, 2}; mov.u32 %v, 0; st.shared.u32 [sh+8], 7; " +
        std::string(everyone) +
        "mapa.shared::cluster.u32 %a, sh, %n; mov.u64 %g, sh; cvta.shared.u64 %g, %g; mapa.u64 %g, "
        "%g, %n;"
        "atom" +
        space + ".add.u32 %v, " + at + "], 3; red" + space + ".add.u32 " + at +
        "+4], %t; @%first st" + space + ".u32 " + at + "+16], %r;" + everyone +
        "ld.shared.u32 %v, [sh]; ld.shared.u32 %x0, [sh+4]; ld.shared.u32 %x1, [sh+16]; mad.lo.u32 "
        "%v, %v, 1000, %x0; mad.lo.u32 %v, %v, 10, %x1; st.global.u32 [%o], %v;"));
    for (unsigned i = 0; i < 128; ++i)
      ASSERT_EQ(got[i], ((1 + 3 * 32) * 1000 + 2 + 496) * 10 + (i / 32 + 3) % 4);
  }
}

TEST(ClusterForms, AsynchronousStores) {
  // Every lane stores into the next block, whose mbarrier waits for all bytes.
  struct {
    const char *type, *values;
    unsigned bytes;
  } const forms[] = {{"b32", "%x0", 4},
                     {"u32", "%x0", 4},
                     {"s32", "%x0", 4},
                     {"f32", "%f0", 4},
                     {"b64", "%y0", 8},
                     {"u64", "%y0", 8},
                     {"s64", "%y0", 8},
                     {"f64", "%e0", 8},
                     {"v2.b32", "{%x0, %x1}", 8},
                     {"v2.u32", "{%x0, %x1}", 8},
                     {"v2.s32", "{%x0, %x1}", 8},
                     {"v2.f32", "{%f0, %f1}", 8},
                     {"v2.b64", "{%y0, %y1}", 16},
                     {"v2.u64", "{%y0, %y1}", 16},
                     {"v2.s64", "{%y0, %y1}", 16},
                     {"v2.f64", "{%e0, %e1}", 16},
                     {"v4.b32", "{%x0, %x1, %x2, %x3}", 16},
                     {"v4.u32", "{%x0, %x1, %x2, %x3}", 16},
                     {"v4.s32", "{%x0, %x1, %x2, %x3}", 16},
                     {"v4.f32", "{%f0, %f1, %f2, %f3}", 16}};
  for (auto &f : forms)
    for (const char *weak : {"", ".weak"})
      for (bool generic : {false, true}) {
        std::string values;
        for (unsigned k = 0; k < 4; ++k) {
          const std::string n = std::to_string(k);
          values += "mad.lo.u32 %x" + n + ", %r, 1000, %t; add.u32 %x" + n + ", %x" + n + ", " +
                    std::to_string(100 * k) + "; mov.b32 %f" + n + ", %x" + n + "; ";
        }
        values += "mov.b64 %y0, {%x0, %x1}; mov.b64 %y1, {%x2, %x3}; mov.b64 %e0, %y0; mov.b64 "
                  "%e1, %y1; ";
        const std::string size = std::to_string(f.bytes), space = generic ? "" : ".shared::cluster";
        const std::string setup =
            values +
            "mov.u32 %b, bar; @%first mbarrier.init.shared.b64 [%b], 1; @%first "
            "mbarrier.arrive.expect_tx.shared.b64 _, [%b], " +
            std::to_string(32 * f.bytes) + "; fence.mbarrier_init.release.cluster; " + everyone +
            "mul.lo.u32 %a, %t, " + size +
            "; mov.u32 %m, sh; add.u32 %a, %a, %m; mapa.shared::cluster.u32 %a, %a, %n; "
            "mapa.shared::cluster.u32 %m, %b, %n; cvt.u64.u32 %g, %a; cvta.shared.u64 %g, %g; "
            "cvt.u64.u32 %w, %m; cvta.shared.u64 %w, %w; ";
        const std::string store =
            std::string("st.async") + weak + space + ".mbarrier::complete_tx::bytes." + f.type +
            (generic ? " [%g], " : " [%a], ") + f.values + (generic ? ", [%w]; " : ", [%m]; ");
        const std::string wait =
            "L: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p, [%b], 0; @!%p bra L; ";
        const std::string read = "mul.lo.u32 %a, %t, " + size +
                                 "; mov.u32 %m, sh; add.u32 %a, %a, %m; ld.shared.u32 %v, [%a+" +
                                 std::to_string(f.bytes - 4) + "]; st.global.u32 [%o], %v; ";
        auto got = run(kernel(setup + store + wait + read + everyone));
        for (unsigned i = 0; i < 128; ++i)
          ASSERT_EQ(got[i], (i / 32 + 3) % 4 * 1000 + i % 32 + 100 * (f.bytes / 4 - 1)) << store;
        if (!generic && !*weak) {
          EXPECT_EQ(faultIn(kernel(setup + store + everyone + read)).kind, FaultKind::InFlight)
              << "without the wait: " << store;
        }
      }
}

TEST(ClusterForms, AsynchronousReductions) {
  struct {
    const char *op;
    uint32_t start;
    uint32_t (*want)(uint32_t, uint32_t);
  } const forms[] = {
      {"add.u32", 9, [](uint32_t x, uint32_t y) { return x + y; }},
      {"add.s32", 0xfffffff0, [](uint32_t x, uint32_t y) { return x + y; }},
      {"inc.u32", 3, [](uint32_t x, uint32_t y) { return x >= y ? 0 : x + 1; }},
      {"dec.u32", 3, [](uint32_t x, uint32_t y) { return x == 0 || x > y ? y : x - 1; }},
      {"min.u32", 1000, [](uint32_t x, uint32_t y) { return std::min(x, y); }},
      {"max.u32", 17, [](uint32_t x, uint32_t y) { return std::max(x, y); }},
      {"min.s32", 0xfffffff0,
       [](uint32_t x, uint32_t y) { return uint32_t(std::min(int32_t(x), int32_t(y))); }},
      {"max.s32", 0xfffffff0,
       [](uint32_t x, uint32_t y) { return uint32_t(std::max(int32_t(x), int32_t(y))); }},
      {"and.b32", 0xfff3, [](uint32_t x, uint32_t y) { return x & y; }},
      {"or.b32", 0xf0, [](uint32_t x, uint32_t y) { return x | y; }},
      {"xor.b32", 0xff, [](uint32_t x, uint32_t y) { return x ^ y; }},
      {"add.u64", 5, [](uint32_t x, uint32_t y) { return x + y; }},
  };
  for (auto &f : forms)
    for (const char *space : {"", ".shared::cluster"}) {
      const bool wide = std::string(f.op) == "add.u64", generic = !*space;
      const std::string setup =
          "mov.u32 %b, bar; @%first mbarrier.init.shared.b64 [%b], 1; @%first "
          "mbarrier.arrive.expect_tx.shared.b64 _, [%b], " +
          std::string(wide ? "256" : "128") + "; mov.u64 %y0, " + std::to_string(f.start) +
          "; @%first st.shared.u64 [sh], %y0; fence.mbarrier_init.release.cluster; " + everyone +
          "mapa.shared::cluster.u32 %a, sh, %n; mapa.shared::cluster.u32 %m, %b, %n; cvt.u64.u32 "
          "%g, %a; cvta.shared.u64 %g, %g; cvt.u64.u32 %w, %m; cvta.shared.u64 %w, %w; "
          "cvt.u64.u32 %y1, %t; ";
      const std::string reduce = std::string("red.async.relaxed.cluster") + space +
                                 ".mbarrier::complete_tx::bytes." + f.op +
                                 (generic ? " [%g], " : " [%a], ") + (wide ? "%y1" : "%t") +
                                 (generic ? ", [%w]; " : ", [%m]; ");
      auto got = run(kernel(setup + reduce +
                            "L: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p, [%b], 0; "
                            "@!%p bra L; ld.shared.u32 %v, [sh]; st.global.u32 [%o], %v; " +
                            everyone));
      uint32_t want = f.start;
      for (uint32_t l = 0; l < 32; ++l)
        want = f.want(want, l);
      ASSERT_EQ(got[0], want) << reduce;
    }
}

TEST(ClusterForms, Misuse) {
  struct {
    const char *what;
    std::string body;
    FaultKind kind;
    const char *message;
  } const cases[] = {
      {"waits without arriving", "barrier.cluster.wait;", FaultKind::Misuse,
       "without having arrived"},
      {"arrives twice", "barrier.cluster.arrive; barrier.cluster.arrive;", FaultKind::Misuse,
       "a second time"},
      {"one block does not come",
       "setp.eq.u32 %p, %r, 2; @%p bra L; " + std::string(everyone) + "ret; L: bar.sync 1, 64;",
       FaultKind::Deadlock, "no thread"},
      {"a half warp, aligned",
       "setp.lt.u32 %p, %t, 16; @%p bra L; barrier.cluster.arrive.aligned; L:",
       FaultKind::Divergence, "a part of the warp"},
      {"rank 4 of 4", "mov.u32 %n, 4; mapa.shared::cluster.u32 %a, sh, %n;", FaultKind::Misuse,
       "rank 4"},
      {"mapa of a global address", "mapa.u64 %g, %o, %n;", FaultKind::Misuse,
       "not one of shared memory"},
      {"the space of the own block", "mapa.shared::cluster.u32 %a, sh, %n; st.shared.u32 [%a], 1;",
       FaultKind::OutOfBounds, "own block only"},
      {"a block that has ended",
       "setp.eq.u32 %p, %r, 0; @%p bra L; ret; L: mov.u32 %v, 0; K: add.u32 %v, %v, 1; "
       "nanosleep.u32 10; setp.lt.u32 %p, %v, 20000; @%p bra K;"
       "mapa.shared::cluster.u32 %a, sh, %n; ld.shared::cluster.u32 %v, [%a];",
       FaultKind::OutOfBounds, "has ended"},
      {"an arrival elsewhere with a state",
       "mov.u32 %b, bar; @%first mbarrier.init.shared.b64 [%b], 32; " + std::string(everyone) +
           "mov.u64 %g, bar; cvta.shared.u64 %g, %g; mapa.u64 %g, %g, %n; mbarrier.arrive.b64 %w, "
           "[%g];",
       FaultKind::Misuse, "gives no state"},
      {"a wait elsewhere",
       "mov.u32 %b, bar; @%first mbarrier.init.shared.b64 [%b], 32; " + std::string(everyone) +
           "mov.u64 %g, bar; cvta.shared.u64 %g, %g; mapa.u64 %g, %g, %n; "
           "mbarrier.test_wait.parity.b64 %p, [%g], 0;",
       FaultKind::Misuse, "only the own block's"},
      {"registers in one half",
       "setp.lt.u32 %p, %t, 16; @%p bra L; setmaxnreg.inc.sync.aligned.u32 40; L:",
       FaultKind::Divergence, "setmaxnreg"},
  };
  for (auto &c : cases) {
    Fault f = faultIn(kernel(c.body));
    EXPECT_EQ(f.kind, c.kind) << c.what << ": " << f.message;
    EXPECT_NE(f.message.find(c.message), std::string::npos) << c.what << ": " << f.message;
  }
  // Threads that arrived and left do not stand for those that still have to come.
  auto got = run(kernel("setp.lt.u32 %p, %t, 16; barrier.cluster.arrive; @%p ret; "
                        "barrier.cluster.wait; st.global.u32 [%o], 1;"));
  EXPECT_EQ(got[0] + got[31], 1u);
}
