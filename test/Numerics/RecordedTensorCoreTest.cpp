// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every recorded hardware result, bit for bit, and the settings beside the true
// ones failing (so that the agreement means something).

#include "RecordedVectors.h"
#include "mp/Numerics/TensorCore.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace mpcore::numerics;
using namespace mpcore::numerics::test;

namespace {

struct Recording {
  const char *gpu, *type, *result;
  Architecture architecture;
  Format operand;
  Route route;
  bool accumulatorIsZero; ///< recorded with scale-d = 0: c took no part
};

using A = Architecture;
using R = Route;
using F = Format;
const Recording recordings[] = {
    {"V100", "fp16", "fp32", A::SM70, F::F16, R::MmaSync, false},
    {"V100", "fp16", "fp16", A::SM70, F::F16, R::MmaSync, false},
    {"A100", "fp16", "fp32", A::SM80, F::F16, R::MmaSync, false},
    {"A100", "fp16", "fp16", A::SM80, F::F16, R::MmaSync, false},
    {"A100", "bf16", "fp32", A::SM80, F::BF16, R::MmaSync, false},
    {"A100", "tf32", "fp32", A::SM80, F::TF32, R::MmaSync, false},
    {"A2", "fp16", "fp32", A::SM80, F::F16, R::MmaSync, false},
    {"A2", "fp16", "fp16", A::SM80, F::F16, R::MmaSync, false},
    {"A2", "bf16", "fp32", A::SM80, F::BF16, R::MmaSync, false},
    {"A2", "tf32", "fp32", A::SM80, F::TF32, R::MmaSync, false},
    {"Ada", "fp16", "fp32", A::SM89, F::F16, R::MmaSync, false},
    {"Ada", "fp16", "fp16", A::SM89, F::F16, R::MmaSync, false},
    {"Ada", "bf16", "fp32", A::SM89, F::BF16, R::MmaSync, false},
    {"Ada", "tf32", "fp32", A::SM89, F::TF32, R::MmaSync, false},
    {"Ada", "E4M3", "fp32", A::SM89, F::F8E4M3FN, R::MmaSync, false},
    {"Ada", "E4M3", "fp16", A::SM89, F::F8E4M3FN, R::MmaSync, false},
    {"Ada", "E5M2", "fp32", A::SM89, F::F8E5M2, R::MmaSync, false},
    {"Ada", "E5M2", "fp16", A::SM89, F::F8E5M2, R::MmaSync, false},
    {"L40S", "fp16", "fp32", A::SM89, F::F16, R::MmaSync, false},
    {"L40S", "fp16", "fp16", A::SM89, F::F16, R::MmaSync, false},
    {"L40S", "bf16", "fp32", A::SM89, F::BF16, R::MmaSync, false},
    {"L40S", "tf32", "fp32", A::SM89, F::TF32, R::MmaSync, false},
    {"L40S", "E4M3", "fp32", A::SM89, F::F8E4M3FN, R::MmaSync, false},
    {"L40S", "E5M2", "fp32", A::SM89, F::F8E5M2, R::MmaSync, false},
    {"H100", "fp16", "fp32", A::SM90, F::F16, R::MmaSync, false},
    {"H100", "fp16", "fp16", A::SM90, F::F16, R::MmaSync, false},
    {"H100", "bf16", "fp32", A::SM90, F::BF16, R::MmaSync, false},
    {"H100", "tf32", "fp32", A::SM90, F::TF32, R::MmaSync, false},
    {"H100", "E4M3", "fp32", A::SM90, F::F8E4M3FN, R::Wgmma, true},
    {"H100", "E4M3", "fp16", A::SM90, F::F8E4M3FN, R::MmaSync, false},
    {"H100", "E5M2", "fp32", A::SM90, F::F8E5M2, R::Wgmma, true},
    {"H100", "E5M2", "fp16", A::SM90, F::F8E5M2, R::MmaSync, false},
    {"H200", "fp16", "fp32", A::SM90, F::F16, R::MmaSync, false},
    {"H200", "fp16", "fp16", A::SM90, F::F16, R::MmaSync, false},
    {"H200", "bf16", "fp32", A::SM90, F::BF16, R::MmaSync, false},
    {"H200", "tf32", "fp32", A::SM90, F::TF32, R::MmaSync, false},
    {"H200", "E4M3", "fp32", A::SM90, F::F8E4M3FN, R::Wgmma, true},
    {"H200", "E4M3", "fp16", A::SM90, F::F8E4M3FN, R::MmaSync, false},
    {"H200", "E5M2", "fp32", A::SM90, F::F8E5M2, R::Wgmma, true},
    {"H200", "E5M2", "fp16", A::SM90, F::F8E5M2, R::MmaSync, false},
    {"B200", "fp16", "fp32", A::SM100, F::F16, R::MmaSync, false},
    {"B200", "fp16", "fp16", A::SM100, F::F16, R::MmaSync, false},
    {"B200", "bf16", "fp32", A::SM100, F::BF16, R::MmaSync, false},
    {"B200", "tf32", "fp32", A::SM100, F::TF32, R::MmaSync, false},
    {"B200", "E4M3", "fp32", A::SM100, F::F8E4M3FN, R::MmaSync, false},
    {"B200", "E4M3", "fp16", A::SM100, F::F8E4M3FN, R::MmaSync, false},
    {"B200", "E5M2", "fp32", A::SM100, F::F8E5M2, R::MmaSync, false},
    {"B200", "E5M2", "fp16", A::SM100, F::F8E5M2, R::MmaSync, false},
};

std::string nameOf(const Recording &r) {
  return std::string(r.gpu) + " " + r.type + " -> " + r.result;
}

TensorCoreModel modelOf(const Recording &r) {
  Format result = std::string(r.result) == "fp16" ? Format::F16 : Format::F32;
  auto model = tensorCoreModel(r.architecture, r.operand, r.operand, result, r.route);
  EXPECT_TRUE(model) << nameOf(r);
  return *model;
}

size_t matches(const Recording &r, const RecordedSet &set, const TensorCoreModel &model) {
  size_t equal = 0;
  for (size_t i = 0; i < set.d.size(); ++i) {
    float c = r.accumulatorIsZero ? 0 : set.c[i];
    float d = modelDot(model, &set.a[i * set.k], &set.b[i * set.k], set.k, c);
    equal += llvm::bit_cast<uint32_t>(d) == llvm::bit_cast<uint32_t>(set.d[i]);
  }
  return equal;
}

class RecordedTensorCore : public testing::Test {
protected:
  std::string root;
  void SetUp() override {
    std::string why;
    if (auto found = recordedVectors(why))
      root = *found;
    else
      GTEST_SKIP() << why;
  }
};

TEST_F(RecordedTensorCore, EveryResultIsReproduced) {
  for (const Recording &r : recordings) {
    auto set = readRecordedSet(root, r.gpu, r.type, r.result);
    ASSERT_TRUE(set) << nameOf(r) << ": no such set";
    EXPECT_EQ(matches(r, *set, modelOf(r)), set->d.size()) << nameOf(r);
  }
}

// No set of the archive is left out of the list above.
TEST_F(RecordedTensorCore, EverySetIsListed) {
  llvm::StringSet<> listed;
  for (const Recording &r : recordings)
    listed.insert(std::string(r.gpu) + "/" + r.type + "/d_" + r.gpu + "_" + r.result + ".txt");
  size_t present = 0;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator file(root, error), end; file != end && !error;
       file.increment(error)) {
    llvm::StringRef path = llvm::StringRef(file->path()).substr(root.size() + 1);
    if (!llvm::sys::path::filename(path).starts_with("d_"))
      continue;
    ++present;
    EXPECT_TRUE(listed.contains(path)) << path.str();
  }
  EXPECT_FALSE(error);
  EXPECT_EQ(present, listed.size());
}

// f16 results hide the bits in question, and the emulated fp8 records happen to
// need no more than 24 of them; all others tell F and the group size apart.
TEST_F(RecordedTensorCore, NeighbouringSettingsAreNot) {
  for (const Recording &r : recordings) {
    TensorCoreModel model = modelOf(r);
    if (model.result == Format::F16 || model.emulatedThroughF16)
      continue;
    auto set = readRecordedSet(root, r.gpu, r.type, r.result);
    ASSERT_TRUE(set);
    for (int delta : {-1, 1}) {
      TensorCoreModel wrong = model;
      wrong.alignmentBits += delta;
      EXPECT_LT(matches(r, *set, wrong), set->d.size())
          << nameOf(r) << " with F " << wrong.alignmentBits;
    }
    TensorCoreModel wrong = model;
    wrong.groupSize = std::min(set->k, model.groupSize) / 2;
    EXPECT_LT(matches(r, *set, wrong), set->d.size())
        << nameOf(r) << " with groups of " << wrong.groupSize;
  }
}

// The order in which the emulated fp8 instruction takes its products shows.
TEST_F(RecordedTensorCore, EmulatedInstructionsNeedTheirOrder) {
  for (const Recording &r : recordings) {
    TensorCoreModel model = modelOf(r);
    if (!model.emulatedThroughF16)
      continue;
    auto set = readRecordedSet(root, r.gpu, r.type, r.result);
    ASSERT_TRUE(set);
    model.emulatedThroughF16 = false; // ascending k, accumulator inside
    EXPECT_LT(matches(r, *set, model), set->d.size()) << nameOf(r);
  }
}

} // namespace
