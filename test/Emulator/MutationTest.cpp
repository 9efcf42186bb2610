// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX that is not quite right: kernels with random damage are refused, fault, or run; they never
// take the program down.

#include "DamagedKernel.h"
#include "TestSupport.h"
#include "llvm/Support/MemoryBuffer.h"

#include <random>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
using Words = std::vector<std::string>;

/// Words, numbers, single signs and white space, which joined are the text again.
Words split(llvm::StringRef text) {
  Words words;
  auto kind = [](char c) {
    return isalnum(uint8_t(c)) || c == '_' || c == '%' || c == '$' ? 1
           : isspace(uint8_t(c))                                   ? 2
                                                                   : 0;
  };
  while (!text.empty()) {
    size_t n = 1;
    while (kind(text[0]) && n < text.size() && kind(text[n]) == kind(text[0]))
      ++n;
    words.push_back(text.take_front(n).str());
    text = text.drop_front(n);
  }
  return words;
}

std::string damaged(const Words &words, std::mt19937 &rng) {
  Words w = words;
  static const char *const numbers[] = {"0",
                                        "1",
                                        "-1",
                                        "3",
                                        "31",
                                        "33",
                                        "64",
                                        "255",
                                        "65536",
                                        "2147483647",
                                        "4294967295",
                                        "4294967296",
                                        "9223372036854775807",
                                        "18446744073709551615",
                                        "99999999999999999999999",
                                        "0x",
                                        "0f7fc00000",
                                        "1.5"};
  for (unsigned k = 1 + rng() % 3; k > 0; --k) {
    const size_t at = rng() % w.size();
    switch (rng() % 8) {
    case 0: // truncation
      w.resize(at + 1);
      break;
    case 1: w.erase(w.begin() + at); break;
    case 2: w.insert(w.begin() + at, w[rng() % w.size()]); break;
    case 3: std::swap(w[at], w[rng() % w.size()]); break;
    case 4: // another word of the text in its place
      w[at] = w[rng() % w.size()];
      break;
    case 5:
      if (!w[at].empty())
        w[at][rng() % w[at].size()] = char(rng());
      break;
    default: // a number, which sizes, counts, offsets and immediates are
      for (size_t i = 0; i < w.size(); ++i)
        if (std::string &word = w[(at + i) % w.size()]; isdigit(uint8_t(word[0]))) {
          word = numbers[rng() % std::size(numbers)];
          break;
        }
    }
    if (w.empty())
      break;
  }
  std::string text;
  for (const std::string &word : w)
    text += word;
  return text;
}
} // namespace

TEST(Mutation, DamagedKernelsAreRefusedFaultOrRun) {
  unsigned outcomes[3] = {};
  std::mt19937 rng(31);
  for (const char *file : {"test/Tools/mp-run-faults.ptx", "test/Tools/mp-run-ptx.ptx",
                           "test/Tools/mp-run-tensor-map.ptx"}) {
    auto buffer = llvm::MemoryBuffer::getFile(std::string(MP_SOURCE_DIR) + "/" + file);
    ASSERT_TRUE(bool(buffer)) << file;
    llvm::StringRef text = (*buffer)->getBuffer();
    const Words words = split(text.substr(text.find("\n.version") + 1));
    for (unsigned k = 0; k < 1500; ++k) {
      const std::string bad = damaged(words, rng);
      SCOPED_TRACE(bad);
      ++outcomes[size_t(runDamaged(bad, k % 2))];
    }
  }
  // All three happen, or the damage is of one kind.
  for (unsigned count : outcomes)
    EXPECT_GT(count, 100u);
}

TEST(Mutation, EveryPrefixOfAKernel) {
  auto buffer =
      llvm::MemoryBuffer::getFile(std::string(MP_SOURCE_DIR) + "/test/Tools/mp-run-ptx.ptx");
  ASSERT_TRUE(bool(buffer));
  llvm::StringRef text = (*buffer)->getBuffer();
  text = text.substr(text.find("\n.version") + 1).rtrim();
  for (size_t n = 0; n < text.size(); ++n) {
    auto module = loadModule(text.take_front(n), "prefix.ptx");
    if (module)
      EXPECT_TRUE((*module)->kernels().empty()) << text.take_front(n).str();
    else
      EXPECT_FALSE(llvm::toString(module.takeError()).empty());
  }
}
