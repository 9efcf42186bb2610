// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes problems and schedules as text.

#include "Fields.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mpcore::performance;
using llvm::StringRef;

StringRef mpcore::performance::toString(Copy copy) {
  switch (copy) {
  case Copy::Loads: return "loads";
  case Copy::Async: return "async";
  case Copy::Bulk: return "bulk";
  }
  llvm_unreachable("unknown copy");
}

StringRef mpcore::performance::toString(Residence residence) {
  switch (residence) {
  case Residence::Registers: return "registers";
  case Residence::Shared: return "shared";
  case Residence::Reread: return "reread";
  }
  llvm_unreachable("unknown residence");
}

// Values as text.

static std::string print(bool value) { return value ? "true" : "false"; }
static std::string print(int64_t value) { return std::to_string(value); }
static std::string print(unsigned value) { return std::to_string(value); }
static std::string print(const std::string &value) { return value; }
static std::string print(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}
static std::string print(MatrixUnit value) { return toString(value).str(); }
static std::string print(Copy value) { return toString(value).str(); }
static std::string print(Residence value) { return toString(value).str(); }
static std::string print(const detail::Sizes &sizes) {
  return llvm::join(llvm::map_range(sizes.parts, [](unsigned *p) { return std::to_string(*p); }),
                    "x");
}

// Text as values; each returns what was expected, or nothing if the text was that.

static StringRef read(StringRef text, bool &value) {
  value = text == "true";
  return value || text == "false" ? "" : "true or false";
}
static StringRef read(StringRef text, int64_t &value) {
  return text.getAsInteger(10, value) || value < 0 || value > int64_t(1) << 40
             ? "a size from 0 to 2^40"
             : "";
}
static StringRef read(StringRef text, unsigned &value) {
  return text.getAsInteger(10, value) || value > 1u << 20 ? "a whole number up to 2^20" : "";
}
static StringRef read(StringRef text, double &value) {
  return text.getAsDouble(value) || !(value >= 0 && value <= 1e6) ? "a number from 0 to 10^6" : "";
}
static StringRef read(StringRef text, std::string &value) {
  value = text.str();
  return storageBits(text) ? "" : "a format such as bf16, f16, tf32, f32, f8E4M3FN or i8";
}
template <class E> static bool readOneOf(StringRef text, E &value, std::initializer_list<E> all) {
  for (E candidate : all)
    if (toString(candidate) == text) {
      value = candidate;
      return true;
    }
  return false;
}
static StringRef read(StringRef text, MatrixUnit &value) {
  using enum MatrixUnit;
  return readOneOf(text, value, {Fma, MmaSync, Wgmma, Tcgen05}) ? ""
                                                                : "fma, mma.sync, wgmma or tcgen05";
}
static StringRef read(StringRef text, Copy &value) {
  return readOneOf(text, value, {Copy::Loads, Copy::Async, Copy::Bulk}) ? ""
                                                                        : "loads, async or bulk";
}
static StringRef read(StringRef text, Residence &value) {
  using enum Residence;
  return readOneOf(text, value, {Registers, Shared, Reread}) ? "" : "registers, shared or reread";
}
static StringRef read(StringRef text, const detail::Sizes &sizes) {
  llvm::SmallVector<StringRef, 3> parts;
  text.split(parts, 'x');
  if (parts.size() != sizes.parts.size())
    return sizes.parts.size() == 3 ? "three sizes as 128x128x64" : "two sizes as 2x1";
  for (auto [part, value] : llvm::zip_equal(parts, sizes.parts))
    if (!read(part, *value).empty() || *value == 0)
      return "sizes above 0, joined by x";
  return "";
}

/// The fields of a value that are not the default's.
template <class T> static std::string printFields(T value) {
  std::map<StringRef, std::string> defaults;
  T standard;
  detail::forFields(standard, [&](StringRef name, auto &&field) { defaults[name] = print(field); });
  std::string text;
  detail::forFields(value, [&](StringRef name, auto &&field) {
    if (std::string now = print(field); now != defaults[name])
      text += " " + name.str() + "=" + now;
  });
  return text;
}

template <class T>
static llvm::Error readFields(T &value, StringRef kind, llvm::ArrayRef<StringRef> words) {
  for (StringRef word : words) {
    auto [name, text] = word.split('=');
    bool known = false;
    StringRef expected;
    std::string names;
    detail::forFields(value, [&, name = name, text = text](StringRef field, auto &&member) {
      names += (names.empty() ? "" : ", ") + field.str();
      if (field != name)
        return;
      known = true;
      expected = read(text, member);
    });
    if (!known)
      return llvm::createStringError("'" + word + "' is no field of " + kind + "; it has " + names);
    if (!expected.empty())
      return llvm::createStringError("'" + name + "' of " + kind + " is '" + text + "', expected " +
                                     expected);
  }
  return llvm::Error::success();
}

template <class Variant, size_t I = 0>
static llvm::Expected<Variant> parse(StringRef what, StringRef kind,
                                     llvm::ArrayRef<StringRef> words) {
  if constexpr (I == std::variant_size_v<Variant>) {
    return llvm::createStringError("'" + kind + "' is no kind of " + what + "; known are " +
                                   llvm::join(llvm::ArrayRef(detail::kKinds), ", "));
  } else {
    if (kind != detail::kKinds[I])
      return parse<Variant, I + 1>(what, kind, words);
    std::variant_alternative_t<I, Variant> value;
    if (llvm::Error error = readFields(value, kind, words))
      return std::move(error);
    return Variant(std::in_place_index<I>, std::move(value));
  }
}

template <class Variant> static llvm::Expected<Variant> parseWords(StringRef what, StringRef text) {
  llvm::SmallVector<StringRef, 12> words;
  llvm::SplitString(text, words);
  if (words.empty())
    return llvm::createStringError("expected a " + what + " as '" + detail::kKinds[0] +
                                   " ...', found nothing");
  return parse<Variant>(what, words.front(), llvm::ArrayRef(words).drop_front());
}

template <class Variant> static std::string printWords(const Variant &value) {
  return detail::kKinds[value.index()].str() +
         std::visit([](const auto &v) { return printFields(v); }, value);
}

llvm::Expected<Problem> mpcore::performance::parseProblem(StringRef text) {
  return parseWords<Problem>("problem", text);
}
std::string mpcore::performance::toString(const Problem &problem) { return printWords(problem); }
llvm::Expected<Schedule> mpcore::performance::parseSchedule(StringRef text) {
  return parseWords<Schedule>("schedule", text);
}
std::string mpcore::performance::toString(const Schedule &schedule) { return printWords(schedule); }
