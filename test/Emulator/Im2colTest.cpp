// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor copies in im2col mode against the operand of an implicit product, as a convolution defines
// it.

#include "TestSupport.h"
#include "mp/Emulator/TensorMap.h"

#include <numeric>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
struct Convolution {
  int images = 2, height = 5, width = 7, channels = 24, taps = 3, pad = 1, stride = 2, dilation = 1;
  int outputs(int size) const { return (size + 2 * pad - (taps - 1) * dilation - 1) / stride + 1; }
  TensorMap map(DevicePtr at, uint32_t pixels, uint32_t taken) const {
    TensorMap m;
    m.im2col = true, m.type = TensorMap::Type::F16, m.rank = 4, m.address = at;
    m.dims = {uint64_t(channels), uint64_t(width), uint64_t(height), uint64_t(images), 1};
    m.strides = {uint64_t(channels) * 2, uint64_t(channels * width) * 2,
                 uint64_t(channels * width * height) * 2, 0};
    m.elementStrides = {1, uint32_t(stride), uint32_t(stride), 1, 1};
    m.lower = {int16_t(-pad), int16_t(-pad), 0};
    m.upper = {int16_t(pad - (taps - 1) * dilation), int16_t(pad - (taps - 1) * dilation), 0};
    m.channels = taken, m.pixels = pixels;
    check(m.verify());
    return m;
  }
};

// One thread loads at {C, W, H, N} with offsets {S, R}; then the block copies shared memory out.
const char *const load4 = R"(
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 OUT, .param .u32 C, .param .u32 W, .param .u32 H, .param .u32 N, .param .u16 S, .param .u16 R, .param .u32 BYTES) {
  .shared .align 128 .b8 tile[2048]; .shared .align 8 .b64 bar;
  .reg .pred %p, %q; .reg .b16 %s, %r; .reg .b32 %t, %c, %w, %h, %n, %b, %m32, %size, %v; .reg .b64 %m, %o, %g;
  mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0; mov.u32 %b, bar; mov.u32 %m32, tile; ld.param.u32 %size, [BYTES];
  ld.param.u32 %c, [C]; ld.param.u32 %w, [W]; ld.param.u32 %h, [H]; ld.param.u32 %n, [N]; ld.param.u16 %s, [S]; ld.param.u16 %r, [R];
  mov.b64 %m, map; cvta.param.u64 %m, %m;
  @%p mbarrier.init.shared::cta.b64 [%b], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @!%p bra WAIT;
  cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%m, {%c, %w, %h, %n}], {%s, %r};
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], %size;
  cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%m32], [%m, {%c, %w, %h, %n}], [%b], {%s, %r};
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %q, [%b], 0, 1000;
  @!%q bra WAIT;
  ld.param.u64 %o, [OUT]; shl.b32 %v, %t, 2; cvt.u64.u32 %g, %v; add.u64 %o, %o, %g; add.u32 %m32, %m32, %v;
COPY:
  setp.ge.u32 %p, %v, %size; @%p bra END;
  ld.shared.b32 %t, [%m32]; st.global.b32 [%o], %t; add.u32 %v, %v, 512; add.u32 %m32, %m32, 512; add.u64 %o, %o, 512; bra COPY;
END: ret;
})";
} // namespace

TEST(Im2col, LoadsTheOperandOfAConvolution) {
  auto module = load(load4);
  const uint32_t pixels = 20, taken = 16;
  for (Convolution v :
       {Convolution(), Convolution{2, 6, 9, 24, 3, 2, 1, 2}, Convolution{3, 4, 4, 24, 1, 0, 3, 1},
        Convolution{1, 8, 5, 24, 2, 0, 1, 3}}) {
    Device device;
    std::vector<uint16_t> source(v.images * v.height * v.width * v.channels);
    std::iota(source.begin(), source.end(), uint16_t(1));
    DevicePtr in = upload(device, source), out = take(device.alloc(pixels * taken * 2));
    const int columns = v.outputs(v.width), rows = v.outputs(v.height);
    for (int first : {0, 1, columns + 1, rows * columns - 1, v.images * rows * columns - 3})
      for (int tap = 0; tap < v.taps * v.taps; tap += 2)
        for (int channel : {0, 8, 16}) {
          const int n = first / (rows * columns), p = first / columns % rows, q = first % columns,
                    r = tap / v.taps, s = tap % v.taps;
          auto stats = device.launch(
              *module, "k", {1}, {128}, 0,
              {KernelArg::bytes(v.map(in, pixels, taken).encode()), KernelArg::value(out),
               KernelArg::value(channel), KernelArg::value(q * v.stride - v.pad),
               KernelArg::value(p * v.stride - v.pad), KernelArg::value(n),
               KernelArg::value(uint16_t(s * v.dilation)),
               KernelArg::value(uint16_t(r * v.dilation)), KernelArg::value(pixels * taken * 2)});
          ASSERT_TRUE(bool(stats)) << llvm::toString(stats.takeError());
          auto got = download<uint16_t>(device, out, pixels * taken);
          for (uint32_t i = 0; i < pixels * taken; ++i) {
            const int output = first + int(i / taken), c = channel + int(i % taken),
                      image = output / (rows * columns);
            const int y = output / columns % rows * v.stride - v.pad + r * v.dilation,
                      x = output % columns * v.stride - v.pad + s * v.dilation;
            const bool inside = image < v.images && y >= 0 && y < v.height && x >= 0 &&
                                x < v.width && c < v.channels;
            ASSERT_EQ(got[i],
                      inside ? source[((image * v.height + y) * v.width + x) * v.channels + c] : 0)
                << "output " << output << ", tap " << r << ", " << s << ", channel " << c;
          }
        }
  }
}

TEST(Im2col, StoresWithoutOffsets) {
  auto module = load(R"(.visible .entry k(.param .align 64 .b8 map[128]) {
    .shared .align 128 .b8 tile[256]; .reg .pred p; .reg .b32 t, a, w; .reg .b64 m;
    mov.u32 t, %tid.x; mov.u32 a, tile; shl.b32 w, t, 2; add.u32 a, a, w; add.u32 t, t, 1; st.shared.b32 [a], t;
    fence.proxy.async.shared::cta; bar.sync 0;
    mov.b64 m, map; cvta.param.u64 m, m; mov.u32 a, tile; setp.eq.u32 p, w, 0; @!p bra END;
    cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [m, {0, 2, 0}], [a];
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    END: ret; })");
  Device device;
  std::vector<uint32_t> target(2 * 5 * 4);
  TensorMap m;
  m.im2col = true, m.type = TensorMap::Type::U32, m.rank = 3, m.address = upload(device, target);
  m.dims = {4, 5, 2, 1, 1}, m.strides = {16, 80, 0, 0}, m.channels = 4, m.pixels = 6;
  auto stats = device.launch(*module, "k", {1}, {24}, 0, {KernelArg::bytes(m.encode())});
  ASSERT_TRUE(bool(stats)) << llvm::toString(stats.takeError());
  auto got = download<uint32_t>(device, m.address, target.size());
  // Pixels 2, 3 and 4 of the first image and 0, 1 and 2 of the second.
  for (uint32_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], i >= 8 && i < 32 ? i - 7 : 0) << i;
}

TEST(Im2col, MapsAndInstructionsGoTogether) {
  auto module = load(load4);
  Device device;
  DevicePtr in = upload(device, std::vector<uint16_t>(4096)), out = take(device.alloc(4096));
  TensorMap m = Convolution().map(in, 4, 16);
  m.im2col = false, m.box = {16, 2, 1, 1, 1}, m.elementStrides = {1, 1, 1, 1, 1};
  Fault f = faultOf(device.launch(*module, "k", {1}, {128}, 0,
                                  {KernelArg::bytes(m.encode()), KernelArg::value(out),
                                   KernelArg::value(0), KernelArg::value(0), KernelArg::value(0),
                                   KernelArg::value(0), KernelArg::value(uint16_t(0)),
                                   KernelArg::value(uint16_t(0)), KernelArg::value(64)}));
  EXPECT_NE(f.message.find("one of tiles"), std::string::npos) << f.message;
  auto wrong = [&](auto change) {
    TensorMap c = Convolution().map(in, 4, 16);
    change(c);
    return llvm::toString(c.verify());
  };
  EXPECT_NE(wrong([](TensorMap &c) { c.rank = 2; }).find("rank 3 to 5"), std::string::npos);
  EXPECT_NE(wrong([](TensorMap &c) { c.pixels = 2000; }).find("2000 pixels"), std::string::npos);
  EXPECT_NE(wrong([](TensorMap &c) { c.lower[0] = 128; }).find("corner 128"), std::string::npos);
  EXPECT_NE(wrong([](TensorMap &c) { c.upper[1] = -6; }).find("leave no pixel"), std::string::npos);
  EXPECT_NE(wrong([](TensorMap &c) { c.elementStrides[1] = 9; }).find("element stride 9"),
            std::string::npos);
}
