// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options take the words of their set, say which there are where a text is none, and print what
// they take.

#include "mp/Support/ClosedWords.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mpcore::support;

namespace colours {
enum class Colour { Red, Green, Blue };
inline auto wordsOf(Colour) {
  using enum Colour;
  static constexpr Word<Colour> all[] = {{Red, "red"}, {Green, "green"}, {Blue, "blue", "as sky"}};
  return llvm::ArrayRef(all);
}
constexpr llvm::StringLiteral absentWord(Colour) { return "keep"; }

struct EvenSet {
  static constexpr llvm::StringLiteral kWhat = "even";
  static std::optional<std::string> refuse(llvm::StringRef text) {
    unsigned number;
    if (!text.getAsInteger(10, number) && number % 2 == 0)
      return std::nullopt;
    return ", expected an even number";
  }
};
} // namespace colours

using colours::Colour;

/// Returns what a parser makes of a text, as it prints it, or what it says against it.
template <typename Value> static std::string parsed(llvm::StringRef text, Value value = {}) {
  llvm::cl::SubCommand none("closed-words-test");
  llvm::cl::opt<Value> option("colour", llvm::cl::sub(none));
  llvm::cl::parser<Value> parser(option);
  RefusedWords refused;
  if (parser.parse(option, "colour", text, value))
    return refused.text;
  EXPECT_EQ(refused.text, "");
  std::string printed;
  llvm::raw_string_ostream os(printed);
  llvm::cl::parser<Value>::print(os, value);
  return printed;
}

TEST(ClosedWords, EveryWordOfASetIsReadAndPrintedAsItIs) {
  for (llvm::StringRef word : {"red", "green", "blue"})
    EXPECT_EQ(parsed<Colour>(word), word);
  EXPECT_EQ(spell(Colour::Green), "green");
  EXPECT_EQ(findWord<Colour>("blue"), Colour::Blue);
}

TEST(ClosedWords, AnotherWordIsRefusedWithTheListAndWhatIsNear) {
  EXPECT_EQ(parsed<Colour>("geren"), "option 'colour' is 'geren', expected red, green or blue; did "
                                     "you mean 'green'? [MP101]");
  EXPECT_EQ(parsed<Colour>("keep"),
            "option 'colour' is 'keep', expected red, green or blue [MP101]");
  EXPECT_EQ(parsed<Colour>("Red").substr(0, 22), "option 'colour' is 'Re");
  EXPECT_EQ(findWord<Colour>("keep"), std::nullopt);
}

TEST(ClosedWords, NoMemberHasAWordOfItsOwn) {
  EXPECT_EQ(parsed<OptionalWord<Colour>>("keep", Colour::Red), "keep");
  EXPECT_EQ(parsed<OptionalWord<Colour>>("red"), "red");
  EXPECT_EQ(parsed<OptionalWord<Colour>>("none"),
            "option 'colour' is 'none', expected keep, red, green or blue [MP101]");
  EXPECT_FALSE(OptionalWord<Colour>());
}

TEST(ClosedWords, CheckedTextsStayAsTheyWereWritten) {
  EXPECT_EQ(parsed<CheckedWord<colours::EvenSet>>("0012"), "0012");
  EXPECT_EQ(parsed<CheckedWord<colours::EvenSet>>("13"),
            "option 'colour' is '13', expected an even number [MP101]");
  std::string text;
  llvm::raw_string_ostream(text) << CheckedWord<colours::EvenSet>("RTX 4090");
  EXPECT_EQ(text, "{RTX 4090}");
}
