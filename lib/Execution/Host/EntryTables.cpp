// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites entry points so that they take tables of words in place of structs.

#include "EntryTables.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::mp;

/// Parts of a struct or array; none of a number or pointer.
static SmallVector<Type> partsOf(Type type) {
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type))
    return llvm::to_vector(structure.getBody());
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return SmallVector<Type>(array.getNumElements(), array.getElementType());
  return {};
}

static bool isAggregate(Type type) { return isa<LLVM::LLVMStructType, LLVM::LLVMArrayType>(type); }

static size_t partCount(Type type) {
  if (!isAggregate(type))
    return 1;
  size_t count = 0;
  for (Type part : partsOf(type))
    count += partCount(part);
  return count;
}

/// The word at which the part at `position` begins.
static size_t wordOf(Type type, ArrayRef<int64_t> position) {
  size_t word = 0;
  for (int64_t index : position) {
    SmallVector<Type> parts = partsOf(type);
    for (Type before : ArrayRef(parts).take_front(index))
      word += partCount(before);
    type = parts[index];
  }
  return word;
}

/// Finds the words of `value`, short of those that are known already.
static void findWords(OpBuilder &b, Value value, MutableArrayRef<Value> words) {
  if (!isAggregate(value.getType())) {
    if (!words[0])
      words[0] = value;
    return;
  }
  while (auto insert = value.getDefiningOp<LLVM::InsertValueOp>()) { // the last one comes first
    size_t count = partCount(insert.getValue().getType());
    findWords(b, insert.getValue(),
              words.slice(wordOf(value.getType(), insert.getPosition()), count));
    value = insert.getContainer();
  }
  if (llvm::all_of(words, [](Value word) { return bool(word); }))
    return;
  for (auto [i, part] : llvm::enumerate(partsOf(value.getType()))) {
    size_t count = partCount(part);
    if (!llvm::all_of(words.take_front(count), [](Value word) { return bool(word); }))
      findWords(b, LLVM::ExtractValueOp::create(b, value.getLoc(), value, int64_t(i)),
                words.take_front(count));
    words = words.drop_front(count);
  }
}

std::string mlir::mp::passByTables(ModuleOp module, StringRef name) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (Operation *wrapper = module.lookupSymbol(("_mlir_ciface_" + name).str()))
    wrapper->erase();
  if (!SymbolTable::symbolKnownUseEmpty(function, module)) {
    function = function.clone();
    SymbolTable(module).insert(function); // and renames
  }
  ImplicitLocOpBuilder b(function.getLoc(), function.getContext());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto wordAt = [&](Value table, size_t index) -> Value {
    return LLVM::GEPOp::create(b, pointer, b.getI64Type(), table,
                               ArrayRef<LLVM::GEPArg>{int32_t(index)});
  };
  Block &first = function.getBody().front();
  Value tables = first.insertArgument(0u, pointer, b.getLoc());
  b.setInsertionPointToStart(&first);
  Value in = LLVM::LoadOp::create(b, pointer, tables);
  Value out = LLVM::LoadOp::create(b, pointer, wordAt(tables, 1));
  for (BlockArgument argument : first.getArguments().drop_front())
    argument.replaceAllUsesWith(
        LLVM::LoadOp::create(b, argument.getType(), wordAt(in, argument.getArgNumber() - 1)));
  first.eraseArguments(1, first.getNumArguments() - 1);
  function.walk([&](LLVM::ReturnOp op) {
    b.setInsertionPoint(op);
    size_t at = 0;
    for (Value result : op->getOperands()) {
      SmallVector<Value> words(partCount(result.getType()));
      findWords(b, result, words);
      for (Value word : words)
        LLVM::StoreOp::create(b, word, wordAt(out, at++));
    }
    op->setOperands({});
  });
  function.setFunctionType(
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer}));
  function.setArgAttrsAttr({});
  function.setResAttrsAttr({});
  return function.getName().str();
}
