// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_90: tensor copies with swizzles, and each of them with a piece missing.

#include "HopperSupport.h"
#include <bit>
#include <functional>
#include <numeric>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
// One thread loads a tile at (X, Y); then the whole block copies shared memory out as it lies.
const char *loadTile = R"(
.extern .shared .align 1024 .b8 dsmem[];
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 OUT, .param .u32 X, .param .u32 Y, .param .u32 BYTES) {
  .shared .align 8 .b64 bar;
  .reg .pred %p, %q; .reg .b32 %t, %s, %b, %x, %y, %n, %v, %a; .reg .b64 %m, %o, %w;
  mov.u32 %t, %tid.x; mov.u32 %b, bar; mov.u32 %s, dsmem; ld.param.u32 %n, [BYTES]; ld.param.u32 %x, [X]; ld.param.u32 %y, [Y];
  mov.b64 %m, map; cvta.param.u64 %m, %m;
  setp.eq.u32 %p, %t, 0;
  @%p mbarrier.init.shared::cta.b64 [%b], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @!%p bra WAIT;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], %n;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%m, {%x, %y}], [%b];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %q, [%b], PARITY, 1000;
  @%q bra DONE;
  bra WAIT;
DONE:
  ld.param.u64 %o, [OUT]; shl.b32 %a, %t, 2; cvt.u64.u32 %w, %a; add.u64 %o, %o, %w; add.u32 %a, %a, %s;
COPY:
  setp.ge.u32 %p, %t, %v; shl.b32 %v, %t, 2; setp.ge.u32 %p, %v, %n; @%p bra END;
  ld.shared.b32 %v, [%a]; st.global.b32 [%o], %v; add.u32 %t, %t, 128; add.u32 %a, %a, 512; add.u64 %o, %o, 512; bra COPY;
END:
  ret;
})";
std::string tileKernel(const std::string &parity = "0") {
  return replace(replace(loadTile, "setp.ge.u32 %p, %t, %v; shl.b32", "shl.b32"), "PARITY", parity);
}

struct TileRun {
  Device device;
  std::vector<uint16_t> source;
  DevicePtr in, out;
  std::unique_ptr<Module> module;
  TileRun(const std::string &text) : source(100 * 96) {
    std::iota(source.begin(), source.end(), uint16_t(1));
    in = upload(device, source);
    out = take(device.alloc(1 << 16));
    module = load(text);
  }
  llvm::Expected<LaunchStats> run(const TensorMap &m, int x, int y, LaunchOptions options = {}) {
    uint32_t bytes = m.boxBytes();
    return device.launch(*module, "k", {1}, {128}, 1 << 15,
                         {mapArg(m), KernelArg::value(out), KernelArg::value(x),
                          KernelArg::value(y), KernelArg::value(bytes)},
                         options);
  }
};
} // namespace

TEST(TensorCopy, EverySwizzleAndOutside) {
  TileRun t(tileKernel());
  struct {
    Swizzle swizzle;
    uint32_t cols;
    int chunks; // of 16 bytes in a row
  } modes[] = {
      {Swizzle::None, 64, 8}, {Swizzle::B128, 64, 8}, {Swizzle::B64, 32, 4}, {Swizzle::B32, 16, 2}};
  for (auto &mode : modes)
    for (auto [x, y] : {std::pair{8, 16}, {64, 90}, {-8, -3}}) {
      TensorMap m = matrixMap(t.in, TensorMap::Type::BF16, 100, 96, 32, mode.cols, mode.swizzle);
      auto r = t.run(m, x, y);
      ASSERT_TRUE(bool(r)) << llvm::toString(r.takeError());
      auto got = download<uint16_t>(t.device, t.out, 32 * mode.cols);
      for (int row = 0; row < 32; ++row)
        for (int col = 0; col < int(mode.cols); ++col) {
          // The byte lies where the manual's figures say, for rows of 128, 64 and 32 bytes.
          int line = (row * mode.cols * 2) / 128, chunk = col / 8;
          if (mode.swizzle == Swizzle::B128)
            chunk ^= row % 8;
          else if (mode.swizzle == Swizzle::B64)
            chunk ^= line % 4;
          else if (mode.swizzle == Swizzle::B32)
            chunk ^= line % 2;
          int gx = x + col, gy = y + row;
          uint16_t want = gx < 0 || gx >= 96 || gy < 0 || gy >= 100 ? 0 : t.source[gy * 96 + gx];
          ASSERT_EQ(got[row * mode.cols + chunk * 8 + col % 8], want)
              << int(mode.swizzle) << " at " << row << ", " << col;
        }
    }
}

TEST(TensorCopy, WrongParityIsADeadlock) {
  // Expecting one byte too many never completes.
  TileRun more(replace(tileKernel(), "_, [%b], %n;", "_, [%b], 8192;"));
  Fault f = faultOf(
      more.run(matrixMap(more.in, TensorMap::Type::BF16, 100, 96, 32, 64, Swizzle::B128), 0, 0));
  EXPECT_EQ(f.kind, FaultKind::Deadlock);
  EXPECT_NE(f.message.find("polls"), std::string::npos) << f.message;
  // Parity 1 is that of the phase before the first: it does not wait.
  TileRun flipped(tileKernel("1"));
  f = faultOf(flipped.run(
      matrixMap(flipped.in, TensorMap::Type::BF16, 100, 96, 32, 64, Swizzle::B128), 0, 0));
  EXPECT_TRUE(f.kind == FaultKind::InFlight || f.kind == FaultKind::Race ||
              f.kind == FaultKind::Uninitialized)
      << f.message;
  EXPECT_EQ(f.instruction, "ld.shared.b32 %v, [%a]");
}

TEST(TensorCopy, ReadingWithoutTheWait) {
  // Nobody looks at the mbarrier.
  TileRun t(replace(tileKernel(), "WAIT:\n  mbarrier.try_wait",
                    "WAIT: bar.sync 1; bra DONE;\n  mbarrier.try_wait"));
  Fault f =
      faultOf(t.run(matrixMap(t.in, TensorMap::Type::BF16, 100, 96, 32, 64, Swizzle::B128), 0, 0));
  EXPECT_EQ(f.kind, FaultKind::InFlight) << f.message;
}

TEST(TensorCopy, MapsAreChecked) {
  TensorMap m;
  m.rank = 2, m.type = TensorMap::Type::F16, m.dims = {64, 64, 1, 1, 1}, m.strides[0] = 128,
  m.box = {64, 64, 1, 1, 1};
  check(m.verify());
  auto wrong = [&](auto change) {
    TensorMap c = m;
    change(c);
    return llvm::toString(c.verify());
  };
  EXPECT_NE(wrong([](TensorMap &c) { c.rank = 6; }).find("rank 6"), std::string::npos);
  EXPECT_NE(wrong([](TensorMap &c) { c.address = 8; }).find("multiple of 16"), std::string::npos);
  EXPECT_NE(wrong([](TensorMap &c) { c.box[0] = 300; }).find("300"), std::string::npos);
  EXPECT_NE(wrong([](TensorMap &c) { c.strides[0] = 130; }).find("130"), std::string::npos);
  EXPECT_NE(wrong([](TensorMap &c) { c.swizzle = Swizzle::B64; }).find("allows 64"),
            std::string::npos);
  auto back = TensorMap::decode(m.encode().data());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->dims, m.dims);
  EXPECT_EQ(back->box, m.box);
  std::array<uint8_t, 128> zeros{};
  EXPECT_FALSE(TensorMap::decode(zeros.data()));
}

// 128 threads fill a 32 x 64 tile of 16-bit numbers, one stores it with TMA; then the tile is
// overwritten.
static const char *storeTile = R"(
.extern .shared .align 1024 .b8 dsmem[];
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 OUT, .param .u32 X, .param .u32 Y, .param .u32 BYTES) {
  .reg .pred %p; .reg .b32 %t, %s, %x, %y, %v, %a; .reg .b64 %m;
  mov.u32 %t, %tid.x; mov.u32 %s, dsmem; ld.param.u32 %x, [X]; ld.param.u32 %y, [Y]; mov.b64 %m, map; cvta.param.u64 %m, %m;
  mov.u32 %v, %t;
FILL: shl.b32 %a, %v, 2; add.u32 %a, %a, %s; st.shared.b32 [%a], %v; add.u32 %v, %v, 128; setp.lt.u32 %p, %v, 1024; @%p bra FILL;
  FENCE
  BARRIER
  setp.eq.u32 %p, %t, 0;
  @!%p bra AFTER;
  OPCODE [%m, {%x, %y}], [%s];
  cp.async.bulk.commit_group;
  WAITGROUP
AFTER:
  bar.sync 0;
  mov.u32 %v, %t;
AGAIN: shl.b32 %a, %v, 2; add.u32 %a, %a, %s; st.shared.b32 [%a], 7; add.u32 %v, %v, 128; setp.lt.u32 %p, %v, 1024; @%p bra AGAIN;
  ret;
})";
static std::string storeKernel(
    const std::string &fence = "fence.proxy.async.shared::cta;",
    const std::string &barrier = "bar.sync 0;",
    const std::string &wait = "cp.async.bulk.wait_group.read 0;",
    const std::string &opcode = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group") {
  return replace(
      replace(replace(replace(storeTile, "FENCE", fence), "BARRIER", barrier), "WAITGROUP", wait),
      "OPCODE", opcode);
}

TEST(TensorCopy, StoreAndReduce) {
  for (bool reduce : {false, true}) {
    TileRun t(reduce ? storeKernel(
                           "fence.proxy.async;", "bar.sync 0;", "cp.async.bulk.wait_group 0;",
                           "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group")
                     : storeKernel());
    TensorMap m = matrixMap(t.in, TensorMap::Type::U32, 100, 48, 32, 32, Swizzle::None);
    auto before = download<uint32_t>(t.device, t.in, 4800);
    auto r = t.run(m, 24, 80);
    ASSERT_TRUE(bool(r)) << llvm::toString(r.takeError());
    auto after = download<uint32_t>(t.device, t.in, 4800);
    for (int y = 0; y < 100; ++y)
      for (int x = 0; x < 48; ++x) {
        bool inside = x >= 24 && y >= 80;
        uint32_t tile = (y - 80) * 32 + (x - 24), old = before[y * 48 + x];
        ASSERT_EQ(after[y * 48 + x], inside ? tile + (reduce ? old : 0) : old) << x << ", " << y;
      }
  }
}

TEST(TensorCopy, StoreFaults) {
  struct {
    const char *what;
    std::string text;
    FaultKind kind;
  } cases[] = {
      {"no proxy fence", storeKernel(""), FaultKind::Race},
      {"no barrier", storeKernel("fence.proxy.async.shared::cta;", ""), FaultKind::Uninitialized},
      {"no wait before the overwrite",
       storeKernel("fence.proxy.async.shared::cta;", "bar.sync 0;", ""), FaultKind::Race}};
  for (auto &c : cases) {
    TileRun t(c.text);
    Fault f =
        faultOf(t.run(matrixMap(t.in, TensorMap::Type::U32, 100, 48, 32, 32, Swizzle::None), 0, 0));
    EXPECT_EQ(f.kind, c.kind) << c.what << ": " << f.message;
  }
}
