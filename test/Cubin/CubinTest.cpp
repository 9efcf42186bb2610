// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cubins that ptxas makes: what they say of themselves, the same through nvdisasm, and what happens
// to damaged ones. Skipped where the tools are missing.

#include "mp/Cubin/CubinStatistics.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <random>

using namespace mpcore::cubin;

namespace {

/// A loop that adds what 128 threads load and share, for any target.
std::string ptx(const char *target) {
  return std::string(".version 8.7\n.target ") + target + R"(
.address_size 64
.visible .entry sum(.param .u64 IN, .param .u64 OUT, .param .u32 N) .reqntid 128, 1, 1 {
  .shared .align 16 .b8 parts[512];
  .reg .pred %p; .reg .b32 %t, %n, %a; .reg .b64 %in, %out, %w; .reg .f32 %f<6>;
  ld.param.u64 %in, [IN]; ld.param.u64 %out, [OUT]; ld.param.u32 %n, [N];
  mov.u32 %t, %tid.x; mul.wide.u32 %w, %t, 16; add.u64 %in, %in, %w; mov.f32 %f0, 0f00000000;
LOOP:
  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%in];
  add.f32 %f1, %f1, %f2; add.f32 %f3, %f3, %f4; add.f32 %f1, %f1, %f3; add.f32 %f0, %f0, %f1;
  add.u64 %in, %in, 2048; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra LOOP;
  shl.b32 %a, %t, 2; mov.u32 %n, parts; add.u32 %a, %a, %n; st.shared.f32 [%a], %f0;
  bar.sync 0;
  xor.b32 %a, %a, 4; ld.shared.f32 %f5, [%a]; add.f32 %f0, %f0, %f5;
  mul.wide.u32 %w, %t, 4; add.u64 %out, %out, %w; st.global.f32 [%out], %f0;
  ret;
}
)";
}

/// Assembles into a file that goes away with the object.
class Assembled {
public:
  explicit Assembled(const char *target) {
    auto ptxas = findCudaTool("ptxas");
    if (!ptxas) {
      llvm::consumeError(ptxas.takeError());
      return;
    }
    llvm::SmallString<64> source;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("sum", "ptx", source));
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("sum", "cubin", path));
    llvm::FileRemover removeSource(source);
    remover.setFile(path);
    std::error_code error;
    llvm::raw_fd_ostream(source, error) << ptx(target);
    const std::string arch = std::string("-arch=") + target;
    found = llvm::sys::ExecuteAndWait(*ptxas, {*ptxas, arch, source, "-o", path}) == 0;
    EXPECT_TRUE(found);
    bytes = llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(path)));
  }
  bool found = false;
  llvm::SmallString<64> path;
  std::unique_ptr<llvm::MemoryBuffer> bytes;

private:
  llvm::FileRemover remover;
};

TEST(Cubin, SaysWhatPtxasMade) {
  for (auto [target, sm] : {std::pair("sm_75", 75u),
                            {"sm_80", 80u},
                            {"sm_90a", 90u},
                            {"sm_100a", 100u},
                            {"sm_120", 120u}}) {
    Assembled assembled(target);
    if (!assembled.found)
      GTEST_SKIP() << "no ptxas";
    const Cubin cubin = llvm::cantFail(readCubin(assembled.bytes->getBuffer()));
    EXPECT_EQ(cubin.sm, sm);
    ASSERT_EQ(cubin.functions.size(), 1u);
    const Function &f = *cubin.find("sum");
    EXPECT_EQ(f.threads, 128u);
    EXPECT_EQ(f.sharedBytes, 512u) << target;
    EXPECT_GT(f.registers, 8u);
    EXPECT_EQ(f.stackBytes, 0u);
    const FunctionStatistics s = statisticsOf(f, cubin.sm);
    EXPECT_EQ(s.unknown, 0u);
    EXPECT_EQ(s.barriers(), 1u);
    EXPECT_EQ(s.spills(), 0u);
    EXPECT_EQ(s.whole[Kind::SharedLoad], 1u);
    EXPECT_EQ(s.whole[Kind::SharedStore], 1u);
    EXPECT_GE(s.bytesInFlight, 16u);
    unsigned loads = 0;
    for (const LoopStatistics &loop : s.loops)
      loads += loop.own[Kind::GlobalLoad] > 0;
    EXPECT_GE(loads, 1u) << target;
    EXPECT_FALSE(s.mainLoop);
  }
}

TEST(Cubin, IsTheSameThroughNvdisasm) {
  Assembled assembled("sm_90a");
  auto nvdisasm = findCudaTool("nvdisasm");
  if (!nvdisasm) {
    const std::string message = llvm::toString(nvdisasm.takeError());
    EXPECT_NE(message.find("no nvdisasm found"), std::string::npos) << message;
    GTEST_SKIP() << message;
  }
  if (!assembled.found)
    GTEST_SKIP() << "no ptxas";
  const Cubin decoded = llvm::cantFail(readCubin(assembled.bytes->getBuffer()));
  const Cubin listed = llvm::cantFail(readCubinWithNvdisasm(assembled.path, *nvdisasm));
  const Function &a = decoded.functions.front(), &b = listed.functions.front();
  ASSERT_EQ(a.instructions.size(), b.instructions.size());
  for (size_t k = 0; k < a.instructions.size(); ++k) {
    EXPECT_EQ(a.instructions[k].opcode, b.instructions[k].opcode);
    EXPECT_EQ(a.instructions[k].kind, b.instructions[k].kind);
    EXPECT_EQ(a.instructions[k].target, b.instructions[k].target);
  }
}

TEST(Cubin, DamageIsRefusedOrHarmless) {
  Assembled assembled("sm_90a");
  if (!assembled.found)
    GTEST_SKIP() << "no ptxas";
  const std::string whole = assembled.bytes->getBuffer().str();
  auto tryAll = [](llvm::StringRef bytes) {
    auto cubin = readCubin(bytes);
    if (!cubin)
      return llvm::consumeError(cubin.takeError());
    for (const Function &f : cubin->functions)
      statisticsOf(f, cubin->sm);
  };
  for (size_t length = 0; length < whole.size(); length += 7)
    tryAll(llvm::StringRef(whole).take_front(length));
  std::mt19937 rng(1);
  for (int k = 0; k < 3000; ++k) {
    std::string damaged = whole;
    for (unsigned n = 1 + rng() % 8; n > 0; --n)
      damaged[rng() % damaged.size()] = char(rng());
    tryAll(damaged);
  }
}

TEST(Cubin, ErrorsSayWhatWasExpected) {
  auto message = [](llvm::StringRef bytes) {
    auto cubin = readCubin(bytes);
    return cubin ? std::string() : llvm::toString(cubin.takeError());
  };
  EXPECT_EQ(message(""), "not a cubin: expected an ELF file");
  EXPECT_EQ(message(".version 8.0"), "not a cubin: expected an ELF file");
  auto self = llvm::MemoryBuffer::getFile("/proc/self/exe");
  if (self)
    EXPECT_NE(message((*self)->getBuffer()).find("machine 190 (CUDA), found machine"),
              std::string::npos);
  // The header of a 64-bit file alone: machine 190, flags 60.
  std::string header = "\x7f"
                       "ELF\2\1\1";
  header.resize(64);
  header[18] = char(190), header[48] = 60, header[52] = 64, header[58] = 64;
  EXPECT_EQ(message(header), "the cubin is for sm_60, instructions are known from sm_70 on");
  const std::string none = llvm::toString(findCudaTool("no-tool").takeError());
  EXPECT_EQ(none.find("no no-tool found; looked at "), 0u) << none;
  EXPECT_TRUE(llvm::StringRef(none).ends_with("/usr/local/cuda/bin/no-tool and along PATH. Set "
                                              "NO-TOOL to the program, which is part of the CUDA "
                                              "toolkit [MP701]"))
      << none;
}

TEST(Cubin, WhatIsMissingIsSaid) {
  const Assembled assembled("sm_80");
  if (!assembled.found)
    GTEST_SKIP() << "no ptxas";
  EXPECT_EQ(llvm::toString(readCubinWithNvdisasm(assembled.path, "/bin/true").takeError()),
            "/bin/true lists no instructions of sum");
  std::string bytes = assembled.bytes->getBuffer().str();
  uint64_t sections;
  std::memcpy(&sections, &bytes[40], 8);
  for (unsigned k = 0; k < uint8_t(bytes[60]); ++k)
    if (char &type = bytes[sections + 64 * k + 4]; type == 2) // SHT_SYMTAB
      type = 1;
  EXPECT_EQ(llvm::toString(readCubin(bytes).takeError()),
            "the cubin has no symbol table: which kernel a register count is of cannot be told");
}

} // namespace
