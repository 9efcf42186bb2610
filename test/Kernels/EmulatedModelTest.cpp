// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole models on emulated kernels against the same module compiled for the host: f32 throughout,
// and converted to bf16, f16 and tf32.

#include "Lowering.h"
#include "mlir/Pass/PassManager.h"
#include "mp/Execution/DeviceProgram.h"
#include "mp/Execution/Host/Program.h"
#include "mp/Execution/Inputs.h"
#include "mp/Models/Models.h"
#include "mp/Pipelines/Pipelines.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

/// Largest difference, relative to the largest magnitude.
double distance(const Array &found, const Array &expected) {
  double difference = 0, magnitude = 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    double x = found.value(i), y = expected.value(i);
    difference = std::max(difference, std::isnan(x) != std::isnan(y) ? INFINITY : std::abs(x - y));
    magnitude = std::max(magnitude, std::abs(y));
  }
  return magnitude == 0 ? difference : difference / magnitude;
}

/// `format` empty: as built. The host computes the same roundings in another order of summation, so
/// that a value may be rounded to the neighbour: `bound` allows for that.
void check(StringRef name, ArrayRef<StringRef> words, StringRef format, double bound) {
  SCOPED_TRACE((name + " " + format).str());
  MLIRContext context(makeRegistry());
  auto info = llvm::cantFail(findModel(name));
  auto options = llvm::cantFail(ModelOptions::parse(*info, words));
  OwningOpRef<ModuleOp> module = llvm::cantFail(buildModel(context, *info, options));
  if (!format.empty()) {
    PassManager pm(&context);
    MixedPrecisionOptions precision;
    precision.format = *mpcore::support::findWord<ContractionFormat>(format);
    precision.table = false;
    buildMixedPrecisionPipeline(pm, precision);
    ASSERT_TRUE(succeeded(pm.run(*module)));
  }
  auto host = llvm::cantFail(Program::compile(*module, "main"));
  std::vector<std::string> notes;
  auto inputs = llvm::cantFail(makeInputs(host->signature(), {}, notes));
  auto expected = llvm::cantFail(host->run(inputs));

  auto device = llvm::cantFail(DeviceProgram::compile(*module, "main"));
  emulator::LaunchStats stats;
  auto found = test::runInBothOrders(*device, inputs, stats);
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  ASSERT_EQ(found->size(), expected.size());
  uint64_t products = 0;
  for (const auto &[opcode, count] : stats.opcodes)
    if (StringRef(opcode).starts_with("mma.sync"))
      products += count;
  // Sharing memory costs little more than no plan can undercut.
  EXPECT_LE(device->buffers().bytes, device->buffers().liveBytes * 5 / 4);
  EXPECT_EQ(products > 0, !format.empty());
  for (auto [x, y] : llvm::zip_equal(*found, expected)) {
    double error = distance(x, y);
    std::printf("%s %s: %.3g of the largest value (bound %.3g), %llu mma.sync\n",
                name.str().c_str(), format.empty() ? "f32" : format.str().c_str(), error, bound,
                (unsigned long long)products);
    EXPECT_LE(error, bound);
  }
}

const StringRef kBert[] = {"--layers=1", "--hidden=32", "--heads=2",
                           "--seq=16",   "--vocab=40",  "--intermediate=64"};

TEST(EmulatedModels, BertLayer) {
  check("bert", kBert, "", 1e-5);
  check("bert", kBert, "tf32", 1e-3);
  check("bert", kBert, "bf16", 8e-3);
  check("bert", kBert, "f16", 1e-3);
}

TEST(EmulatedModels, Perceptron) {
  StringRef words[] = {"--layers=2", "--hidden=48", "--inputs=40", "--outputs=24", "--batch=8"};
  check("mlp", words, "", 1e-5);
  check("mlp", words, "bf16", 8e-3);
}

} // namespace
