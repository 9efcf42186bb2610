// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that change a tensor map: a copy of it in shared memory, fields replaced, published in
// global memory, acquired and used.

#include "FormTable.h"
#include "mp/Emulator/Forms.h"
#include "mp/Emulator/TensorMap.h"

#include <numeric>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
// A tile of 8x16 halves at (0, 2) goes to OUT as it lies. CHANGES stand between the copy of the map
// and its publication.
std::string
kernel(const std::string &changes,
       const std::string &acquire = "fence.proxy.tensormap::generic.acquire.gpu [%w], 128;") {
  return R"(.visible .entry k(.param .align 64 .b8 map[128], .param .u64 OUT, .param .u64 OTHER, .param .u64 WORK) {
  .shared .align 128 .b8 copy[128]; .shared .align 128 .b8 tile[256]; .shared .align 8 .b64 bar;
  .reg .pred %p, %q; .reg .b32 %t, %v, %a, %c, %s, %b; .reg .b64 %m, %g, %o, %w;
  mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0; mov.u32 %c, copy; mov.u32 %s, tile; mov.u32 %b, bar;
  ld.param.u64 %o, [OTHER]; ld.param.u64 %w, [WORK];
  shl.b32 %a, %t, 2; cvt.u64.u32 %g, %a; mov.b64 %m, map; add.u64 %m, %m, %g; add.u32 %a, %a, %c;
  ld.param.b32 %v, [%m]; st.shared.b32 [%a], %v;
  @%p mbarrier.init.shared::cta.b64 [%b], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @!%p bra CHANGED;
  )" + changes +
         R"(
CHANGED:
  bar.sync 0;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%w], [%c], 128;
  )" + acquire +
         R"(
  @!%p bra WAIT;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 256;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%w, {0, 2}], [%b];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %q, [%b], 0, 1000;
  @!%q bra WAIT;
  ld.param.u64 %o, [OUT]; shl.b32 %a, %t, 3; cvt.u64.u32 %g, %a; add.u64 %o, %o, %g; add.u32 %a, %a, %s;
  ld.shared.b64 %g, [%a]; st.global.b64 [%o], %g;
  ret; })";
}

struct Replaced {
  Device device;
  std::vector<uint16_t> first = std::vector<uint16_t>(64 * 32),
                        second = std::vector<uint16_t>(64 * 32);
  DevicePtr out, one, two, work;
  Replaced() {
    std::iota(first.begin(), first.end(), uint16_t(1));
    std::iota(second.begin(), second.end(), uint16_t(10000));
    one = upload(device, first), two = upload(device, second);
    out = take(device.alloc(256)), work = take(device.alloc(128));
  }
  llvm::Expected<LaunchStats> operator()(const std::string &text) {
    auto module = load(text);
    TensorMap map;
    map.type = TensorMap::Type::U16, map.rank = 2, map.address = one, map.dims = {32, 64, 1, 1, 1},
    map.strides[0] = 64, map.box = {8, 16, 1, 1, 1};
    return device.launch(*module, "k", {1}, {32}, 0,
                         {KernelArg::bytes(map.encode()), KernelArg::value(out),
                          KernelArg::value(two), KernelArg::value(work)});
  }
  /// Rows of `columns` elements, `stride` apart, from `source`.
  void expectTile(const std::vector<uint16_t> &source, unsigned columns, unsigned stride,
                  unsigned rows, const std::string &changes) {
    auto r = (*this)(kernel(changes));
    ASSERT_TRUE(bool(r)) << changes << ": " << llvm::toString(r.takeError());
    auto got = download<uint16_t>(device, out, 128);
    for (unsigned i = 0; i < 128; ++i) {
      const unsigned row = i / 8 + 2, column = i % 8;
      ASSERT_EQ(got[i], row < rows && column < columns ? source[row * stride + column] : 0)
          << changes << " at " << i;
    }
  }
};
const std::string tile = "tensormap.replace.tile.", in = ".shared::cta.b1024";
} // namespace

TEST(TensorMapForms, FieldsAreReplaced) {
  Replaced run;
  run.expectTile(run.first, 32, 32, 64, "");
  const std::string elsewhere = tile + "global_address" + in + ".b64 [%c], %o;";
  run.expectTile(run.second, 32, 32, 64, elsewhere);
  run.expectTile(run.second, 32, 16, 64,
                 elsewhere + tile + "global_stride" + in + ".b64 [%c], 0, 32;");
  run.expectTile(run.first, 5, 32, 9,
                 tile + "global_dim" + in + ".b32 [%c], 0, 5; mov.u32 %v, 9; " + tile +
                     "global_dim" + in + ".b32 [%c], 1, %v;");
  // Elements of four bytes, half as many in a row of the box, are the same bytes.
  run.expectTile(run.first, 32, 32, 64,
                 tile + "elemtype" + in + ".b32 [%c], 2; " + tile + "box_dim" + in +
                     ".b32 [%c], 0, 4;" + tile + "global_dim" + in + ".b32 [%c], 0, 16;");
  // These replacements change nothing: rank is counted less one.
  run.expectTile(run.first, 32, 32, 64,
                 tile + "rank" + in + ".b32 [%c], 1;" + tile + "swizzle_mode" + in +
                     ".b32 [%c], 0;" + tile + "fill_mode" + in + ".b32 [%c], 0;" + tile +
                     "interleave_layout" + in + ".b32 [%c], 0;" + tile + "element_stride" + in +
                     ".b32 [%c], 0, 1;");
}

// As Triton makes its descriptors: zeros, then every field.
TEST(TensorMapForms, ZerosAreFilledFieldByField) {
  std::string zeros, fields;
  for (int at = 0; at < 128; at += 8)
    zeros += "st.shared.b64 [%c+" + std::to_string(at) + "], 0;";
  for (const char *field :
       {"global_address.b64 [%c], %o", "rank.b32 [%c], 1", "box_dim.b32 [%c], 0, 8",
        "box_dim.b32 [%c], 1, 16", "global_dim.b32 [%c], 0, 32", "global_dim.b32 [%c], 1, 64",
        "global_stride.b64 [%c], 0, 64", "element_stride.b32 [%c], 0, 1",
        "element_stride.b32 [%c], 1, 1", "elemtype.b32 [%c], 1", "interleave_layout.b32 [%c], 0",
        "swizzle_mode.b32 [%c], 0", "fill_mode.b32 [%c], 0"}) {
    auto [name, rest] = llvm::StringRef(field).split('.');
    fields += tile + name.str() + in + "." + rest.str() + ";";
  }
  Replaced run;
  run.expectTile(run.second, 32, 32, 64, zeros + fields);
  EXPECT_NE(faultOf(run(kernel(zeros + tile + "rank" + in + ".b32 [%c], 1;")))
                .message.find("no valid tensor map"),
            std::string::npos);
}

TEST(TensorMapForms, WhatIsWrongIsAFault) {
  Replaced run;
  auto fault = [&](const std::string &changes) { return faultOf(run(kernel(changes))).message; };
  EXPECT_NE(fault(tile + "interleave_layout" + in + ".b32 [%c], 1;").find("interleaved"),
            std::string::npos);
  EXPECT_NE(fault(tile + "rank" + in + ".b32 [%c], 2;").find("no valid tensor map"),
            std::string::npos); // a stride of zero
  EXPECT_NE(
      fault("mov.u32 %v, tile; st.shared.b32 [%v], 0; " + tile + "rank" + in + ".b32 [%v+64], 1;")
          .find("multiple of 128"),
      std::string::npos);
  EXPECT_NE(
      fault("st.shared.b32 [%c], 0; " + tile + "rank" + in + ".b32 [%c], 1;").find("no tensor map"),
      std::string::npos);
}

TEST(TensorMapForms, IsPtxas) {
  auto forms = expandForms("tensormap.replace.tile.<global_address|rank|elemtype|interleave_layout|"
                           "swizzle_mode|fill_mode><|.global|.shared::cta|.shared|.shared::cluster>"
                           ".b1024<|.b32|.b64> [%l0], <%l1|%r1|0>;");
  for (const char *pattern :
       {"tensormap.replace.tile.<box_dim|global_dim|element_stride|global_stride|rank><|.global|."
        "shared::cta>.b1024<.b32|.b64> [%l0], <0|4|5|%r2>, <%l1|%r1|3>;",
        "tensormap.cp_fenceproxy.global.<shared::cta|shared::cluster>.tensormap::generic.<release|"
        "acquire>.<gpu|cta|cluster|sys>.sync.aligned [%l0], [%l1], <128|64>;"})
    for (std::string &form : expandForms(pattern))
      forms.push_back(std::move(form));
  for (const char *target : {"sm_90a", "sm_120a", "sm_90", "sm_80"}) {
    SCOPED_TRACE(target);
    expectPtxasForms(forms, target, llvm::StringRef(target).ends_with("a") ? 60 : 0);
  }
}

TEST(TensorMapReplace, KnowsFiveDimensions) {
  uint8_t bytes[128] = {};
  EXPECT_EQ(replaceField(bytes, TensorMapField::Box, 4, 8), nullptr);
  EXPECT_STREQ(replaceField(bytes, TensorMapField::Box, 5, 8),
               "dimensions are numbered from 0 to 4");
}
