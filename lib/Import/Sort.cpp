// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sort: lines along one dimension of all operands are put in the order of the body, whose arguments
// come in pairs, one per operand. Bottom-up merge sort: stable whether the comparison is strict
// or not, and always a permutation, NaNs or not.

#include "Forms/LoopText.h"

using namespace llvm;
using namespace mlir::mp::import;

/// Returns how often runs are merged until one is left: ceil(log2 n).
static std::string numMerges(LoopText &text, StringRef length, int64_t size) {
  if (size >= 0) {
    int64_t merges = 0;
    while ((int64_t(1) << merges) < size)
      ++merges;
    return text.index(merges);
  }
  std::string one = text.index(1),
              last = text.define("arith.subi " + length + ", " + one + " : index");
  std::string wide = text.define("arith.index_cast " + last + " : index to i64");
  std::string zeros = text.define("math.ctlz " + wide + " : i64");
  std::string bits = text.define("arith.constant 64 : i64");
  std::string used = text.define("arith.subi " + bits + ", " + zeros + " : i64");
  // An empty line has 64 merges of nothing.
  return text.define("arith.index_cast " + used + " : i64 to index");
}

namespace {
class SortText {
public:
  SortText(Source &source, const StructuredOp &op, size_t dimension)
      : source(source), op(op), dimension(dimension), text(source) {}

  void translate() {
    SmallVector<Operand> carried(op.outputs.begin(), op.outputs.end());
    Values bounds = text.sizes(op.outputs[0]);
    length = bounds[dimension];
    bounds.erase(bounds.begin() + dimension);
    std::string merges = numMerges(text, length, op.outputs[0].type.shape[dimension]);
    Values outer = text.open(bounds, carried, op.results), sorted;
    for (const Operand &tensor : carried)
      lines.push_back({slice(tensor, outer), lineType(tensor)});
    sortLine(merges, sorted);
    Values whole;
    for (auto [tensor, line] : zip_equal(carried, sorted))
      whole.push_back(text.define("tensor.insert_slice " + line + " into " + tensor.value +
                                  place(tensor, outer) + " : " + lineType(tensor).text + " into " +
                                  tensor.type.text));
    text.close(whole);
    source.replace(op.span, text.take());
  }

private:
  TensorType lineType(const Operand &tensor) const {
    return TensorType::get({tensor.type.shape[dimension]}, tensor.type.element);
  }
  std::string lengthText(const Operand &tensor) const {
    int64_t size = tensor.type.shape[dimension];
    return size < 0 ? length : std::to_string(size);
  }
  /// [offsets] [sizes] [strides] of the line at `outer`.
  std::string place(const Operand &tensor, ArrayRef<std::string> outer) const {
    std::string offsets, sizes, strides;
    for (size_t dim = 0, next = 0; dim < tensor.type.rank(); ++dim) {
      StringRef comma = dim ? ", " : "";
      offsets += (comma + (dim == dimension ? std::string("0") : outer[next++])).str();
      sizes += (comma + (dim == dimension ? lengthText(tensor) : std::string("1"))).str();
      strides += (comma + "1").str();
    }
    return " [" + offsets + "] [" + sizes + "] [" + strides + "]";
  }
  std::string slice(const Operand &tensor, ArrayRef<std::string> outer) {
    return text.define("tensor.extract_slice " + tensor.value + place(tensor, outer) + " : " +
                       tensor.type.text + " to " + lineType(tensor).text);
  }

  /// Merges runs of width 1, 2, 4, ... of the lines into temporaries, and copies back.
  void sortLine(StringRef merges, Values &sorted) {
    Values state, types;
    for (const Operand &line : lines) {
      state.push_back(line.value);
      types.push_back(line.type.text);
    }
    std::string head = text.freshResults(lines.size(), sorted) + " = ";
    std::string pass = text.openOne(merges, state, types, head);
    for (auto [line, value] : zip_equal(lines, state))
      line.value = value;
    Values merged = mergeRuns(pass), back;
    for (auto [line, temporary] : zip_equal(lines, merged))
      back.push_back(text.define("tensor.insert_slice " + temporary + " into " + line.value +
                                 " [0] [" + lengthText(line, 0) + "] [1] : " + line.type.text +
                                 " into " + line.type.text));
    text.close(back);
  }
  std::string lengthText(const Operand &line, size_t dim) const {
    return line.type.shape[dim] < 0 ? length : std::to_string(line.type.shape[dim]);
  }

  Values mergeRuns(StringRef pass) {
    std::string zero = text.index(0), one = text.index(1);
    std::string width = index("arith.shli " + one + ", " + pass);
    std::string both = index("arith.shli " + width + ", " + one);
    std::string last = index("arith.subi " + length + ", " + one);
    Values state = {zero, zero}, types = {"index", "index"}, results;
    for (const Operand &line : lines) {
      state.push_back(text.empty(line));
      types.push_back(line.type.text);
    }
    std::string head = text.freshResults(state.size(), results) + " = ";
    std::string k = text.openOne(length, state, types, head);
    // Computes where the pair of runs that k belongs to starts, meets and ends.
    std::string into = index("arith.remui " + k + ", " + both);
    std::string start = index("arith.subi " + k + ", " + into);
    std::string middle =
        index("arith.minui " + index("arith.addi " + start + ", " + width) + ", " + length);
    std::string end =
        index("arith.minui " + index("arith.addi " + start + ", " + both) + ", " + length);
    std::string fresh = text.define("arith.cmpi eq, " + into + ", " + zero + " : index");
    std::string left = index("arith.select " + fresh + ", " + start + ", " + state[0]);
    std::string right = index("arith.select " + fresh + ", " + middle + ", " + state[1]);
    std::string leftDone = text.define("arith.cmpi uge, " + left + ", " + middle + " : index");
    std::string hasRight = text.define("arith.cmpi ult, " + right + ", " + end + " : index");
    std::string readLeft = index("arith.minui " + left + ", " + last);
    std::string readRight = index("arith.minui " + right + ", " + last);
    Values a, b, ab, ba;
    for (const Operand &line : lines) {
      a.push_back(text.extract(line, {readLeft}));
      b.push_back(text.extract(line, {readRight}));
      ab.append({a.back(), b.back()});
      ba.append({b.back(), a.back()});
    }
    // The right one goes first only if it is strictly before the left one.
    std::string rightFirst = text.body(op, ba)[0], leftFirst = text.body(op, ab)[0];
    std::string yes = text.define("arith.constant true");
    std::string notLeft = bit("arith.xori " + leftFirst + ", " + yes);
    std::string strictly = bit("arith.andi " + rightFirst + ", " + notLeft);
    std::string wanted = bit("arith.ori " + leftDone + ", " + strictly);
    std::string takeRight = bit("arith.andi " + hasRight + ", " + wanted);
    std::string nextLeft = index("arith.addi " + left + ", " + one);
    std::string nextRight = index("arith.addi " + right + ", " + one);
    Values next = {index("arith.select " + takeRight + ", " + left + ", " + nextLeft),
                   index("arith.select " + takeRight + ", " + nextRight + ", " + right)};
    for (size_t i = 0; i < lines.size(); ++i) {
      std::string taken = text.define("arith.select " + takeRight + ", " + b[i] + ", " + a[i] +
                                      " : " + lines[i].type.element);
      next.push_back(text.insert(taken, {state[i + 2], lines[i].type}, {k}));
    }
    text.close(next);
    results.erase(results.begin(), results.begin() + 2);
    return results;
  }
  std::string index(const Twine &operation) { return text.define(operation + " : index"); }
  std::string bit(const Twine &operation) { return text.define(operation + " : i1"); }

  Source &source;
  const StructuredOp &op;
  size_t dimension;
  LoopText text;
  std::string length;
  SmallVector<Operand> lines;
};
} // namespace

void mlir::mp::import::translateSort(Source &source, const StructuredOp &op) {
  std::optional<int64_t> dimension = op.integer("dimension");
  bool valid = op.inputs.empty() && !op.outputs.empty() && dimension && *dimension >= 0 &&
               op.arguments.size() == 2 * op.outputs.size() && op.yielded.size() == 1;
  for (const Operand &output : op.outputs)
    valid &=
        output.type.rank() == op.outputs[0].type.rank() && *dimension < int64_t(output.type.rank());
  if (!valid)
    return source.error(op.span.begin, "'" + op.name +
                                           "' expects dimension(D), operands of one shape "
                                           "and a comparison of two arguments for each");
  SortText(source, op, *dimension).translate();
}
