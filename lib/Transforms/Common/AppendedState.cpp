// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Appends arguments, results and initial values to a train step and to its @NAME_init.

#include "AppendedState.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

func::FuncOp AppendedState::getInit() {
  if (init)
    return init;
  auto module = step->getParentOfType<ModuleOp>();
  for (auto function : module.getOps<func::FuncOp>()) {
    auto of = function->getAttrOfType<FlatSymbolRefAttr>(kInitOfAttrName);
    if (of && of.getValue() == step.getName())
      return init = function;
  }
  OpBuilder builder(step.getContext());
  builder.setInsertionPointAfter(step);
  init = func::FuncOp::create(builder, step.getLoc(), (step.getName() + "_init").str(),
                              builder.getFunctionType({}, {}));
  init->setAttr(kInitOfAttrName, FlatSymbolRefAttr::get(step.getOperation()));
  SymbolTable(module).insert(init);
  builder.setInsertionPointToStart(init.addEntryBlock());
  func::ReturnOp::create(builder, step.getLoc());
  return init;
}

OpBuilder AppendedState::initBuilder() {
  return OpBuilder(getInit().getBody().front().getTerminator());
}

Value AppendedState::add(TypedAttr first, StringRef role) {
  auto value = dyn_cast<DenseElementsAttr>(first);
  if (!value)
    value = DenseElementsAttr::get(RankedTensorType::get({}, first.getType()),
                                   ArrayRef<Attribute>(first));
  OpBuilder builder = initBuilder();
  return add(arith::ConstantOp::create(builder, step.getLoc(), value), role);
}

Value AppendedState::add(Value first, StringRef role) {
  Builder builder(step.getContext());
  unsigned index = step.getNumArguments(), result = step.getNumResults() + firsts.size();
  firsts.push_back(first);
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(kRoleAttrName, builder.getStringAttr(role)),
       builder.getNamedAttr(kStateAttrName, builder.getI64IntegerAttr(result))});
  (void)step.insertArgument(index, first.getType(), attributes,
                            NameLoc::get(builder.getStringAttr(role)));
  return step.getArgument(index);
}

Value AppendedState::takeOriginal(unsigned argument) {
  Builder builder(step.getContext());
  func::FuncOp function = getInit();
  unsigned index = function.getNumArguments();
  auto attributes = builder.getDictionaryAttr(
      builder.getNamedAttr(kStateAttrName, builder.getI64IntegerAttr(argument)));
  (void)function.insertArgument(index, step.getArgument(argument).getType(), attributes,
                                step.getArgument(argument).getLoc());
  return function.getArgument(index);
}

void AppendedState::convert(Value value) { converted.push_back(value); }

void mlir::mp::updateFunctionType(func::FuncOp function) {
  Block &block = function.getBody().front();
  SmallVector<Type> results(block.getTerminator()->getOperandTypes());
  SmallVector<Attribute> attributes;
  if (ArrayAttr old = function.getAllResultAttrs())
    llvm::append_range(attributes, old);
  bool any = !attributes.empty();
  attributes.resize(results.size(), DictionaryAttr::get(function.getContext()));
  function.setFunctionType(
      FunctionType::get(function.getContext(), block.getArgumentTypes(), results));
  if (any)
    function.setAllResultAttrs(attributes);
}

void AppendedState::finish(ValueRange next) {
  auto insert = [](func::FuncOp function, unsigned position, ValueRange values) {
    function.getBody().front().getTerminator()->insertOperands(position, values);
    updateFunctionType(function);
  };
  insert(step, step.getNumResults(), next);
  // The converted arguments come first, one per argument, then the appended state.
  func::FuncOp function = getInit();
  insert(function, function.getNumArguments() - converted.size(), converted);
  insert(function, function.getNumResults(), firsts);
}
