// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tries a module without runs of its ops, from halves down to single ones.

#include "ReduceOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/ScratchFile.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::support;

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().assumeVerified());
  return text;
}

/// True if the program ends with 1 on a file with the text.
static llvm::Expected<bool> fails(StringRef text, StringRef test) {
  auto file = ScratchFile::create("mp-reduce", "mlir", [&](raw_ostream &os) { os << text; });
  if (!file)
    return file.takeError();
  const std::optional<StringRef> nowhere[] = {StringRef(), StringRef(), StringRef()};
  std::string message;
  int status =
      llvm::sys::ExecuteAndWait(test, {test, file->path()}, std::nullopt, nowhere, 0, 0, &message);
  if (status < 0)
    return error(ErrorCode::CannotRead, "test=" + test + ": " + message);
  return status == 1;
}

/// The ops that may go: all but the module and what ends a block.
static SmallVector<Operation *> candidatesOf(ModuleOp module) {
  SmallVector<Operation *> ops;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != module && !op->hasTrait<OpTrait::IsTerminator>())
      ops.push_back(op);
  });
  return ops;
}

/// A value that stands in for a result: an operand of its type, else zero; null if there is none.
static Value standInFor(OpResult result, OpBuilder &builder) {
  Operation *op = result.getOwner();
  for (Value operand : op->getOperands())
    if (operand.getType() == result.getType())
      return operand;
  auto shaped = dyn_cast<ShapedType>(result.getType());
  if (shaped && !shaped.hasStaticShape())
    return nullptr;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return nullptr; // it would come again
  TypedAttr zero = builder.getZeroAttr(result.getType());
  return zero ? arith::ConstantOp::create(builder, op->getLoc(), zero) : Value();
}

static void removeOp(Operation *op) {
  if (isa<SymbolOpInterface>(op)) {
    if (SymbolTable::symbolKnownUseEmpty(op, op->getParentOp()))
      op->erase();
    return;
  }
  OpBuilder builder(op);
  SmallVector<Value> values;
  for (OpResult result : op->getResults()) {
    Value value = result.use_empty() ? Value(result) : standInFor(result, builder);
    if (!value)
      return;
    values.push_back(value);
  }
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    if (value != result)
      result.replaceAllUsesWith(value);
  op->erase();
}

/// The module without the ops from `begin` to `end` of its candidates, and without what is dead
/// then; null if that is not valid.
static OwningOpRef<ModuleOp> without(ModuleOp module, size_t begin, size_t end) {
  OwningOpRef<ModuleOp> copy = module.clone();
  SmallVector<Operation *> ops = candidatesOf(*copy);
  for (size_t at = end; at-- > begin;)
    removeOp(ops[at]);
  SmallVector<Operation *> left = candidatesOf(*copy);
  for (Operation *op : llvm::reverse(left))
    if (isOpTriviallyDead(op))
      op->erase();
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  return succeeded(verify(*copy)) ? std::move(copy) : OwningOpRef<ModuleOp>();
}

llvm::Error mlir::mp::reduceOps(OwningOpRef<ModuleOp> &module, StringRef test) {
  std::string text = textOf(*module);
  auto asGiven = fails(text, test);
  if (!asGiven)
    return asGiven.takeError();
  if (!*asGiven)
    return error(ErrorCode::BadInput, "test=" + test +
                                          ": expected it to end with 1 on the module "
                                          "as it is, found another status");
  for (bool again = true; again;) { // what could not go may be free by now
    again = false;
    for (size_t run = std::max<size_t>(candidatesOf(*module).size() / 2, 1); run > 0; run /= 2)
      for (size_t end = candidatesOf(*module).size(); end > 0;) {
        const size_t begin = end > run ? end - run : 0;
        OwningOpRef<ModuleOp> smaller = without(*module, begin, end);
        std::string candidate = smaller ? textOf(*smaller) : text;
        end = begin;
        if (candidate.size() >= text.size())
          continue;
        auto failed = fails(candidate, test);
        if (!failed)
          return failed.takeError();
        if (!*failed)
          continue;
        module = std::move(smaller);
        text = std::move(candidate);
        again = true;
        end = std::min(end, candidatesOf(*module).size());
      }
  }
  return llvm::Error::success();
}
