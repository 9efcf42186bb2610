// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// arg_compare: the best element along one dimension and its index. The body says whether its first
// argument is better than its second; the first of equals stays. Becomes linalg.generic with two
// results.

#include "../Forms/LoopText.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir::mp::import;

void mlir::mp::import::translateArgCompare(Source &source, const StructuredOp &op) {
  std::optional<int64_t> dimension = op.comparedDimension(/*lost=*/1);
  if (!dimension || op.words.size() != 1)
    return source.error(
        op.span.begin,
        "'" + op.name +
            "' expects dimension(D) and no index_base, values and maybe indices, two "
            "outputs of one dimension less and a comparison of two arguments");
  const size_t rank = op.inputs[0].type.rank();
  Values dims, kept, iterators(rank, "\"parallel\"");
  for (size_t dim = 0; dim < rank; ++dim)
    dims.push_back("d" + std::to_string(dim));
  kept = dims;
  kept.erase(kept.begin() + *dimension);
  iterators[*dimension] = "\"reduction\"";
  std::string whole = "affine_map<(" + join(dims, ", ") + ") -> (" + join(dims, ", ") + ")>";
  std::string part = "affine_map<(" + join(dims, ", ") + ") -> (" + join(kept, ", ") + ")>";
  Values maps(op.inputs.size(), whole);
  maps.append(2, part);

  LoopText text(source);
  auto operands = [&](StringRef word, ArrayRef<Operand> all) {
    Values values, types;
    for (const Operand &operand : all) {
      values.push_back(operand.value);
      types.push_back(operand.type.text);
    }
    text.add(word + "(" + join(values, ", ") + " : " + join(types, ", ") + ")");
  };
  text.add(op.results + "linalg.generic {indexing_maps = [" + join(maps, ", ") +
           "], iterator_types = [" + join(iterators, ", ") + "]}");
  operands("ins", op.inputs);
  operands("outs", op.outputs);
  Values arguments, heads;
  for (const Operand &operand : concat<const Operand>(op.inputs, op.outputs)) {
    arguments.push_back(source.freshValue());
    heads.push_back(arguments.back() + ": " + operand.type.element);
  }
  text.add("{ ^bb0(" + join(heads, ", ") + "):");
  std::string element = op.outputs[0].type.element, indexType = op.outputs[1].type.element;
  std::string index = arguments[1];
  if (op.inputs.size() == 1) {
    index = text.define("linalg.index " + Twine(*dimension) + " : index");
    if (indexType != "index")
      index = text.define("arith.index_cast " + index + " : index to " + indexType);
  }
  ArrayRef<std::string> best = ArrayRef(arguments).take_back(2);
  std::string isBetter = text.body(op, {arguments[0], best[0]})[0];
  std::string value = text.define("arith.select " + isBetter + ", " + arguments[0] + ", " +
                                  best[0] + " : " + element);
  std::string number =
      text.define("arith.select " + isBetter + ", " + index + ", " + best[1] + " : " + indexType);
  text.add("linalg.yield " + value + ", " + number + " : " + element + ", " + indexType +
           " } -> (" + op.outputs[0].type.text + ", " + op.outputs[1].type.text + ")");
  source.replace(op.span, text.take());
}
