// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The class tables against the dialects as they are registered, and against the
// document. To write the document anew: MP_UPDATE_DOCS=1 InterfacesTests.

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mp/InitAll.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;

static MLIRContext &getContext() {
  static DialectRegistry registry = [] {
    DialectRegistry r;
    r.insert<arith::ArithDialect, math::MathDialect, linalg::LinalgDialect, tensor::TensorDialect,
             scf::SCFDialect, func::FuncDialect, cf::ControlFlowDialect, tosa::TosaDialect>();
    mlir::mp::registerAllDialects(r);
    return r;
  }();
  static MLIRContext context(registry);
  context.loadAllAvailableDialects();
  return context;
}

TEST(ClassTable, EveryOpOfTheInputDialectsHasALine) {
  size_t ops = 0;
  for (RegisteredOperationName name : getContext().getRegisteredOperations()) {
    StringRef dialect = name.getDialectNamespace();
    if (!llvm::is_contained(getTabledDialects(), dialect))
      continue;
    ++ops;
    EXPECT_EQ(
        1, llvm::count_if(getClassTable(dialect),
                          [&](const ClassEntry &entry) { return entry.op == name.getStringRef(); }))
        << name.getStringRef().str();
    EXPECT_TRUE(name.hasInterface<PrecisionOpInterface>()) << name.getStringRef().str();
  }
  EXPECT_EQ(ops, 332u);
}

TEST(ClassTable, EveryLineIsOfAnOp) {
  for (StringRef dialect : getTabledDialects())
    for (const ClassEntry &entry : getClassTable(dialect))
      EXPECT_TRUE(RegisteredOperationName::lookup(entry.op, &getContext())) << entry.op.str();
}

/// Only rules under which an op follows its data may come with class E.
TEST(ClassTable, RulesFitClasses) {
  for (StringRef dialect : getTabledDialects())
    for (const ClassEntry &entry : getClassTable(dialect)) {
      if (entry.rule == TypeRule::Contraction)
        EXPECT_EQ(entry.opClass, OpClass::TensorCore) << entry.op.str();
      if (entry.opClass == OpClass::Barrier)
        EXPECT_EQ(entry.rule, TypeRule::Frozen) << entry.op.str();
    }
}

static std::string renderDocument() {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "# Classes of operations\n\n"
        "How each op of the input dialects bears narrow formats. Printed from the tables in\n"
        "lib/Interfaces; a test compares this page with them. Ops of other dialects are class "
        "B.\n\n"
        "T contraction, F follows its neighbours, E commutes exactly with rounding, D "
        "discontinuous,\n"
        "A accumulates, K keeps f32, R needs a proved range, B barrier (left alone).\n"
        "`linalg.generic`, `map`, `reduce` and `elementwise` are classed by iterators, maps and "
        "body.\n";
  for (StringRef dialect : getTabledDialects()) {
    os << "\n## " << dialect << "\n\n| op | class | why |\n|---|---|---|\n";
    for (const ClassEntry &entry : getClassTable(dialect))
      os << "| `" << entry.op << "` | " << stringifyOpClass(entry.opClass) << " | " << entry.note
         << " |\n";
  }
  return text;
}

TEST(ClassTable, DocumentAgrees) {
  std::string path = MP_SOURCE_DIR "/docs/reference/OpClasses.md";
  if (getenv("MP_UPDATE_DOCS")) {
    llvm::cantFail(llvm::writeToOutput(path, [](raw_ostream &os) {
      os << renderDocument();
      return llvm::Error::success();
    }));
  }
  auto file = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(static_cast<bool>(file)) << path;
  EXPECT_EQ((*file)->getBuffer().str(), renderDocument());
}
