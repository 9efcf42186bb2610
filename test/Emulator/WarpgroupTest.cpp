// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_90: wgmma (one warpgroup, D (64 x N) = A (64 x K) * B (K x N), K one or more boxes), clusters
// and mbarriers; and each of them with a piece missing.

#include "HopperSupport.h"
#include <bit>
#include <functional>
#include <numeric>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
struct Gemm {
  const char *types; // "bf16.bf16"
  TensorMap::Type map;
  int bytes, instK, n, k; // element size, K per instruction, N, K in all
  bool aInRegisters = false, bRowMajor = false;
  std::string wait = "wgmma.wait_group.sync.aligned 0;", fence = "wgmma.fence.sync.aligned;",
              parity = "%ph";
  Swizzle swizzle = Swizzle::B128;
};

// Boxes of 128 bytes along K (64 rows of A, N rows of B); with bRowMajor boxes of BK rows x 64
// columns of N.
std::string gemmText(const Gemm &g) {
  const int bk = 128 / g.bytes, acc = g.n / 2, aBytes = 64 * 128, bBytes = g.n * 128;
  auto reg = [](const char *p, int i) { return std::string(p) + std::to_string(i); };
  std::string d = "{";
  for (int i = 0; i < acc; ++i)
    d += (i ? "," : "") + reg("%f", i);
  d += "}";
  std::string s = R"(
.extern .shared .align 1024 .b8 dsmem[];
.visible .entry k(.param .align 64 .b8 mapA[128], .param .align 64 .b8 mapB[128], .param .u64 OUT) .reqntid 128, 1, 1 {
  .shared .align 8 .b64 bar;
  .reg .pred %p, %q, %sd; .reg .b32 %t, %s, %sb, %b, %ph, %kk, %n0, %v, %a<8>, %i; .reg .b64 %ma, %mb, %o, %da, %db, %w, %x; .reg .f32 %f<128>;
  mov.u32 %t, %tid.x; mov.u32 %b, bar; mov.u32 %s, dsmem; mov.b64 %ma, mapA; cvta.param.u64 %ma, %ma; mov.b64 %mb, mapB; cvta.param.u64 %mb, %mb;
  setp.eq.u32 %p, %t, 0; @%p mbarrier.init.shared::cta.b64 [%b], 1; fence.mbarrier_init.release.cluster; bar.sync 0; setmaxnreg.inc.sync.aligned.u32 232;
  mov.u32 %ph, 0; mov.u32 %kk, 0; setp.ne.u32 %sd, 0, 0;
)";
  s += "  add.u32 %sb, %s, " + std::to_string(aBytes) + ";\n";
  // Garbage to start with: the first product ignores the accumulators.
  for (int i = 0; i < acc; ++i)
    s += "  mov.f32 " + reg("%f", i) + ", 0f42280000;\n";
  s += "LOOP:\n  @!%p bra WAIT;\n  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], " +
       std::to_string(aBytes + bBytes) + ";\n";
  s += "  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%ma, "
       "{%kk, 0}], [%b];\n";
  if (!g.bRowMajor)
    s += "  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%sb], "
         "[%mb, {%kk, 0}], [%b];\n";
  else
    for (int c = 0; c < g.n / 64; ++c)
      s += "  mov.u32 %n0, " + std::to_string(64 * c) +
           "; cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%sb+" +
           std::to_string(c * bk * 128) + "], [%mb, {%n0, %kk}], [%b];\n";
  s += "WAIT:\n  mbarrier.try_wait.parity.shared::cta.b64 %q, [%b], " + g.parity +
       "; @!%q bra WAIT;\n  xor.b32 %ph, %ph, 1;\n";
  s += "  " + g.fence + "\n";
  for (int k = 0; k < bk / g.instK; ++k) {
    int step = k * g.instK * g.bytes;
    auto desc = [&](const char *to, const char *base, int offset, uint64_t high) {
      s += "  add.u32 %v, " + std::string(base) + ", " + std::to_string(offset) +
           "; shr.u32 %v, %v, 4; and.b32 %v, %v, 16383; cvt.u64.u32 " + to + ", %v; or.b64 " + to +
           ", " + to + ", " + std::to_string(high) + ";\n";
    };
    const uint64_t mode = g.swizzle == Swizzle::B128 ? 1 : 2;
    uint64_t major = mode << 62 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 16;
    uint64_t row = mode << 62 | uint64_t(1024 >> 4) << 32 | uint64_t(bk * 128 >> 4) << 16;
    desc("%da", "%s", step, major);
    desc("%db", "%sb", g.bRowMajor ? k * g.instK * 128 : step, g.bRowMajor ? row : major);
    std::string a = "%da";
    if (g.aInRegisters) {
      // 16-bit fragments straight from the swizzled tile: rows 16 w + l / 4 (+ 8), byte columns
      // step + 4 (l % 4) (+ 16).
      a = "{%a0, %a1, %a2, %a3}";
      for (int r = 0; r < 4; ++r)
        s += "  shr.u32 %v, %t, 5; shl.b32 %v, %v, 4; and.b32 %i, %t, 31; shr.u32 %i, %i, 2; "
             "add.u32 %v, %v, %i; add.u32 %v, %v, " +
             std::to_string(r % 2 * 8) +
             "; shl.b32 %v, %v, 7; and.b32 %i, %t, 3; shl.b32 %i, %i, 2; add.u32 %v, %v, %i; "
             "add.u32 %v, %v, " +
             std::to_string(step + r / 2 * 16) +
             "; shr.u32 %i, %v, 3; and.b32 %i, %i, 112; xor.b32 %v, %v, %i; add.u32 %v, %v, %s; "
             "ld.shared.b32 " +
             reg("%a", r) + ", [%v];\n";
    }
    bool half = g.bytes == 2;
    s += "  wgmma.mma_async.sync.aligned.m64n" + std::to_string(g.n) + "k" +
         std::to_string(g.instK) + ".f32." + g.types + " " + d + ", " + a + ", %db, %sd, 1, 1" +
         (half ? std::string(g.aInRegisters ? "" : ", 0") + (g.bRowMajor ? ", 1" : ", 0") : "") +
         ";\n";
    s += "  setp.eq.u32 %sd, 0, 0;\n";
  }
  s += "  wgmma.commit_group.sync.aligned;\n  " + g.wait + "\n  bar.sync 0;\n  add.u32 %kk, %kk, " +
       std::to_string(bk) + "; setp.lt.u32 %q, %kk, " + std::to_string(g.k) + "; @%q bra LOOP;\n";
  // Row 16 w + l / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2 (l % 4) + i % 2.
  s += "  ld.param.u64 %o, [OUT]; shr.u32 %v, %t, 5; shl.b32 %v, %v, 4; and.b32 %i, %t, 31; "
       "shr.u32 %i, %i, 2; add.u32 %v, %v, %i; mul.lo.u32 %v, %v, " +
       std::to_string(4 * g.n) +
       "; and.b32 %i, %t, 3; shl.b32 %i, %i, 3; add.u32 %v, %v, %i; cvt.u64.u32 %w, %v; add.u64 "
       "%o, %o, %w;\n";
  for (int i = 0; i < acc; ++i)
    s += "  st.global.f32 [%o+" +
         std::to_string(i / 2 % 2 * 8 * 4 * g.n + (i / 4 * 8 + i % 2) * 4) + "], " + reg("%f", i) +
         ";\n";
  return s + "  ret;\n}\n";
}

// Small integers in the element's format.
uint32_t encode(TensorMap::Type type, int bytes, const char *types, int v) {
  if (bytes == 4)
    return std::bit_cast<uint32_t>(float(v));
  if (type == TensorMap::Type::BF16)
    return std::bit_cast<uint32_t>(float(v)) >> 16;
  const uint32_t f16[] = {0, 0x3c00, 0x4000, 0x4200}, e4m3[] = {0, 0x38, 0x40, 0x44};
  uint32_t sign = v < 0, m = std::abs(v);
  return bytes == 2 ? f16[m] | sign << 15 : e4m3[m] | sign << 7;
}

struct GemmRun {
  Device device;
  std::vector<int> a, b;
  DevicePtr out;
  std::unique_ptr<Module> module;
  TensorMap mapA, mapB;
  GemmRun(const Gemm &g) : a(64 * g.k), b(g.k * g.n) {
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = int(i * 7 + i / 13) % 5 - 2;
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = int(i * 11 + i / 17) % 7 - 3;
    auto place = [&](int rows, int cols, const std::function<int(int, int)> &at) {
      std::vector<uint8_t> data(rows * cols * g.bytes);
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) {
          uint32_t v = encode(g.map, g.bytes, g.types, at(r, c));
          std::memcpy(&data[(r * cols + c) * g.bytes], &v, g.bytes);
        }
      return upload(device, data);
    };
    const uint32_t bk = 128 / g.bytes;
    mapA = matrixMap(place(64, g.k, [&](int r, int c) { return a[r * g.k + c]; }), g.map, 64, g.k,
                     64, bk, g.swizzle);
    mapB = g.bRowMajor ? matrixMap(place(g.k, g.n, [&](int r, int c) { return b[r * g.n + c]; }),
                                   g.map, g.k, g.n, bk, 64, g.swizzle)
                       : matrixMap(place(g.n, g.k, [&](int r, int c) { return b[c * g.n + r]; }),
                                   g.map, g.n, g.k, g.n, bk, g.swizzle);
    out = take(device.alloc(64 * g.n * 4));
    module = load(gemmText(g));
  }
  llvm::Expected<LaunchStats> run(LaunchOptions options = {}) {
    return device.launch(*module, "k", {1}, {128}, 1 << 16,
                         {mapArg(mapA), mapArg(mapB), KernelArg::value(out)}, options);
  }
};
} // namespace

TEST(Wgmma, EveryTypeAndLayout) {
  using T = TensorMap::Type;
  const Gemm cases[] = {
      {"bf16.bf16", T::BF16, 2, 16, 64, 128},
      {"f16.f16", T::F16, 2, 16, 128, 64},
      {"bf16.bf16", T::BF16, 2, 16, 128, 128, false, true},
      {"f16.f16", T::F16, 2, 16, 64, 128, true},
      {"bf16.bf16", T::BF16, 2, 16, 8, 64},
      {"tf32.tf32", T::F32, 4, 8, 64, 64},
      {"e4m3.e4m3", T::U8, 1, 32, 96, 256},
  };
  for (const Gemm &g : cases)
    for (bool reverse : {false, true}) {
      SCOPED_TRACE(std::string(g.types) + " n " + std::to_string(g.n) +
                   (g.aInRegisters ? " A in registers" : "") + (g.bRowMajor ? " B row-major" : ""));
      GemmRun t(g);
      LaunchOptions options;
      options.reverse = reverse;
      auto r = t.run(options);
      ASSERT_TRUE(bool(r)) << llvm::toString(r.takeError());
      auto got = download<float>(t.device, t.out, 64 * g.n);
      for (int row = 0; row < 64; ++row)
        for (int col = 0; col < g.n; ++col) {
          int want = 0;
          for (int k = 0; k < g.k; ++k)
            want += t.a[row * g.k + k] * t.b[k * g.n + col];
          ASSERT_EQ(got[row * g.n + col], float(want)) << row << ", " << col;
        }
    }
}

TEST(Wgmma, MissingWaitFenceAndSwizzle) {
  const Gemm good = {"bf16.bf16", TensorMap::Type::BF16, 2, 16, 64, 64};
  Gemm g = good;
  g.wait = "";
  Fault f = faultOf(GemmRun(g).run());
  EXPECT_EQ(f.kind, FaultKind::InFlight);
  EXPECT_NE(f.message.find("wgmma.wait_group"), std::string::npos) << f.message;
  g = good;
  g.fence = "";
  f = faultOf(GemmRun(g).run());
  EXPECT_EQ(f.kind, FaultKind::Misuse);
  EXPECT_NE(f.message.find("wgmma.fence"), std::string::npos) << f.message;
  // With two boxes the next copy would land in what the product still reads.
  g = good;
  g.k = 128;
  g.wait = "wgmma.wait_group.sync.aligned 1;";
  f = faultOf(GemmRun(g).run());
  EXPECT_EQ(f.kind, FaultKind::Race) << f.message;
  // A tile stored with another swizzle than the descriptor's.
  GemmRun wrong(good);
  wrong.mapA.swizzle = Swizzle::None;
  f = faultOf(wrong.run());
  EXPECT_EQ(f.kind, FaultKind::Misuse) << f.message;
  EXPECT_NE(f.message.find("the descriptor of operand A says a swizzle of 128 bytes, but the "
                           "tensor copy that wrote these "
                           "bytes had no swizzle"),
            std::string::npos)
      << f.message;
  EXPECT_NE(f.instruction.find("wgmma.mma_async"), std::string::npos) << f.instruction;
}

// Each block writes its rank into its neighbour's shared memory.
static const char *neighbours = R"(
.visible .entry k(.param .u64 OUT) .explicitcluster .reqnctapercluster 4, 1, 1 {
  .shared .align 4 .b32 mine; .reg .pred %p; .reg .b32 %t, %r, %n, %a, %v; .reg .b64 %o, %w;
  mov.u32 %r, %cluster_ctarank; add.u32 %n, %r, 1; and.b32 %n, %n, 3; mov.u32 %a, mine; mapa.shared::cluster.u32 %a, %a, %n;
  mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0; mad.lo.u32 %v, %r, 100, 5;
  @%p st.shared::cluster.u32 [%a], %v;
  BARRIER
  @!%p bra END;
  ld.shared.u32 %v, [mine]; mov.u32 %t, %ctaid.x; mul.wide.u32 %w, %t, 4; ld.param.u64 %o, [OUT]; add.u64 %o, %o, %w; st.global.u32 [%o], %v;
END: ret;
})";

TEST(Cluster, RemoteStores) {
  auto m = load(
      replace(neighbours, "BARRIER",
              "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"));
  Device device;
  DevicePtr out = take(device.alloc(32));
  take(device.launch(*m, "k", {8}, {64}, 0, {KernelArg::value(out)}));
  auto got = download<uint32_t>(device, out, 8);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(got[i], uint32_t((i + 3) % 4 * 100 + 5));
  EXPECT_NE(
      llvm::toString(device.launch(*m, "k", {6}, {64}, 0, {KernelArg::value(out)}).takeError())
          .find("cluster"),
      std::string::npos);
  // Without the barrier somebody reads before the neighbour wrote.
  auto broken = load(replace(neighbours, "BARRIER", ""));
  EXPECT_EQ(faultOf(device.launch(*broken, "k", {4}, {64}, 0, {KernelArg::value(out)})).kind,
            FaultKind::Uninitialized);
}

TEST(Mbarrier, ProducersAndConsumers) {
  // Warp 0 fills a slot and arrives; warp 1 waits, reads, and frees it: eight rounds through one
  // slot.
  const char *text = R"(
.visible .entry k(.param .u64 OUT) {
  .shared .align 8 .b64 bars[2]; .shared .align 4 .b8 slot[128];
  .reg .pred %p, %q, %c; .reg .b32 %t, %l, %f, %e, %a, %i, %ph, %v; .reg .b64 %o, %w, %st;
  mov.u32 %t, %tid.x; and.b32 %l, %t, 31; mov.u32 %f, bars; add.u32 %e, %f, 8; mov.u32 %a, slot; shl.b32 %v, %l, 2; add.u32 %a, %a, %v;
  setp.eq.u32 %p, %t, 0; @%p mbarrier.init.shared.b64 [%f], 32; @%p mbarrier.init.shared.b64 [%e], 32; bar.sync 0;
  mov.u32 %i, 0; mov.u32 %ph, 0; setp.lt.u32 %c, %t, 32; ld.param.u64 %o, [OUT]; mul.wide.u32 %w, %l, 4; add.u64 %o, %o, %w;
  @!%c bra CONSUMER;
PRODUCER:
  xor.b32 %v, %ph, 1;
P1: mbarrier.try_wait.parity.shared.b64 %q, [%e], %v; @!%q bra P1;
  add.u32 %v, %i, %l; st.shared.u32 [%a], %v; mbarrier.arrive.shared.b64 %st, [%f];
  xor.b32 %ph, %ph, 1; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 8; @%q bra PRODUCER; ret;
CONSUMER:
C1: mbarrier.try_wait.parity.shared.b64 %q, [%f], %ph; @!%q bra C1;
  xor.b32 %v, %a, 4; ld.shared.u32 %v, [%v]; st.global.u32 [%o], %v; add.u64 %o, %o, 128; RELEASE
  xor.b32 %ph, %ph, 1; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 8; @%q bra CONSUMER; ret;
})";
  Device device;
  DevicePtr out = take(device.alloc(1024));
  auto m = load(replace(text, "RELEASE", "mbarrier.arrive.shared.b64 _, [%e];"));
  for (bool reverse : {false, true}) {
    LaunchOptions options;
    options.reverse = reverse;
    take(device.launch(*m, "k", {1}, {64}, 0, {KernelArg::value(out)}, options));
    auto got = download<uint32_t>(device, out, 256);
    for (int i = 0; i < 8; ++i)
      for (int l = 0; l < 32; ++l)
        EXPECT_EQ(got[i * 32 + l], uint32_t(i + (l ^ 1)));
  }
  EXPECT_EQ(faultOf(device.launch(*load(replace(text, "RELEASE", "")), "k", {1}, {64}, 0,
                                  {KernelArg::value(out)}))
                .kind,
            FaultKind::Deadlock);
  // A producer that does not wait for the slot to be free overwrites what is being read.
  auto hasty = load(replace(replace(text, "RELEASE", "mbarrier.arrive.shared.b64 _, [%e];"),
                            "xor.b32 %v, %ph, 1;", "mov.u32 %v, 1; mov.u32 %ph, 0;"));
  Fault f = faultOf(device.launch(*hasty, "k", {1}, {64}, 0, {KernelArg::value(out)}));
  EXPECT_TRUE(f.kind == FaultKind::Race || f.kind == FaultKind::Deadlock) << f.message;
}
