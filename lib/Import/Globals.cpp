// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns globals with a value into constants and parameters into arguments, through all calls;
// refuses globals that are assigned.

#include "Rules.h"

using namespace llvm;
using namespace mlir::mp::import;

/// Tokens a global may have; a literal and what is in brackets count as one.
static constexpr size_t kLongest = 64;

static bool isFunction(StringRef name) { return name == "util.func" || name == "func.func"; }
static bool isCall(StringRef name) {
  return name == "util.call" || name == "func.call" || name == "call";
}

Globals::Globals(Source &source) : source(source) {
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.kind(i) != Tok::Name)
      continue;
    if (source.is(i, "util.global"))
      collectGlobal(i);
    else if (isFunction(source.text(i)))
      collectFunction(i);
  }
  if (globals.empty())
    return;
  for (auto &entry : functions)
    collectUses(entry.second);
  for (auto &[name, function] : functions)
    for (size_t callee : function.calls)
      if (auto called = functions.find(source.text(callee)); called != functions.end())
        called->second.isAccessor = false;
  bool others = any_of(functions, [](auto &entry) { return !entry.second.isAccessor; });
  for (auto &entry : functions)
    entry.second.isAccessor &= others;
  propagateNeeds();
  appendArguments();
}

/// util.global private mutable @w {attributes} = VALUE : TYPE
void Globals::collectGlobal(size_t name) {
  size_t symbol = name + 1;
  while (source.kind(symbol) == Tok::Name)
    ++symbol;
  Global global;
  size_t at = symbol + 1;
  if (source.is(at, "{"))
    at = source.closing(at) + 1;
  size_t colon = at;
  if (source.is(at, "=")) {
    colon = source.find(at + 1, at + kLongest, ":");
    StringRef attribute = source.text(at + 1);
    global.isParameter = attribute.ends_with(".parameter.named");
    if (global.isParameter) {
      for (size_t i = at + 2; i < colon; ++i)
        if (source.kind(i) == Tok::String)
          global.parameter = source.text(i).str();
    } else if (source.kind(at + 1) != Tok::Hash || !attribute.contains('.')) {
      global.alias = source.freshAlias();
    }
  }
  global.type = source.text(Span{colon + 1, source.typeEnd(colon + 1)}).str();
  if (global.isParameter)
    global.argument = source.freshValue();
  if (!global.alias.empty())
    source.insertBefore(0, global.alias + " = " + source.text(Span{at + 1, colon}) + " : " +
                               global.type + " ");
  globals[source.text(symbol)] = global;
}

void Globals::collectFunction(size_t name) {
  size_t symbol = name + 1;
  while (source.kind(symbol) == Tok::Name)
    ++symbol;
  Function function;
  function.name = name;
  function.argumentsOpen = symbol + 1;
  if (source.kind(symbol) != Tok::Symbol || !source.is(symbol + 1, "("))
    return;
  function.argumentsClose = source.closing(symbol + 1);
  size_t at = function.argumentsClose + 1;
  if (source.kind(at) == Tok::Arrow)
    at = source.is(at + 1, "(") ? source.closing(at + 1) + 1 : source.typeEnd(at + 1);
  if (source.is(at, "attributes"))
    at = source.closing(at + 1) + 1;
  if (!source.is(at, "{"))
    return; // a declaration
  function.bodyOpen = at;
  function.bodyClose = source.closing(at);
  functions[source.text(symbol)] = function;
}

/// util.global.load immutable @w: the token of @w.
size_t Globals::loadedSymbol(size_t name) const {
  size_t i = name + 1;
  while (i < name + 8 && source.kind(i) != Tok::Symbol)
    ++i;
  return i;
}

void Globals::collectUses(Function &function) {
  function.isAccessor = isAccessor(function);
  for (size_t i = function.bodyOpen; i < function.bodyClose; ++i) {
    if (source.kind(i) != Tok::Name)
      continue;
    if (source.is(i, "util.global.load")) {
      auto global = globals.find(source.text(loadedSymbol(i)));
      if (global != globals.end() && global->second.isParameter)
        function.needs.insert(global->first);
    } else if (source.is(i, "util.global.store") && !function.isAccessor) {
      auto global = globals.find(source.text(loadedSymbol(i)));
      if (global != globals.end())
        global->second.isStored = true;
    } else if (isCall(source.text(i)) && source.kind(i + 1) == Tok::Symbol) {
      function.calls.push_back(i + 1);
    }
  }
}

/// One load or store of a global, and a return; called by nobody.
bool Globals::isAccessor(const Function &function) const {
  unsigned operations = 0, accesses = 0;
  for (size_t i = function.bodyOpen + 1; i < function.bodyClose; ++i) {
    if (!source.isOperation(i) || !source.text(i).contains('.'))
      continue;
    ++operations;
    accesses += source.is(i, "util.global.load") || source.is(i, "util.global.store");
  }
  return accesses == 1 && operations == 2;
}

void Globals::propagateNeeds() {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[name, function] : functions) {
      for (size_t callee : function.calls) {
        auto called = functions.find(source.text(callee));
        if (called == functions.end() || called->second.needs.empty())
          continue;
        size_t before = function.needs.size();
        function.needs.insert(called->second.needs.begin(), called->second.needs.end());
        changed |= function.needs.size() != before;
      }
    }
  }
}

/// (%a, %b) : (T, U) at the brackets that close at `values` and `types`.
static void append(Source &source, size_t open, size_t close, StringRef what) {
  source.insertBefore(close, (close == open + 1 ? "" : ", ") + what);
}

void Globals::appendArguments() {
  for (auto &[name, function] : functions) {
    if (function.isAccessor)
      continue;
    std::string arguments;
    for (StringRef need : function.needs) {
      const Global &global = globals.find(need)->second;
      arguments += (arguments.empty() ? "" : ", ") + global.argument + ": " + global.type +
                   " {ml_program.identifier = " + global.parameter + ", mp.role = \"parameter\"}";
    }
    if (!arguments.empty())
      append(source, function.argumentsOpen, function.argumentsClose, arguments);
    for (size_t callee : function.calls) {
      auto called = functions.find(source.text(callee));
      if (called == functions.end() || called->second.needs.empty())
        continue;
      std::string values, types;
      for (StringRef need : called->second.needs) {
        const Global &global = globals.find(need)->second;
        values += (values.empty() ? "" : ", ") + global.argument;
        types += (types.empty() ? "" : ", ") + global.type;
      }
      size_t open = callee + 1, close = source.closing(open);
      append(source, open, close, values);
      append(source, close + 2, source.closing(close + 2), types);
    }
  }
}

size_t Globals::removeAccessor(size_t name) {
  for (auto &[symbol, function] : functions) {
    if (function.name != name || !function.isAccessor)
      continue;
    source.replace({name, function.bodyClose + 1}, "");
    return function.bodyClose + 1;
  }
  return name;
}

size_t Globals::translate(size_t name, size_t depth) {
  size_t symbol = loadedSymbol(name);
  auto found = globals.find(source.text(symbol));
  if (found == globals.end()) {
    source.error(name, "'" + source.text(name) + "' of '" + source.text(symbol) +
                           "', which is no 'util.global' of this file");
    return symbol + 1;
  }
  const Global &global = found->second;
  if (source.is(name, "util.global")) {
    size_t end = source.typeEnd(source.find(symbol, symbol + kLongest, ":") + 1);
    if (!global.isParameter && global.alias.empty())
      source.error(name, "'util.global' " + found->first +
                             " has no value mp can read; export with the values inside, or as "
                             "'#flow.parameter.named'");
    else if (global.isStored)
      source.error(name, "'util.global' " + found->first +
                             " is assigned by a function; mp has no state: export a function that "
                             "takes it as an argument and returns the new value");
    source.replace({name, end}, "");
    return end;
  }
  if (!source.is(name, "util.global.load") || !source.is(symbol + 1, ":")) {
    // A store; the error is at the global it assigns.
    return symbol + 1;
  }
  size_t begin = source.statementBegin(name), end = source.typeEnd(symbol + 2);
  if (!global.isParameter) {
    source.replace({name, end}, "arith.constant " + global.alias);
    return end;
  }
  if (source.text(Span{symbol + 2, end}) != global.type)
    source.error(name, "loads " + found->first + " as " + source.text(Span{symbol + 2, end}) +
                           ", which is " + global.type);
  source.rename(source.text(begin), global.argument, depth);
  if (source.is(end, "loc"))
    end = source.closing(end + 1) + 1;
  source.replace({begin, end}, "");
  return end;
}
