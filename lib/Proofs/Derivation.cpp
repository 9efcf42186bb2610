// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derivations as JSON, and the names of values in them.

#include "mp/Proofs/Derivation.h"
#include "mp/Support/JSON.h"

using namespace mlir;
using namespace mlir::mp::proofs;
namespace json = llvm::json;

StringRef mlir::mp::proofs::toString(Basis basis) {
  switch (basis) {
  case Basis::Proved: return "proved";
  case Basis::Stated: return "stated";
  case Basis::Measured: return "measured";
  }
  llvm_unreachable("unknown basis");
}

std::optional<Basis> mlir::mp::proofs::parseBasis(StringRef text) {
  for (Basis basis : {Basis::Proved, Basis::Stated, Basis::Measured})
    if (text == toString(basis))
      return basis;
  return std::nullopt;
}

//===-- JSON ----------------------------------------------------------------------------------===//

/// JSON has no infinity: an end that is absent is none.
static void addFinite(json::Object &row, StringRef key, double value) {
  if (std::isfinite(value))
    row[key] = value == 0 ? 0.0 : value; // minus zero, too
}

json::Value mlir::mp::proofs::toJSON(const Derivation &derivation) {
  json::Array functions;
  for (const FunctionDerivation &function : derivation.functions) {
    json::Array claims, conclusions;
    for (const Claim &claim : function.claims) {
      json::Object row{{"value", claim.value}, {"rule", claim.rule}};
      if (!claim.operation.empty())
        row["op"] = claim.operation;
      addFinite(row, "low", claim.low);
      addFinite(row, "high", claim.high);
      addFinite(row, "norm", claim.norm);
      row["nan"] = claim.mayBeNaN;
      row["infinite"] = claim.mayBeInfinite;
      row["basis"] = toString(claim.basis);
      if (!claim.premises.empty())
        row["premises"] = json::Array(claim.premises);
      claims.push_back(std::move(row));
    }
    for (const Conclusion &conclusion : function.conclusions)
      conclusions.push_back(json::Object{{"op", conclusion.op},
                                         {"operand", conclusion.operand},
                                         {"value", conclusion.value},
                                         {"basis", toString(conclusion.basis)}});
    functions.push_back(json::Object{{"name", json::fixUTF8(function.name)},
                                     {"ops", function.opCount},
                                     {"claims", std::move(claims)},
                                     {"conclusions", std::move(conclusions)}});
  }
  return json::Object{
      {"mp_proofs", 1}, {"format", derivation.format}, {"functions", std::move(functions)}};
}

static bool fromJSON(const json::Value &value, Basis &basis, json::Path path) {
  auto text = value.getAsString();
  auto found = text ? parseBasis(*text) : std::nullopt;
  if (!found) {
    path.report("expected proved, stated or measured");
    return false;
  }
  basis = *found;
  return true;
}

namespace mlir::mp::proofs {
static bool fromJSON(const json::Value &value, Claim &claim, json::Path path) {
  json::ObjectMapper map(value, path);
  auto basisPath = path.field("basis");
  const json::Object *row = value.getAsObject();
  const json::Value *basis = row ? row->get("basis") : nullptr;
  if (!map || !map.map("value", claim.value) || !map.map("rule", claim.rule) ||
      !map.mapOptional("op", claim.operation) || !map.mapOptional("low", claim.low) ||
      !map.mapOptional("high", claim.high) || !map.mapOptional("norm", claim.norm) ||
      !map.map("nan", claim.mayBeNaN) || !map.map("infinite", claim.mayBeInfinite) ||
      !map.mapOptional("premises", claim.premises))
    return false;
  return ::fromJSON(basis ? *basis : json::Value(nullptr), claim.basis, basisPath);
}

static bool fromJSON(const json::Value &value, Conclusion &conclusion, json::Path path) {
  json::ObjectMapper map(value, path);
  const json::Object *row = value.getAsObject();
  const json::Value *basis = row ? row->get("basis") : nullptr;
  return map && map.map("op", conclusion.op) && map.map("operand", conclusion.operand) &&
         map.map("value", conclusion.value) &&
         ::fromJSON(basis ? *basis : json::Value(nullptr), conclusion.basis, path.field("basis"));
}

static bool fromJSON(const json::Value &value, FunctionDerivation &function, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", function.name) && map.map("ops", function.opCount) &&
         map.map("claims", function.claims) && map.map("conclusions", function.conclusions);
}
} // namespace mlir::mp::proofs

llvm::Expected<Derivation> mlir::mp::proofs::parseDerivation(StringRef text) {
  llvm::Expected<json::Value> value = mpcore::support::parseJSON(text);
  if (!value)
    return value.takeError();
  Derivation derivation;
  int64_t version = 0;
  json::Path::Root root("proofs");
  json::ObjectMapper map(*value, root);
  if (!map || !map.map("mp_proofs", version) || !map.map("format", derivation.format) ||
      !map.map("functions", derivation.functions))
    return root.getError();
  if (version != 1)
    return llvm::createStringError("key 'mp_proofs' is %d, expected 1", int(version));
  return derivation;
}

//===-- names ---------------------------------------------------------------------------------===//

ValueNames::ValueNames(FunctionOpInterface function) : function(function) {
  auto note = [&](Value value) { values[getName(value)] = value; };
  function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    numbers[op] = ops.size();
    ops.push_back(op);
  });
  unsigned last = 0;
  function.getFunctionBody().walk<WalkOrder::PostOrder>([&](Operation *op) {
    last = std::max(last, numbers.lookup(op));
    ends[op] = last;
  });
  for (Operation *op : ops) {
    for (Value result : op->getResults())
      note(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          note(argument);
  }
  for (Block &block : function.getFunctionBody())
    for (Value argument : block.getArguments())
      note(argument);
}

std::string ValueNames::getName(Value value) const {
  if (auto result = dyn_cast<OpResult>(value))
    return "%" + std::to_string(numbers.lookup(result.getOwner())) + "#" +
           std::to_string(result.getResultNumber());
  auto argument = cast<BlockArgument>(value);
  Block *block = argument.getOwner();
  std::string index = std::to_string(argument.getArgNumber());
  auto blockNumber = std::distance(block->getParent()->begin(), Region::iterator(block));
  if (block->getParentOp() != function)
    return "%" + std::to_string(numbers.lookup(block->getParentOp())) + "^" +
           std::to_string(block->getParent()->getRegionNumber()) + "." +
           std::to_string(blockNumber) + "#" + index;
  return blockNumber == 0 ? "%arg" + index : "%f^" + std::to_string(blockNumber) + "#" + index;
}

Value ValueNames::find(StringRef name) const { return values.lookup(name); }

std::pair<int64_t, unsigned> ValueNames::getPlace(Value value) const {
  if (auto result = dyn_cast<OpResult>(value)) // behind what is in it
    return {int64_t(ends.lookup(result.getOwner())) * 2 + 1, result.getResultNumber()};
  auto argument = cast<BlockArgument>(value);
  Block *block = argument.getOwner();
  if (block->isEntryBlock())
    return {block->getParentOp() == function ? -1
                                             : int64_t(numbers.lookup(block->getParentOp())) * 2,
            argument.getArgNumber()};
  return {int64_t(numbers.lookup(&block->front())) * 2 - 1, argument.getArgNumber()};
}
