// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text as tokens, and edits to it that keep every line where it is.

#ifndef MP_LIB_IMPORT_SOURCE_H
#define MP_LIB_IMPORT_SOURCE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <string>
#include <vector>

namespace mlir::mp::import {

using llvm::ArrayRef;
using llvm::MemoryBufferRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

enum class Tok : uint8_t {
  Name,     ///< linalg.generic, func, x4xf32
  Value,    ///< %4, %4#1
  Symbol,   ///< @main, @"a b"
  Block,    ///< ^bb0
  Hash,     ///< #map, #flow.parameter.named
  Type,     ///< !torch.vtensor
  Number,   ///< 4, 1.0e+00, 4x5xf32
  String,   ///< with its quotes
  Elements, ///< the <...> of dense<...>, as one token
  Arrow,    ///< ->
  Punct,    ///< one character, or >= <= == ::
};

struct Token {
  Tok kind;
  size_t begin, length;
};

/// Tokens of `text`; comments and blanks are left out. Nothing is refused: that is the parser's
/// job.
std::vector<Token> tokenize(StringRef text);

/// `advice` with the word FILE replaced by the name of the input.
std::string nameFile(StringRef advice, MemoryBufferRef input);

/// A range of tokens, the end excluded.
struct Span {
  size_t begin, end;
  bool empty() const { return begin >= end; }
};

/// One piece of text, its tokens, and the edits made so far.
class Source {
public:
  explicit Source(MemoryBufferRef buffer);

  size_t size() const { return tokens.size(); }
  /// Tokens beyond the end read as empty text.
  StringRef text(size_t i) const;
  StringRef text(Span span) const;
  Tok kind(size_t i) const { return i < tokens.size() ? tokens[i].kind : Tok::Punct; }
  bool is(size_t i, StringRef what) const { return text(i) == what; }
  bool isValue(size_t i) const { return i < size() && kind(i) == Tok::Value; }

  /// The bracket that closes the one at `open` ( ( [ { < ), or size().
  size_t closing(size_t open) const;
  /// One past the type that starts at `i`; `i` itself when none does.
  size_t typeEnd(size_t i) const;
  /// Pieces between the commas of `span` that are inside no bracket.
  SmallVector<Span> split(Span span) const;
  /// First token in [begin, end) outside brackets that reads `what`, or `end`.
  size_t find(size_t begin, size_t end, StringRef what) const;
  /// First token of the statement whose op name is at `name`: its results, if it has any.
  size_t statementBegin(size_t name) const;
  /// True if the name or string at `i` stands where an operation starts.
  bool isOperation(size_t i) const;

  /// Edits. A replacement is padded with the line breaks of what it replaces. `needed`: the text
  /// would not parse without it.
  void replace(Span span, const Twine &with, bool needed = true);
  void insertBefore(size_t i, const Twine &what);
  bool changed() const { return !edits.empty(); }
  /// The token where the first needed edit is, and its text; size() without any.
  std::pair<size_t, StringRef> firstEdit() const;
  /// The text with all edits made.
  std::string apply() const;

  /// A value name, an attribute alias, that nothing in the text uses.
  std::string freshValue();
  std::string freshAlias();

  /// "FILE:LINE:COLUMN: " of a token.
  std::string position(size_t i) const;
  void error(size_t i, const Twine &message);
  MemoryBufferRef getBuffer() const { return buffer; }
  ArrayRef<std::string> getErrors() const { return errors; }

  /// Values that go by another name from here on to the end of their block.
  void rename(StringRef from, StringRef to, size_t depth);
  void closeScope(size_t depth);
  /// The text of the value at `i` under its present name.
  StringRef value(size_t i) const;

private:
  size_t skip(size_t i) const;
  struct Edit {
    size_t begin, length;
    std::string with;
    bool needed;
  };
  struct Renamed {
    std::string to;
    size_t depth;
  };
  MemoryBufferRef buffer;
  std::vector<Token> tokens;
  mutable std::vector<size_t> partners; ///< closing bracket of each open one, made when first asked
  std::vector<Edit> edits;
  std::vector<std::string> errors;
  llvm::StringMap<Renamed> renamed;
  std::string prefix;
  unsigned nextValue = 0;
};

} // namespace mlir::mp::import

#endif // MP_LIB_IMPORT_SOURCE_H
