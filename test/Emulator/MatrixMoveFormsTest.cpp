// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ldmatrix, stmatrix and movmatrix, form by form.

#include "FormTable.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mpcore;
using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
/// One warp; IN is copied to shared memory first, and shared memory to OUT in the end. %a: the
/// lane's row, 16 bytes each, lane l that of row l * 7 % 32.
std::vector<uint32_t> run(const std::string &body, const std::vector<uint32_t> &in,
                          const std::string &target) {
  const std::string words = std::to_string(in.size());
  auto module =
      load(".visible .entry k(.param .u64 IN, .param .u64 OUT) {\n.shared .align 16 .b8 sh[4096]; "
           ".reg .pred %p; .reg .b32 %r<8>, %t, %a, %s, %v; .reg .b64 %i, %o, %w, %g;\n"
           "mov.u32 %t, %tid.x; mov.u32 %s, sh; ld.param.u64 %i, [IN]; ld.param.u64 %o, [OUT]; "
           "mul.wide.u32 %w, %t, 4; add.u64 %i, %i, %w; add.u64 %o, %o, %w;\n"
           "mov.u32 %v, %t; shl.b32 %a, %t, 2; add.u32 %a, %a, %s;\n"
           "C: ld.global.u32 %r0, [%i]; st.shared.u32 [%a], %r0; add.u64 %i, %i, 128; add.u32 %a, "
           "%a, 128; add.u32 %v, %v, 32; setp.lt.u32 %p, %v, " +
               words +
               "; @%p bra C;\n"
               "bar.warp.sync -1; mul.lo.u32 %a, %t, 7; and.b32 %a, %a, 31; shl.b32 %a, %a, 4; "
               "add.u32 %a, %a, %s; cvt.u64.u32 %g, %a; cvta.shared.u64 %g, %g;\n" +
               body +
               "\nbar.warp.sync -1; mov.u32 %v, %t; shl.b32 %a, %t, 2; add.u32 %a, %a, %s;\n"
               "D: ld.shared.u32 %r0, [%a]; st.global.u32 [%o], %r0; add.u64 %o, %o, 128; add.u32 "
               "%a, %a, 128; add.u32 %v, %v, 32; setp.lt.u32 %p, %v, " +
               words + "; @%p bra D;\nret; }",
           target);
  if (!module)
    return {};
  Device device;
  DevicePtr from = upload(device, in), to = upload(device, std::vector<uint32_t>(in.size()));
  auto r =
      device.launch(*module, "k", {1}, {32}, 0, {KernelArg::value(from), KernelArg::value(to)});
  if (!r) {
    ADD_FAILURE() << llvm::toString(r.takeError()) << "\n" << body;
    return {};
  }
  return download<uint32_t>(device, to, in.size());
}

std::vector<uint32_t> randomWords(size_t count) {
  std::mt19937 rng(7);
  std::vector<uint32_t> words(count);
  for (uint32_t &w : words)
    w = rng();
  return words;
}

/// Element k of the 16 bytes that lane l points at, packed from bit 0 on.
uint32_t elementOfRow(const std::vector<uint32_t> &in, unsigned lane, unsigned bits, unsigned k) {
  const auto *row = reinterpret_cast<const uint8_t *>(in.data()) + 16 * (lane * 7 % 32);
  uint32_t value = 0;
  for (unsigned b = 0; b < bits; ++b)
    value |= uint32_t(row[(bits * k + b) / 8] >> ((bits * k + b) % 8) & 1) << b;
  return value;
}

std::string list(unsigned count) { return registers("%r", count); }
/// Stores the registers over the rows: register r of lane l at word 32 r + l.
std::string storeRegisters(unsigned count) {
  std::string s = "\nbar.warp.sync -1; shl.b32 %v, %t, 2; add.u32 %v, %v, %s;";
  for (unsigned r = 0; r < count; ++r)
    s += " st.shared.u32 [%v+" + std::to_string(128 * r) + "], %r" + std::to_string(r) + ";";
  return s;
}
} // namespace

TEST(MatrixMoveForms, Ldmatrix) {
  const auto in = randomWords(128);
  struct {
    const char *shape, *format;
    unsigned bits, most;
    bool trans;
  } const forms[] = {{"m8n8", "b16", 16, 4, false},
                     {"m8n8", "b16", 16, 4, true},
                     {"m8n16", "b8x16.b6x16_p32", 6, 4, false},
                     {"m8n16", "b8x16.b4x16_p64", 4, 4, false},
                     {"m16n16", "b8", 8, 2, true},
                     {"m16n16", "b8x16.b6x16_p32", 6, 2, true},
                     {"m16n16", "b8x16.b4x16_p64", 4, 2, true}};
  for (auto &f : forms)
    for (unsigned count = 1; count <= f.most; count *= 2)
      for (const char *space : {"", ".shared", ".shared::cta"}) {
        const bool large = std::string(f.shape) == "m16n16";
        const unsigned registers = large ? 2 * count : count;
        const std::string form = std::string("ldmatrix.sync.aligned.") + f.shape + ".x" +
                                 std::to_string(count) + (f.trans ? ".trans" : "") + space + "." +
                                 f.format + " " + list(registers) +
                                 (*space ? ", [%a];" : ", [%g];");
        auto got = run(form + storeRegisters(registers), in, f.bits == 16 ? "sm_75" : "sm_120a");
        ASSERT_EQ(got.size(), in.size());
        for (unsigned r = 0; r < registers; ++r)
          for (unsigned l = 0; l < 32; ++l) {
            // The fragments of mma: an operand's row and its neighbours along k, or with .trans the
            // other way around.
            uint32_t want = 0;
            const unsigned group = l / 4, first = f.bits == 16 ? l % 4 * 2 : l % 4 * 4,
                           parts = f.bits == 16 ? 2 : 4;
            for (unsigned e = 0; e < parts; ++e) {
              const unsigned matrix = large ? r / 2 : r, along = first + e,
                             across = group + (large ? r % 2 * 8 : 0);
              const unsigned row = (large ? 16 : 8) * matrix + (f.trans ? along : across),
                             column = f.trans ? across : along;
              want |= elementOfRow(in, row, f.bits, column) << (32 / parts * e);
            }
            ASSERT_EQ(got[32 * r + l], want) << form << " register " << r << " lane " << l;
          }
      }
}

TEST(MatrixMoveForms, Stmatrix) {
  for (bool bytes : {false, true})
    for (bool trans : {false, true})
      for (unsigned count : {1, 2, 4})
        for (const char *space : {"", ".shared", ".shared::cta"}) {
          if (bytes && !trans)
            continue;
          const std::string form = std::string("stmatrix.sync.aligned.") +
                                   (bytes ? "m16n8" : "m8n8") + ".x" + std::to_string(count) +
                                   (trans ? ".trans" : "") + space + (bytes ? ".b8" : ".b16") +
                                   (*space ? " [%a], " : " [%g], ") + list(count) + ";";
          std::string
              fill; // part p of lane l, register r: 1000 (4 r + p) + l, as bytes or halves of it
          for (unsigned r = 0; r < count; ++r)
            fill += "mul.lo.u32 %v, %t, " + std::to_string(bytes ? 0x01010101 : 0x00010001) +
                    "; add.u32 %r" + std::to_string(r) + ", %v, " +
                    std::to_string((bytes ? 0x60402000u : 0x04000000u) +
                                   r * (bytes ? 0x08080808u : 0x00400040u)) +
                    "; ";
          const std::vector<uint32_t> in(128, 0xeeeeeeee);
          auto got = run(fill + form, in, bytes ? "sm_120a" : "sm_90a");
          ASSERT_EQ(got.size(), in.size());
          std::vector<uint8_t> want(512, 0xee);
          for (unsigned r = 0; r < count; ++r)
            for (unsigned l = 0; l < 32; ++l)
              for (unsigned e = 0; e < (bytes ? 4 : 2); ++e) {
                // The accumulators of mma: row l / 4 (and 8 more), columns 2 (l % 4) and the next;
                // stored by rows, or with .trans by columns.
                const unsigned i = l / 4 + (e / 2) * 8, j = l % 4 * 2 + e % 2;
                const unsigned row = 8 * r + (trans ? j : i), column = trans ? i : j,
                               at = 16 * (row * 7 % 32);
                const uint32_t value = bytes ? l + 0x20 * e + 8 * r : l + 0x400 * e + 0x40 * r;
                std::memcpy(&want[at + (bytes ? column : 2 * column)], &value, bytes ? 1 : 2);
              }
          ASSERT_EQ(0, std::memcmp(got.data(), want.data(), 512)) << form;
        }
}

TEST(MatrixMoveForms, Movmatrix) {
  auto got = run("mad.lo.u32 %r1, %t, 0x00020002, 0x00010000; "
                 "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;" +
                     storeRegisters(1),
                 randomWords(128), "sm_75");
  for (unsigned l = 0; l < 32; ++l) // element (i, j) is 8 i + j; lane l gets (2 (l % 4) + e, l / 4)
    EXPECT_EQ(got[l], (8 * (l % 4 * 2 + 1) + l / 4) << 16 | (8 * (l % 4 * 2) + l / 4));
}

TEST(MatrixMoveForms, Faults) {
  auto fault = [](const std::string &body) {
    auto module = load(".visible .entry k() {\n.shared .align 16 .b8 sh[512]; .reg .pred %p; .reg "
                       ".b32 %r<8>, %t, %a; mov.u32 %t, %tid.x; mov.u32 %a, sh; "
                       "shl.b32 %t, %t, 4; add.u32 %a, %a, %t;" +
                           body + " ret; }",
                       "sm_120a");
    Device device;
    return faultOf(device.launch(*module, "k", {1}, {32}, 0, {}));
  };
  EXPECT_EQ(fault("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%a];").kind,
            FaultKind::Uninitialized);
  EXPECT_EQ(fault("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%a+8], {%r0};").kind,
            FaultKind::Misaligned);
  EXPECT_EQ(fault("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%a+16], {%r0, %r1, %r2, %r3};").kind,
            FaultKind::OutOfBounds);
  EXPECT_EQ(fault("setp.lt.u32 %p, %t, 64; @%p bra L; ldmatrix.sync.aligned.m8n8.x1.shared.b16 "
                  "{%r0}, [%a]; L:")
                .kind,
            FaultKind::Divergence);
  // The padding of rows of 6- and 4-bit elements may hold nothing.
  const std::string packed =
      "st.shared.b64 [%a], 0; bar.warp.sync -1; ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.";
  auto module =
      load(".visible .entry k() {\n.shared .align 16 .b8 sh[512]; .reg .b32 %r<8>, %t, %a; mov.u32 "
           "%t, %tid.x; mov.u32 %a, sh; shl.b32 %t, %t, 4; add.u32 %a, %a, %t;" +
               packed + "b4x16_p64 {%r0}, [%a]; ret; }",
           "sm_120a");
  Device device;
  take(device.launch(*module, "k", {1}, {32}, 0, {}));
  EXPECT_EQ(fault(packed + "b6x16_p32 {%r0}, [%a];").kind, FaultKind::Uninitialized);
}
