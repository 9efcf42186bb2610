// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looking around in tokens, and edits.

#include "Source.h"

#include <algorithm>
#include <tuple>

using namespace llvm;
using namespace mlir::mp::import;

Source::Source(MemoryBufferRef buffer) : buffer(buffer), tokens(tokenize(buffer.getBuffer())) {
  prefix = "import";
  while (buffer.getBuffer().contains("%" + prefix) || buffer.getBuffer().contains("#" + prefix))
    prefix += '_';
}

StringRef Source::text(size_t i) const {
  if (i >= tokens.size())
    return "";
  return buffer.getBuffer().substr(tokens[i].begin, tokens[i].length);
}

StringRef Source::text(Span span) const {
  if (span.empty() || span.begin >= size())
    return "";
  const Token &first = tokens[span.begin], &last = tokens[std::min(span.end, size()) - 1];
  return buffer.getBuffer().slice(first.begin, last.begin + last.length);
}

static int bracketStep(const Token &token, StringRef text) {
  if (token.kind != Tok::Punct || text.size() != 1)
    return 0;
  switch (text[0]) {
  case '(':
  case '[':
  case '{':
  case '<': return 1;
  case ')':
  case ']':
  case '}':
  case '>': return -1;
  default: return 0;
  }
}

size_t Source::closing(size_t open) const {
  if (partners.empty()) { // in one pass, however deep the text is nested
    partners.assign(size(), size());
    std::vector<size_t> opened;
    for (size_t i = 0; i < size(); ++i) {
      int step = bracketStep(tokens[i], text(i));
      if (step > 0) {
        opened.push_back(i);
      } else if (step < 0 && !opened.empty()) {
        partners[opened.back()] = i;
        opened.pop_back();
      }
    }
  }
  return open < size() ? partners[open] : size();
}

size_t Source::typeEnd(size_t i) const {
  if (is(i, "(")) { // a function type
    size_t close = closing(i);
    return kind(close + 1) == Tok::Arrow ? typeEnd(close + 2) : close + 1;
  }
  if (kind(i) != Tok::Name && kind(i) != Tok::Type)
    return i;
  return is(i + 1, "<") ? closing(i + 1) + 1 : i + 1;
}

/// One past the token at `i`, or past the brackets that open there.
size_t Source::skip(size_t i) const {
  return bracketStep(tokens[i], text(i)) > 0 ? std::min(closing(i), size() - 1) + 1 : i + 1;
}

SmallVector<Span> Source::split(Span span) const {
  SmallVector<Span> pieces;
  if (span.empty())
    return pieces;
  span.end = std::min(span.end, size());
  size_t begin = span.begin;
  for (size_t i = span.begin; i < span.end; i = skip(i)) {
    if (is(i, ",")) {
      pieces.push_back({begin, i});
      begin = i + 1;
    }
  }
  pieces.push_back({begin, span.end});
  return pieces;
}

size_t Source::find(size_t begin, size_t end, StringRef what) const {
  end = std::min(end, size());
  for (size_t i = begin; i < end; i = skip(i))
    if (is(i, what))
      return i;
  return end;
}

size_t Source::statementBegin(size_t name) const {
  if (name < 2 || !is(name - 1, "="))
    return name;
  size_t i = name - 1;
  while (i > 0) {
    bool result = isValue(i - 1);
    bool count = i > 2 && kind(i - 1) == Tok::Number && is(i - 2, ":") && isValue(i - 3);
    if (!result && !count)
      break;
    i -= count ? 3 : 1;
    if (i == 0 || !is(i - 1, ","))
      break;
    --i;
  }
  return i;
}

bool Source::isOperation(size_t i) const {
  bool generic = kind(i) == Tok::String && is(i + 1, "(");
  if (!generic && kind(i) != Tok::Name)
    return false;
  if (i == 0 || statementBegin(i) != i)
    return true;
  StringRef before = text(i - 1), after = text(i + 1);
  if (after == "=" || after == ",")
    return false;    // an entry of a dictionary
  if (before == ":") // types, but also what follows a block's label
    return i > 1 && (kind(i - 2) == Tok::Block || is(i - 2, ")"));
  if (before == "=" || before == "<" || before == "(" || before == "[" || before == ",")
    return false;                          // a value or a keyword
  return !(before == "{" && after == "}"); // a dictionary of one unit attribute
}

void Source::replace(Span span, const Twine &with, bool needed) {
  size_t begin = tokens[span.begin].begin;
  StringRef old = text(span);
  std::string now = with.str();
  size_t had = old.count('\n'), has = StringRef(now).count('\n');
  if (had > has)
    now.append(had - has, '\n');
  edits.push_back({begin, old.size(), std::move(now), needed});
}

void Source::insertBefore(size_t i, const Twine &what) {
  size_t at = i < size() ? tokens[i].begin : buffer.getBufferSize();
  edits.push_back({at, 0, what.str(), false});
}

std::string Source::apply() const {
  std::vector<const Edit *> order;
  for (const Edit &edit : edits)
    order.push_back(&edit);
  // Insertions before what is replaced there; else in the order they were made.
  std::sort(order.begin(), order.end(), [](const Edit *a, const Edit *b) {
    return std::tuple(a->begin, a->length > 0, a) < std::tuple(b->begin, b->length > 0, b);
  });
  std::string result;
  StringRef old = buffer.getBuffer();
  result.reserve(old.size() + old.size() / 8);
  size_t at = 0;
  for (const Edit *edit : order) {
    if (edit->begin < at)
      continue; // inside something already replaced
    result += old.slice(at, edit->begin);
    result += edit->with;
    at = edit->begin + edit->length;
  }
  result += old.substr(at);
  return result;
}

std::string Source::freshValue() { return "%" + prefix + std::to_string(nextValue++); }
std::string Source::freshAlias() { return "#" + prefix + std::to_string(nextValue++); }

std::string Source::position(size_t i) const {
  StringRef before = buffer.getBuffer();
  if (i < size())
    before = before.take_front(tokens[i].begin);
  size_t lineStart = before.rfind('\n') == StringRef::npos ? 0 : before.rfind('\n') + 1;
  return (buffer.getBufferIdentifier() + ":" + Twine(before.count('\n') + 1) + ":" +
          Twine(before.size() - lineStart + 1) + ": ")
      .str();
}

std::string mlir::mp::import::nameFile(StringRef advice, MemoryBufferRef input) {
  StringRef name = input.getBufferIdentifier();
  if (name.starts_with("<")) // standard input
    return advice.str();
  std::string result;
  for (size_t found; (found = advice.find(" FILE ")) != StringRef::npos;) {
    result += (advice.take_front(found + 1) + name).str();
    advice = advice.drop_front(found + 5);
  }
  return result + advice.str();
}

void Source::error(size_t i, const Twine &message) {
  if (errors.size() == 20)
    return; // enough to work on
  errors.push_back(position(i) + "error: " + message.str());
}

std::pair<size_t, StringRef> Source::firstEdit() const {
  size_t first = StringRef::npos;
  for (const Edit &edit : edits)
    if (edit.needed)
      first = std::min(first, edit.begin);
  auto token = std::partition_point(tokens.begin(), tokens.end(),
                                    [&](const Token &t) { return t.begin < first; });
  size_t i = token - tokens.begin();
  return {i, text(i)};
}

void Source::rename(StringRef from, StringRef to, size_t depth) {
  renamed[from] = {to.str(), depth};
}

void Source::closeScope(size_t depth) {
  if (renamed.empty())
    return;
  SmallVector<StringRef> gone;
  for (auto &entry : renamed)
    if (entry.second.depth > depth)
      gone.push_back(entry.first());
  for (StringRef name : gone)
    renamed.erase(name);
}

StringRef Source::value(size_t i) const {
  if (renamed.empty())
    return text(i);
  auto found = renamed.find(text(i));
  return found == renamed.end() ? text(i) : StringRef(found->second.to);
}
