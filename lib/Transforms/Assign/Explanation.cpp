// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats the story of an op: its layers, readers, alternatives and suggestions.

#include "Explanation.h"
#include "mp/Analysis/Locations.h"
#include "llvm/Support/Error.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::mp;

/// True if `path` is `file` or ends in it, from a folder on.
static bool isFile(StringRef path, StringRef file) {
  return path.consume_back(file) && (path.empty() || path.ends_with("/"));
}

/// A name, or the modules that it begins with: "layer0.attention" of "layer0.attention.query".
static bool isNamed(StringRef name, StringRef where) {
  return name.consume_front(where) && (name.empty() || name.front() == '.' || name.front() == '/');
}

void Explanation::noteNearest(Operation *op, StringRef key, StringRef place) {
  auto [file, line] = StringRef(where).split(':');
  unsigned wanted;
  auto found = op->getLoc()->findInstanceOf<FileLineColLoc>();
  bool isLine = !line.split(':').first.getAsInteger(10, wanted);
  // Lines of the file are nearer than anything that is only spelt alike.
  auto consider = [&](StringRef known, bool isElsewhere, unsigned distance) {
    auto score = std::pair(isElsewhere, distance);
    if (nearest.empty() || score < nearestScore) {
      nearest = known;
      nearestScore = score;
    }
  };
  if (found && isLine && isFile(found.getFilename().getValue(), file))
    consider(place, false, std::max(found.getLine(), wanted) - std::min(found.getLine(), wanted));
  for (StringRef known : {key, place})
    consider(known, true, known.edit_distance(where));
}

bool Explanation::isHere(Operation *op, StringRef function, int64_t ordinal) {
  std::string key = ("@" + function + ":" + Twine(ordinal)).str();
  std::string place = describeLocation(op->getLoc());
  noteNearest(op, key, place);
  if (where == key ||
      llvm::any_of(namesIn(op->getLoc()), [&](StringRef name) { return isNamed(name, where); }))
    return true;
  // FILE:LINE:COLUMN, with any beginning of the path and the column left out.
  StringRef rest = place;
  if (rest != where && !rest.ends_with(where))
    rest = rest.rsplit(':').first;
  if (!rest.ends_with(where))
    return false;
  StringRef before = rest.drop_back(where.size());
  return before.empty() || before.ends_with("/") || StringRef(where).starts_with(":");
}

void Explanation::begin(FunctionDecisions &decisions) {
  int64_t ordinal = 0;
  FunctionOpInterface function = decisions.getFunction();
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    Decision *decision = decisions.find(op);
    if (decision && isHere(op, function.getName(), ordinal++)) {
      chapters[function].push_back({op, ordinal - 1, std::nullopt, ""});
      decisions.explained.insert(op);
    }
  });
}

void Explanation::after(StringRef layer, FunctionDecisions &decisions) {
  for (Chapter &chapter : chapters[decisions.getFunction()]) {
    const Decision &decision = *decisions.find(chapter.op);
    llvm::raw_string_ostream os(chapter.heard);
    os << "  " << llvm::left_justify(layer, 7);
    if (decision.origin != chapter.origin) {
      os << "decides: ";
      if (decision.resultStorage)
        os << "results stored in " << decision.resultStorage;
      else
        os << "computes in " << decision.getComputeName()
           << (decision.keepsStorage ? ", operands and results as found" : "");
      os << " (" << decision.reason << ")\n";
    } else {
      os << (chapter.origin ? "not asked\n" : "has no objection and no wish\n");
    }
    chapter.origin = decision.origin;
  }
}

static void describeValue(Value value, raw_ostream &os) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    os << "argument " << argument.getArgNumber();
    if (!isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      os << " of a block of '" << argument.getOwner()->getParentOp()->getName() << "'";
  } else {
    os << "result " << cast<OpResult>(value).getResultNumber() << " of "
       << value.getDefiningOp()->getName() << " at "
       << describeLocation(value.getDefiningOp()->getLoc());
  }
  os << ", " << value.getType();
}

/// The format in which `use` reads its value.
static FloatType readFormat(FunctionDecisions &decisions, OpOperand &use) {
  FloatType stored = decisions.getStorage(use.get());
  Operation *user = use.getOwner();
  auto interface = dyn_cast<PrecisionOpInterface>(user);
  Decision *decision = decisions.find(user);
  if (!decision || !interface)
    return getFloatFormat(use.get().getType());
  if (interface.getTypeRule() == TypeRule::Container)
    return stored;
  OperandRole role = interface.getOperandRole(use.getOperandNumber());
  bool isFactor = decisions.isNarrowContraction(user) && role == OperandRole::Factor;
  if (isFactor || interface.getTypeRule() == TypeRule::Uniform)
    return decision->compute;
  return getFloatFormat(use.get().getType());
}

static void describeReaders(FunctionDecisions &decisions, Value value, raw_ostream &os) {
  FloatType stored = decisions.getStorage(value);
  llvm::MapVector<FloatType, SmallVector<StringRef>> readers;
  for (OpOperand &use : value.getUses())
    readers[readFormat(decisions, use)].push_back(use.getOwner()->getName().getStringRef());
  for (auto &[format, ops] : readers) {
    os << "    read as " << format << " by " << ops.size()
       << (ops.size() == 1 ? " use (" : " uses (");
    llvm::SmallVector<StringRef> shown(ArrayRef<StringRef>(ops).take_front(4));
    llvm::interleaveComma(shown, os);
    os << (ops.size() > 4 ? ", ...)" : ")");
    if (format != stored)
      os << (format.isTF32() ? ": rounded once for all of them" : ": one cast for all of them");
    os << "\n";
  }
}

void Explanation::end(FunctionDecisions &decisions, const AssignSettings &settings) {
  llvm::raw_string_ostream os(story);
  SmallVector<Chapter> &ops = chapters[decisions.getFunction()];
  // A layer begins with an empty tensor and its zeros, but is there for its contractions.
  std::stable_partition(ops.begin(), ops.end(), [&](const Chapter &chapter) {
    return decisions.find(chapter.op)->opClass == OpClass::TensorCore;
  });
  for (const Chapter &chapter : ops) {
    Operation *op = chapter.op;
    const Decision &decision = *decisions.find(op);
    auto interface = dyn_cast<PrecisionOpInterface>(op);
    os << "@" << decisions.getFunction().getName() << ":" << chapter.ordinal << " " << op->getName()
       << " at " << describeLocation(op->getLoc()) << "\n"
       << "  class " << stringifyOpClass(decision.opClass) << ": "
       << (interface ? interface.getClassNote() : "mp does not know this op") << "\n"
       << chapter.heard << "  in the end: computes in " << decision.getComputeName() << ", by "
       << stringifyOrigin(*decision.origin) << " (" << decision.reason << ")\n";
    if (decision.evidence != Evidence::None && !decision.compute.isF32())
      os << "  ranges of its factors: " << stringifyEvidence(decision.evidence) << "\n";
    for (OpOperand &operand : op->getOpOperands()) {
      if (!getFloatFormat(operand.get().getType()))
        continue;
      FloatType stored = decisions.getStorage(operand.get());
      FloatType read = readFormat(decisions, operand);
      os << "  operand " << operand.getOperandNumber() << ": ";
      describeValue(operand.get(), os);
      os << "; stored in " << stored << ", read as " << read << "\n";
    }
    for (OpResult result : op->getResults()) {
      if (!getFloatFormat(result.getType()))
        continue;
      os << "  result " << result.getResultNumber() << ": " << result.getType() << "; stored in "
         << decisions.getStorage(result) << "\n";
      describeReaders(decisions, result, os);
    }
    os << decisions.alternatives.lookup(op);
    for (const Suggestion &suggestion : decision.suggestions)
      os << "  suggestion: " << describeSuggestion(suggestion) << "\n";
    std::string advice = suggestChange(decision, settings.narrow);
    if (!advice.empty())
      os << "  to change it: " << advice << "\n";
  }
}

llvm::Expected<std::string> Explanation::finish() const {
  if (!story.empty())
    return story;
  return llvm::createStringError("option 'explain' is '" + where +
                                 "', where no op is decided; expected FILE:LINE[:COLUMN], a "
                                 "location's name or @FUNCTION:ORDINAL; nearest is " +
                                 (nearest.empty() ? "none" : "'" + nearest + "'"));
}
