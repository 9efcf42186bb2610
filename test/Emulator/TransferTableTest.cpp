// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emulator has exactly the asynchronous and cluster instructions that ptxas has.

#include "FormTable.h"

using namespace mpcore::emulator::test;

TEST(TransferTable, MbarrierIsPtxas) {
  const std::string space = "<|.shared|.shared::cta|.shared::cluster|.global>";
  const std::string order =
      "<|.relaxed|.release|.acquire|.release.cta|.release.cluster|.release.gpu|.relaxed.cta|."
      "relaxed.cluster|.acquire.cta|.acquire.cluster|.acquire.sys|.cta>";
  expectPtxasForms(
      expand({
          "mbarrier.init" + space + ".<b64|b32> [%l0], <%r1|7>;",
          "mbarrier.init<.release|.relaxed.cta|.cta>.shared.b64 [%r0], 1;",
          "mbarrier.inval" + space + ".b64 [%l0];",
          "mbarrier.<expect_tx|complete_tx>" + order + space + ".b64 [%l0], <%r1|16>;",
          "mbarrier.<arrive|arrive_drop><|.noComplete|.expect_tx|.expect_tx.noComplete>" + order +
              "<|.shared|.shared::cta|.shared::cluster>.b64 <%l1, |_, |>[%l0]<|, %r1>;",
          "mbarrier.<arrive|arrive_drop>.shared.b64 %l1, [%r0], <1|0|1048575|1048576>;",
          "mbarrier.<test_wait|try_wait><|.parity>" + order +
              "<|.shared|.shared::cta|.shared::cluster>.b64 %p0, [%l0], <%r1|%l1><|, %r2>;",
          "mbarrier.pending_count<|.shared>.b64 %r0, %l0;",
          "cp.async.mbarrier.arrive<|.noinc>" + space + ".<b64|b32> [%l0];",
      }),
      "sm_90a", 100);
}

TEST(TransferTable, CopiesIsPtxas) {
  expectPtxasForms(
      expand({
          "cp.async.<ca|cg|cs>.<shared|shared::cta|shared::cluster>.global<|.L2::cache_hint><|.L2::"
          "64B|.L2::256B> [%r0], [%l1], <4|8|16><|, %r2|, %p0|, !%p0><|, %l2>;",
          "cp.async.<ca|cg>.shared.global<|.L2::128B|.L1::128B> [%l0], [%l1], "
          "<1|2|12|16|32|%r2><|, 3|, 0|, 20>;",
          "cp.async.<commit_group|wait_all|wait_group|wait_group.read><| 0| 3| %r0>;",
      }),
      "sm_90a", 100);
}

TEST(TransferTable, BulkCopiesIsPtxas) {
  expectPtxasForms(
      expand({
          // In place of an mbarrier, ptxas also takes something without brackets: that is not
          // asked.
          "cp.async.bulk.<shared::cta|shared::cluster|shared|global>.<global|shared::cta|shared::"
          "cluster>.mbarrier::complete_tx::bytes<|.multicast::cluster><|.L2::cache_hint> [%l0], "
          "[%l1], <%r2|64>, [%l2]<|, %h0><|, %l3>;",
          "cp.async.bulk.<shared::cta|shared::cluster|shared|global>.<global|shared::cta|shared::"
          "cluster><|.bulk_group><|.multicast::cluster><|.L2::cache_hint> [%l0], [%l1], "
          "<%r2|64><|, [%l2]><|, %h0><|, %l3>;",
          "cp.async.bulk.global.shared::cta.bulk_group<|.L2::cache_hint><|.cp_mask> [%l0], [%l1], "
          "%r2<|, %l3><|, %h0>;",
          "cp.async.bulk.<global.shared::cta.bulk_group|shared::cluster.global.mbarrier::complete_"
          "tx::bytes> [%l0], [%l1], <0|8|16|24><|, [%l2]>;",
          "cp.async.bulk.prefetch.L2<|.global><|.L2::cache_hint> [%l0], <%r1|64|24><|, %l1>;",
          "cp.async.bulk.<commit_group|wait_group|wait_group.read><| 0| 3| %r1>;",
          "cp.reduce.async.bulk.<global.shared::cta.bulk_group|shared::cluster.shared::cta."
          "mbarrier::complete_tx::bytes|shared::cta.shared::cta.mbarrier::complete_tx::bytes>.<add|"
          "add.noftz|min|max|inc|dec|and|or|xor|exch>.<f16|bf16|f32|f64|b32|u32|s32|b64|u64|s64|"
          "u16|f16x2> [%l0], [%l1], %r2<|, [%l2]>;",
          "cp.reduce.async.bulk.<global.shared::cta.bulk_group|shared::cluster.shared::cta."
          "mbarrier::complete_tx::bytes>.L2::cache_hint.add.u32 [%l0], [%l1], %r2<|, [%l2]><|, "
          "%l3>;",
      }),
      "sm_90a", 60);
}

TEST(TransferTable, TensorCopiesIsPtxas) {
  std::vector<std::string> forms;
  for (unsigned rank = 1; rank <= 5; ++rank) {
    std::string at = "{%r0";
    for (unsigned k = 1; k < rank; ++k)
      at += ", %r" + std::to_string(k);
    at += "}";
    const std::string dim = std::to_string(rank) + "d", hint = "<|.L2::cache_hint>",
                      offsets =
                          rank > 2 ? "<|, {%h0}|, {%h0, %h1}|, {%h0, %h1, %h2}>" : "<|, {%h0}>";
    for (std::string &form : expand({
             "cp.async.bulk.tensor." + dim +
                 ".<shared::cluster|shared::cta>.global<|.tile|.im2col|.tile::gather4>.mbarrier::"
                 "complete_tx::bytes<|.multicast::cluster>" +
                 hint + " [%r9], [%l1, " + at + "], [%r8]" + offsets + "<|, %h3><|, %l3>;",
             "cp.async.bulk.tensor." + dim +
                 ".<shared::cluster.shared::cta|shared.global|global.shared::cta|shared::cta."
                 "shared::cta>.mbarrier::complete_tx::bytes [%r9], [%l1, " +
                 at + "], [%r8];",
             "cp.async.bulk.tensor." + dim +
                 ".global.<shared::cta|shared::cluster><|.tile|.im2col_no_offs|.im2col|.tile::"
                 "scatter4><|.bulk_group>" +
                 hint + " [%l1, " + at + "], [%r9]<|, %l3>;",
             "cp.reduce.async.bulk.tensor." + dim +
                 ".global.shared::cta.<add|min|max|inc|dec|and|or|xor|exch|add.noftz><|.tile|."
                 "im2col_no_offs>.bulk_group" +
                 hint + " [%l1, " + at + "], [%r9]<|, %l3>;",
             "cp.async.bulk.prefetch.tensor." + dim + ".L2.global<|.tile|.im2col|.tile::gather4>" +
                 hint + " [%l1, " + at + "]" + offsets + "<|, %l3>;",
         }))
      forms.push_back(std::move(form));
  }
  forms.push_back("cp.async.bulk.tensor.6d.shared::cluster.global.mbarrier::complete_tx::bytes "
                  "[%r9], [%l1, {%r0, %r1, %r2, %r3, %r4, %r5}], [%r8];");
  // One coordinate too many, one too few.
  for (const char *at : {"{%r0}", "{%r0, %r1, %r2}"})
    forms.push_back(std::string("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_"
                                "tx::bytes [%r9], [%l1, ") +
                    at + "], [%r8];");
  // For im2col ptxas also takes a mask of 64 bits.
  expectPtxasForms(forms, "sm_90a", 100, {{"multicast::cluster", "%l3 has 64 bits"}});
}

TEST(TransferTable, ClustersIsPtxas) {
  expectPtxasForms(
      expand({
          "mapa<|.shared::cluster|.shared::cta>.<u32|u64|b32> <%r0|%l0>, <%r1|%l1|sh>, <%r2|3>;",
          "getctarank<|.shared::cluster|.shared::cta>.<u32|u64> %r0, <%r1|%l1|sh>;",
          "barrier.cluster.<arrive|wait|sync><|.release|.relaxed|.acquire|.acq_rel><|.aligned><| "
          "0>;",
          "setmaxnreg.<inc|dec|set>.sync.aligned.u32 <16|24|40|100|232|256|264|%r0>;",
          "setmaxnreg.inc.<sync|aligned>.u32 40;",
      }),
      "sm_90a", 20,
      {{"mapa", "generic address of 32 bits, or of a variable"},
       {"getctarank", "generic address of 32 bits, or of a variable"}});
}

TEST(TransferTable, FencesIsPtxas) {
  const std::string scope = "<|.cta|.cluster|.gpu|.sys>";
  expectPtxasForms(
      expand({
          "fence<|.sc|.acq_rel|.acquire|.release|.relaxed>" + scope + ";",
          "fence.<acquire|release|acq_rel>.sync_restrict::<shared::cta|shared::cluster>" + scope +
              ";",
          "fence.mbarrier_init<|.release|.acquire>" + scope + ";",
          "fence.proxy<|.alias|.async|.async.global|.async.shared::cta|.async.shared::cluster|."
          "async.shared|.tensormap|.generic>;",
          "fence.proxy.tensormap::generic<|.acquire|.release>" + scope +
              "<| [%l0], 128| [%l0], 64>;",
          "fence.proxy.async::generic<|.acquire|.release><|.sync_restrict::shared::cta|.sync_"
          "restrict::shared::cluster>" +
              scope + ";",
          "membar<|.cta|.gl|.sys|.gpu|.cluster|.proxy.alias|.proxy.async>;",
      }),
      "sm_90a", 30);
}

TEST(TransferTable, AsyncStoresIsPtxas) {
  // Without an mbarrier, or to .shared::cta, ptxas takes what the manual does not have.
  const std::string how = "<|.mbarrier::complete_tx::bytes>";
  expectPtxasForms(
      expand({
          "st.async<|.weak|.relaxed.cluster><|.shared::cluster|.shared::cta|.global>" + how +
              ".<b32|u32|s32|b16|u8> [%l0], %r1, [%l1];",
          "st.async<|.shared::cluster>" + how + ".f32 [%l0], %f1, [%l1];",
          "st.async<|.shared::cluster>" + how + ".<b64|u64|s64> [%l0], %l2, [%l1];",
          "st.async<|.shared::cluster>" + how + ".f64 [%l0], %d2, [%l1];",
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.<v2|v4|v8>.<b32|u32|s32> [%l0], "
          "<{%r1, %r2}|{%r1, %r2, %r3, %r4}>, [%l1];",
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.<v2|v4>.f32 [%l0], <{%f1, "
          "%f2}|{%f1, %f2, %f3, %f4}>, [%l1];",
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.<v2|v4>.<b64|s64|u64> [%l0], "
          "<{%l2, %l3}|{%l2, %l3, %l1, %l0}>, [%l1];",
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f64 [%l0], {%d2, %d3}, [%l1];",
          "red.async<|.relaxed.cluster|.relaxed.cta|.release.cluster><|.shared::cluster|.shared::"
          "cta>" +
              how + ".<add|inc|dec|min|max|and|or|xor|exch>.<b32|u32|s32> [%l0], %r1, [%l1];",
          "red.async.relaxed.cluster<|.shared::cluster>.mbarrier::complete_tx::bytes.<add|inc|min|"
          "and>.<b64|u64|s64> [%l0], %l2, [%l1];",
          "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.add.f32 [%l0], %f1, [%l1];",
      }),
      "sm_90a", 30,
      {{"st.async", "st.async without .shared::cluster"}, {"red.async", "red.async "}});
}

TEST(TransferTable, AtomicsIsPtxas) {
  const std::pair<std::string, std::string> types[] = {
      {"b16", "%h"}, {"u16", "%h"}, {"u32", "%r"},  {"s32", "%r"},   {"b32", "%r"},
      {"u64", "%l"}, {"s64", "%l"}, {"b64", "%l"},  {"b128", "%q"},  {"f32", "%f"},
      {"f64", "%d"}, {"f16", "%h"}, {"bf16", "%h"}, {"f16x2", "%r"}, {"bf16x2", "%r"}};
  std::vector<std::string> forms;
  for (auto &[type, reg] : types) {
    for (unsigned n : {1, 2, 4, 8}) {
      const std::string size = n == 1 ? "" : ".v" + std::to_string(n);
      auto operand = [&](unsigned first) {
        std::string list = reg + std::to_string(first);
        for (unsigned k = 1; k < n; ++k)
          list += ", " + reg + std::to_string((first + k) % 4);
        return n == 1 ? list : "{" + list + "}";
      };
      for (std::string &form :
           expand({"atom<|.global|.shared|.shared::cta|.shared::cluster|.local>.<add|min|max|inc|"
                   "dec|and|or|xor|exch><|.noftz>" +
                       size + "." + type + " " + operand(0) + ", [%l0], " + operand(1) + ";",
                   "red<|.global|.shared|.shared::cluster|.const>.<add|min|max|inc|dec|and|or|xor|"
                   "exch><|.noftz>" +
                       size + "." + type + " [%l0], " + operand(1) + ";"}))
        forms.push_back(std::move(form));
    }
    for (std::string &form :
         expand({"atom<|.global|.shared>.cas." + type + " " + reg + "0, [%l0], " + reg + "1, " +
                     reg + "2;",
                 "red.global.cas." + type + " [%l0], " + reg + "1, " + reg + "2;"}))
      forms.push_back(std::move(form));
  }
  for (std::string &form : expand(
           {"atom<|.relaxed|.acquire|.release|.acq_rel|.volatile|.weak><|.cta|.cluster|.gpu|.sys><|"
            ".global|.shared>.add.u32 %r0, [%l0], %r1;",
            "red<|.relaxed|.acquire|.release|.acq_rel|.volatile><|.cta|.cluster|.gpu|.sys><|."
            "global|.shared>.add.u32 [%l0], %r1;",
            "atom<|.global|.shared>.<add|cas>.L2::cache_hint.u32 %r0, [%l0], %r1<|, %r2><|, %l1>;",
            "red<|.global|.shared>.add.L2::cache_hint.u32 [%l0], %r1<|, %l1>;"}))
    forms.push_back(std::move(form));
  expectPtxasForms(forms, "sm_90a", 150);
}

TEST(TransferTable, LoadsAndStoresIsPtxas) {
  const std::pair<std::string, std::string> types[] = {
      {"b8", "%h"},  {"u8", "%r"},   {"s8", "%l"},    {"b16", "%h"}, {"u16", "%r"},
      {"s16", "%h"}, {"b32", "%r"},  {"u32", "%r"},   {"s32", "%l"}, {"f32", "%f"},
      {"b64", "%l"}, {"u64", "%l"},  {"s64", "%l"},   {"f64", "%d"}, {"b128", "%q"},
      {"f16", "%h"}, {"bf16", "%h"}, {"f16x2", "%r"}, {"pred", "%p"}};
  std::vector<std::string> forms;
  for (auto &[type, reg] : types)
    for (unsigned n : {1, 2, 3, 4, 8}) {
      std::string list = reg + "0";
      for (unsigned k = 1; k < n; ++k)
        list += ", " + reg + std::to_string(reg == "%p" ? k % 2 : k % 4);
      const std::string size = (n == 1 ? "." : ".v" + std::to_string(n) + ".") + type,
                        data = n == 1 ? list : "{" + list + "}";
      if (n == 3 && type != "u32")
        continue;
      if (n == 8 && (type[1] == '8' || type == "b16" || type == "u16" || type == "s16"))
        continue; // not in the manual; ptxas 13.0 breaks down over some of them
      for (std::string &form :
           expand({"ld<|.global|.shared|.const|.local|.global.nc>" + size + " " + data + ", [%l0];",
                   "st<|.global|.shared|.local|.const>" + size + " [%l0], " + data + ";"}))
        forms.push_back(std::move(form));
    }
  const std::string scope = "<|.cta|.cluster|.gpu|.sys>";
  for (std::string &form : expand({
           "ld<|.weak|.volatile|.relaxed|.acquire|.release>" + scope +
               "<|.global|.shared|.shared::cta|.shared::cluster|.const|.local>.u32 %r0, [%l0];",
           "st<|.weak|.volatile|.relaxed|.release|.acquire>" + scope +
               "<|.global|.shared|.shared::cta|.shared::cluster|.local>.u32 [%l0], %r0;",
           "ld<|.global|.shared|.local|.const><|.ca|.cg|.cs|.lu|.cv|.wb>.u32 %r0, [%l0];",
           "st<|.global|.shared|.local><|.wb|.cg|.cs|.wt|.ca>.u32 [%l0], %r0;",
           "ld<|.volatile|.relaxed.gpu><|.global|.shared><|.nc><|.L1::evict_last|.L1::no_allocate|."
           "L1::evict_unchanged><|.L2::cache_hint><|.L2::128B|.L2::64B>.u32 %r0, [%l0]<|, %l1>;",
           "st<|.volatile|.release.sys><|.global|.shared><|.L1::evict_first|.L1::no_allocate><|.L2:"
           ":cache_hint>.u32 [%l0], %r0<|, %l1>;",
           "ldu<|.global|.shared><|.v2|.v4>.<u32|f32|b8> %r0, [%l0];",
           "ldu.global.v2.f32 {%f0, %f1}, [%l0];",
       }))
    forms.push_back(std::move(form));
  expectPtxasForms(forms, "sm_90a", 150);
}

TEST(TransferTable, OlderTargetsIsPtxas) {
  // A target refuses forms that it lacks and others have, one of each kind.
  const std::vector<std::string> forms = expand({
      "mbarrier.init.shared.b64 [%l0], 7;",
      "mbarrier.inval.shared::cta.b64 [%l0];",
      "mbarrier.<expect_tx|complete_tx>.shared.b64 [%l0], 16;",
      "mbarrier.<arrive|arrive_drop><|.noComplete|.expect_tx><|.release.cta|.release.cluster|."
      "relaxed.cta>.shared.b64 <%l1|_>, [%l0]<|, %r1>;",
      "mbarrier.arrive.shared::cluster.b64 _, [%l0];",
      "mbarrier.<test_wait|try_wait><|.acquire.cta|.acquire.cluster|.relaxed.cta>.shared.b64 %p0, "
      "[%l0], %l1;",
      "mbarrier.<test_wait|try_wait>.parity.shared.b64 %p0, [%l0], %r1;",
      "mbarrier.pending_count.b64 %r0, %l0;",
      "cp.async.mbarrier.arrive<|.noinc>.shared.b64 [%l0];",
      "cp.async.ca.shared.global [%r0], [%l1], 4;",
      "cp.async.cg.shared.global<|.L2::cache_hint><|.L2::128B> [%r0], [%l1], 16<|, %l2>;",
      "cp.async.<commit_group|wait_all>;",
      "cp.async.wait_group 1;",
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%l0], [%l1], 16, [%l2];",
      "cp.async.bulk.global.shared::cta.bulk_group [%l0], [%l1], 16;",
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%l0], [%l1], 16;",
      "cp.async.bulk.<commit_group|wait_group 0|wait_group.read 0>;",
      "cp.async.bulk.prefetch.L2.global [%l0], 16;",
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%l1, "
      "{%r0, %r1}], [%r8];",
      "cp.async.bulk.prefetch.tensor.1d.L2.global [%l1, {%r0}];",
      "mapa.shared::cluster.u32 %r0, %r1, %r2;",
      "getctarank.shared::cluster.u32 %r0, %r1;",
      "barrier.cluster.<arrive|wait>;",
      "setmaxnreg.inc.sync.aligned.u32 40;",
      "fence.<sc|acq_rel|acquire|release>.<cta|cluster|gpu>;",
      "fence.mbarrier_init.release.cluster;",
      "fence.proxy.<alias|async|async.global>;",
      "fence.proxy.tensormap::generic.release.gpu;",
      "membar.<cta|proxy.alias>;",
      "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
      "fence.acquire.sync_restrict::shared::cluster.cluster;",
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%l0], %r1, [%l1];",
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%l0], %r1, "
      "[%l1];",
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r9];",
      "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [%r9];",
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9], {%r0};",
      "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r9], {%r0};",
      "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;",
      "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%l0];",
      "wmma.load.a.sync.aligned.row.m16n16k16.bf16 {%r0, %r1, %r2, %r3}, [%l0];",
      "wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0, %r1}, [%l0];",
      "wmma.load.a.sync.aligned.row.m8n8k32.s4 {%r0}, [%l0];",
      "wmma.load.a.sync.aligned.row.m8n8k4.f64 {%d0}, [%l0];",
      "wmma.mma<.xor.popc|.and.popc>.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r0, %r1}, "
      "{%r2}, {%r3}, {%r4, %r5};",
  });
  for (const char *target : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a",
                             "sm_103a", "sm_120", "sm_120a"}) {
    SCOPED_TRACE(target);
    expectPtxasForms(forms, target, 5);
  }
}
