// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes non-maximum suppression as loops over boxes in order of their scores.

#include "Suppression.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir::mp::import;

namespace {
/// One box: its sides in order, whichever corners were given.
struct Box {
  std::string top, left, bottom, right, area;
};
} // namespace

static std::string compute(LoopText &text, StringRef op, StringRef a, StringRef b) {
  return text.define("arith." + op + " " + a + ", " + b + " : f32");
}

static Box readBox(LoopText &text, const Operand &boxes, StringRef which) {
  std::string corner[4];
  for (int i = 0; i < 4; ++i)
    corner[i] = text.extract(boxes, {which.str(), text.index(i)});
  Box box;
  box.top = compute(text, "minimumf", corner[0], corner[2]);
  box.bottom = compute(text, "maximumf", corner[0], corner[2]);
  box.left = compute(text, "minimumf", corner[1], corner[3]);
  box.right = compute(text, "maximumf", corner[1], corner[3]);
  box.area = compute(text, "mulf", compute(text, "subf", box.bottom, box.top),
                     compute(text, "subf", box.right, box.left));
  return box;
}

/// Intersection over union; 0 where a box has no area.
static std::string overlap(LoopText &text, const Box &a, const Box &b, StringRef zero) {
  auto extent = [&](StringRef lowA, StringRef lowB, StringRef highA, StringRef highB) {
    std::string low = compute(text, "maximumf", lowA, lowB),
                high = compute(text, "minimumf", highA, highB);
    return compute(text, "maximumf", compute(text, "subf", high, low), zero);
  };
  std::string height = extent(a.top, b.top, a.bottom, b.bottom),
              width = extent(a.left, b.left, a.right, b.right);
  std::string both = compute(text, "mulf", height, width);
  std::string either = compute(text, "subf", compute(text, "addf", a.area, b.area), both);
  std::string ratio = compute(text, "divf", both, either);
  std::string smaller = compute(text, "minimumf", a.area, b.area);
  std::string hasArea = text.define("arith.cmpf ogt, " + smaller + ", " + zero + " : f32");
  return text.define("arith.select " + hasArea + ", " + ratio + ", " + zero + " : f32");
}

/// Boxes of 4 and scores, the most to choose, thresholds, and a sigma where `softens`.
static bool isSuppression(const GenericOp &op, bool softens) {
  auto isScalar = [&](size_t i, StringRef element) {
    return op.operands[i].type.rank() == 0 && op.operands[i].type.element == element;
  };
  if (op.operands.size() != (softens ? 6 : 5) || op.types.size() != (softens ? 3 : 2))
    return false;
  bool valid = op.operands[0].type.rank() == 2 && op.operands[0].type.shape[1] == 4 &&
               op.operands[0].type.element == "f32" && op.operands[1].type.rank() == 1 &&
               op.operands[1].type.element == "f32" && isScalar(2, "i32") && isScalar(3, "f32") &&
               isScalar(4, "f32") && op.types[0].rank() == 1 && op.types[0].element == "i32" &&
               op.types.back().rank() == 0 && op.types.back().element == "i32" &&
               StringRef(op.results).count(',') + 1 == op.types.size();
  if (!softens)
    return valid;
  return valid && isScalar(5, "f32") && op.types[1].rank() == 1 && op.types[1].element == "f32";
}

namespace {
/// The loops: scores beyond the threshold are kept; turn by turn the best is chosen, and what
/// overlaps it is dropped, or fades.
class SuppressionText {
public:
  SuppressionText(LoopText &text, const GenericOp &op, bool softens)
      : text(text), op(op), boxes(op.operands[0]), scores(op.operands[1]), softens(softens) {}

  void write() {
    readScalars();
    Values state = startEmpty();
    state.insert(state.begin(), keepAboveThreshold());
    Values results;
    std::string head = text.freshResults(4, results) + " = ";
    text.openOne(most, state, {scores.type.text, places.text, "index", marks.text}, head);
    choose(state, findBest(state[0]));
    writeResults(results);
  }

private:
  std::string constant(StringRef value) { return text.define("arith.constant " + value); }
  std::string isGreater(StringRef a, StringRef b) {
    return text.define("arith.cmpf ogt, " + a + ", " + b + " : f32");
  }
  std::string select(StringRef condition, StringRef a, StringRef b, StringRef type = "f32") {
    return text.define("arith.select " + condition + ", " + a + ", " + b + " : " + type);
  }
  std::string filled(StringRef value, StringRef element, StringRef empty, const TensorType &type) {
    return text.define("linalg.fill ins(" + value + " : " + element + ") outs(" + empty + " : " +
                       type.text + ") -> " + type.text);
  }

  void readScalars() {
    zero = constant("0.0 : f32");
    none = constant("0xFF800000 : f32");
    first = text.index(0);
    one = text.index(1);
    count = text.size(scores, 0);
    most = text.define("arith.index_cast " + text.extract(op.operands[2], {}) + " : i32 to index");
    overlapLimit = text.extract(op.operands[3], {});
    scoreLimit = text.extract(op.operands[4], {});
    if (!softens)
      return;
    // None for a sigma of 0.
    std::string sigma = text.extract(op.operands[5], {}), half = constant("-0.5 : f32");
    std::string isSoft = isGreater(sigma, zero);
    fading = select(isSoft, compute(text, "divf", half, sigma), zero);
  }

  /// Places, their number, and marks before the first turn.
  Values startEmpty() {
    std::string empty = text.define("tensor.empty(" + most + ") : " + places.text);
    std::string start = filled(constant("0 : i32"), "i32", empty, places);
    std::string noMarks = text.define("tensor.empty(" + most + ") : " + marks.text);
    return {start, first, filled(zero, "f32", noMarks, marks)};
  }

  /// The scores that are left: those beyond the threshold.
  std::string keepAboveThreshold() {
    Values kept, state = {scores.value};
    std::string head = text.freshResults(1, kept) + " = ";
    std::string i = text.openOne(count, state, {scores.type.text}, head);
    std::string score = text.extract(scores, {i});
    std::string left = select(isGreater(score, scoreLimit), score, none);
    text.close({text.insert(left, {state[0], scores.type}, {i})});
    return kept[0];
  }

  /// The largest of `left`, and its place; of equal ones the first.
  Values findBest(StringRef left) {
    Values best, search = {none, first};
    std::string head = text.freshResults(2, best) + " = ";
    std::string i = text.openOne(count, search, {"f32", "index"}, head);
    std::string score = text.extract({left.str(), scores.type}, {i});
    std::string larger = isGreater(score, search[0]);
    std::string value = select(larger, score, search[0]);
    text.close({value, select(larger, i, search[1], "index")});
    return best;
  }

  /// Ends a turn: where `best` is a score that was left, notes it and drops what it overlaps.
  void choose(const Values &state, const Values &best) {
    std::string found = isGreater(best[0], none);
    Values next;
    std::string types = scores.type.text + ", " + places.text + ", index, " + marks.text;
    text.add(text.freshResults(4, next) + " = scf.if " + found + " -> (" + types + ") {");
    std::string place = text.define("arith.index_cast " + best[1] + " : index to i32");
    std::string chosen = text.insert(place, {state[1], places}, {state[2]});
    std::string marked = text.insert(best[0], {state[3], marks}, {state[2]});
    std::string more = text.define("arith.addi " + state[2] + ", " + one + " : index");
    std::string rest = dropOverlapping(state[0], best[1]);
    text.add("scf.yield " + rest + ", " + chosen + ", " + more + ", " + marked + " : " + types +
             " } else { scf.yield " + join(state, ", ") + " : " + types + " }");
    text.close(next);
  }

  /// The scores of `left` without the box at `best` and those that overlap it.
  std::string dropOverlapping(StringRef left, StringRef best) {
    Box box = readBox(text, boxes, best);
    Values rest, carried = {left.str()};
    std::string head = text.freshResults(1, rest) + " = ";
    std::string i = text.openOne(count, carried, {scores.type.text}, head);
    std::string share = overlap(text, box, readBox(text, boxes, i), zero);
    std::string goes = text.define("arith.cmpf oge, " + share + ", " + overlapLimit + " : f32");
    std::string itself = text.define("arith.cmpi eq, " + i + ", " + best + " : index");
    goes = text.define("arith.ori " + goes + ", " + itself + " : i1");
    std::string score = text.extract({carried[0], scores.type}, {i});
    if (softens)
      score = fade(score, share);
    text.close({text.insert(select(goes, none, score), {carried[0], scores.type}, {i})});
    return rest[0];
  }

  /// score * exp(-share^2 / 2 sigma), while that is beyond the threshold.
  std::string fade(StringRef score, StringRef share) {
    std::string power = compute(text, "mulf", fading, compute(text, "mulf", share, share));
    std::string faded = compute(text, "mulf", score, text.define("math.exp " + power + " : f32"));
    return select(isGreater(faded, scoreLimit), faded, none);
  }

  void writeResults(const Values &results) {
    SmallVector<StringRef> names;
    StringRef(op.results).split(names, ',');
    std::string number = text.define("arith.index_cast " + results[2] + " : index to i32");
    text.add(names[0].trim() + " = tensor.cast " + results[1] + " : " + places.text + " to " +
             op.types[0].text);
    if (softens)
      text.add(names[1].trim() + " = tensor.cast " + results[3] + " : " + marks.text + " to " +
               op.types[1].text);
    text.add(names.back().trim(" =") + " = tensor.from_elements " + number + " : " +
             op.types.back().text);
  }

  LoopText &text;
  const GenericOp &op;
  const Operand &boxes, &scores;
  const bool softens;
  const TensorType places = TensorType::get({-1}, "i32"), marks = TensorType::get({-1}, "f32");
  std::string zero, none, first, one, count, most, overlapLimit, scoreLimit;
  std::string fading; ///< -1 / 2 sigma
};
} // namespace

void mlir::mp::import::translateSuppression(Source &source, const GenericOp &op) {
  // The fifth version also returns scores, and lowers those of boxes that overlap a chosen one.
  bool softens = StringRef(op.name).ends_with("_v5");
  if (!isSuppression(op, softens))
    return source.error(op.span.begin,
                        "'" + op.name +
                            "' expects boxes of 4 and scores in f32, a number, two thresholds" +
                            (softens ? " and a sigma" : "") + ", and a name for each result");
  LoopText text(source);
  SuppressionText(text, op, softens).write();
  source.replace(op.span, text.take());
}
