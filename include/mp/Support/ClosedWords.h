// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options whose values are words of closed sets: one table spells a set, and options of passes,
// pipelines and tools parse, print and explain its words by that table.

#ifndef MP_SUPPORT_CLOSEDWORDS_H
#define MP_SUPPORT_CLOSEDWORDS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"

#include <concepts>
#include <optional>
#include <string>

namespace mpcore::support {

/// A member of the set E, how options spell it, and what help says of it.
template <typename E> struct Word {
  E value;
  llvm::StringLiteral text;
  llvm::StringLiteral meaning = "";
};

/// A set E has its spelling beside it: `wordsOf(E)` returns the table, and `absentWord(E)`, where
/// there is one, how options say that no member is meant.
template <typename E>
concept WordSet = requires(E value) {
  { wordsOf(value) } -> std::same_as<llvm::ArrayRef<Word<E>>>;
};

template <WordSet E> llvm::StringRef spell(E value) {
  return llvm::find_if(wordsOf(value), [&](const Word<E> &word) { return word.value == value; })
      ->text;
}

template <WordSet E> std::optional<E> findWord(llvm::StringRef text) {
  for (const Word<E> &word : wordsOf(E()))
    if (word.text == text)
      return word.value;
  return std::nullopt;
}

/// A member of E, or none where the text is the set's word for that.
template <WordSet E> struct OptionalWord : std::optional<E> {
  using std::optional<E>::optional;
  llvm::StringRef spell() const {
    return *this ? support::spell(**this) : llvm::StringRef(absentWord(E()));
  }
};

/// A text that `Set` accepts, kept as it was written. `Set::refuse(text)` is what an error says
/// behind option and text, as in ", expected iN", if any; `Set::kWhat` names a value.
template <typename Set> struct CheckedWord : std::string {
  using std::string::string;
  CheckedWord(std::string text) : std::string(std::move(text)) {}
  CheckedWord(llvm::StringRef text) : std::string(text.str()) {}
};

/// Prints the text as options take it: in braces where it has spaces.
template <typename Set>
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const CheckedWord<Set> &word) {
  llvm::StringRef text(word);
  return text.contains(' ') ? os << '{' << text << '}' : os << text;
}

/// ", expected a, b or c", and what was meant where a word is near.
std::string expectedWords(llvm::StringRef text, llvm::ArrayRef<llvm::StringRef> words);

/// Catches what parsers of words refuse on this thread while it lives; else that is printed.
class RefusedWords {
public:
  RefusedWords();
  ~RefusedWords();
  RefusedWords(const RefusedWords &) = delete;
  RefusedWords &operator=(const RefusedWords &) = delete;
  std::string text;

private:
  RefusedWords *outer;
};

/// Reports that `option` is `text`, with the reason that follows these words. Returns true, by
/// which parsers of options say that they failed.
bool refuseWord(llvm::StringRef option, llvm::StringRef text, llvm::StringRef reason);

/// Prints a line that explains a word below its option.
void explainWord(llvm::StringRef word, llvm::StringRef meaning, size_t width);

/// Tells a parser the words of a set, and why a text is none of them; texts that are only checked
/// have no words.
template <typename Value> struct WordTraits;

template <WordSet E> struct WordTraits<E> {
  static llvm::ArrayRef<Word<E>> all() { return wordsOf(E()); }
  static llvm::SmallVector<llvm::StringRef> words() {
    return llvm::map_to_vector(all(),
                               [](const Word<E> &word) { return llvm::StringRef(word.text); });
  }
  static std::optional<std::string> read(llvm::StringRef text, E &value) {
    std::optional<E> found = findWord<E>(text);
    value = found.value_or(value);
    return found ? std::nullopt : std::optional(expectedWords(text, words()));
  }
  static llvm::StringRef print(E value) { return spell(value); }
};

template <typename E> struct WordTraits<OptionalWord<E>> {
  static llvm::ArrayRef<Word<E>> all() { return wordsOf(E()); }
  static llvm::SmallVector<llvm::StringRef> words() {
    llvm::SmallVector<llvm::StringRef> words = WordTraits<E>::words();
    if (llvm::StringRef absent = absentWord(E()); !absent.empty())
      words.insert(words.begin(), absent);
    return words;
  }
  static std::optional<std::string> read(llvm::StringRef text, OptionalWord<E> &value) {
    std::optional<E> found = findWord<E>(text);
    value = found ? OptionalWord<E>(*found) : OptionalWord<E>();
    return found || text == absentWord(E()) ? std::nullopt
                                            : std::optional(expectedWords(text, words()));
  }
  static llvm::StringRef print(const OptionalWord<E> &value) { return value.spell(); }
};

template <typename Set> struct WordTraits<CheckedWord<Set>> {
  static llvm::ArrayRef<Word<bool>> all() { return {}; }
  static llvm::SmallVector<llvm::StringRef> words() { return {Set::kWhat}; }
  static std::optional<std::string> read(llvm::StringRef text, CheckedWord<Set> &value) {
    value = text;
    return Set::refuse(text);
  }
  static llvm::StringRef print(const CheckedWord<Set> &value) { return value; }
};

} // namespace mpcore::support

/// Parses the words of a set, and says which there are where a text is none.
template <typename Value>
  requires requires { mpcore::support::WordTraits<Value>::all(); }
class llvm::cl::parser<Value> : public llvm::cl::basic_parser<Value> {
  using Traits = mpcore::support::WordTraits<Value>;

public:
  parser(Option &option)
      : llvm::cl::basic_parser<Value>(option), words(llvm::join(Traits::words(), "|")) {}

  bool parse(Option &, StringRef name, StringRef text, Value &value) {
    std::optional<std::string> reason = Traits::read(text, value);
    return reason && mpcore::support::refuseWord(name, text, *reason);
  }
  StringRef getValueName() const override { return words; }
  void printOptionInfo(const Option &option, size_t width) const {
    basic_parser_impl::printOptionInfo(option, width);
    for (const auto &word : Traits::all())
      mpcore::support::explainWord(word.text, word.meaning, width);
  }
  void printOptionDiff(const Option &option, const Value &, const OptionValue<Value> &,
                       size_t width) const {
    this->printOptionNoValue(option, width);
  }
  static void print(raw_ostream &os, const Value &value) { os << Traits::print(value); }
  void anchor() override {}

private:
  std::string words;
};

#endif // MP_SUPPORT_CLOSEDWORDS_H
