// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async, cp.async.bulk and cp.reduce.async.bulk, form by form, on data.

#include "BulkKernels.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

TEST(BulkForms, SmallCopies) {
  // cp.async: what is not taken from the source is zero.
  const auto in = randomBytes(64, 3);
  for (const char *mode : {"ca", "cg"})
    for (const char *space : {".shared", ".shared::cta"})
      for (unsigned bytes : {4u, 8u, 16u})
        for (const char *hints :
             {"", ".L2::cache_hint", ".L2::64B", ".L2::cache_hint.L2::128B", ".L2::256B"})
          for (int taken : {-1, 0, 3, 4, -2, -3}) { // all; a size; a predicate that is true, false
            if ((*mode == 'c' && mode[1] == 'g' && bytes != 16) || taken > int(bytes))
              continue;
            const std::string size = taken >= 0    ? ", %n"
                                     : taken == -2 ? ", %p"
                                     : taken == -3 ? ", !%p"
                                                   : "",
                              policy = std::string(hints).find("cache") == std::string::npos
                                           ? ""
                                           : ", %y";
            const std::string text =
                ".visible .entry k(.param .u64 IN, .param .u64 OUT) {\n.shared .align 16 .b8 "
                "sh[64]; .reg .pred %p; .reg .b32 %t, %n, %a, %v; .reg .b64 %i, %o, %y;\n"
                "ld.param.u64 %i, [IN]; ld.param.u64 %o, [OUT]; mov.u32 %a, sh; mov.b64 %y, 0; "
                "mov.u32 %n, " +
                std::to_string(std::max(taken, 0)) +
                "; setp.eq.u32 %p, 0, 0; st.shared.v4.u32 [%a+16], {-1, -1, -1, -1};\ncp.async." +
                mode + space + ".global" + hints + " [%a+16], [%i+16], " + std::to_string(bytes) +
                size + policy +
                "; cp.async.commit_group; cp.async.wait_group 0;\nld.shared.u64 %y, [%a+16]; "
                "st.global.u64 [%o], %y; "
                "ld.shared.u64 %y, [%a+24]; st.global.u64 [%o+8], %y; ret; }";
            auto module = load(text, "sm_80");
            Device device;
            DevicePtr out = upload(device, std::vector<uint8_t>(16));
            auto r = device.launch(*module, "k", {1}, {1}, 0,
                                   {KernelArg::value(upload(device, in)), KernelArg::value(out)});
            ASSERT_TRUE(bool(r)) << llvm::toString(r.takeError()) << text;
            const auto got = download<uint8_t>(device, out, 16);
            const unsigned moved = taken >= 0 ? taken : taken == -2 ? 0 : bytes;
            for (unsigned k = 0; k < 16; ++k)
              ASSERT_EQ(got[k], k < moved ? in[16 + k] : k < bytes ? 0 : 0xff) << text;
          }
}

TEST(BulkForms, PlainRanges) {
  for (const char *hint : {"", ".L2::cache_hint"}) {
    const std::string policy = *hint ? ", %y;" : ";";
    for (unsigned bytes : {16u, 48u, 4096u}) {
      const std::string size = std::to_string(bytes),
                        expect = "mbarrier.arrive.expect_tx.shared.b64 _, [%b], " + size + "; ";
      for (const char *to : {"shared::cta", "shared::cluster"}) { // each block for itself
        RangeRun r;
        r.run(clusterKernel("mov.b64 %y, 0; " + known + expect + "cp.async.bulk." + to +
                            ".global.mbarrier::complete_tx::bytes" + hint + " [%s], [%i+16], " +
                            size + ", [%b]" + policy + awaited + copyLoop(true, bytes, "C")));
        EXPECT_TRUE(same(r.out, 0, r.in, 16, bytes) && same(r.out, 16384, r.in, 16, bytes))
            << to << bytes;
      }
      {
        RangeRun r; // block 1 into block 0
        r.run(clusterKernel(
            "mov.b64 %y, 0; @%first " + expect + known +
            "mov.u32 %n, 0; mapa.shared::cluster.u32 %t, %s, %n; mapa.shared::cluster.u32 %m, %b, "
            "%n; @%second cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes" +
            hint + " [%t+32], [%i], " + size + ", [%m]" + policy + "@%second bra END; " + awaited +
            "add.u32 %s, %s, 32; " + copyLoop(true, bytes, "C") + "END:"));
        EXPECT_TRUE(same(r.out, 0, r.in, 0, bytes)) << bytes;
      }
      {
        RangeRun r; // to both at once
        r.run(clusterKernel(
            "mov.b64 %y, 0; mov.u16 %h, 3; " + expect + known +
            "@%first "
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster" +
            hint + " [%s], [%i], " + size + ", [%b], %h" + policy + awaited +
            copyLoop(true, bytes, "C")));
        EXPECT_TRUE(same(r.out, 0, r.in, 0, bytes) && same(r.out, 16384, r.in, 0, bytes)) << bytes;
      }
      {
        RangeRun r; // shared to global, in groups
        r.run(clusterKernel("mov.b64 %y, 0; " + copyLoop(false, bytes, "C") + known +
                            "cp.async.bulk.global.shared::cta.bulk_group" + hint +
                            " [%o+64], [%s], " + size + policy +
                            "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; "
                            "cp.async.bulk.wait_group 0; st.shared.u64 [%s], 0;"));
        EXPECT_TRUE(same(r.out, 64, r.in, 0, bytes) && same(r.out, 16384 + 64, r.in, 0, bytes))
            << bytes;
      }
    }
  }
  RangeRun r; // from block to block, both ways
  r.run(clusterKernel(copyLoop(false, 256, "C") +
                      "mbarrier.arrive.expect_tx.shared.b64 _, [%b], 256; " + known +
                      "xor.b32 %n, %r, 1; mapa.shared::cluster.u32 %t, %s, %n; "
                      "mapa.shared::cluster.u32 %m, %b, %n; "
                      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                      "[%t+1024], [%s], 256, [%m]; " +
                      awaited + "add.u32 %s, %s, 1024; " + copyLoop(true, 256, "D")));
  EXPECT_TRUE(same(r.out, 0, r.in, 0, 256) && same(r.out, 16384, r.in, 0, 256));
}

TEST(BulkForms, Reductions) {
  for (const ReductionForm &f : reductions) {
    RangeRun r;
    makeFinite(r.in, f), makeFinite(r.out, f);
    const auto before = r.out;
    const std::string load = copyLoop(false, 512, "C") + known;
    r.run(
        clusterKernel("mov.b64 %y, 0; " + load +
                      "cp.reduce.async.bulk.global.shared::cta.bulk_group." + f.op + "." + f.type +
                      " [%o], [%s], 512; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"));
    for (unsigned k = 0; k < 512; k += f.bytes)
      ASSERT_EQ(at(r.out, k, f.bytes), reduced(f, at(before, k, f.bytes), at(r.in, k, f.bytes)))
          << f.op << "." << f.type << " of " << std::hex << at(before, k, f.bytes) << ", "
          << at(r.in, k, f.bytes);
    if (!f.shared)
      continue;
    RangeRun s; // block 1 onto what block 0 holds: IN onto IN shifted by 16
    s.run(clusterKernel(
        "@%first add.u64 %i, %i, 16; " + copyLoop(false, 512, "C") +
        "@%first mbarrier.arrive.expect_tx.shared.b64 _, [%b], 512; " + known +
        "mov.u32 %n, 0; mapa.shared::cluster.u32 %t, %s, %n; mapa.shared::cluster.u32 %m, %b, %n; "
        "@%second cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." +
        f.op + "." + f.type + " [%t], [%s], 512, [%m]; @%second bra END; " + awaited +
        copyLoop(true, 512, "D") + "END:"));
    for (unsigned k = 0; k < 512; k += f.bytes)
      ASSERT_EQ(at(s.out, k, f.bytes), reduced(f, at(s.in, k + 16, f.bytes), at(s.in, k, f.bytes)))
          << f.op << "." << f.type;
  }
  // f32 in global memory: subnormal operands and sums are zeros of their sign, as with red.
  RangeRun r;
  const uint32_t there[] = {0x00000001, 0x00800000, 0x80000001, 0x3f800000},
                 added[] = {0x00000001, 0x80800001, 0x80000001, 0x00000001};
  std::memcpy(r.out.data(), there, 16), std::memcpy(r.in.data(), added, 16);
  r.run(clusterKernel(
      "@%second bra END; " + copyLoop(false, 16, "C") +
      "fence.proxy.async; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%o], [%s], "
      "16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:"));
  const uint32_t want[] = {0, 0x80000000, 0x80000000, 0x3f800000};
  EXPECT_EQ(0, std::memcmp(r.out.data(), want, 16));
}

TEST(BulkForms, Misuse) {
  struct {
    const char *what;
    std::string body;
    FaultKind kind;
    const char *message;
  } const cases[] = {
      {"no wait before the read",
       "mbarrier.arrive.expect_tx.shared.b64 _, [%b], 64; "
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%i], 64, [%b]; " +
           copyLoop(true, 64, "C"),
       FaultKind::InFlight, "not waited for"},
      {"the read before the copy",
       "st.shared.u64 [%s], 1; ld.shared.u64 %y, [%s]; "
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%i], 64, [%b]; "
       "st.shared.u64 [%s+8], %y;",
       FaultKind::InFlight, "not waited for"},
      {"misaligned",
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s+8], [%i], 64, [%b];",
       FaultKind::Misaligned, "multiples of 16"},
      {"an odd size",
       "mov.u32 %n, 24; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%i], "
       "%n, [%b];",
       FaultKind::Misaligned, "multiples of 16"},
      {"out of bounds",
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%i+16368], 32, [%b];",
       FaultKind::OutOfBounds, "past the end of the allocation"},
      {"out of shared memory",
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s+16384], [%i], 32, [%b];",
       FaultKind::OutOfBounds, "shared memory"},
      {"another block's mbarrier",
       known + "mov.u32 %n, 1; mapa.shared::cluster.u32 %m, %b, %n; @%first "
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%i], 32, "
               "[%m];",
       FaultKind::Misuse, "the destination and its mbarrier lie in different blocks"},
      {"multicast to a block that has ended",
       "mov.u16 %h, 3; " + known +
           "@%second exit; mov.u32 %v, 0; L: add.u32 %v, %v, 1; nanosleep.u32 10; setp.lt.u32 %p, "
           "%v, 20000; @%p bra L; "
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
           "[%s], [%i], 32, [%b], %h;",
       FaultKind::Misuse, "a block that the copy goes to has ended"},
      {"the next group",
       copyLoop(false, 64, "C") +
           "fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%o], [%s], 64; "
           "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1; st.shared.u64 [%s], 0;",
       FaultKind::Race, "with no barrier"},
      {"not committed",
       copyLoop(false, 64, "C") +
           "fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%o], [%s], 64; "
           "cp.async.bulk.wait_group 0; st.shared.u64 [%s], 0;",
       FaultKind::Race, "with no barrier"},
      {"no fence",
       copyLoop(false, 64, "C") + "cp.async.bulk.global.shared::cta.bulk_group [%o], [%s], 64;",
       FaultKind::Race, "fence.proxy.async"},
      {"a fence of global memory",
       copyLoop(false, 64, "C") +
           "fence.proxy.async.global; cp.async.bulk.global.shared::cta.bulk_group [%o], [%s], 64;",
       FaultKind::Race, "fence.proxy.async"},
      {"blocks beyond the cluster",
       "mov.u16 %h, 5; " + known +
           "@%first "
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
           "[%s], [%i], 32, [%b], %h;",
       FaultKind::Misuse, "beyond the cluster"},
      {"inval of an mbarrier in use",
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%i], 64, [%b]; "
       "mbarrier.inval.shared.b64 [%b];",
       FaultKind::InFlight, "was not waited for"},
  };
  for (auto &c : cases) {
    RangeRun r;
    Fault f = faultOf(r.launch(clusterKernel(c.body)));
    EXPECT_EQ(f.kind, c.kind) << c.what << ": " << f.message;
    EXPECT_NE(f.message.find(c.message), std::string::npos) << c.what << ": " << f.message;
    EXPECT_FALSE(f.instruction.empty()) << c.what;
  }
}

TEST(BulkForms, GroupsBelongToThreads) {
  // Lane 0 stores; lane 1 has a group of its own. All but the last group of lane 0 are none, so the
  // overwrite races.
  const std::string text = ".visible .entry k(.param .u64 OUT) {\n.shared .align 16 .b8 sh[64]; "
                           ".reg .pred %p; .reg .b32 %t, %s; .reg .b64 %o;\nmov.u32 %t, %tid.x; "
                           "mov.u32 %s, sh; ld.param.u64 %o, [OUT]; setp.eq.u32 %p, %t, 0;\n"
                           "@%p st.shared.v2.u64 [%s], {1, 2}; @%p fence.proxy.async; @%p "
                           "cp.async.bulk.global.shared::cta.bulk_group [%o], [%s], 16; @%p "
                           "cp.async.bulk.commit_group; @!%p cp.async.bulk.commit_group;\n"
                           "cp.async.bulk.wait_group.read WAIT; @%p st.shared.u64 [%s], 7; ret; }";
  auto with = [&](const char *count) {
    std::string t = text;
    t.replace(t.find("WAIT"), 4, count);
    return t;
  };
  Device device;
  DevicePtr out = upload(device, std::vector<uint64_t>(2));
  take(device.launch(*load(with("0")), "k", {1}, {32}, 0, {KernelArg::value(out)}));
  EXPECT_EQ(download<uint64_t>(device, out, 2), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(
      faultOf(device.launch(*load(with("1")), "k", {1}, {32}, 0, {KernelArg::value(out)})).kind,
      FaultKind::Race);
}
