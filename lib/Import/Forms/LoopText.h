// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes loops over tensors as text. All on one line: line numbers of the file stay.

#ifndef MP_LIB_IMPORT_FORMS_LOOPTEXT_H
#define MP_LIB_IMPORT_FORMS_LOOPTEXT_H

#include "StructuredOp.h"

namespace mlir::mp::import {

using Values = SmallVector<std::string>;

class LoopText {
public:
  /// `pinned`: loops and insertions carry mp.pin = f32.
  LoopText(Source &source, bool pinned = false) : source(source), pinned(pinned) {}

  /// "%r = TEXT", with a fresh %r, which is returned.
  std::string define(const Twine &text);
  void add(const Twine &text) { out += (text + " ").str(); }
  std::string index(int64_t value) { return define("arith.constant " + Twine(value) + " : index"); }
  /// Size `dim` of a tensor.
  std::string size(const Operand &tensor, size_t dim);
  Values sizes(const Operand &tensor);

  std::string extract(const Operand &tensor, ArrayRef<std::string> at);
  std::string insert(StringRef value, const Operand &tensor, ArrayRef<std::string> at);
  /// tensor.empty of the type of `like`.
  std::string empty(const Operand &like);
  /// A tensor of static size that holds `value` everywhere.
  std::string filled(StringRef value, const TensorType &type);
  /// Elements or whole tensors to another float type; nothing where it is theirs.
  std::string convert(StringRef value, const TensorType &from, StringRef toElement, bool elements);

  /// Opens loops from zero to `bounds`, outermost first, that carry `carried` (values updated to
  /// those inside); the outermost gets `results`, "%a:2 = ", in front. Returns the counters. At
  /// least one loop is opened: without bounds, one of a single turn.
  Values open(ArrayRef<std::string> bounds, SmallVector<Operand> &carried, StringRef results);
  /// Opens one loop over scalars and tensors; types as written. Returns the counter; the results
  /// are named by `name` in `close`.
  std::string openOne(StringRef bound, Values &carried, ArrayRef<std::string> types,
                      StringRef results);
  /// Yields `values` and closes what the latest open or openOne opened.
  void close(ArrayRef<std::string> values);

  /// Writes statements with values renamed as in `names`, to which what they define is added, under
  /// fresh names; scalars of type `from` become `to`.
  void copy(Span statements, llvm::StringMap<std::string> &names, StringRef from = "",
            StringRef to = "");
  /// The statements of the body of `op` with its arguments replaced and the names it defines made
  /// fresh; scalars of type `from` become `to`. Returns what it yields.
  Values body(const StructuredOp &op, ArrayRef<std::string> arguments, StringRef from = "",
              StringRef to = "");

  /// Name(s) for `n` results of one op: "%a" or "%a:2".
  std::string freshResults(size_t n, Values &values);

  std::string take() { return std::move(out); }

private:
  struct Nest {
    size_t depth;
    Values types;                ///< of what is carried
    SmallVector<Values> results; ///< of each loop, outermost first
  };
  Source &source;
  bool pinned;
  std::string out;
  SmallVector<Nest> nests;
};

/// The largest integer of a type as iN, 0 where it is none.
uint64_t largestInteger(StringRef element);
/// The value that no element lies below, as a constant is written.
std::string lowestOf(const TensorType &type);

/// The type float scalars of type `element` are accumulated in: f32 for narrower ones.
StringRef accumulatorFor(StringRef element);

/// True if the body adds or multiplies floats, and does nothing that could not be done in a wider
/// type just as well.
bool accumulates(Source &source, const StructuredOp &op);

/// Each translation replaces the statement, or records an error.
void translateScatter(Source &source, const StructuredOp &op);
void translateScan(Source &source, const StructuredOp &op);
void translateSort(Source &source, const StructuredOp &op);
void translateTopK(Source &source, const StructuredOp &op);
void translateArgCompare(Source &source, const StructuredOp &op);

} // namespace mlir::mp::import

#endif // MP_LIB_IMPORT_FORMS_LOOPTEXT_H
