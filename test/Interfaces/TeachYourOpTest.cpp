// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op of another dialect, with the models of docs/guides/TeachYourOp.md and without them.

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mp/Analysis/Cost/FusionGroups.h"
#include "mp/Analysis/Cost/Sizes.h"
#include "mp/Analysis/ReductionLength.h"
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

class ProductOp : public Op<ProductOp, OpTrait::OneResult, OpTrait::NOperands<2>::Impl> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "mine.product"; }
};

class WaveOp : public Op<WaveOp, OpTrait::OneResult, OpTrait::OneOperand> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "mine.wave"; }
};

class MineDialect : public Dialect {
public:
  explicit MineDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<MineDialect>()) {
    addOperations<RectifyOp, ProductOp, WaveOp>();
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

/// Multiplies matrices: both factors in one format, sums in that of the result.
struct ProductPrecision : PrecisionOpInterface::ExternalModel<ProductPrecision, ProductOp> {
  OpClass getOpClass(Operation *) const { return OpClass::TensorCore; }
  StringRef getClassNote(Operation *) const { return "contraction"; }
  TypeRule getTypeRule(Operation *) const { return TypeRule::Contraction; }
  OperandRole getOperandRole(Operation *, unsigned) const { return OperandRole::Factor; }
  Operation *rebuild(Operation *op, OpBuilder &builder, ValueRange operands,
                     TypeRange resultTypes) const {
    OperationState state(op->getLoc(), op->getName(), operands, resultTypes, op->getAttrs());
    return builder.create(state);
  }
};

/// Each element sums as many products as the first factor has columns.
struct ProductSemantics : FloatSemanticsOpInterface::ExternalModel<ProductSemantics, ProductOp> {
  FloatMeaning getMeaning(Operation *op) const {
    FloatMeaning meaning = FloatMeaning::of(FloatMeaning::Kind::Contraction, {0, 1});
    auto rows = cast<RankedTensorType>(op->getOperand(0).getType());
    meaning.products = mpcore::domains::Extent::exactly(rows.getDimSize(1));
    meaning.innermost[0] = true;
    return meaning;
  }
};

void registerModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MineDialect *) {
    RectifyOp::attachInterface<RectifyPrecision, RectifySemantics>(*context);
    ProductOp::attachInterface<ProductPrecision, ProductSemantics>(*context);
  });
}

/// As rectifying, but for the class and what is computed.
struct WavePrecision : PrecisionOpInterface::ExternalModel<WavePrecision, WaveOp> {
  OpClass getOpClass(Operation *) const { return OpClass::KeepWide; }
  StringRef getClassNote(Operation *) const { return "periodic"; }
  TypeRule getTypeRule(Operation *) const { return TypeRule::Uniform; }
  OperandRole getOperandRole(Operation *, unsigned) const { return OperandRole::Data; }
  Operation *rebuild(Operation *op, OpBuilder &builder, ValueRange operands,
                     TypeRange resultTypes) const {
    OperationState state(op->getLoc(), op->getName(), operands, resultTypes, op->getAttrs());
    return builder.create(state);
  }
};

template <mpcore::domains::UnaryFn fn>
struct WaveSemantics : FloatSemanticsOpInterface::ExternalModel<WaveSemantics<fn>, WaveOp> {
  FloatMeaning getMeaning(Operation *) const {
    FloatMeaning meaning = FloatMeaning::of(FloatMeaning::Kind::Unary, {0});
    meaning.unary = fn;
    return meaning;
  }
};

template <mpcore::domains::UnaryFn fn> void registerWave(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MineDialect *) {
    WaveOp::attachInterface<WavePrecision, WaveSemantics<fn>>(*context);
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

constexpr StringLiteral kProducts = R"(
  func.func @f(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x16xf32> {
    %0 = "mine.product"(%x, %w) : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
    return %0 : tensor<64x16xf32>
  }
)";

constexpr StringLiteral kAngles = R"(
  func.func @f(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %i: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = "mine.wave"(%0) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    return %1 : tensor<64x64xf32>
  }
)";

/// The dialects, with models of the ops or without.
DialectRegistry makeRegistry(bool taught) {
  DialectRegistry registry;
  registry.insert<MineDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                  tensor::TensorDialect>();
  registerAllDialects(registry);
  if (taught)
    registerModels(registry);
  return registry;
}

/// Returns what a pipeline makes of a program, in a context that knows the ops, with their models
/// or not.
std::string convert(StringRef pipeline, const DialectRegistry &registry,
                    StringRef program = kProgram) {
  static bool once = (registerAllPasses(), true);
  (void)once;
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program, &context);
  PassManager manager(&context, ModuleOp::getOperationName());
  if (!module || failed(parsePassPipeline(pipeline, manager)) || failed(manager.run(*module)))
    return "failed";
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}

std::string convert(StringRef pipeline, bool taught, StringRef program = kProgram) {
  return convert(pipeline, makeRegistry(taught), program);
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

TEST(TeachYourOp, ATaughtProductReadsNarrowFactors) {
  constexpr StringLiteral narrow = "(tensor<64x32xbf16>, tensor<32x16xbf16>) -> tensor<64x16xf32>";
  EXPECT_NE(convert(kMixed, true, kProducts).find(narrow), std::string::npos)
      << convert(kMixed, true, kProducts);
  EXPECT_EQ(convert(kMixed, false, kProducts).find("bf16"), std::string::npos);
}

TEST(TeachYourOp, ATaughtProductIsCountedByWhatItSums) {
  for (bool taught : {true, false}) {
    MLIRContext context(makeRegistry(taught));
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kProducts, &context);
    ASSERT_TRUE(module);
    module->walk([&](ProductOp product) {
      EXPECT_EQ(getReductionLength(product), taught ? std::optional<int64_t>(32) : std::nullopt);
      EXPECT_EQ(Sizes(1).countMultiplyAdds(product), taught ? 64u * 32 * 16 : 64u * 16);
      EXPECT_EQ(getKernelKind(product), taught ? KernelKind::Contraction : KernelKind::Other);
    });
  }
}

TEST(TeachYourOp, ASineOfAnyDialectKeepsItsAnglesWide) {
  DialectRegistry sine = makeRegistry(false), tanh = makeRegistry(false);
  registerWave<mpcore::domains::UnaryFn::Sin>(sine);
  registerWave<mpcore::domains::UnaryFn::Tanh>(tanh);
  EXPECT_EQ(convert(kMixed, sine, kAngles).find("bf16"), std::string::npos)
      << convert(kMixed, sine, kAngles);
  EXPECT_NE(convert(kMixed, tanh, kAngles).find("bf16"), std::string::npos);
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
