// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Target/Targets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <array>

using namespace mpcore::target;
using llvm::StringRef;

namespace {

const TargetModel &get(StringRef name) { return llvm::cantFail(lookupTarget(name)); }

std::string messageOf(llvm::Error error) { return llvm::toString(std::move(error)); }

TEST(Targets, EveryTableIsConsistent) {
  for (const TargetModel *target : allTargets())
    EXPECT_EQ(messageOf(target->validate()), "") << target->name.str();
}

TEST(Targets, ValidateNamesEveryViolation) {
  TargetModel broken = get("sm_80");
  broken.name = "sm_81";
  broken.formats.push_back(broken.formats.front());
  broken.formats.push_back({"f8E4M3FN", Support::Native, InstructionFamily::MmaSync, {"f32"}});
  broken.parts.front().rates.push_back({"f4E2M1FN", "f32", 1});
  broken.limits.sharedPerBlock = 1 << 20;
  std::string message = messageOf(broken.validate());
  EXPECT_NE(message.find("name does not match compute capability 80"), std::string::npos);
  EXPECT_NE(message.find("format f64 listed twice"), std::string::npos);
  EXPECT_NE(message.find("format f8E4M3FN has no native mma.sync shape"), std::string::npos);
  EXPECT_NE(message.find("rate for f4E2M1FN, which is not native"), std::string::npos);
  EXPECT_NE(message.find("shared memory of a block"), std::string::npos);
}

TEST(Targets, ListAscendsWithoutDuplicates) {
  for (size_t i = 1; i < allTargets().size(); ++i) {
    const TargetModel &a = *allTargets()[i - 1], &b = *allTargets()[i];
    EXPECT_TRUE(a.computeCapability < b.computeCapability ||
                (a.computeCapability == b.computeCapability && b.isArchSpecific()))
        << a.name.str() << " before " << b.name.str();
  }
}

TEST(Targets, UnknownNameSuggestsTheNearest) {
  for (auto [asked, expected] : {std::pair{"sm_81", "'sm_80'"},
                                 {"sm90a", "'sm_90a'"},
                                 {"90", "'sm_90'"},
                                 {"SM_120a", "'sm_120a'"}}) {
    auto target = lookupTarget(asked);
    ASSERT_FALSE(bool(target));
    std::string message = messageOf(target.takeError());
    EXPECT_NE(message.find(std::string("unknown target '") + asked), std::string::npos);
    EXPECT_NE(message.find(std::string("did you mean ") + expected), std::string::npos) << message;
  }
}

TEST(Targets, CapabilityPicksTheBestThatRuns) {
  auto nameFor = [](unsigned major, unsigned minor) {
    return llvm::cantFail(targetForCapability(major, minor)).name.str();
  };
  EXPECT_EQ(nameFor(8, 0), "sm_80");
  EXPECT_EQ(nameFor(8, 8), "sm_87");
  EXPECT_EQ(nameFor(7, 2), "sm_70");
  EXPECT_EQ(nameFor(9, 0), "sm_90a");
  EXPECT_EQ(nameFor(10, 3), "sm_103a");
  EXPECT_EQ(nameFor(10, 1), "sm_100"); // sm_100a code would not load there
  auto old = targetForCapability(6, 1);
  ASSERT_FALSE(bool(old));
  EXPECT_NE(messageOf(old.takeError()).find("6.1"), std::string::npos);
}

TEST(Targets, FormatLevelsPerGeneration) {
  struct Row {
    StringRef format;
    StringRef firstNative; // oldest target that has it natively
  };
  for (auto [format, first] :
       {Row{"f16", "sm_70"}, Row{"i8", "sm_75"}, Row{"bf16", "sm_80"}, Row{"tf32", "sm_80"},
        Row{"f64", "sm_80"}, Row{"f8E4M3FN", "sm_89"}, Row{"f8E5M2", "sm_89"},
        Row{"f6E3M2FN", "sm_100a"}, Row{"f4E2M1FN", "sm_100a"}}) {
    const auto *it = llvm::find_if(allTargets(), [&, f = format](const TargetModel *t) {
      return t->formatSupport(f) == Support::Native;
    });
    ASSERT_NE(it, allTargets().end());
    EXPECT_EQ((*it)->name, first) << format.str();
  }
  EXPECT_EQ(get("sm_90").formatSupport("f8E4M3FN"), Support::Emulated);
  EXPECT_EQ(get("sm_90a").formatSupport("f8E4M3FN"), Support::Native);
  EXPECT_EQ(get("sm_100").formatSupport("f8E4M3FN"), Support::Emulated);
  EXPECT_EQ(get("sm_120").formatSupport("f8E4M3FN"), Support::Native);
  EXPECT_EQ(get("sm_90a").formatSupport("i4"), Support::Emulated);
  EXPECT_EQ(get("sm_80").formatSupport("i4"), Support::Native);
  EXPECT_EQ(get("sm_80").formatSupport("f8E4M3FN"), Support::Absent);
}

TEST(Targets, MissingFormatNamesTheNearestItHas) {
  auto check = [](StringRef target, StringRef format) {
    return messageOf(checkFormat(get(target), format));
  };
  EXPECT_EQ(check("sm_75", "bf16"),
            "target sm_75 has no tensor core products of 'bf16'; the nearest "
            "format it has natively is 'f16' [MP104]");
  EXPECT_EQ(check("sm_90", "f8E4M3FN"),
            "target sm_90 only emulates products of 'f8E4M3FN'; the nearest format it has natively "
            "is 'f16'; 'sm_90a' has it [MP104]");
  EXPECT_NE(check("sm_90a", "f4E2M1FN").find("'f8E4M3FN'"), std::string::npos);
  EXPECT_NE(check("sm_70", "i8").find("no tensor core format of that kind"), std::string::npos);
  EXPECT_NE(check("sm_80", "bf61").find("unknown format 'bf61'; did you mean 'bf16'"),
            std::string::npos);
  EXPECT_EQ(check("sm_80", "f32"), "");
  EXPECT_EQ(check("sm_80", "bf16"), "");
}

TEST(Targets, ShapesAndPtx) {
  const TargetModel &ampere = get("sm_80");
  const MmaShape *shape = ampere.bestShape("bf16");
  ASSERT_TRUE(shape);
  EXPECT_EQ((std::array{shape->m, shape->n, shape->k}), (std::array{16u, 8u, 16u}));
  EXPECT_EQ(shape->ptx, 70u);
  EXPECT_EQ(ampere.ptxFeature(), "+ptx70");

  const TargetModel &hopper = get("sm_90a");
  shape = hopper.bestShape("f16");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->family, InstructionFamily::Wgmma);
  EXPECT_EQ(shape->n, 256u);
  shape = hopper.bestShape("f16", InstructionFamily::MmaSync);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->k, 16u);
  EXPECT_EQ(hopper.bestShape("f8E4M3FN", InstructionFamily::MmaSync), nullptr); // emulated
  EXPECT_EQ(hopper.findOperand("f8E4M3FN")->promoteEvery, 128u);

  EXPECT_EQ(get("sm_89").bestShape("f8E4M3FN")->ptx, 84u);
  EXPECT_EQ(get("sm_80").bestShape("f8E4M3FN"), nullptr);
  EXPECT_FALSE(get("sm_70").assembles);
}

TEST(Targets, Conversions) {
  EXPECT_EQ(get("sm_75").findConversion("f32", "bf16"), nullptr);
  ASSERT_TRUE(get("sm_80").findConversion("f32", "bf16"));
  EXPECT_FALSE(get("sm_80").findConversion("f32", "tf32")->native);
  EXPECT_TRUE(get("sm_90").findConversion("f32", "tf32")->native);
  EXPECT_TRUE(get("sm_89").findConversion("f32", "f8E4M3FN")->saturates);
  EXPECT_EQ(get("sm_80").findConversion("f32", "f8E4M3FN"), nullptr);
  EXPECT_EQ(get("sm_100").findConversion("f32", "f4E2M1FN"), nullptr);
  ASSERT_TRUE(get("sm_100a").findConversion("f32", "f4E2M1FN"));
  auto stochastic = [](const TargetModel &t) {
    return llvm::any_of(t.conversions, [](auto &c) { return c.instruction.starts_with("cvt.rs"); });
  };
  EXPECT_TRUE(stochastic(get("sm_100a")));
  EXPECT_FALSE(stochastic(get("sm_110a")));
  EXPECT_FALSE(stochastic(get("sm_120a")));
}

TEST(Targets, Rates) {
  EXPECT_EQ(get("sm_80").peakTera("bf16"), 312);
  EXPECT_EQ(get("sm_80").peakTera("f32"), 19.5);
  EXPECT_EQ(get("sm_90a").peakTera("f8E4M3FN", "f32"), 1979);
  EXPECT_EQ(get("sm_80").peakTera("i8"), 624);
  EXPECT_EQ(get("sm_80").peakTera("f8E4M3FN"), 0);
  EXPECT_EQ(get("sm_80").peakTera("bf16", "f16"), 0); // no such accumulator
}

TEST(Targets, CommandLineSpellings) {
  EXPECT_EQ(canonicalFormatName("e4m3"), "f8E4M3FN");
  EXPECT_EQ(canonicalFormatName("bf16"), "bf16");
  for (StringRef alias : {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "fp8", "fp4", "fp16"})
    EXPECT_TRUE(findFormat(canonicalFormatName(alias))) << alias.str();
}

TEST(Targets, PrintsOneLinePerTargetAndPart) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printTargets(os);
  StringRef ref(text);
  EXPECT_EQ(ref.count("\nsm_90a "), 4u); // one line of formats, three parts
  EXPECT_NE(ref.find("(estimate)"), StringRef::npos);
  EXPECT_NE(ref.find("not\nmeasurements"), StringRef::npos);
}

} // namespace
