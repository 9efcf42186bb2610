// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op of another dialect, with the models of docs/guides/TeachYourOp.md and without them.

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mp/InitAll.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;

namespace {

class RectifyOp : public Op<RectifyOp, OpTrait::OneResult, OpTrait::OneOperand> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "mine.rectify"; }
};

class MineDialect : public Dialect {
public:
  explicit MineDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<MineDialect>()) {
    addOperations<RectifyOp>();
  }
  static StringRef getDialectNamespace() { return "mine"; }
};

/// Rectifying commutes with rounding, and needs no more than its operand's format.
struct RectifyPrecision : PrecisionOpInterface::ExternalModel<RectifyPrecision, RectifyOp> {
  OpClass getOpClass(Operation *) const { return OpClass::ExactCommute; }
  StringRef getClassNote(Operation *) const { return "commutes with rounding"; }
  TypeRule getTypeRule(Operation *) const { return TypeRule::Uniform; }
  OperandRole getOperandRole(Operation *, unsigned) const { return OperandRole::Data; }
  Operation *rebuild(Operation *op, OpBuilder &builder, ValueRange operands,
                     TypeRange resultTypes) const {
    OperationState state(op->getLoc(), op->getName(), operands, resultTypes, op->getAttrs());
    return builder.create(state);
  }
};

/// Elements end up in [0, inf]; NaN stays NaN.
struct RectifySemantics : FloatSemanticsOpInterface::ExternalModel<RectifySemantics, RectifyOp> {
  FloatMeaning getMeaning(Operation *) const {
    FloatMeaning meaning = FloatMeaning::of(FloatMeaning::Kind::Clamp, {0});
    meaning.lo = 0;
    meaning.hi = std::numeric_limits<double>::infinity();
    return meaning;
  }
};

void registerModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MineDialect *) {
    RectifyOp::attachInterface<RectifyPrecision, RectifySemantics>(*context);
  });
}

constexpr StringLiteral kProgram = R"(
  func.func @f(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %i: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = "mine.rectify"(%0) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = linalg.matmul ins(%1, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %2 : tensor<64x64xf32>
  }
)";

/// Returns what a pipeline makes of the program, in a context that knows the op, with its models or
/// not.
std::string convert(StringRef pipeline, bool taught) {
  DialectRegistry registry;
  registry.insert<MineDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                  tensor::TensorDialect>();
  registerAllDialects(registry);
  if (taught)
    registerModels(registry);
  static bool once = (registerAllPasses(), true);
  (void)once;
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kProgram, &context);
  PassManager manager(&context, ModuleOp::getOperationName());
  if (!module || failed(parsePassPipeline(pipeline, manager)) || failed(manager.run(*module)))
    return "failed";
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}

constexpr StringLiteral kMixed = "mp-mixed-precision{format=bf16 table=false}";
constexpr StringLiteral kRanges = "mp-annotate-ranges";

TEST(TeachYourOp, ATaughtOpBetweenProductsIsNarrow) {
  EXPECT_NE(convert(kMixed, true).find("(tensor<64x64xbf16>) -> tensor<64x64xbf16>"),
            std::string::npos)
      << convert(kMixed, true);
}

TEST(TeachYourOp, AnUnknownOpStaysWide) {
  EXPECT_NE(convert(kMixed, false).find("\"mine.rectify\"(%"), std::string::npos);
  EXPECT_EQ(convert(kMixed, false).find("(tensor<64x64xbf16>) -> tensor<64x64xbf16>"),
            std::string::npos);
}

TEST(TeachYourOp, OnlyATaughtOpHasARange) {
  auto lineOf = [](const std::string &text) {
    StringRef rest = StringRef(text).split("\"mine.rectify\"").second;
    return rest.split('\n').first.str();
  };
  EXPECT_NE(lineOf(convert(kRanges, true)).find("[0, inf]"), std::string::npos)
      << convert(kRanges, true);
  EXPECT_EQ(lineOf(convert(kRanges, false)).find("[0, inf]"), std::string::npos);
}

TEST(TeachYourOp, TheGuideShowsTheseModels) {
  auto read = [](const char *path) {
    auto file = llvm::MemoryBuffer::getFile(path);
    std::string text = file ? (*file)->getBuffer().str() : "";
    llvm::erase_if(text, [](char c) { return c == ' ' || c == '\n'; }); // formatting is free
    return text;
  };
  std::string guide = read(MP_SOURCE_DIR "/docs/guides/TeachYourOp.md");
  StringRef shown = StringRef(guide).split("```cpp").second.split("```").first;
  ASSERT_FALSE(shown.empty());
  EXPECT_NE(read(MP_SOURCE_DIR "/test/Interfaces/TeachYourOpTest.cpp").find(shown.str()),
            std::string::npos);
}

} // namespace
