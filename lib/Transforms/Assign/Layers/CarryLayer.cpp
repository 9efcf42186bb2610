// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides what loops, branches and private functions carry narrow. Tied values are carried narrow
// exactly when every use of each of them would round it to one narrow format anyway. A use may hand
// the value on to the same tie or to another, so this is a greatest fixed point over the whole
// module: everything is assumed to be read narrow, until a use says otherwise.

#include "../Decisions.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
/// In which format something is read: not known yet, in one, or in none.
class Reading {
public:
  Reading() = default;
  static Reading unknown() { return Reading(); }
  static Reading in(FloatType format) { return Reading(State::One, format); }
  static Reading inNone() { return Reading(State::None, {}); }

  Reading meet(Reading other) const {
    if (state == State::Unknown)
      return other;
    if (other.state == State::Unknown || *this == other)
      return *this;
    return inNone();
  }
  bool operator==(const Reading &other) const = default;
  FloatType getFormat() const { return state == State::One ? format : FloatType(); }

private:
  enum class State : uint8_t { Unknown, One, None };
  Reading(State state, FloatType format) : state(state), format(format) {}

  State state = State::Unknown;
  FloatType format;
};

class CarriedReadings {
public:
  CarriedReadings(ArrayRef<FunctionDecisions *> functions, const TiedStorage &ties) : ties(ties) {
    for (FunctionDecisions *function : functions)
      for (auto &[op, decision] : function->getOps())
        decided[op] = {function, &decision};
  }

  /// Lowers readings until every use agrees, and returns what each tie ends in.
  void solve() {
    for (const TiedValues &tied : llvm::reverse(ties.getAll()))
      work.insert(&tied);
    for (auto &[op, entry] : decided)
      if (entry.second->followsStorage())
        moves.insert(op);
    while (!work.empty() || !moves.empty()) {
      if (!moves.empty()) {
        Operation *op = moves.pop_back_val();
        Reading reading = Reading::unknown();
        for (Value result : op->getResults())
          reading = reading.meet(mayChange(result, op) ? read(result) : Reading::inNone());
        update(ofMoves[op], reading, op->getOperands());
        continue;
      }
      const TiedValues *tied = work.pop_back_val();
      Reading reading = mayChange(*tied) ? Reading::unknown() : Reading::inNone();
      SmallVector<Value> fed;
      for (Value value : tied->values)
        reading = reading.meet(read(value));
      for (OpOperand *feed : tied->feeds)
        fed.push_back(feed->get());
      update(ofTies[tied], reading, fed);
    }
  }

  FloatType getFormat(const TiedValues &tied) const { return ofTies.lookup(&tied).getFormat(); }
  /// The format in which `value` of `tied` is read, as the ties are.
  FloatType getFormat(const TiedValues &tied, Value value) const {
    return mayChange(tied) ? read(value).getFormat() : FloatType();
  }

private:
  using Entry = std::pair<FunctionDecisions *, Decision *>;

  bool mayChange(Value result, Operation *op) const {
    return decided.lookup(op).first->mayStoreNarrow(result);
  }

  bool mayChange(const TiedValues &tied) const {
    return tied.frozen.empty() && llvm::all_of(tied.values, [&](Value value) {
             Operation *op = value.getDefiningOp();
             auto argument = dyn_cast<BlockArgument>(value);
             if (argument)
               op = argument.getOwner()->getParentOp();
             if (auto function = dyn_cast<FunctionOpInterface>(op);
                 function && function.getArgAttr(argument.getArgNumber(), kPinAttrName))
               return false;
             const Decision *decision = decided.lookup(op).second;
             return isNarrowable(value.getType()) && !(decision && decision->keepsStorage);
           });
  }

  Reading read(Value value) const {
    Reading reading = Reading::unknown();
    for (OpOperand &use : value.getUses())
      if ((reading = reading.meet(read(use))) == Reading::inNone())
        break; // nothing else may come of it
    return reading;
  }

  Reading read(OpOperand &use) const {
    if (const TiedValues *tied = ties.findFed(use))
      return ofTies.lookup(tied);
    auto [function, decision] = decided.lookup(use.getOwner());
    bool follows = decision && decision->followsStorage();
    if (!decision || !(follows || decision->opClass == OpClass::TensorCore))
      return Reading::inNone();
    auto interface = cast<PrecisionOpInterface>(use.getOwner());
    OperandRole role = interface.getOperandRole(use.getOperandNumber());
    if (function->isNarrowContraction(use.getOwner(), *decision))
      return role == OperandRole::Factor && !decision->compute.isTF32()
                 ? Reading::in(decision->compute)
                 : Reading::inNone();
    if (follows && role != OperandRole::Other)
      return ofMoves.lookup(use.getOwner());
    return Reading::inNone();
  }

  /// Whoever defines what was read must look again.
  void update(Reading &known, Reading reading, ValueRange values) {
    if (known == reading)
      return;
    known = reading;
    for (Value value : values) {
      if (const TiedValues *tied = ties.find(value))
        work.insert(tied);
      if (Operation *def = value.getDefiningOp(); def && ofMoves.contains(def))
        moves.insert(def);
      else if (def && decided.lookup(def).second && decided.lookup(def).second->followsStorage())
        moves.insert(def);
    }
  }

  const TiedStorage &ties;
  llvm::MapVector<Operation *, Entry> decided;
  DenseMap<const TiedValues *, Reading> ofTies;
  DenseMap<Operation *, Reading> ofMoves; ///< of the results of ops that follow their data
  llvm::SetVector<const TiedValues *> work;
  llvm::SetVector<Operation *> moves;
};
} // namespace

void mlir::mp::chooseCarried(ArrayRef<FunctionDecisions *> functions, CarriedStorage &carried) {
  if (llvm::none_of(carried.ties.getAll(),
                    [](const TiedValues &tied) { return tied.frozen.empty(); }))
    return; // nothing may change
  CarriedReadings readings(functions, carried.ties);
  readings.solve();
  for (const TiedValues &tied : carried.ties.getAll())
    if (FloatType format = readings.getFormat(tied))
      carried.chosen[&tied] = format;
    else
      for (Value value : tied.values)
        if (FloatType wished = readings.getFormat(tied, value))
          carried.wished[value] = wished;
}
