// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes measured magnitudes, and matches them with a function's contractions.

#include "mp/Transforms/Scale/StaticScales.h"
#include "mp/Analysis/FunctionHash.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Support/Files.h"
#include "mp/Support/JSON.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::json::Array;
using llvm::json::Object;

SmallVector<ContractionFactor> mlir::mp::findContractionFactors(FunctionOpInterface function) {
  SmallVector<ContractionFactor> found;
  unsigned contraction = 0;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isContraction(op))
      return;
    for (OpOperand *factor : getFactors(op)) {
      auto type = dyn_cast<RankedTensorType>(factor->get().getType());
      if (type && type.getElementType().isF32())
        found.push_back({op, contraction, factor->getOperandNumber()});
    }
    ++contraction;
  });
  return found;
}

llvm::json::Value StaticScales::toJSON() const {
  Array functionRows;
  for (const FunctionMagnitudes &function : functions) {
    Array rows;
    for (const auto &[place, measured] : function.operands)
      rows.push_back(Object{{"contraction", place.first},
                            {"operand", place.second},
                            {"amax", measured.amax},
                            {"largest", measured.largest},
                            {"values", int64_t(measured.values)},
                            {"non_finite", int64_t(measured.nonFinite)}});
    functionRows.push_back(
        Object{{"name", function.name}, {"hash", function.hash}, {"operands", std::move(rows)}});
  }
  return Object{{"mp_scales", kScalesVersion},
                {"method", method},
                {"batches", batches},
                {"functions", std::move(functionRows)}};
}

llvm::Expected<StaticScales> StaticScales::read(StringRef path) {
  auto fail = [&](const Twine &what) { return llvm::createStringError("'" + path + "': " + what); };
  auto buffer = support::readFile(path, ("scales=" + path).str());
  if (!buffer)
    return buffer.takeError();
  auto parsed = mpcore::support::parseJSON((*buffer)->getBuffer());
  if (!parsed)
    return fail(llvm::toString(parsed.takeError()));
  const Object *root = parsed->getAsObject();
  std::optional<int64_t> version = root ? root->getInteger("mp_scales") : std::nullopt;
  if (!version)
    return fail("expected a file that mp-run --calibrate wrote, found no 'mp_scales'");
  if (*version != kScalesVersion)
    return fail("expected version " + Twine(kScalesVersion) + ", found " + Twine(*version));
  StaticScales scales;
  scales.path = path.str();
  scales.method = root->getString("method").value_or("").str();
  scales.batches = root->getInteger("batches").value_or(0);
  const Array *functions = root->getArray("functions");
  if (!functions)
    return fail("expected an array 'functions'");
  for (const llvm::json::Value &value : *functions) {
    const Object *row = value.getAsObject();
    const Array *operands = row ? row->getArray("operands") : nullptr;
    if (!operands || !row->getString("name") || !row->getString("hash"))
      return fail("expected 'name', 'hash' and 'operands' of each function");
    FunctionMagnitudes &function = scales.functions.emplace_back();
    function.name = row->getString("name")->str();
    function.hash = row->getString("hash")->str();
    for (const llvm::json::Value &entry : *operands) {
      const Object *measured = entry.getAsObject();
      std::optional<int64_t> contraction =
          measured ? measured->getInteger("contraction") : std::nullopt;
      std::optional<int64_t> operand = measured ? measured->getInteger("operand") : std::nullopt;
      std::optional<double> amax = measured ? measured->getNumber("amax") : std::nullopt;
      if (!contraction || !operand || !amax || !(*amax >= 0))
        return fail("expected 'contraction', 'operand' and 'amax' >= 0 of each operand of '" +
                    function.name + "'");
      function.operands[{unsigned(*contraction), unsigned(*operand)}] = {
          *amax, measured->getNumber("largest").value_or(*amax),
          uint64_t(measured->getInteger("values").value_or(0)),
          uint64_t(measured->getInteger("non_finite").value_or(0))};
    }
  }
  return scales;
}

llvm::Expected<const FunctionMagnitudes &>
StaticScales::lookup(FunctionOpInterface function) const {
  auto found = llvm::find_if(functions, [&](const FunctionMagnitudes &measured) {
    return measured.name == function.getName();
  });
  if (found == functions.end())
    return llvm::createStringError("'" + path + "' has measured nothing in function '" +
                                   function.getName() + "'; run mp-run --calibrate on it");
  std::string hash = hashFunction(function);
  if (found->hash != hash)
    return llvm::createStringError("'" + path + "' was measured in another function '" +
                                   function.getName() + "': its hash is " + found->hash +
                                   ", this one's " + hash);
  return *found;
}
