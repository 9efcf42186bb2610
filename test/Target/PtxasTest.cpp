// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction tables against ptxas: what they list is accepted at exactly the PTX version they
// name, and a format they call absent is refused.

#include "mp/Target/Targets.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <set>

using namespace mpcore::target;
using llvm::StringRef;

namespace {

StringRef ptxName(StringRef format) {
  return llvm::StringSwitch<StringRef>(format)
      .Case("f8E4M3FN", "e4m3")
      .Case("f8E5M2", "e5m2")
      .Case("f6E2M3FN", "e2m3")
      .Case("f6E3M2FN", "e3m2")
      .Case("f4E2M1FN", "e2m1")
      .Case("i8", "s8")
      .Case("i4", "s4")
      .Case("i1", "b1")
      .Case("i32", "s32")
      .Default(format);
}

unsigned storageBits(StringRef format) {
  if (format == "tf32")
    return 32;
  const KnownFormat *info = findFormat(format);
  // kind::f8f6f4 keeps every element in a byte.
  return info->isFloat && info->bits < 8 ? 8 : info->bits;
}

/// "{%a0, %a1}" and the declaration of those registers.
struct Registers {
  std::string list, declaration;
  Registers(StringRef name, StringRef type, unsigned count) {
    llvm::raw_string_ostream os(list), declare(declaration);
    for (unsigned i = 0; i < count; ++i)
      os << (i ? ", %" : "{%") << name << i;
    os << "}";
    declare << ".reg ." << type << " %" << name << "<" << count << ">;\n";
  }
};

std::string kernel(const std::string &body) {
  return ".visible .entry k() {\n" + body + "ret;\n}\n";
}

std::string mmaSync(const MmaShape &s, StringRef accumulator) {
  StringRef type = ptxName(s.format), acc = ptxName(accumulator);
  // The eight by eight by four shape of Volta is four products, one per quad pair.
  unsigned copies = s.format == "f16" && s.k == 4 ? 4 : 1;
  unsigned wide = s.format == "f64" ? 64 : 32;
  unsigned a = copies * s.m * s.k * storageBits(s.format) / 32 / wide;
  unsigned b = copies * s.n * s.k * storageBits(s.format) / 32 / wide;
  unsigned c = copies * s.m * s.n / 32 / (accumulator == "f16" ? 2 : 1);
  StringRef operandReg = s.format == "f64" ? "f64" : "b32";
  StringRef accReg = accumulator == "f64" ? "f64" : accumulator == "f32" ? "f32" : "b32";
  Registers ra("a", operandReg, a), rb("b", operandReg, b), rc("c", accReg, c), rd("d", accReg, c);
  std::string text;
  llvm::raw_string_ostream os(text);
  const KnownFormat *info = findFormat(s.format);
  StringRef kind = info->isFloat && info->bits < 8 ? ".kind::f8f6f4" : "";
  os << ra.declaration << rb.declaration << rc.declaration << rd.declaration << "mma.sync.aligned.m"
     << s.m << "n" << s.n << "k" << s.k << ".row.col" << kind << "." << acc << "." << type << "."
     << type << "." << acc << (s.format == "i1" ? ".xor.popc" : "") << " " << rd.list << ", "
     << ra.list << ", " << rb.list << ", " << rc.list << ";\n";
  return kernel(text);
}

std::string wgmma(const MmaShape &s, StringRef accumulator) {
  unsigned c = s.m * s.n / 128 / (accumulator == "f16" ? 2 : 1);
  Registers rd("d", accumulator == "f32" ? "f32" : "b32", c);
  std::string text;
  llvm::raw_string_ostream os(text);
  bool sixteen = s.format == "f16" || s.format == "bf16";
  bool isFloat = findFormat(s.format)->isFloat;
  os << rd.declaration << ".reg .b64 %da, %db;\n"
     << "wgmma.mma_async.sync.aligned.m" << s.m << "n" << s.n << "k" << s.k << "."
     << ptxName(accumulator) << "." << ptxName(s.format) << "." << ptxName(s.format)
     << (s.format == "i1" ? ".and.popc" : "") << " " << rd.list << ", %da, %db, 1"
     << (isFloat ? ", 1, 1" : "") << (sixteen ? ", 0, 0" : "") << ";\n";
  return kernel(text);
}

std::string tcgen05(const MmaShape &s) {
  StringRef kind = llvm::StringSwitch<StringRef>(s.format)
                       .Cases({"f16", "bf16"}, "f16")
                       .Case("tf32", "tf32")
                       .Case("i8", "i8")
                       .Default("f8f6f4");
  return kernel((".reg .b64 %da, %db;\n.reg .b32 %d, %i;\n.reg .pred %p;\n"
                 "tcgen05.mma.cta_group::1.kind::" +
                 kind + " [%d], %da, %db, %i, %p;\n")
                    .str());
}

std::string wmma(const MmaShape &s, StringRef accumulator) {
  Registers a("a", "b32", 8), b("b", "b32", 8),
      c("c", accumulator == "f16" ? "b32" : "f32", accumulator == "f16" ? 4 : 8),
      d("d", accumulator == "f16" ? "b32" : "f32", accumulator == "f16" ? 4 : 8);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << a.declaration << b.declaration << c.declaration << d.declaration
     << "wmma.mma.sync.aligned.row.col.m" << s.m << "n" << s.n << "k" << s.k << "." << accumulator
     << "." << accumulator << " " << d.list << ", " << a.list << ", " << b.list << ", " << c.list
     << ";\n";
  return kernel(text);
}

std::string instruction(const MmaShape &s, StringRef accumulator) {
  switch (s.family) {
  case InstructionFamily::Wmma: return wmma(s, accumulator);
  case InstructionFamily::MmaSync: return mmaSync(s, accumulator);
  case InstructionFamily::Wgmma: return wgmma(s, accumulator);
  case InstructionFamily::Tcgen05: return tcgen05(s);
  }
  llvm_unreachable("unknown family");
}

/// The register type that holds `lanes` values of a format.
std::string packed(StringRef format, unsigned lanes) {
  if (format == "f32")
    return "f32";
  unsigned bits = format == "tf32" ? 32 : format == "f8E8M0FNU" ? 8 : findFormat(format)->bits;
  // Two six-bit values take a byte each.
  unsigned total = lanes * (bits == 6 ? 8 : bits);
  return "b" + std::to_string(total);
}

std::string conversion(const Conversion &c) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << ".reg ." << packed(c.to, c.lanes) << " %d;\n.reg .b32 %r;\n";
  bool fromScalars = c.from == "f32";
  os << ".reg ." << (fromScalars ? "f32" : packed(c.from, c.lanes)) << " %a0, %a1, %a2, %a3;\n";
  os << c.instruction << " %d, ";
  if (!fromScalars || c.lanes == 1)
    os << "%a0";
  else if (c.lanes == 2)
    os << "%a0, %a1";
  else
    os << "{%a0, %a1, %a2, %a3}";
  os << (c.instruction.starts_with("cvt.rs") ? ", %r" : "") << ";\n";
  return kernel(text);
}

class Ptxas : public testing::Test {
protected:
  void SetUp() override {
    StringRef configured = MP_PTXAS;
    if (configured.empty() || !llvm::sys::fs::can_execute(configured))
      GTEST_SKIP() << "needs ptxas";
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("mp-target", "ptx", source));
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("mp-target", "cubin", output));
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("mp-target", "log", log));
  }
  void TearDown() override {
    for (auto &path : {source, output, log})
      llvm::sys::fs::remove(path);
  }

  bool accepts(const TargetModel &target, unsigned ptx, const std::string &body) {
    {
      std::error_code code;
      llvm::raw_fd_ostream os(source, code);
      os << ".version " << ptx / 10 << "." << ptx % 10 << "\n.target " << target.name
         << "\n.address_size 64\n"
         << body;
    }
    std::string arch = ("-arch=" + target.name).str();
    std::optional<StringRef> redirects[] = {std::nullopt, StringRef(log), StringRef(log)};
    return llvm::sys::ExecuteAndWait(MP_PTXAS, {MP_PTXAS, arch, source, "-o", output}, std::nullopt,
                                     redirects) == 0;
  }

  llvm::SmallString<128> source, output, log;
  std::set<std::pair<StringRef, std::string>> tried;
};

constexpr unsigned versions[] = {60, 61, 62, 63, 64, 65, 70, 71, 72, 73, 74, 75, 76,
                                 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90};
unsigned previousVersion(unsigned ptx) {
  return *(std::lower_bound(std::begin(versions), std::end(versions), ptx) - 1);
}

TEST_F(Ptxas, SlowAcceptsEveryShapeFromItsVersionOn) {
  for (const TargetModel *target : allTargets()) {
    if (!target->assembles)
      continue;
    for (const MmaShape &shape : target->shapes)
      for (StringRef accumulator : target->findOperand(shape.format)->accumulators) {
        std::string body = instruction(shape, accumulator);
        unsigned ptx = std::max(shape.ptx, target->minPtx);
        // fp8 into f16 came later than into f32.
        bool lateF16 = shape.family == InstructionFamily::MmaSync && accumulator == "f16" &&
                       storageBits(shape.format) == 8;
        if (lateF16)
          ptx = std::max(ptx, 87u);
        EXPECT_TRUE(accepts(*target, ptx, body)) << target->name.str() << " PTX " << ptx << "\n"
                                                 << body;
        if (ptx > target->minPtx) {
          EXPECT_FALSE(accepts(*target, previousVersion(ptx), body))
              << target->name.str() << " PTX " << previousVersion(ptx) << "\n"
              << body;
        }
      }
  }
}

TEST_F(Ptxas, SlowKnowsTargetsFromTheirVersionOn) {
  for (const TargetModel *target : allTargets()) {
    EXPECT_EQ(accepts(*target, target->minPtx, kernel("")), target->assembles)
        << target->name.str();
    if (target->assembles)
      EXPECT_FALSE(accepts(*target, previousVersion(target->minPtx), kernel("")))
          << target->name.str();
  }
}

TEST_F(Ptxas, SlowAcceptsEveryConversion) {
  for (const TargetModel *target : allTargets()) {
    if (!target->assembles)
      continue;
    for (const Conversion &c : target->conversions) {
      std::string body = conversion(c);
      unsigned ptx = std::max(c.ptx, target->minPtx);
      EXPECT_TRUE(accepts(*target, ptx, body)) << target->name.str() << " PTX " << ptx << "\n"
                                               << body;
      if (ptx > target->minPtx) {
        EXPECT_FALSE(accepts(*target, previousVersion(ptx), body))
            << target->name.str() << " PTX " << previousVersion(ptx) << "\n"
            << body;
      }
    }
  }
}

TEST_F(Ptxas, SlowRefusesAbsentFormatsAndConversions) {
  // The widest set of instructions there is, tried on every target that does not list them.
  for (const TargetModel *target : allTargets()) {
    if (!target->assembles)
      continue;
    for (const TargetModel *other : allTargets())
      for (const MmaShape &shape : other->shapes) {
        if (target->formatSupport(shape.format) != Support::Absent ||
            shape.family == InstructionFamily::Wmma)
          continue;
        std::string body =
            instruction(shape, other->findOperand(shape.format)->accumulators.back());
        if (!tried.insert({target->name, body}).second)
          continue;
        EXPECT_FALSE(accepts(*target, 90, body)) << target->name.str() << "\n" << body;
      }
    for (const TargetModel *other : allTargets())
      for (const Conversion &c : other->conversions) {
        if (target->findConversion(c.from, c.to))
          continue;
        std::string body = conversion(c);
        if (tried.insert({target->name, body}).second) {
          EXPECT_FALSE(accepts(*target, 90, body)) << target->name.str() << "\n" << body;
        }
      }
  }
}

} // namespace
