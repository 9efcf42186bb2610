// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MatrixSupport.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <cmath>

using namespace mpcore;
using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

unsigned test::bitsOf(Kind k) {
  switch (k) {
  case Kind::F16:
  case Kind::BF16: return 16;
  case Kind::TF32:
  case Kind::F32:
  case Kind::S32: return 32;
  case Kind::E2M1:
  case Kind::S4:
  case Kind::U4: return 4;
  case Kind::B1: return 1;
  case Kind::F64: return 64;
  default: return 8;
  }
}

const char *test::nameOf(Kind k) {
  static const char *names[] = {"f16",  "bf16", "tf32", "e4m3", "e5m2", "e3m2",
                                "e2m3", "e2m1", "e2m1", "s8",   "u8",   "s4",
                                "u4",   "b1",   "f64",  "f32",  "s32"};
  return names[unsigned(k)];
}

numerics::Format test::formatOf(Kind k) {
  using F = numerics::Format;
  static const F formats[] = {F::F16,      F::BF16,     F::TF32,     F::F8E4M3FN, F::F8E5M2,
                              F::F6E3M2FN, F::F6E2M3FN, F::F4E2M1FN, F::F4E2M1FN};
  return k == Kind::F64 ? F::F64 : k == Kind::F32 ? F::F32 : formats[unsigned(k)];
}

static bool isInteger(Kind k) { return (k >= Kind::S8 && k <= Kind::B1) || k == Kind::S32; }

uint64_t test::encode(Kind k, double value) {
  if (isInteger(k))
    return uint64_t(int64_t(value)) & ((uint64_t(1) << bitsOf(k)) - 1);
  llvm::APFloat v(value);
  bool loses = false;
  const auto &semantics = *numerics::info(formatOf(k)).semantics;
  if (k != Kind::F64)
    v.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
  EXPECT_FALSE(loses) << value << " is no " << nameOf(k);
  uint64_t bits = v.bitcastToAPInt().getZExtValue();
  return k == Kind::TF32 ? bits << 13 : k == Kind::PaddedE2M1 ? bits << 2 : bits;
}

double test::decode(Kind k, uint64_t bits) {
  if (isInteger(k))
    return isUnsigned(k) ? double(bits) : double(llvm::SignExtend64(bits, bitsOf(k)));
  if (k == Kind::TF32)
    bits >>= 13;
  if (k == Kind::PaddedE2M1)
    bits = bits >> 2 & 15;
  const auto &semantics = *numerics::info(formatOf(k)).semantics;
  llvm::APFloat v(semantics, llvm::APInt(llvm::APFloat::getSizeInBits(semantics), bits));
  bool loses = false;
  v.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return v.convertToDouble();
}

uint64_t test::roundTo(Kind kind, double v) {
  if (std::isnan(v))
    return 0x7fff;
  llvm::APFloat x(v);
  bool loses;
  x.convert(*numerics::info(formatOf(kind)).semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
  return x.bitcastToAPInt().getZExtValue();
}

uint64_t test::nearestBits(Kind kind, float value) {
  return bitsOf(kind) == 32 ? llvm::bit_cast<uint32_t>(value)
                            : roundTo(kind, value) & ((1u << bitsOf(kind)) - 1);
}

uint64_t test::element(const std::vector<uint32_t> &words, Kind kind, unsigned lane, unsigned i) {
  const unsigned bits = bitsOf(kind);
  if (bits == 64)
    return words[(i * 32 + lane) * 2] | uint64_t(words[(i * 32 + lane) * 2 + 1]) << 32;
  const unsigned per = 32 / bits;
  uint32_t word = words[i / per * 32 + lane] >> (i % per * bits);
  return bits == 32 ? word : word & ((1u << bits) - 1);
}

void test::setElement(std::vector<uint32_t> &words, Kind kind, unsigned lane, unsigned i,
                      uint64_t value) {
  const unsigned bits = bitsOf(kind);
  if (bits == 64) {
    words[(i * 32 + lane) * 2] = uint32_t(value);
    words[(i * 32 + lane) * 2 + 1] = uint32_t(value >> 32);
    return;
  }
  const unsigned per = 32 / bits, shift = i % per * bits;
  uint32_t mask = bits == 32 ? ~0u : ((1u << bits) - 1) << shift;
  uint32_t &word = words[i / per * 32 + lane];
  word = (word & ~mask) | uint32_t(value) << shift;
}

std::string test::registers(const char *prefix, unsigned count) {
  std::string s = "{";
  for (unsigned i = 0; i < count; ++i)
    s += (i ? ", " : "") + std::string(prefix) + std::to_string(i);
  return s + "}";
}

std::string MatrixKernel::text() const {
  static const char *const params[] = {"A", "B", "C", "E", "X", "Y"};
  static const char *const prefixes[] = {"%a", "%b", "%c", "%e", "%x", "%y"};
  const std::string type = wide ? "b64" : "b32";
  const unsigned bytes = wide ? 8 : 4;
  std::string s = declarations +
                  ".visible .entry k(.param .u64 A, .param .u64 B, .param .u64 C, .param .u64 E, "
                  ".param .u64 X, .param .u64 Y, .param .u64 D) {\n"
                  ".reg ." +
                  type +
                  " %a<16>, %b<16>, %c<128>, %d<128>; .reg .b32 %e<2>, %x<2>, %y<2>, %t, %s, %v, "
                  "%w<4>; .reg .b16 %h<4>;\n"
                  ".reg .b64 %p, %o, %l<4>; .reg .pred %q;\nmov.u32 %t, %tid.x;\n";
  auto base = [&](const char *param, unsigned width) {
    s += std::string("ld.param.u64 %p, [") + param + "]; mul.wide.u32 %o, %t, " +
         std::to_string(width) + "; add.u64 %p, %p, %o;\n";
  };
  for (unsigned f = 0; f < 6; ++f) {
    const bool two = wide && f < 3;
    base(params[f], two ? 8 : 4);
    for (unsigned i = 0; i < inputs[f]; ++i)
      s += std::string(two ? "ld.global.b64 " : "ld.global.b32 ") + prefixes[f] +
           std::to_string(i) + ", [%p+" + std::to_string(threads * (two ? 8 : 4) * i) + "];\n";
  }
  s += instruction + "\n";
  base("D", bytes);
  for (unsigned i = 0; i < results; ++i)
    s += "st.global." + type + " [%p+" + std::to_string(threads * bytes * i) + "], %d" +
         std::to_string(i) + ";\n";
  return s + "ret; }";
}

llvm::Expected<std::vector<uint32_t>>
MatrixKernel::tryRun(const std::array<std::vector<uint32_t>, 6> &files, const std::string &target,
                     const std::string &chip) const {
  auto m = load(text(), target);
  if (!m)
    return std::vector<uint32_t>();
  Device device;
  std::vector<KernelArg> args;
  for (const auto &file : files)
    args.push_back(
        KernelArg::value(upload(device, file.empty() ? std::vector<uint32_t>(1) : file)));
  const size_t words = size_t(results) * threads * (wide ? 2 : 1);
  DevicePtr out = upload(device, std::vector<uint32_t>(words));
  args.push_back(KernelArg::value(out));
  LaunchOptions options;
  options.chip = chip;
  auto r = device.launch(*m, "k", {1}, {threads}, 0, args, options);
  if (!r)
    return r.takeError();
  return download<uint32_t>(device, out, words);
}

std::vector<uint32_t> MatrixKernel::run(const std::array<std::vector<uint32_t>, 6> &files,
                                        const std::string &target, const std::string &chip) const {
  auto result = tryRun(files, target, chip);
  if (result)
    return std::move(*result);
  ADD_FAILURE() << llvm::toString(result.takeError());
  return {};
}

static const char *const formDeclarations =
    ".visible .entry k() {\n.reg .b32 %r<128>; .reg .f32 %f<128>; .reg .f64 %d<16>; .reg .b16 "
    "%h<4>; .reg .b64 %l<4>; .reg .pred %p<2>;"
    " .reg .pred %pd; .reg .b16 %ha, %hb, %hc, %hd; .reg .b32 %wa, %wb, %wc, %wd; .reg .b64 %la, "
    "%lb, %lc, %ld;"
    " .reg .b128 %q<4>; .shared .align 128 .b8 sh[128];\n";

std::string test::formKernel(const std::string &instruction) {
  return formDeclarations + instruction + "\nret; }\n";
}

// One run of ptxas on the accepted ones: takes off what it refuses. False when there was nothing to
// take off.
static bool takeOffRefused(const std::vector<std::string> &instructions, const std::string &target,
                           llvm::StringRef in, llvm::StringRef log, std::vector<bool> &accepted) {
  constexpr unsigned firstLine = 6;
  {
    std::error_code error;
    llvm::raw_fd_ostream file(in, error);
    file << ".version 9.0\n.target " << target << "\n.address_size 64\n" << formDeclarations;
    for (size_t i = 0; i < instructions.size(); ++i)
      file << (accepted[i] ? instructions[i] : "") << "\n";
    file << "ret; }\n";
  }
  llvm::sys::fs::remove(log); // a redirection does not truncate
  llvm::StringRef args[] = {MP_PTXAS, "-arch", target, in, "-o", "/dev/null"};
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, log, log};
  std::string message;
  int rc = llvm::sys::ExecuteAndWait(MP_PTXAS, args, std::nullopt, redirects, 0, 0, &message);
  auto text = llvm::MemoryBuffer::getFile(log);
  if (!text) {
    ADD_FAILURE() << "no log of ptxas: " << message;
    return false;
  }
  llvm::SmallVector<llvm::StringRef> lines;
  (*text)->getBuffer().split(lines, '\n');
  bool any = false;
  for (llvm::StringRef line : lines) {
    auto [where, what] = line.split("; ");
    unsigned number = 0;
    const bool refused = what.starts_with("error") ||
                         what.starts_with("fatal   : Parsing error"); // the latter ends its work
    if (!refused || where.rsplit("line ").second.getAsInteger(10, number) || number < firstLine ||
        number - firstLine >= accepted.size())
      continue;
    any = any || accepted[number - firstLine];
    accepted[number - firstLine] = false;
  }
  EXPECT_EQ(rc != 0, any) << (*text)->getBuffer().take_front(2000).str() << message;
  return any;
}

std::optional<std::vector<bool>> test::acceptedByPtxas(const std::vector<std::string> &instructions,
                                                       const std::string &target) {
  llvm::SmallString<128> in, log;
  if (!llvm::sys::fs::can_execute(MP_PTXAS) ||
      llvm::sys::fs::createTemporaryFile("forms", "ptx", in) ||
      llvm::sys::fs::createTemporaryFile("forms", "log", log))
    return std::nullopt;
  std::vector<bool> accepted(instructions.size(), true);
  // It looks for some errors only when there are no others.
  while (takeOffRefused(instructions, target, in, log, accepted))
    ;
  llvm::sys::fs::remove(in);
  llvm::sys::fs::remove(log);
  return accepted;
}
