// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarrier, form by form: one thread against the manual's counts, blocks of a cluster with each
// other, and misuse.

#include "FormTable.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// A kernel of one thread per block; "OUT value;" stores a number. `head`: directives of the
/// kernel.
std::string kernel(std::string body, const std::string &head = "") {
  unsigned stores = 0;
  for (size_t at = 0; (at = body.find("OUT ", at)) != std::string::npos; ++stores) {
    const std::string value = body.substr(at + 4, body.find(';', at) - at - 4);
    body.replace(at, value.size() + 4,
                 "st.global.u32 [%o+" + std::to_string(4 * stores) + "], " + value);
  }
  return ".visible .entry k(.param .u64 P) " + head +
         " {\n.shared .align 8 .b64 bar; .shared .align 16 .b8 buf[256];\n.reg .pred %p, %first; "
         ".reg .b32 %t, %b, %v, %n, %r; .reg .b64 %o, %st, %old, %g, %w;\n"
         "ld.param.u64 %o, [P]; mov.u32 %b, bar; cvt.u64.u32 %g, %b; cvta.shared.u64 %g, %g; "
         "mov.u32 %r, %ctaid.x; setp.eq.u32 %first, %r, 0;\n" +
         body + "\nret; }";
}

std::vector<uint32_t> run(const std::string &text, size_t results, unsigned blocks = 1) {
  auto module = load(text);
  if (!module)
    return {};
  Device device;
  DevicePtr out = upload(device, std::vector<uint32_t>(results, 0xdead));
  auto r = device.launch(*module, "k", {blocks}, {1}, 0, {KernelArg::value(out)});
  if (!r) {
    ADD_FAILURE() << llvm::toString(r.takeError()) << text;
    return {};
  }
  return download<uint32_t>(device, out, results);
}

Fault faultIn(const std::string &text, unsigned blocks = 1, unsigned threads = 1) {
  auto module = load(text);
  Device device;
  DevicePtr out = upload(device, std::vector<uint32_t>(64));
  return faultOf(device.launch(*module, "k", {blocks}, {threads}, 0, {KernelArg::value(out)}));
}

const char *const pending = "mbarrier.pending_count.b64 %n, %st; OUT %n; ";
std::string tested(const char *state = "%st") {
  return std::string("mbarrier.test_waitORDERWAITSPACE.b64 %p, [ADDR], ") + state +
         "; selp.u32 %v, 1, 0, %p; OUT %v; ";
}
std::string parity(unsigned which) {
  return "mbarrier.try_wait.parityORDERWAITSPACE.b64 %p, [ADDR], " + std::to_string(which) +
         "; selp.u32 %v, 1, 0, %p; OUT %v; ";
}
} // namespace

TEST(MbarrierForms, CountsOfOneThread) {
  const std::string body =
      "mbarrier.initSPACE.b64 [ADDR], 5; "
      "mbarrier.arriveORDERSPACE.b64 %st, [ADDR]; " +
      std::string(pending) +                                       // 5 before it
      "mbarrier.arriveORDERSPACE.b64 %st, [ADDR], 2; " + pending + // 4
      "mbarrier.arrive.noCompleteSPACE.b64 %old, [ADDR], 1; mov.b64 %st, %old; " + pending + // 2
      tested() + parity(0) + parity(1) + // 0, 0, 1
      "mbarrier.arriveORDERSPACE.b64 _, [ADDR]; " + tested() + parity(0) +
      parity(1) +                                                    // the phase is over: 1, 1, 0
      "mbarrier.arrive_dropORDERSPACE.b64 %st, [ADDR]; " + pending + // 5
      "mbarrier.arrive_dropORDERSPACE.b64 _, [ADDR], 2; "
      "mbarrier.arrive.expect_txORDERSPACE.b64 %st, [ADDR], 48; " +
      pending + // 2
      "mbarrier.arriveORDERSPACE.b64 %st, [ADDR]; " + pending +
      tested() + // 1, but 48 bytes are missing: 0
      "mbarrier.expect_txORDERTXSPACE.b64 [ADDR], 16; mbarrier.complete_txORDERTXSPACE.b64 [ADDR], "
      "32; " +
      tested() +                                                                   // 0
      "mbarrier.complete_txORDERTXSPACE.b64 [ADDR], 32; " + tested() + parity(1) + // 1, 1
      "mbarrier.arrive_drop.expect_txORDERSPACE.b64 %st, [ADDR], 0; " + pending + // two are left: 2
      "mbarrier.arrive_drop.noCompleteSPACE.b64 %st, [ADDR], 0x0; ";
  const std::vector<uint32_t> want = {5, 4, 2, 0, 0, 1, 1, 1, 0, 5, 2, 1, 0, 0, 1, 1, 2};
  // The last line is refused when it is loaded: nothing arrives.
  EXPECT_NE(loadError(kernel(replaced(replaced(replaced(body, "ORDERWAIT", ""), "ORDERTX", ""),
                                      "ORDER", "")))
                .find("'"),
            std::string::npos);
  const std::string good = body.substr(0, body.rfind("mbarrier.arrive_drop.noComplete")) +
                           "mbarrier.invalSPACE.b64 [ADDR]; st.shared.u64 [bar], 7;";
  for (const char *space : {"", ".shared", ".shared::cta"})
    for (const char *address : {"%b", "%g", "bar"})
      for (auto [order, tx, wait] : {std::tuple{"", "", ""},
                                     {".release.cta", ".relaxed.cta", ".acquire.cta"},
                                     {".release.cluster", ".relaxed.cluster", ".acquire.cluster"},
                                     {".relaxed.cta", ".relaxed.cluster", ".relaxed.cta"},
                                     {".relaxed.cluster", ".relaxed.cta", ".relaxed.cluster"}}) {
        if ((*space == 0) == (*address == '%' && address[1] == 'b') ||
            (*space && std::string(address) == "%g"))
          continue; // generic addresses have 64 bits, those of shared memory are numbers in it
        std::string text =
            replaced(replaced(replaced(good, "ORDERWAIT", wait), "ORDERTX", tx), "ORDER", order);
        text = kernel(replaced(replaced(text, "SPACE", space), "ADDR", address));
        EXPECT_EQ(run(text, want.size()), want) << text;
      }
}

TEST(MbarrierForms, ArrivalsInAnotherBlock) {
  // Block 1 arrives at the mbarrier of block 0, which waits for it; .shared::cluster and generic
  // addresses.
  for (const char *order : {"", ".release.cta", ".release.cluster", ".relaxed.cluster"})
    for (bool generic : {false, true}) {
      const std::string space = generic ? "" : ".shared::cluster", address = generic ? "%w" : "%t";
      const std::string text = kernel(
          "@%first mbarrier.init.shared.b64 [%b], 6; fence.mbarrier_init.release.cluster; "
          "barrier.cluster.arrive; barrier.cluster.wait; @!%first bra REMOTE;\n"
          "L: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p, [%b], 0, 100; @!%p bra L;\n"
          "mbarrier.arrive.shared.b64 %st, [%b]; mbarrier.pending_count.b64 %n, %st; OUT %n; bra "
          "END;\nREMOTE: mov.u32 %n, 0; mapa.shared::cluster.u32 %t, %b, %n; mapa.u64 %w, %g, "
          "%n;\n" +
              replaced(
                  replaced(
                      replaced(
                          "mbarrier.arriveORDERSPACE.b64 _, [A]; mbarrier.arriveORDERSPACE.b64 _, "
                          "[A], 2; mbarrier.arrive.expect_txORDERSPACE.b64 _, [A], 32;"
                          "mbarrier.arrive_dropORDERSPACE.b64 _, [A]; mbarrier.expect_txSPACE.b64 "
                          "[A], 8; mbarrier.complete_tx.relaxed.clusterSPACE.b64 [A], 40;"
                          "mbarrier.arrive_drop.expect_txORDERSPACE.b64 _, [A], 0;",
                          "ORDER", order),
                      "SPACE", space),
                  "[A]", "[" + address + "]") +
              "\nEND: barrier.cluster.arrive; barrier.cluster.wait;",
          ".explicitcluster .reqnctapercluster 2, 1, 1");
      EXPECT_EQ(run(text, 1, 2), std::vector<uint32_t>{4})
          << text; // six arrivals, two of them for good
    }
}

TEST(MbarrierForms, CopiesArrive) {
  // cp.async.mbarrier.arrive: with .noinc it is one of the arrivals expected, without it changes
  // nothing by itself.
  for (const char *space : {".shared", ".shared::cta", ""}) {
    const std::string address = *space ? "%b" : "%g";
    const std::string body = "mbarrier.init.shared.b64 [%b], 2; mov.u32 %t, buf; "
                             "cp.async.ca.shared.global [%t], [%o], 16; cp.async.mbarrier.arrive" +
                             std::string(space) + ".b64 [" + address +
                             "]; mbarrier.arrive.shared.b64 %st, [%b]; " + pending +
                             "cp.async.mbarrier.arrive.noinc" + space + ".b64 [" + address + "]; " +
                             "mbarrier.test_wait.shared.b64 %p, [%b], %st; selp.u32 %v, 1, 0, %p; "
                             "OUT %v; ld.shared.u32 %v, [buf+12]; OUT %v;";
    EXPECT_EQ(run(kernel(body), 4), (std::vector<uint32_t>{2, 1, 0xdead, 0xdead}));
  }
}

TEST(MbarrierForms, Misuse) {
  struct {
    const char *what, *body;
    FaultKind kind;
    const char *message;
  } const cases[] = {
      {"initialised twice", "mbarrier.init.shared.b64 [%b], 1; mbarrier.init.shared.b64 [%b], 1;",
       FaultKind::Misuse, "initialised there already"},
      {"ordinary store", "mbarrier.init.shared.b64 [%b], 1; st.shared.u32 [bar+4], 0;",
       FaultKind::Misuse, "belongs to an mbarrier"},
      {"ordinary load", "mbarrier.init.shared.b64 [%b], 1; ld.shared.u64 %st, [bar];",
       FaultKind::Misuse, "belongs to an mbarrier"},
      {"load of what is left",
       "mbarrier.init.shared.b64 [%b], 1; mbarrier.inval.shared.b64 [%b]; ld.shared.u64 %st, "
       "[bar];",
       FaultKind::Uninitialized, "nobody wrote"},
      {"not initialised", "mbarrier.arrive.shared.b64 %st, [%b];", FaultKind::Uninitialized,
       "no mbarrier is initialised"},
      {"after inval",
       "mbarrier.init.shared.b64 [%b], 1; mbarrier.inval.shared.b64 [%b]; "
       "mbarrier.arrive.shared.b64 %st, [%b];",
       FaultKind::Uninitialized, "no mbarrier"},
      {"too many arrivals",
       "mbarrier.init.shared.b64 [%b], 2; mbarrier.arrive.shared.b64 %st, [%b], 3;",
       FaultKind::Misuse, "3 arrivals where 2 are pending in the phase"},
      {"no arrival",
       "mbarrier.init.shared.b64 [%b], 2; mov.u32 %v, 0; mbarrier.arrive.shared.b64 %st, [%b], %v;",
       FaultKind::Misuse, "0 arrivals"},
      {"completes",
       "mbarrier.init.shared.b64 [%b], 2; mbarrier.arrive.noComplete.shared.b64 %st, [%b], 2;",
       FaultKind::Misuse, "an arrival with .noComplete completes the phase"},
      {"count of 0", "mov.u32 %v, 0; mbarrier.init.shared.b64 [%b], %v;", FaultKind::Misuse,
       "expected count of 0"},
      {"count of 2^20", "mov.u32 %v, 1048576; mbarrier.init.shared.b64 [%b], %v;",
       FaultKind::Misuse, "1048576"},
      {"misaligned", "add.u32 %b, %b, 4; mbarrier.init.shared.b64 [%b], 1;", FaultKind::Misaligned,
       "8 bytes"},
      {"old state",
       "mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.shared.b64 %st, [%b]; "
       "mbarrier.arrive.shared.b64 _, [%b]; mbarrier.test_wait.shared.b64 %p, [%b], %st;",
       FaultKind::Misuse, "the state is not"},
      {"too many bytes",
       "mbarrier.init.shared.b64 [%b], 1; mov.u32 %v, 1048576; mbarrier.expect_tx.shared.b64 [%b], "
       "%v;",
       FaultKind::Misuse, "bytes more"},
      {"never completes",
       "mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%b], 16; L: "
       "mbarrier.try_wait.parity.shared.b64 %p, [%b], 0; @!%p bra L;",
       FaultKind::Deadlock, "polls"},
  };
  for (auto &c : cases) {
    Fault f = faultIn(kernel(c.body));
    EXPECT_EQ(f.kind, c.kind) << c.what << ": " << f.message;
    EXPECT_NE(f.message.find(c.message), std::string::npos) << c.what << ": " << f.message;
    EXPECT_TRUE(f.kernel == "k" && !f.instruction.empty() && f.lane == 0) << c.what;
  }
}

TEST(MbarrierForms, RelaxedWaitsOrderNothing) {
  // Warp 0 stores and arrives, warp 1 waits and loads.
  const std::string text = kernel(
      "mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, 0; @%first mbarrier.init.shared.b64 [%b], 1; "
      "bar.sync 0; setp.lt.u32 %p, %t, 32; @!%p bra READ;\n"
      "@%first st.shared.u32 [buf], 5; @%first mbarrier.arriveARRIVE.shared.b64 _, [%b]; bra END;\n"
      "READ: mbarrier.try_wait.parityWAIT.shared.b64 %p, [%b], 0; @!%p bra READ; ld.shared.u32 %v, "
      "[buf]; OUT %v;\nEND:");
  auto with = [&](const char *arrive, const char *wait) {
    return replaced(replaced(text, "ARRIVE", arrive), "WAIT", wait);
  };
  auto module = load(with("", ".acquire.cta"));
  Device device;
  DevicePtr out = upload(device, std::vector<uint32_t>(1));
  take(device.launch(*module, "k", {1}, {64}, 0, {KernelArg::value(out)}));
  EXPECT_EQ(download<uint32_t>(device, out, 1)[0], 5u);
  EXPECT_EQ(faultIn(with("", ".relaxed.cta"), 1, 64).kind, FaultKind::Race);
  EXPECT_EQ(faultIn(with(".relaxed.cta", ""), 1, 64).kind, FaultKind::Race);
}
